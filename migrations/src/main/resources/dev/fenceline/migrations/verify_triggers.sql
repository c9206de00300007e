-- Invariant: every trigger that is the fence's, or has the place of one, on whatever table or partition, with its definition but for the table's name.
SELECT n.nspname::text,
       c.relname::text,
       t.tgname::text,
       t.tgenabled::text,
       t.tgfoid = 'fenceline.judge_write_v1'::pg_catalog.regproc AS judges,
       replace(pg_catalog.pg_get_triggerdef(t.oid),
               pg_catalog.format(' ON %I.%I FOR EACH', n.nspname, c.relname), ' FOR EACH') AS definition,
       c.relispartition AND EXISTS (SELECT FROM pg_catalog.pg_trigger r
                                     WHERE r.tgrelid = pg_catalog.pg_partition_root(c.oid)
                                       AND r.tgfoid = 'fenceline.judge_write_v1'::pg_catalog.regproc) AS inherited
  FROM pg_catalog.pg_trigger t
  JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE t.tgfoid = 'fenceline.judge_write_v1'::pg_catalog.regproc
    OR t.tgname IN ('fenceline_insert', 'fenceline_update', 'fenceline_delete', 'fenceline_truncate')
 ORDER BY n.nspname, c.relname, t.tgname
