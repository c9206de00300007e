-- Invariant: every table of the fence or of PostgreSQL that has a trigger that protects; fenceline.protect refuses them, and a trigger that is made by hand does not.
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname),
       pg_catalog.string_agg(t.tgname::text, ', ' ORDER BY t.tgname COLLATE "C")
  FROM pg_catalog.pg_trigger t
  JOIN pg_catalog.pg_proc f ON f.oid = t.tgfoid AND f.proname = 'judge_write_v1'
  JOIN pg_catalog.pg_namespace fn ON fn.oid = f.pronamespace AND fn.nspname = 'fenceline'
  JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid AND c.relpersistence <> 't'
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname IN ('fenceline', 'information_schema') OR pg_catalog.starts_with(n.nspname::text, 'pg_')
 GROUP BY 1
 ORDER BY 1
