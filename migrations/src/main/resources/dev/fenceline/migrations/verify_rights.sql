-- Invariant: every right that a role other than an object's owner has in the fence schema, one row for each, column or not; '' is PUBLIC.
-- Where nothing was ever granted the catalogue has NULL, which for functions lets everybody call them.
WITH given (kind, name, acl, owner) AS (
    SELECT 'schema', 'fenceline', coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner)), n.nspowner
      FROM pg_catalog.pg_namespace n WHERE n.nspname = 'fenceline'
    UNION ALL
    SELECT 'function', f.proname::text, coalesce(f.proacl, pg_catalog.acldefault('f', f.proowner)), f.proowner
      FROM pg_catalog.pg_proc f JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace AND n.nspname = 'fenceline'
    UNION ALL
    SELECT 'relation', c.relname::text, c.relacl, c.relowner
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'fenceline'
     WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')
    UNION ALL
    SELECT 'column', c.relname || '.' || a.attname, a.attacl, c.relowner
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'fenceline'
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attacl IS NOT NULL
)
SELECT DISTINCT coalesce(r.rolname::text, ''), g.kind, g.name, x.privilege_type
  FROM given g
 CROSS JOIN LATERAL pg_catalog.aclexplode(g.acl) AS x
  LEFT JOIN pg_catalog.pg_roles r ON r.oid = x.grantee
 WHERE x.grantee <> g.owner
 ORDER BY 1, 2, 3, 4
