-- Invariant: every function of the fence schema as the server runs it; a body that is an expression is kept parsed, and has no source.
SELECT f.proname::text,
       coalesce(pg_catalog.pg_get_function_sqlbody(f.oid), f.prosrc),
       l.lanname::text,
       CASE WHEN f.prosecdef THEN 'SECURITY DEFINER' ELSE 'SECURITY INVOKER' END,
       CASE f.provolatile WHEN 'i' THEN 'IMMUTABLE' WHEN 's' THEN 'STABLE' ELSE 'VOLATILE' END,
       coalesce(pg_catalog.array_to_string(f.proconfig, ', '), '')
  FROM pg_catalog.pg_proc f
  JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace
  JOIN pg_catalog.pg_language l ON l.oid = f.prolang
 WHERE n.nspname = 'fenceline'
 ORDER BY f.proname, f.oid
