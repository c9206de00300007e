-- Invariant: nobody calls a routine of this schema unless it was granted to him; a dump that is restored without rights forgets that.
-- Looks first: to revoke what was never granted would write every row, and get in the way of somebody else who grants at the same time.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_proc p
         CROSS JOIN LATERAL pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
         WHERE p.pronamespace = 'fenceline'::pg_catalog.regnamespace AND a.grantee = 0
    ) THEN
        REVOKE ALL ON ALL ROUTINES IN SCHEMA fenceline FROM PUBLIC;
    END IF;
END
$$;
