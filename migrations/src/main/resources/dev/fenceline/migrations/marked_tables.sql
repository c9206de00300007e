-- Invariant: every table of this database whose rows carry a mark is here once; a partitioned one by its root, which writes all of it.
-- The key is a unique index without NULLs, the primary key if there is one. Its operators are named by where its operator class is.
SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name,
       c.oid,
       c.relkind = 'p' AS is_partitioned,
       pg_catalog.has_schema_privilege(n.oid, 'USAGE')
           AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
           AND pg_catalog.has_column_privilege(c.oid, 'fence_token', 'UPDATE')
           AND pg_catalog.has_column_privilege(c.oid, 'fence_holder', 'UPDATE') AS is_writable,
       EXISTS (SELECT FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc f ON f.oid = t.tgfoid
                WHERE t.tgrelid = c.oid AND f.proname = 'judge_write_v1'
                  AND f.pronamespace = 'fenceline'::pg_catalog.regnamespace) AS is_protected,
       coalesce(k.columns, '{}') AS key_columns,
       coalesce(k.types, '{}') AS key_types,
       coalesce(k.operators, '') AS operator_schemas
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_attribute token ON token.attrelid = c.oid AND token.attname = 'fence_token' AND NOT token.attisdropped
                                    AND token.atttypid = 'pg_catalog.int8'::pg_catalog.regtype
  JOIN pg_catalog.pg_attribute holder ON holder.attrelid = c.oid AND holder.attname = 'fence_holder' AND NOT holder.attisdropped
                                     AND holder.atttypid = 'pg_catalog.uuid'::pg_catalog.regtype
  LEFT JOIN LATERAL (
        -- By the collation of the index, which can serve the pages then; two texts may be one to the column's and two to the index.
        SELECT pg_catalog.array_agg(pg_catalog.quote_ident(a.attname)
                   || coalesce(' COLLATE ' || pg_catalog.quote_ident(ln.nspname) || '.' || pg_catalog.quote_ident(l.collname), '')
                   ORDER BY x.place) AS columns,
               pg_catalog.array_agg(pg_catalog.format_type(a.atttypid, a.atttypmod) ORDER BY x.place) AS types,
               pg_catalog.string_agg(DISTINCT pg_catalog.quote_ident(s.nspname), ', ') AS operators
          FROM pg_catalog.pg_index i
         CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(i.indkey), pg_catalog.unnest(i.indclass), pg_catalog.unnest(i.indcollation))
            WITH ORDINALITY AS x (attnum, opclass, compared_by, place)
          JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = x.attnum
          JOIN pg_catalog.pg_opclass o ON o.oid = x.opclass
          JOIN pg_catalog.pg_namespace s ON s.oid = o.opcnamespace
          LEFT JOIN pg_catalog.pg_collation l ON l.oid = x.compared_by AND x.compared_by <> a.attcollation
          LEFT JOIN pg_catalog.pg_namespace ln ON ln.oid = l.collnamespace
         WHERE x.place <= i.indnkeyatts
           AND i.indexrelid = (
                SELECT u.indexrelid
                  FROM pg_catalog.pg_index u
                 WHERE u.indrelid = c.oid AND u.indisunique AND u.indisvalid AND u.indimmediate
                   AND u.indpred IS NULL AND u.indexprs IS NULL
                   AND NOT EXISTS (SELECT FROM pg_catalog.unnest(u.indkey) WITH ORDINALITY AS y (attnum, place)
                                     JOIN pg_catalog.pg_attribute b ON b.attrelid = c.oid AND b.attnum = y.attnum
                                    WHERE y.place <= u.indnkeyatts AND NOT b.attnotnull)
                 ORDER BY u.indisprimary DESC, u.indexrelid
                 LIMIT 1)) AS k ON true
 WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence <> 't'
 ORDER BY n.nspname, c.relname
