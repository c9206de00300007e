-- Invariant: a role that owns tables can put triggers on them, take them off, see what is protected and what was observed, and do nothing else by this; the role's name is quoted by the server.
SELECT pg_catalog.format('GRANT USAGE ON SCHEMA fenceline TO %1$I;'
    ' GRANT SELECT ON fenceline.protected, fenceline.violation TO %1$I;'
    ' GRANT EXECUTE ON FUNCTION'
    ' fenceline.protect(regclass, text, text[], text),'
    ' fenceline.unprotect(regclass),'
    ' fenceline.protect_v1(regclass, text, text[], text),'
    ' fenceline.unprotect_v1(regclass),'
    ' fenceline.require_name_v1(text),'
    ' fenceline.require_protectable_v1(regclass),'
    ' fenceline.key_part_v1(regclass, text),'
    ' fenceline.condition_v1(text, regclass, text),'
    ' fenceline.judge_write_v1()'
    ' TO %1$I', ?)
