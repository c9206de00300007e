-- Invariant: whatever beside its columns decides what a table of the fence holds and who sees it, one row for each: constraints, triggers but
-- those of verify_guard.sql, rules and row level security. Flyway's table is its own.
WITH own AS (
    SELECT c.oid, c.relname::text AS name, c.relrowsecurity
      FROM pg_catalog.pg_class c
     WHERE c.relnamespace = 'fenceline'::pg_catalog.regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_history'
)
SELECT o.name, '' AS part, pg_catalog.pg_get_constraintdef(x.oid) AS definition, '' AS enabled
  FROM own o JOIN pg_catalog.pg_constraint x ON x.conrelid = o.oid
 WHERE x.contype NOT IN ('n', 't')
UNION ALL
SELECT o.name, t.tgname::text, pg_catalog.pg_get_triggerdef(t.oid), t.tgenabled::text
  FROM own o JOIN pg_catalog.pg_trigger t ON t.tgrelid = o.oid
 WHERE NOT t.tgisinternal AND NOT (o.name = 'guard' AND t.tgname IN ('keep_mark', 'keep_row', 'keep_table'))
UNION ALL
SELECT o.name, '', pg_catalog.pg_get_ruledef(r.oid), ''
  FROM own o JOIN pg_catalog.pg_rewrite r ON r.ev_class = o.oid
UNION ALL
SELECT o.name, '', 'ROW LEVEL SECURITY', ''
  FROM own o WHERE o.relrowsecurity
 ORDER BY 1, 2, 3
