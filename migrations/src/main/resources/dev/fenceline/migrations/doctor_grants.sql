-- Invariant: every function of the fence schema that a role was granted by name, the owner's own rights aside.
SELECT r.rolname::text, pg_catalog.array_agg(DISTINCT f.proname::text)
  FROM pg_catalog.pg_proc f
  JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace AND n.nspname = 'fenceline'
 CROSS JOIN LATERAL pg_catalog.aclexplode(f.proacl) AS a
  JOIN pg_catalog.pg_roles r ON r.oid = a.grantee AND a.grantee <> f.proowner
 WHERE a.privilege_type = 'EXECUTE'
 GROUP BY r.rolname
 ORDER BY r.rolname
