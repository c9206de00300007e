-- Invariant: what keeps a mark from falling or vanishing, as it is.
SELECT t.tgname::text, t.tgenabled::text, pg_catalog.pg_get_triggerdef(t.oid), c.relpersistence::text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_trigger t ON t.tgrelid = c.oid AND NOT t.tgisinternal
 WHERE n.nspname = 'fenceline' AND c.relname = 'guard'
 ORDER BY t.tgname
