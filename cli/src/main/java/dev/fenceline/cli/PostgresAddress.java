package dev.fenceline.cli;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A PostgreSQL address taken apart, so that user and passwords go to the driver by themselves and the rest can be shown.
 *
 * @param url for the driver, without user and passwords
 * @param servers for messages: hosts and ports
 * @param name for messages: these and the database
 * @param keyPassword of the client's own key, {@code sslpassword} to the driver
 */
record PostgresAddress(
        String url,
        String servers,
        String name,
        Optional<String> user,
        Optional<String> password,
        Optional<String> keyPassword) {

    private static final Pattern SCHEME = Pattern.compile("(?:jdbc:)?postgres(?:ql)?://(.*)", Pattern.DOTALL);
    private static final Pattern HOSTS =
            Pattern.compile("(?:(?:\\[[0-9A-Fa-f:.%]+\\]|[A-Za-z0-9._-]*)(?::[0-9]{1,5})?,?)*");
    private static final String FORM =
            "postgresql://[user@]host[:port]/database or jdbc:postgresql://host[:port]/database";

    /** Reads an address. What does not fit is not repeated, since a password may be in it wherever it stands. */
    static PostgresAddress parse(String where, String text) {
        Matcher matcher = SCHEME.matcher(text);
        if (!matcher.matches()) {
            throw Failure.usage(where + " is no address of PostgreSQL. It reads " + FORM + ".");
        }
        String rest = matcher.group(1);
        int at = rest.lastIndexOf('@', rest.indexOf('?') < 0 ? rest.length() : rest.indexOf('?'));
        String login = at < 0 ? "" : rest.substring(0, at);
        String place = rest.substring(at + 1);
        int question = place.indexOf('?');
        String path = question < 0 ? place : place.substring(0, question);
        int slash = path.indexOf('/');
        String hosts = slash < 0 ? path : path.substring(0, slash);
        String database = slash < 0 ? "" : path.substring(slash + 1);
        if (!HOSTS.matcher(hosts).matches() || database.contains("/")) {
            throw Failure.usage(
                    where + " is no address of PostgreSQL: its host, port or database cannot be read. It reads " + FORM
                            + ", with %2F for a slash in a name.");
        }
        if (database.isEmpty()) {
            // The driver would take that of the user's name, which is hardly the one that is meant.
            throw Failure.usage(where + " names no database. It reads " + FORM + ".");
        }
        int colon = login.indexOf(':');
        Optional<String> user = nonEmpty(decoded(where, colon < 0 ? login : login.substring(0, colon)));
        Optional<String> password =
                colon < 0 ? Optional.empty() : Optional.of(decoded(where, login.substring(colon + 1)));
        Optional<String> keyPassword = Optional.empty();
        List<String> kept = new ArrayList<>();
        for (String parameter :
                question < 0 ? new String[0] : place.substring(question + 1).split("&")) {
            int equals = parameter.indexOf('=');
            String key = decoded(where, equals < 0 ? parameter : parameter.substring(0, equals));
            String value = equals < 0 ? "" : parameter.substring(equals + 1);
            if (key.equals("user")) {
                user = Optional.of(decoded(where, value));
            } else if (key.equals("sslpassword")) {
                keyPassword = Optional.of(decoded(where, value));
            } else if (key.toLowerCase(Locale.ROOT).endsWith("password")) {
                password = Optional.of(decoded(where, value));
            } else if (!parameter.isEmpty()) {
                kept.add(parameter);
            }
        }
        return new PostgresAddress(
                "jdbc:postgresql://" + hosts + "/" + database + (kept.isEmpty() ? "" : "?" + String.join("&", kept)),
                servers(hosts),
                servers(hosts) + "/" + decoded(where, database),
                user,
                password,
                keyPassword);
    }

    /** Each with its port, so that a wrong guess shows. */
    private static String servers(String hosts) {
        return Arrays.stream(hosts.split(","))
                .map(host -> (host.isEmpty() || host.startsWith(":") ? "localhost" : "") + host)
                .map(host -> host.matches(".*:[0-9]{1,5}") ? host : host + ":5432")
                .collect(Collectors.joining(","));
    }

    boolean holdsPassword() {
        return password.isPresent() || keyPassword.isPresent();
    }

    private static Optional<String> nonEmpty(String text) {
        return Optional.of(text).filter(t -> !t.isEmpty());
    }

    private static String decoded(String where, String text) {
        try {
            // A plus is a plus here; it means a space in forms only.
            return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw Failure.usage(
                    where + " is no address of PostgreSQL: a % in it is not followed by two hexadecimal digits.");
        }
    }
}
