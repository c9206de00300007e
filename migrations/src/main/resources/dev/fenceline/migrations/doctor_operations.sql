-- Invariant: no row where there is no such table.
SELECT c.relpersistence::text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'fenceline' AND c.relname = 'operation'
