-- Invariant: what a role or a database sets for its sessions, where it can be a session of this database. A role that may not use the
-- fence, one for reports that is read-only for instance, claims nothing; it matters to triggers alone.
SELECT coalesce(r.rolname::text, ''), coalesce(d.datname::text, ''), split_part(c.setting, '=', 1), lower(split_part(c.setting, '=', 2))
  FROM pg_catalog.pg_db_role_setting s
 CROSS JOIN LATERAL pg_catalog.unnest(s.setconfig) AS c (setting)
  LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.setrole
  LEFT JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase
 WHERE split_part(c.setting, '=', 1) IN ('synchronous_commit', 'session_replication_role', 'default_transaction_read_only')
   AND (s.setdatabase = 0 OR d.datname = current_database())
   AND (s.setrole = 0
        OR split_part(c.setting, '=', 1) = 'session_replication_role'
        OR coalesce((SELECT pg_catalog.has_schema_privilege(s.setrole, n.oid, 'USAGE')
                       FROM pg_catalog.pg_namespace n WHERE n.nspname = 'fenceline'), true))
 ORDER BY 3, 1, 2
