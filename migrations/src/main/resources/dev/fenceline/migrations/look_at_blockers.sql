-- Invariant: sessions that hold a lock on the table or a partition of it that conflicts with ours, the oldest first; no pid for a prepared transaction.
SELECT l.pid::text,
       coalesce(a.application_name, ''),
       coalesce(a.usename::text, ''),
       pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() - min(a.xact_start))::bigint::text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ? AND c.relname = ?
 CROSS JOIN LATERAL (SELECT c.oid UNION SELECT p.relid FROM pg_catalog.pg_partition_tree(c.oid) p) AS m (relid)
  JOIN pg_catalog.pg_locks l ON l.locktype = 'relation' AND l.relation = m.relid AND l.granted
  LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
 WHERE l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())
   AND l.pid IS DISTINCT FROM pg_catalog.pg_backend_pid()
   AND (? OR l.mode NOT IN ('AccessShareLock', 'RowShareLock'))
 GROUP BY l.pid, a.application_name, a.usename
 ORDER BY min(a.xact_start), l.pid
