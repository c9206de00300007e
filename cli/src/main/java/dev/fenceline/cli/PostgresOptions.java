package dev.fenceline.cli;

import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.migrations.FenceOperations;
import dev.fenceline.migrations.Wording;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Option;

/** How a command reaches the database. */
final class PostgresOptions extends ServerOptions {

    private static final String CHECK = "Check the role and its password.";
    private static final int CONNECT_SECONDS = 10;

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
    private @Nullable String passwordFile;

    PostgresOptions(Terminal terminal) {
        super(
                terminal,
                "--url",
                "FENCELINE_URL",
                "Set FENCELINE_PASSWORD, or use --password-file or ~/.pgpass, or leave it out and be asked.");
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
                throw refused("A password in --url");
            }
        } catch (Failure e) {
            throw misunderstood(String.valueOf(e.getMessage()));
        }
        address(text);
    }

    @Option(
            names = {"--password", "--passwd", "--pw"},
            hidden = true,
            arity = "0..1",
            fallbackValue = "")
    void password(String ignored) {
        refusePassword(ignored);
    }

    /** What it says to do, it says as commands. */
    FenceMigrations migrations() {
        return FenceMigrations.on(connect()).worded(Wording.SHELL);
    }

    /** What it says to do, it says as commands. */
    FenceOperations operations() {
        return FenceOperations.on(connect()).worded(Wording.SHELL);
    }

    /** Connects once, so that a wrong address or password is told before anything else, and asks for a password if one is wanted. */
    DataSource connect() {
        PostgresAddress address = PostgresAddress.parse(
                where(),
                address()
                        .orElseThrow(() -> Failure.usage(
                                "No database is named: give --url postgresql://host/database, or set FENCELINE_URL.")));
        Optional<String> password = password("--password-file", passwordFile, "FENCELINE_PASSWORD", "PGPASSWORD")
                .or(address::password);
        PGSimpleDataSource source = source(address, password);
        try {
            source.getConnection().close();
            return source;
        } catch (SQLException e) {
            if (password.isPresent() || !wantsPassword(e) || !terminal.answers()) {
                throw failure(address, source.getUser(), e, password.isPresent() ? CHECK : instead());
            }
        }
        source.setPassword(terminal.askSecretly("Password of PostgreSQL at " + address.name() + ": "));
        try {
            source.getConnection().close();
            return source;
        } catch (SQLException e) {
            throw failure(address, source.getUser(), e, CHECK);
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

    private static Failure failure(PostgresAddress address, @Nullable String user, SQLException e, String remedy) {
        String state = Objects.requireNonNullElse(e.getSQLState(), "");
        String database = "PostgreSQL at " + address.name();
        if (wantsPassword(e)) {
            String login = user == null
                    ? "'" + System.getProperty("user.name")
                            + "', the user of this system, since neither --user nor the address names one"
                    : "'" + user + "'";
            return new Failure(
                    Outcome.REFUSED, database + " refused the login of " + login + ": " + said(e) + ". " + remedy, e);
        }
        if (state.startsWith("08") || state.startsWith("57P") || state.startsWith("53")) {
            return new Failure(
                    Outcome.UNREACHABLE,
                    "Cannot reach PostgreSQL at " + address.servers() + ": " + reason(e) + ". Nothing was sent to it.",
                    e);
        }
        return new Failure(
                Outcome.REFUSED, database + " refused the connection: " + said(e) + " (SQLSTATE " + state + ").", e);
    }

    /** Of a server that was not reached the driver says why in a cause only. */
    private static String reason(SQLException e) {
        for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof UnknownHostException) {
                return "unknown host";
            }
            if (cause instanceof SocketTimeoutException) {
                return "no answer in time";
            }
            if (cause instanceof ConnectException || cause instanceof NoRouteToHostException) {
                return String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
            }
        }
        return said(e);
    }

    private static String said(SQLException e) {
        String line = Objects.requireNonNullElse(e.getMessage(), e.toString())
                .lines()
                .findFirst()
                .orElse("");
        return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
    }
}
