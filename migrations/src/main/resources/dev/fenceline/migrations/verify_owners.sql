-- Invariant: what in the fence schema is not its owner's, who is the one that has most of it: what runs with an owner's rights needs
-- those of the one owner of the marks. Indexes and triggers go with their tables.
WITH object (place, name, owner) AS (
    SELECT 1, 'table fenceline.' || c.relname, c.relowner
      FROM pg_catalog.pg_class c WHERE c.relnamespace = 'fenceline'::pg_catalog.regnamespace AND c.relkind IN ('r', 'p')
    UNION ALL
    SELECT 2, 'view fenceline.' || c.relname, c.relowner
      FROM pg_catalog.pg_class c WHERE c.relnamespace = 'fenceline'::pg_catalog.regnamespace AND c.relkind IN ('v', 'm')
    UNION ALL
    SELECT 3, 'function fenceline.' || f.proname, f.proowner
      FROM pg_catalog.pg_proc f WHERE f.pronamespace = 'fenceline'::pg_catalog.regnamespace
), usual (owner) AS (SELECT pg_catalog.mode() WITHIN GROUP (ORDER BY o.owner) FROM object o)
SELECT o.name, pg_catalog.pg_get_userbyid(u.owner)::text, pg_catalog.pg_get_userbyid(o.owner)::text
  FROM object o CROSS JOIN usual u
 WHERE o.owner <> u.owner
 ORDER BY o.place, o.name
