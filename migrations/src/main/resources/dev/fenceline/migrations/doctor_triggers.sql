-- Invariant: every trigger of the fence, on whatever table or partition, that does not fire as it should; a subscription's tables are a matter of their own.
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname), t.tgname::text, t.tgenabled::text,
       EXISTS (SELECT FROM pg_catalog.pg_subscription_rel s
                WHERE s.srrelid = c.oid
                   OR s.srrelid IN (SELECT m.relid FROM pg_catalog.pg_partition_tree(pg_catalog.pg_partition_root(c.oid)) m)) AS is_subscribed,
       f.proname = 'keep_mark_of_row_v1' AS keeps_rows
  FROM pg_catalog.pg_trigger t
  JOIN pg_catalog.pg_proc f ON f.oid = t.tgfoid
  JOIN pg_catalog.pg_namespace fn ON fn.oid = f.pronamespace AND fn.nspname = 'fenceline'
  JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE f.proname IN ('judge_write_v1', 'keep_mark_v1', 'keep_mark_of_row_v1')
 ORDER BY 1, 2
