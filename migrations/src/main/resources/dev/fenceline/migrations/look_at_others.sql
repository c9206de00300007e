-- Invariant: every trigger on these tables and their partitions that calls our function and is none of the four, since whoever writes is judged by it too.
SELECT r.root, n.nspname::text, c.relname::text, t.tgname::text, t.tgenabled::text
  FROM unnest(?::oid[]) AS r (root)
 CROSS JOIN LATERAL (SELECT r.root UNION SELECT p.relid FROM pg_catalog.pg_partition_tree(r.root) p) AS m (relid)
  JOIN pg_catalog.pg_class c ON c.oid = m.relid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_trigger t ON t.tgrelid = m.relid AND t.tgfoid = 'fenceline.judge_write_v1'::pg_catalog.regproc AND t.tgparentid = 0
 WHERE t.tgname NOT IN ('fenceline_insert', 'fenceline_update', 'fenceline_delete', 'fenceline_truncate')
 ORDER BY r.root, m.relid <> r.root, m.relid, t.tgname
