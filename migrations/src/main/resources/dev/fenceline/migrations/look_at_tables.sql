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
       ARRAY(SELECT elsewhere.nspname::text COLLATE "C" AS schema
               FROM pg_catalog.pg_class same
               JOIN pg_catalog.pg_namespace elsewhere ON elsewhere.oid = same.relnamespace
              WHERE c.oid IS NULL AND same.relname = t.name AND same.relkind IN ('r', 'p')
              ORDER BY schema) AS elsewhere
  FROM unnest(?::text[], ?::text[]) WITH ORDINALITY AS t (schema, name, place)
  LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = t.schema
  LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = t.name AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
 ORDER BY t.place
