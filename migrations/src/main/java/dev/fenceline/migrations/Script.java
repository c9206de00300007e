package dev.fenceline.migrations;

import java.util.List;

/**
 * The text that carries steps out: one {@code DO} statement, so that whatever runs it does all of it or nothing, and the limit on
 * waiting and the check of the schema's version hold without a transaction around it. Its body is a plain string and no dollar-quoted
 * one: tools that split a file at semicolons know the quotes of the standard.
 */
final class Script {

    private Script() {}

    /**
     * Writes the text.
     *
     * @param comments lines for people, without dashes
     * @param statements as {@link Step#statements()} has them
     */
    static String of(List<String> comments, List<String> statements) {
        StringBuilder text = new StringBuilder(256);
        comments.forEach(
                line -> text.append("-- ").append(Identifiers.comment(line)).append('\n'));
        if (statements.isEmpty()) {
            return text.toString();
        }
        StringBuilder body = new StringBuilder(1024);
        body.append("\nBEGIN\n").append(PREAMBLE);
        statements.forEach(line -> body.append("    ").append(line).append('\n'));
        body.append("END\n");
        return text.append("DO ")
                .append(Identifiers.stringConstant(body.toString()))
                .append(";\n")
                .toString();
    }

    private static final String PREAMBLE = """
                IF pg_catalog.to_regprocedure('fenceline.version_v1()') IS NULL THEN
                    RAISE EXCEPTION USING ERRCODE = 'FL012',
                        MESSAGE = 'Nothing was changed: this database has no fence schema, and these statements call it',
                        HINT = 'Install it first (fenceline install, in Java FenceMigrations.install), then run this again.';
                END IF;
                IF fenceline.version_v1() < %1$d THEN
                    RAISE EXCEPTION USING ERRCODE = 'FL012',
                        MESSAGE = 'Nothing was changed: these statements need version %1$d of the fence schema, and find version '
                            || fenceline.version_v1(),
                        HINT = 'Upgrade it first (fenceline upgrade, in Java FenceMigrations.install), then run this again.';
                END IF;
                SET LOCAL lock_timeout = '%2$dms';
            """.formatted(
                    Catalogue.NEEDED_VERSION,
                    ApplyOptions.defaults().lockTimeout().toMillis())
            .indent(0);
}
