-- Invariant: row mode's role can raise a mark and read it; the guard's triggers refuse to lower one or to remove a row.
SELECT pg_catalog.format('GRANT USAGE ON SCHEMA fenceline TO %1$I;'
    ' GRANT SELECT, INSERT, UPDATE ON TABLE fenceline.guard TO %1$I;'
    ' GRANT EXECUTE ON FUNCTION'
    ' fenceline.version_v1(),'
    ' fenceline.check_claim_v1(bigint, integer),'
    ' fenceline.record_row_v1(uuid, timestamptz),'
    ' fenceline.refuse_row_v1(text, text, bigint, text),'
    ' fenceline.resolve_v1(uuid, timestamptz, integer),'
    ' fenceline.blockers_v1(text[], bigint[])'
    ' TO %1$I', ?)
