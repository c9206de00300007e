-- Invariant: an application's role can call what a fence calls, and touch no table; the role's name is quoted by the server.
SELECT pg_catalog.format('GRANT USAGE ON SCHEMA fenceline TO %1$I;'
    ' GRANT EXECUTE ON FUNCTION'
    ' fenceline.version_v1(),'
    ' fenceline.claim_v1(text, bigint, uuid, integer),'
    ' fenceline.enter_v1(text, bigint, uuid, integer, integer),'
    ' fenceline.leave_v1(uuid, text, timestamptz),'
    ' fenceline.resolve_v1(uuid, timestamptz, integer),'
    ' fenceline.status_v1(text),'
    ' fenceline.mark_v1(text),'
    ' fenceline.blocker_v1(text)'
    ' TO %1$I', ?)
