package dev.fenceline.migrations;

import java.util.ArrayList;
import java.util.List;

/** All that the catalogue says of the user's own objects, as lines to compare. */
final class Snapshot {

    private static final String QUERY = """
            WITH own AS (
                SELECT c.*, format('%I.%I', n.nspname, c.relname) AS path
                  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE n.nspname !~ '^pg_' AND n.nspname NOT IN ('fenceline', 'information_schema')
            )
            SELECT concat_ws(' ', 'relation', path, relkind, relpersistence, pg_get_userbyid(relowner), relacl, reloptions,
                   relrowsecurity, relforcerowsecurity, relispartition, relreplident, relnatts, relchecks, relam,
                   pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid), obj_description(oid, 'pg_class')) FROM own
            UNION ALL
            SELECT concat_ws(' ', 'file', path, relfilenode) FROM own
            UNION ALL
            SELECT concat_ws(' ', 'column', path, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity,
                   a.attgenerated, a.attacl, a.attoptions, a.attstorage, a.attcollation, a.attislocal, a.attinhcount, a.atthasmissing,
                   pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum))
              FROM own JOIN pg_attribute a ON a.attrelid = own.oid AND a.attnum > 0
              LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
            UNION ALL
            SELECT concat_ws(' ', 'trigger', path, t.tgname, t.tgenabled, t.tgparentid <> 0, pg_get_triggerdef(t.oid),
                   obj_description(t.oid, 'pg_trigger'))
              FROM own JOIN pg_trigger t ON t.tgrelid = own.oid WHERE NOT t.tgisinternal OR t.tgname LIKE 'fenceline%'
            UNION ALL
            SELECT concat_ws(' ', 'constraint', path, k.conname, k.convalidated, pg_get_constraintdef(k.oid))
              FROM own JOIN pg_constraint k ON k.conrelid = own.oid
            UNION ALL
            SELECT concat_ws(' ', 'index', path, i.indexrelid::regclass, i.indisvalid, pg_get_indexdef(i.indexrelid))
              FROM own JOIN pg_index i ON i.indrelid = own.oid
            UNION ALL
            SELECT concat_ws(' ', 'rule', path, r.rulename, r.ev_enabled, pg_get_ruledef(r.oid)) FROM own JOIN pg_rewrite r ON r.ev_class = own.oid
            UNION ALL
            SELECT concat_ws(' ', 'policy', path, p.polname, p.polcmd, pg_get_expr(p.polqual, p.polrelid)) FROM own JOIN pg_policy p ON p.polrelid = own.oid
            UNION ALL
            SELECT concat_ws(' ', 'function', p.oid::regprocedure, md5(p.prosrc), p.proacl, pg_get_userbyid(p.proowner))
              FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
             WHERE n.nspname !~ '^pg_' AND n.nspname NOT IN ('fenceline', 'information_schema')
            UNION ALL
            SELECT concat_ws(' ', 'type', t.oid::regtype, t.typtype, t.typacl, pg_get_userbyid(t.typowner))
              FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
             WHERE n.nspname !~ '^pg_' AND n.nspname NOT IN ('fenceline', 'information_schema')
            UNION ALL
            SELECT concat_ws(' ', 'schema', n.nspname, n.nspacl, pg_get_userbyid(n.nspowner)) FROM pg_namespace n
             WHERE n.nspname !~ '^pg_' AND n.nspname NOT IN ('fenceline', 'information_schema')
            ORDER BY 1
            """;

    private Snapshot() {}

    /** One line for each fact; two snapshots are equal iff definitions, attributes, rights and the files of the rows are. */
    static List<String> of(Database database) {
        return database.rows(QUERY).stream()
                .map(line -> line.replace("\n", "?"))
                .toList();
    }

    /** Likewise, to be compared with that of another database, where files have other numbers. */
    static List<String> comparable(Database database) {
        return of(database).stream().filter(line -> !line.startsWith("file ")).toList();
    }

    /** But for the places that dropped columns leave behind, which nobody sees. */
    static List<String> visible(List<String> snapshot) {
        return snapshot.stream()
                .filter(line -> !line.contains("........pg.dropped."))
                .map(line -> line.startsWith("relation ") ? line.replaceFirst(" d \\d+ 0 ", " d 0 ") : line)
                .toList();
    }

    /** What only one of both says. */
    static List<String> difference(List<String> before, List<String> after) {
        List<String> difference = new ArrayList<>();
        before.stream().filter(line -> !after.contains(line)).forEach(line -> difference.add("- " + line));
        after.stream().filter(line -> !before.contains(line)).forEach(line -> difference.add("+ " + line));
        return difference;
    }
}
