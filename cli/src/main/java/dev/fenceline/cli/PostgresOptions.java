package dev.fenceline.cli;

import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How a command reaches the database. */
final class PostgresOptions {

    private static final String INSTEAD =
            "Set FENCELINE_PASSWORD, or use --password-file or ~/.pgpass, or leave it out and be asked.";
    private static final int CONNECT_SECONDS = 10;

    private final Terminal terminal;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything runs
    private CommandSpec spec;

    private @Nullable String url;

    @Option(
            names = "--user",
            paramLabel = "ROLE",
            order = 81,
            description = "Connect as this role, rather than the one in the URL.")
    private @Nullable String user;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            order = 82,
            description = "Take the password from the first line of this file.")
    private @Nullable Path passwordFile;

    PostgresOptions(Terminal terminal) {
        this.terminal = terminal;
    }

    @Option(
            names = "--url",
            paramLabel = "URL",
            order = 80,
            description = "postgresql://host[:port]/database or jdbc:postgresql://…; without it FENCELINE_URL.")
    void url(String text) {
        try {
            if (text != null
                    && PostgresAddress.parse("The address of --url", text).holdsPassword()) {
                throw Passwords.refused(spec, "A password in --url", INSTEAD);
            }
        } catch (Failure e) {
            // Of any other exception picocli repeats the argument.
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
        }
        url = text;
    }

    @Option(
            names = {"--password", "--passwd", "--pw"},
            hidden = true,
            arity = "0..1",
            fallbackValue = "")
    void password(String ignored) {
        if (ignored != null) {
            throw Passwords.refused(spec, "A password as an argument", INSTEAD);
        }
    }

    boolean given() {
        return url != null || terminal.variable("FENCELINE_URL").isPresent();
    }

    /** Connects once, so that a wrong address or password is told before anything else, and asks for a password if one is wanted. */
    DataSource connect() {
        PostgresAddress address = url != null
                ? PostgresAddress.parse("The address of --url", url)
                : PostgresAddress.parse(
                        "The address of FENCELINE_URL",
                        terminal.variable("FENCELINE_URL")
                                .orElseThrow(
                                        () -> Failure.usage(
                                                "No database is named: give --url postgresql://host/database, or set FENCELINE_URL.")));
        Optional<String> password = Passwords.from(
                        terminal, "--password-file", passwordFile, "FENCELINE_PASSWORD", "PGPASSWORD")
                .or(address::password);
        PGSimpleDataSource source = source(address, password);
        try {
            source.getConnection().close();
            return source;
        } catch (SQLException e) {
            if (password.isPresent() || !wantsPassword(e) || !terminal.answers()) {
                throw failure(address, source.getUser(), e, password.isPresent());
            }
        }
        source.setPassword(terminal.askSecretly("Password of PostgreSQL at " + address.name() + ": "));
        try {
            source.getConnection().close();
            return source;
        } catch (SQLException e) {
            throw failure(address, source.getUser(), e, true);
        }
    }

    private PGSimpleDataSource source(PostgresAddress address, Optional<String> password) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        try {
            source.setUrl(address.url());
        } catch (IllegalArgumentException e) {
            // Says the whole address again.
            throw Failure.usage(
                    "The address of the database is refused by the driver: its host, port or a parameter cannot be read.");
        }
        Optional.ofNullable(user).or(address::user).ifPresent(source::setUser);
        password.ifPresent(source::setPassword);
        address.keyPassword().ifPresent(source::setSslPassword);
        if (!address.url().contains("ApplicationName=")) {
            source.setApplicationName("fenceline");
        }
        if (!address.url().contains("connectTimeout=")) {
            source.setConnectTimeout(CONNECT_SECONDS);
        }
        return source;
    }

    /** 28: the login was refused. The driver gives 08004 when it had none to send. */
    private static boolean wantsPassword(SQLException e) {
        String state = Objects.requireNonNullElse(e.getSQLState(), "");
        return state.startsWith("28") || (state.equals("08004") && said(e).contains("password"));
    }

    private static Failure failure(
            PostgresAddress address, @Nullable String user, SQLException e, boolean hadPassword) {
        String state = Objects.requireNonNullElse(e.getSQLState(), "");
        String database = "PostgreSQL at " + address.name();
        if (wantsPassword(e)) {
            return new Failure(
                    Outcome.REFUSED,
                    database + " refused the login" + (user == null ? "" : " of '" + user + "'") + ": " + said(e)
                            + (hadPassword ? ". Check the role and its password." : ". " + INSTEAD),
                    e);
        }
        if (state.startsWith("08") || state.startsWith("57P") || state.startsWith("53")) {
            return new Failure(
                    Outcome.UNREACHABLE, database + " cannot be reached: " + said(e) + ". Nothing was sent to it.", e);
        }
        return new Failure(
                Outcome.REFUSED, database + " refused the connection: " + said(e) + " (SQLSTATE " + state + ").", e);
    }

    private static String said(SQLException e) {
        String line = Objects.requireNonNullElse(e.getMessage(), e.toString())
                .lines()
                .findFirst()
                .orElse("");
        return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
    }
}
