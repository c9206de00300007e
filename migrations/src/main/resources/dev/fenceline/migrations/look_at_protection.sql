-- Invariant: what the triggers of these tables say; two rows for one table when they say two things.
SELECT p.relation::pg_catalog.oid, p.mode, p.lock_class, p.key FROM fenceline.protected p WHERE p.relation::pg_catalog.oid = ANY (?::oid[])
