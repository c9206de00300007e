-- Invariant: one row for each name that is asked for, in its order, whether there is such a table or not.
SELECT t.place,
       c.oid,
       c.relkind,
       c.relispartition,
       c.reloftype <> 0 AS typed,
       pg_catalog.pg_get_userbyid(c.relowner)::text AS owner,
       pg_catalog.pg_has_role(c.relowner, 'USAGE') AS owned,
       pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS reachable,
       (SELECT count(*) FROM pg_catalog.pg_partition_tree(c.oid) p WHERE p.relid <> c.oid) AS partitions,
       ARRAY(SELECT DISTINCT s.subname::text COLLATE "C" AS subscription
               FROM pg_catalog.pg_subscription_rel r
               JOIN pg_catalog.pg_subscription s ON s.oid = r.srsubid
              WHERE r.srrelid = c.oid OR r.srrelid IN (SELECT p.relid FROM pg_catalog.pg_partition_tree(c.oid) p)
              ORDER BY subscription) AS subscriptions,
       nearby.schemas,
       nearby.names
  FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS t (schema, name, place)
  LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = t.schema
  LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.name AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  -- Where there is none: tables of that name elsewhere, and those that differ in capitals.
  LEFT JOIN LATERAL (
       SELECT pg_catalog.array_agg(s.nspname::text ORDER BY s.relname <> t.name, s.nspname <> t.schema, s.nspname COLLATE "C") AS schemas,
              pg_catalog.array_agg(s.relname::text ORDER BY s.relname <> t.name, s.nspname <> t.schema, s.nspname COLLATE "C") AS names
         FROM (SELECT e.nspname, same.relname
                 FROM pg_catalog.pg_class same
                 JOIN pg_catalog.pg_namespace e ON e.oid = same.relnamespace
                WHERE c.oid IS NULL AND same.relkind IN ('r', 'p')
                  AND pg_catalog.lower(same.relname::text COLLATE "C") = pg_catalog.lower(t.name COLLATE "C")) s) nearby ON true
 ORDER BY t.place
