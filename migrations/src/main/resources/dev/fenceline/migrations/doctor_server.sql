-- Invariant: one row, of what every role may see.
SELECT current_database()::text,
       current_setting('server_version_num')::integer,
       current_setting('server_version'),
       pg_catalog.pg_is_in_recovery(),
       current_setting('fsync'),
       current_setting('full_page_writes'),
       s.setting AS synchronous_commit,
       s.source AS synchronous_commit_from,
       current_setting('synchronous_standby_names'),
       -- Logical walsenders hold a slot; what they send is no copy of this server.
       (SELECT count(*) FROM pg_catalog.pg_stat_replication r
         WHERE r.pid NOT IN (SELECT l.active_pid FROM pg_catalog.pg_replication_slots l
                              WHERE l.slot_type = 'logical' AND l.active_pid IS NOT NULL)),
       pg_catalog.getdatabaseencoding()::text,
       (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::bigint
  FROM pg_catalog.pg_settings s
 WHERE s.name = 'synchronous_commit'
