-- Invariant: the mark columns of every table that has both of them, partitions too, since a row can be inserted there directly.
SELECT n.nspname::text, c.relname::text, a.attname::text,
       pg_catalog.format_type(a.atttypid, a.atttypmod)
           || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
           || CASE WHEN a.attgenerated <> '' THEN ' GENERATED AS (' || pg_catalog.pg_get_expr(d.adbin, d.adrelid) || ')'
                   ELSE coalesce(' DEFAULT ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid), '') END
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('fence_token', 'fence_holder') AND NOT a.attisdropped
  LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
 WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't'
   AND 2 = (SELECT count(*) FROM pg_catalog.pg_attribute b
             WHERE b.attrelid = c.oid AND b.attname IN ('fence_token', 'fence_holder') AND NOT b.attisdropped)
 ORDER BY n.nspname, c.relname, a.attname DESC
