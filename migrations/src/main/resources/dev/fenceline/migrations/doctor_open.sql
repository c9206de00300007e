-- Invariant: every table that a write to a protected one can go around by: an old-style child, whose rows fire no trigger of its parent, and a partition that was attached later, for TRUNCATE.
SELECT pg_catalog.format('%I.%I', pn.nspname, p.relname), pg_catalog.format('%I.%I', cn.nspname, c.relname), c.relispartition
  FROM pg_catalog.pg_class p
  JOIN pg_catalog.pg_namespace pn ON pn.oid = p.relnamespace
  JOIN pg_catalog.pg_inherits i ON i.inhparent = p.oid
  JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
  JOIN pg_catalog.pg_namespace cn ON cn.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p')
   AND EXISTS (SELECT FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc f ON f.oid = t.tgfoid
                JOIN pg_catalog.pg_namespace fn ON fn.oid = f.pronamespace
               WHERE t.tgrelid = p.oid AND f.proname = 'judge_write_v1' AND fn.nspname = 'fenceline')
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc f ON f.oid = t.tgfoid
                JOIN pg_catalog.pg_namespace fn ON fn.oid = f.pronamespace
               WHERE t.tgrelid = c.oid AND f.proname = 'judge_write_v1' AND fn.nspname = 'fenceline'
                 AND (NOT c.relispartition OR t.tgname = 'fenceline_truncate'))
 ORDER BY 1, 2
