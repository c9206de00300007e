-- Invariant: tells what is missing instead of failing for it.
SELECT current_user::text,
       current_database()::text,
       pg_catalog.pg_is_in_recovery(),
       v.oid IS NOT NULL AS installed,
       coalesce(pg_catalog.has_schema_privilege(n.oid, 'USAGE'), false)
           AND coalesce(pg_catalog.has_function_privilege(v.oid, 'EXECUTE'), false)
           AND coalesce(pg_catalog.has_function_privilege(p.oid, 'EXECUTE'), true) AS may_protect
  FROM (SELECT 1) AS one
  LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = 'fenceline'
  LEFT JOIN pg_catalog.pg_proc v ON v.pronamespace = n.oid AND v.proname = 'version_v1'
  LEFT JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = 'protect_v1'
