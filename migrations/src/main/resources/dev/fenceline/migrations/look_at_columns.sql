-- Invariant: every column that a statement can name, in the order of the table; what else depends on one is named.
SELECT a.attrelid,
       a.attname::text,
       pg_catalog.format_type(a.atttypid, a.atttypmod),
       a.attnotnull,
       pg_catalog.pg_get_expr(d.adbin, d.adrelid),
       ARRAY(SELECT DISTINCT pg_catalog.pg_describe_object(p.classid, p.objid, p.objsubid) COLLATE "C" AS dependent
               FROM (SELECT a.attrelid UNION SELECT m.relid FROM pg_catalog.pg_partition_tree(a.attrelid) m) AS member (relid)
               JOIN pg_catalog.pg_attribute own ON own.attrelid = member.relid AND own.attname = a.attname
               JOIN pg_catalog.pg_depend p ON p.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
                                          AND p.refobjid = own.attrelid AND p.refobjsubid = own.attnum
               LEFT JOIN pg_catalog.pg_constraint k ON p.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND k.oid = p.objid
              WHERE a.attname IN ('fence_token', 'fence_holder')
                -- Neither its own default nor its own NOT NULL.
                AND p.classid <> 'pg_catalog.pg_attrdef'::pg_catalog.regclass
                AND k.contype IS DISTINCT FROM 'n'
              ORDER BY dependent)
  FROM pg_catalog.pg_attribute a
  LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE a.attrelid = ANY (?::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
 ORDER BY a.attrelid, a.attnum
