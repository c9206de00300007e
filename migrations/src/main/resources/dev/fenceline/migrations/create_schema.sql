-- Invariant: of two processes that install at once, one creates the schema and the other finds it.
DO $$
BEGIN
    PERFORM pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('fenceline.install', 0));
    -- IF NOT EXISTS would ask for the right to create even where an administrator has created the schema for us.
    IF pg_catalog.to_regnamespace('fenceline') IS NULL THEN
        CREATE SCHEMA fenceline;
    END IF;
END
$$
