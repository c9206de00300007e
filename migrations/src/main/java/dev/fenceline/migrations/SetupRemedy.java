package dev.fenceline.migrations;

import java.sql.SQLException;

/** What to do when installing or granting was refused, by the server's SQLSTATE. */
final class SetupRemedy {

    private static final String AS_OWNER = "connect as the owner of schema fenceline";
    private static final String LOOK = "see what the database said";

    private SetupRemedy() {}

    /**
     * When the schema could not be created.
     *
     * @param role who asked, quoted; empty where even that could not be asked for
     */
    static String ofCreating(SQLException said, String role) {
        // Without AUTHORIZATION the schema would be the administrator's, and closed to whoever is to install into it.
        return Sql.state(said).equals("42501")
                ? "have an administrator run: CREATE SCHEMA fenceline AUTHORIZATION " + role
                : LOOK;
    }

    static String ofInstalling(SQLException said, String role) {
        return switch (Sql.state(said)) {
            // A relation or a function is there that the history does not know of.
            case "42P07", "42723" ->
                "bring the rows of fenceline.schema_history too, if this schema came from a dump of definitions alone; if not, find"
                        + " out who has made what is in the way";
            case "42501" -> AS_OWNER + ", or, while it is empty, have him run: ALTER SCHEMA fenceline OWNER TO " + role;
            // Flyway's own, of what is in the schema.
            case "F0000" -> "find out who has filled or changed schema fenceline, which is the fence's own";
            default -> LOOK;
        };
    }

    static String ofGranting(SQLException said, Wording wording, String role) {
        return switch (Sql.state(said)) {
            case "3F000", "42883", "42P01" -> "install the schema of this release first: " + wording.install();
            case "42704" -> "create the role first: CREATE ROLE " + Identifiers.shown(role) + " LOGIN";
            case "42501", "01007" -> AS_OWNER;
            default -> LOOK;
        };
    }
}
