package dev.fenceline.migrations;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.Finding;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Statement;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;

/**
 * Brings the fence schema into a PostgreSQL database: the schema {@code fenceline} with the marks, the record of operations
 * and the functions that a fence calls.
 *
 * <pre>{@code
 * FenceMigrations migrations = FenceMigrations.on(ownerDataSource);
 * migrations.install();
 * migrations.grantTo("app");
 * }</pre>
 *
 * <p><b>Guarantees:</b> only the schema {@code fenceline} is touched. Flyway runs with a history table of its own,
 * {@code fenceline.schema_history}, and neither reads nor baselines another. Releases that share a database run side by side:
 * an upgrade adds functions and removes none that an earlier release calls.
 *
 * <p><b>Thread-safety:</b> immutable.
 */
public final class FenceMigrations {

    private static final String SCHEMA = "fenceline";
    private static final String NOT_GRANTED = "01007";
    private static final String INSTALLING = "Installing the fence schema";

    private final DataSource dataSource;
    private final Wording wording;

    private FenceMigrations(DataSource dataSource, Wording wording) {
        this.dataSource = dataSource;
        this.wording = wording;
    }

    /**
     * Chooses the database.
     *
     * @param dataSource connects as the role that is to own the schema; it needs two connections at a time
     * @return migrations of that database; nothing is sent yet
     */
    public static FenceMigrations on(DataSource dataSource) {
        return new FenceMigrations(Objects.requireNonNull(dataSource, "dataSource"), Wording.JAVA);
    }

    /**
     * Says in whose words messages, differences and findings tell what to do.
     *
     * @param other that of whoever reads them; {@link Wording#JAVA} where nothing is said
     * @return a copy
     */
    public FenceMigrations worded(Wording other) {
        return new FenceMigrations(dataSource, Objects.requireNonNull(other, "other"));
    }

