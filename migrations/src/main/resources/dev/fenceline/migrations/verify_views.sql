-- Invariant: every view of a schema as the server writes it down, with what is set on it.
SELECT c.relname::text, coalesce(pg_catalog.array_to_string(c.reloptions, ', '), ''), pg_catalog.pg_get_viewdef(c.oid)
  FROM pg_catalog.pg_class c
 WHERE c.relkind IN ('v', 'm') AND c.relnamespace = ?::pg_catalog.oid
 ORDER BY c.relname
