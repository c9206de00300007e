-- Invariant: what the triggers of each table say; two rows for one table when they say two things.
SELECT n.nspname::text, c.relname::text, p.mode, p.lock_class, p.key
  FROM fenceline.protected p
  JOIN pg_catalog.pg_class c ON c.oid = p.relation
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 ORDER BY n.nspname, c.relname, p.mode, p.lock_class, p.key