    /**
     * Installs the schema, or brings it up to this release. Idempotent, and safe when several processes install at once.
     *
     * <p><b>Blocking:</b> while another process installs.
     *
     * @throws BackendMisconfiguredException when the role may not create the schema, or something else than these migrations
     *     has filled it; the message says which
     * @throws BackendUnavailableException when the database cannot be reached
     */
    public void install() {
        String role = "";
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(true);
            role = ourselves(statement);
            statement.execute(Sql.resource("create_schema.sql"));
        } catch (SQLException e) {
            throw failure(INSTALLING, SetupRemedy.ofCreating(e, role), e, e);
        }
        try {
            Flyway.configure(FenceMigrations.class.getClassLoader())
                    .dataSource(dataSource)
                    .locations("classpath:dev/fenceline/migrations/versioned")
                    .schemas(SCHEMA)
                    .defaultSchema(SCHEMA)
                    .createSchemas(false)
                    .table("schema_history")
                    .baselineOnMigrate(false)
                    .cleanDisabled(true)
                    .placeholderReplacement(false)
                    .load()
                    .migrate();
        } catch (FlywayException e) {
            SQLException said = sqlCause(e);
            throw failure(INSTALLING, SetupRemedy.ofInstalling(said, role), e, said);
        }
    }

    private static String ourselves(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT pg_catalog.quote_ident(current_user)")) {
            row.next();
            return row.getString(1);
        }
    }

    /**
     * Looks what it takes to make these changes, and changes nothing.
     *
     * @param changes to tables, each named once for its protection and once for its columns
     * @return what to do
     * @throws PlanRefusedException when a change does not fit a table; it has all faults of all tables
     * @throws BackendMisconfiguredException when the fence schema is missing or too old, or the role has no right on it
     * @throws BackendUnavailableException when the database cannot be reached
     */
    public Plan plan(Change... changes) {
        return plan(List.of(changes));
    }

    /**
     * Looks what it takes to make these changes, and changes nothing; else as {@link #plan(Change...)}.
     *
     * @param changes to tables, each named once for its protection and once for its columns
     * @return what to do
     */
    public Plan plan(List<? extends Change> changes) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(true);
            return new Plan(dataSource, Planner.plan(new Catalogue(connection), List.copyOf(changes), wording));
        } catch (SQLException e) {
            throw failure("Planning", "look at what the server said", e, e);
        }
    }

    /**
     * Lets a role use fences, and nothing else: USAGE on the schema, EXECUTE on the functions that a fence calls, and the view through
     * which one statement locks its mark; that shows the names of all locks and their tokens. The role cannot read or write a table of
     * the schema. Idempotent.
     *
     * @param role the role's name as PostgreSQL shows it, unquoted; it is quoted here
     * @throws BackendMisconfiguredException when there is no such role, when the schema is not installed, or when our own role
     *     does not own it
     * @throws BackendUnavailableException when the database cannot be reached
     */
    public void grantTo(String role) {
        grant("grant.sql", "Granting the use of fences", role);
    }

    /**
     * Lets a role put triggers of the fence on tables that it owns: {@code fenceline.protect} and {@code unprotect}, and
     * {@code fenceline.keep_marks_v1}, which keeps the marks of rows that are deleted without the fence. It sees what is protected in this
     * database ({@code fenceline.protected}) and what was observed ({@code fenceline.violation}). The owner of the schema needs no
     * grant. Idempotent.
     *
     * <p><b>Not guaranteed:</b> that the role cannot disturb other locks. By a table of its own that keeps marks it can raise the mark of
     * any lock, up to 25 h ahead, and so keep others out until then. It is for whoever migrates the tables, not for an application.
     *
     * @param role the role's name as PostgreSQL shows it, unquoted; it is quoted here
     * @throws BackendMisconfiguredException when there is no such role, when the schema is not installed, or when our own role
     *     does not own it
     * @throws BackendUnavailableException when the database cannot be reached
     */
    public void grantProtectionTo(String role) {
        grant("grant_protection.sql", "Granting the protection of tables", role);
    }

    /**
     * Lets a role go around the fence with {@code fenceline.bypass}, transaction by transaction and on the record. For data
     * migrations; an application's own role does not need it. Idempotent.
     *
     * @param role the role's name as PostgreSQL shows it, unquoted; it is quoted here
     * @throws BackendMisconfiguredException when there is no such role, when the schema is not installed, or when our own role
     *     does not own it
     * @throws BackendUnavailableException when the database cannot be reached
     */
    public void grantBypassTo(String role) {
        grant("grant_bypass.sql", "Granting the bypass of fences", role);
    }

    /**
     * Lets a role use row mode: what its statements call, and SELECT, INSERT and UPDATE on the table of marks, which the triggers
     * of that table keep from lowering or removing one. The rights on its own tables are yours to give. Idempotent; a role that
     * uses transactions under a fence too needs {@link #grantTo} as well, and {@code fenceline.keep_marks_v1} is for the owner of the
     * tables: {@link #grantProtectionTo}.
     *
     * @param role the role's name as PostgreSQL shows it, unquoted; it is quoted here
     * @throws BackendMisconfiguredException when there is no such role, when the schema is not installed, or when our own role
     *     does not own it
     * @throws BackendUnavailableException when the database cannot be reached
     */
    public void grantRowsTo(String role) {
        grant("grant_rows.sql", "Granting the use of row mode", role);
    }

    /**
     * Lets a role operate fences ({@link FenceOperations}): see marks, who is in the way and what was recorded, and raise marks. It can claim nothing
     * and write nothing else. To see since when other roles' sessions are in the way it has to be a member of {@code pg_read_all_stats}; for
     * {@link FenceOperations#afterRestore} it needs UPDATE on the mark columns of row mode, and {@link #grantBypassTo} where such tables
     * are protected. Idempotent.
     *
     * @param role the role's name as PostgreSQL shows it, unquoted; it is quoted here
     * @throws BackendMisconfiguredException when there is no such role, when the schema is not installed, or when our own role
     *     does not own it
     * @throws BackendUnavailableException when the database cannot be reached
     */
    public void grantOperationsTo(String role) {
        grant("grant_operations.sql", "Granting the operation of fences", role);
    }

    /**
     * Tells how the database differs from what is declared, for a check in CI: tables that are protected otherwise or not at all, protected tables that
     * nobody declares, triggers that were dropped, disabled or replaced, partitions that were attached since, mark columns of row mode with
     * another default, functions, views and triggers of the fence schema that somebody changed, parts of it that belong to somebody else, and
     * rights there that no grant of the fence gives.
     *
     * <p><b>Guarantees:</b> nothing is changed, and no lock is taken on your tables: triggers are compared with those of a temporary table that is
     * rolled back. Definitions are compared as the server writes them, and so hold on every version of PostgreSQL.
     *
     * <p><b>Not guaranteed:</b> that the server's settings are safe; {@link #doctor()} looks at them.
     *
     * <p>The role needs {@link #grantProtectionTo}, TEMPORARY on the database, and USAGE on the types of key columns.
     *
     * @param declared every table that is to be protected, and how
     * @return the differences
     * @throws IllegalArgumentException when a table is declared twice
     * @throws BackendMisconfiguredException when a right is missing, or the server is a standby
     * @throws BackendUnavailableException when the database cannot be reached
     */
    public Verification verify(List<Protect> declared) {
        return Questions.askAndRollBack(
                dataSource, wording, "Verification", connection -> new Verifier(connection, wording).verify(declared));
    }

    /**
     * Looks at the live database for what takes away a promise of the fence: settings that lose commits, a standby, a schema of another release, triggers
     * that do not fire, tables that go around them, rights that an upgrade added, clocks that disagree.
     *
     * <p><b>Guarantees:</b> nothing is changed; it reads the catalogue and settings, which every role may that can connect.
     *
     * <p><b>Not guaranteed:</b> what only a superuser sees, such as settings in files that are not loaded yet; nor the lock server's side.
     *
     * @return what was found, the worst first; empty when all is well
     * @throws BackendMisconfiguredException when the database refuses the connection
     * @throws BackendUnavailableException when the database cannot be reached
     */
    public List<Finding> doctor() {
        return doctor(InstantSource.system());
    }

    List<Finding> doctor(InstantSource clock) {
        return Questions.askAndRollBack(
                dataSource,
                wording,
                "Looking at the database",
                connection -> new Doctor(connection, clock, wording).findings());
    }

    private void grant(String script, String step, String role) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            try (PreparedStatement grant = connection.prepareStatement(Sql.resource(script))) {
                grant.setString(1, role);
                try (ResultSet text = grant.executeQuery();
                        Statement statement = connection.createStatement()) {
                    text.next();
                    // Both or neither, since the first lets somebody into the schema.
                    statement.execute("SET LOCAL client_min_messages = warning; " + Sql.resource("close_to_public.sql")
                            + text.getString(1));
                    requireGranted(statement);
                }
                connection.commit();
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            throw failure(step + " to role '" + role + "'", SetupRemedy.ofGranting(e, wording, role), e, e);
        }
    }

    /** Whoever grants what he has and may not pass on is warned and not refused. */
    private static void requireGranted(Statement statement) throws SQLException {
        for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
            if (Sql.state(warning).equals(NOT_GRANTED)) {
                throw warning;
            }
        }
    }

    static FencelineException failure(String step, String remedy, Exception cause, SQLException said) {
        String state = Sql.state(said);
        String message = step + " failed";
        // Of connections: 08 could not be made or broke, 57P lost to a shutdown, 53 out of resources.
        if (state.isEmpty()) {
            // Not from the server, which always gives a state: a pool that is exhausted, or a driver's own complaint.
            return new BackendUnavailableException(
                    message + ": the data source gave no usable connection (" + Sql.firstLine(said)
                            + "). Check its settings and the size of its pool, which is to be two at least, and try again;"
                            + " what was installed so far stays.",
                    cause);
        }
        if (state.equals("55P03") || state.equals("57014")) {
            return new BackendUnavailableException(
                    message
                            + ": it had to wait for another session for longer than lock_timeout or statement_timeout allows ("
                            + Sql.firstLine(said)
                            + "). Try again when the other session has ended, or raise that timeout for"
                            + " the role that installs; what was installed so far stays.",
                    cause);
        }
        if (state.startsWith("08") || state.startsWith("57P") || state.startsWith("53")) {
            return new BackendUnavailableException(
                    message + ": the database cannot be reached (" + Sql.firstLine(said)
                            + "). Check its address and try again; what was installed so far stays.",
                    cause);
        }
        if (state.startsWith("28") || state.equals("3D000")) {
            return new BackendMisconfiguredException(
                    message + ": the database refuses the connection (" + Sql.firstLine(said)
                            + "). Check the user, the password and the name of the database.",
                    cause);
        }
        return new BackendMisconfiguredException(
                message + ": " + Sql.firstLine(said) + " (SQLSTATE " + state + "). To do: " + remedy + ".", cause);
    }

    private static SQLException sqlCause(FlywayException e) {
        for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql) {
                return sql;
            }
        }
        // Flyway's own complaint: a history that does not fit, or a schema filled by something else. F0000 is
        // PostgreSQL's
        // code for a configuration error.
        String complaint = Objects.requireNonNullElse(e.getMessage(), e.toString());
        return new SQLException(complaint.replaceAll("\\s*\\R\\s*", " "), "F0000", e);
    }
}
