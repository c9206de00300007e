-- Invariant: every function of the fence schema as the server runs it.
SELECT f.proname::text,
       f.prosrc,
       CASE WHEN f.prosecdef THEN 'SECURITY DEFINER' ELSE 'SECURITY INVOKER' END,
       CASE f.provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END,
       coalesce(pg_catalog.array_to_string(f.proconfig, ', '), '')
  FROM pg_catalog.pg_proc f
  JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace
 WHERE n.nspname = 'fenceline'
 ORDER BY f.proname
