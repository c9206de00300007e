package dev.fenceline.migrations;

import java.util.List;

/** All that the catalogue says of the fence schema itself, as lines to compare; {@link Snapshot} has the rest of the database. */
final class FenceSnapshot {

    // Rights are sorted, and those that are usual are spelled out: a dump keeps neither the order nor how they came
    // about.
    private static final String QUERY = """
            WITH schema AS (SELECT n.oid, n.nspacl, n.nspowner, obj_description(n.oid, 'pg_namespace') AS said
                              FROM pg_namespace n WHERE n.nspname = 'fenceline'),
                 own AS (SELECT c.* FROM pg_class c, schema WHERE c.relnamespace = schema.oid)
            SELECT concat_ws(' ', 'schema', pg_get_userbyid(nspowner), ARRAY(SELECT a::text FROM unnest(coalesce(nspacl, acldefault('n', nspowner))) a ORDER BY 1), said) FROM schema
            UNION ALL
            SELECT concat_ws(' ', 'relation', relname, relkind, relpersistence, pg_get_userbyid(relowner),
                   ARRAY(SELECT a::text FROM unnest(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END, relowner))) a ORDER BY 1), reloptions, relrowsecurity, relforcerowsecurity, relnatts,
                   obj_description(oid, 'pg_class'), CASE WHEN relkind = 'v' THEN md5(pg_get_viewdef(oid)) END) FROM own
            UNION ALL
            SELECT concat_ws(' ', 'column', relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
                   a.attgenerated, a.attacl, a.attoptions, a.attstorage, a.attcollation::regcollation, a.attisdropped,
                   pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum))
              FROM own JOIN pg_attribute a ON a.attrelid = own.oid AND a.attnum > 0
              LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            UNION ALL
            SELECT concat_ws(' ', 'trigger', relname, t.tgname, t.tgenabled, pg_get_triggerdef(t.oid))
              FROM own JOIN pg_trigger t ON t.tgrelid = own.oid
            UNION ALL
            SELECT concat_ws(' ', 'constraint', relname, k.conname, k.convalidated, pg_get_constraintdef(k.oid))
              FROM own JOIN pg_constraint k ON k.conrelid = own.oid
            UNION ALL
            SELECT concat_ws(' ', 'index', relname, i.indexrelid::regclass, i.indisvalid, pg_get_indexdef(i.indexrelid))
              FROM own JOIN pg_index i ON i.indrelid = own.oid
            UNION ALL
            SELECT concat_ws(' ', 'sequence', relname, format_type(s.seqtypid, NULL), s.seqstart, s.seqincrement, s.seqmax, s.seqmin,
                   s.seqcache, s.seqcycle)
              FROM own JOIN pg_sequence s ON s.seqrelid = own.oid
            UNION ALL
            SELECT concat_ws(' ', 'routine', p.oid::regprocedure, p.prokind, md5(pg_get_functiondef(p.oid)), pg_get_userbyid(p.proowner),
                   ARRAY(SELECT a::text FROM unnest(coalesce(p.proacl, acldefault('f', p.proowner))) a ORDER BY 1), obj_description(p.oid, 'pg_proc'))
              FROM pg_proc p, schema WHERE p.pronamespace = schema.oid
            UNION ALL
            SELECT concat_ws(' ', 'default rights', d.defaclobjtype, pg_get_userbyid(d.defaclrole), d.defaclacl)
              FROM pg_default_acl d, schema WHERE d.defaclnamespace = schema.oid
            ORDER BY 1
            """;

    private FenceSnapshot() {}

    /** Two of them are equal iff definitions, attributes and rights are. */
    static List<String> of(Database database) {
        return database.rows(QUERY);
    }
}
