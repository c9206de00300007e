-- Invariant: going around the fence is granted by name, and never comes with the use of fences; the role's name is quoted by the server.
SELECT pg_catalog.format('GRANT USAGE ON SCHEMA fenceline TO %1$I;'
    ' GRANT EXECUTE ON FUNCTION fenceline.bypass(text) TO %1$I', ?)
