-- Invariant: four rows for each table and for each of its partitions, with nulls where a trigger is missing or is not ours.
SELECT r.root, m.relid, n.nspname::text, c.relname::text, e.event, t.tgenabled, pg_catalog.encode(t.tgargs, 'hex'),
       t.tgparentid <> 0 OR pg_catalog.obj_description(t.oid, 'pg_trigger') = fenceline.trigger_hash_v1(t.oid) AS as_made
  FROM unnest(?::oid[]) AS r (root)
 CROSS JOIN LATERAL (SELECT r.root UNION SELECT p.relid FROM pg_catalog.pg_partition_tree(r.root) p) AS m (relid)
  JOIN pg_catalog.pg_class c ON c.oid = m.relid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 CROSS JOIN (VALUES (1, 'insert'), (2, 'update'), (3, 'delete'), (4, 'truncate')) AS e (place, event)
  LEFT JOIN pg_catalog.pg_trigger t
         ON t.tgrelid = m.relid AND t.tgname = 'fenceline_' || e.event AND t.tgfoid = 'fenceline.judge_write_v1'::pg_catalog.regproc
 ORDER BY r.root, m.relid <> r.root, m.relid, e.place
