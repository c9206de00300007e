-- Invariant: an operator can see marks, records and who is in the way, and raise marks; he can lower none, claim none and enter nothing; the role's name is quoted by the server.
SELECT pg_catalog.format('GRANT USAGE ON SCHEMA fenceline TO %1$I;'
    ' GRANT SELECT ON fenceline.protected, fenceline.violation, fenceline.bypass, fenceline.raising TO %1$I;'
    ' GRANT EXECUTE ON FUNCTION'
    ' fenceline.version_v1(),'
    ' fenceline.blockers_v1(text[], bigint[]),'
    ' fenceline.describe_mark_v1(text),'
    ' fenceline.begin_raising_v1(text),'
    ' fenceline.raise_v1(text, uuid, integer),'
    ' fenceline.raise_marks_v1(uuid, text, integer),'
    ' fenceline.raised_token_v1(bigint),'
    ' fenceline.highest_token_v1()'
    ' TO %1$I', ?)
