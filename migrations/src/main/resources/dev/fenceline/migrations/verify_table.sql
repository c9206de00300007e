-- Invariant: one row for a table that exists, none for another; members are the table and its partitions, however deep.
SELECT c.oid::pg_catalog.regclass::text,
       ARRAY(SELECT mn.nspname::text FROM pg_catalog.pg_partition_tree(c.oid) m
               JOIN pg_catalog.pg_class mc ON mc.oid = m.relid
               JOIN pg_catalog.pg_namespace mn ON mn.oid = mc.relnamespace
              WHERE m.relid <> c.oid ORDER BY m.level, m.relid) AS member_schemas,
       ARRAY(SELECT mc.relname::text FROM pg_catalog.pg_partition_tree(c.oid) m
               JOIN pg_catalog.pg_class mc ON mc.oid = m.relid
              WHERE m.relid <> c.oid ORDER BY m.level, m.relid) AS member_names,
       EXISTS (SELECT FROM pg_catalog.pg_subscription_rel s
                WHERE s.srrelid = c.oid
                   OR s.srrelid IN (SELECT m.relid FROM pg_catalog.pg_partition_tree(c.oid) m)) AS is_subscribed,
       ARRAY(SELECT pg_catalog.format('%I %s', a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod))
               FROM pg_catalog.unnest(?::text[]) WITH ORDINALITY AS k (name, place)
               JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = k.name AND NOT a.attisdropped AND a.attnum > 0
              ORDER BY k.place) AS key_columns
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = ? AND c.relname = ? AND c.relkind IN ('r', 'p')
