-- Invariant: tells what is missing instead of failing for it.
SELECT current_user::text,
       pg_catalog.pg_is_in_recovery() AS is_standby,
       pg_catalog.has_database_privilege(current_database(), 'TEMP') AS may_copy,
       n.oid IS NOT NULL AS is_installed,
       coalesce(pg_catalog.has_schema_privilege(n.oid, 'USAGE'), false)
           AND coalesce(pg_catalog.has_function_privilege(p.oid, 'EXECUTE'), false)
           AND coalesce(pg_catalog.has_table_privilege(v.oid, 'SELECT'), false) AS may_protect
  FROM (SELECT 1) AS one
  LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = 'fenceline'
  LEFT JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = 'protect_v1'
  LEFT JOIN pg_catalog.pg_class v ON v.relnamespace = n.oid AND v.relname = 'protected'
