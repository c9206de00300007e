package dev.fenceline.jdbc;

import static dev.fenceline.jdbc.ProtectedBank.enter;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The name of a row's lock is the same in SQL as in Java, for any key; a name that differed would protect nothing. */
@Tag("server")
class LockNameInSqlTest {

    // Separators and their escapes, the separator of the setting, quotes, composed and decomposed, singletons that
    // normal form C
    // replaces, Hangul in parts, above the first plane, right to left, and an order of marks that has to change.
    private static final List<String> PIECES = List.of(
            ":",
            "%",
            "%25",
            "%3A",
            "%3a",
            "%|",
            "|",
            "'",
            "\"",
            "\\",
            "$1",
            " ",
            "a",
            "Z",
            "7",
            "é",
            "e\u0301",
            "\u212B",
            "\u2126",
            "\u1112\u1161\u11ab",
            "한",
            "\ud83d\ude00",
            "ключ",
            "א",
            "ﬁ",
            "İ",
            "ß",
            "q\u0307\u0323",
            "\u0958",
            "{}",
            "*",
            "\u00a0");

    static TestDatabase database;

    @BeforeAll
    static void create() {
        database = TestDatabase.create();
        database.execute("CREATE DOMAIN code AS varchar(400); CREATE TYPE kind AS ENUM ('plain', 'a:b', '50%');"
                + " CREATE TABLE thing (t text, c code, i int, l bigint, n numeric(30), u uuid, k kind);"
                + " SELECT fenceline.protect('thing', 'thing', '{t,c,i,l,n,u,k}', 'enforce')");
    }

    @Test
    void everyKeyHasTheSameNameInATriggerInAFunctionAndInJava() throws SQLException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (Connection connection = database.source().getConnection();
                Connection claiming = database.source().getConnection()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 80; i++) {
                Object[] key = {
                    text(random),
                    text(random),
                    random.nextInt(),
                    random.nextLong(),
                    new BigInteger(90, random).subtract(BigInteger.ONE.shiftLeft(89)),
                    new UUID(random.nextLong(), random.nextLong()),
                    List.of("plain", "a:b", "50%").get(random.nextInt(3))
                };
                LockName name = LockName.of("thing", key);
                String as = "with seed " + seed + ", key " + i + ": " + name;

                assertThat(nameInSql(connection, key)).as(as).isEqualTo(name.toString());
                assertThatThrownBy(() -> insert(connection, key))
                        .as(as)
                        .hasMessageContaining("it needs lock '" + name + "' (never claimed)");
                connection.rollback();
                FencingToken token = Grants.next(name);
                claim(claiming, token);
                enter(connection, token);
                assertThat(insert(connection, key)).as(as).isEqualTo(1);
                assertThat(update(connection, key)).as(as).isEqualTo(1);
                connection.rollback();
            }
        }
    }

    /** Whoever writes the key in another form writes the same row: the case of a UUID, the scale of a number, parts of a letter. */
    @Test
    void rule11KeysInAnotherFormHaveTheNameThatJavaGives() throws SQLException {
        String upper = "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11";
        LockName name =
                LockName.of("thing", "Zoe\u0308", "a:b", 7, -8L, new BigInteger("42"), UUID.fromString(upper), "50%");

        assertThat(name).hasToString("thing:Zo\u00eb:a%3Ab:7:-8:42:a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11:50%25");
        for (String number : List.of("42", "42.0", "42.000", "4.2e1", "042")) {
            String sql = "INSERT INTO thing VALUES ('Zoe\u0308', 'a:b', 7, -8, " + number + ", '" + upper + "', '50%')";
            assertThatThrownBy(() -> database.execute(sql))
                    .as(number)
                    .cause()
                    .hasMessageContaining("it needs lock '" + name + "' (never claimed)");
        }
        assertThatThrownBy(() -> LockName.of("thing", "a", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Part 2 of a lock name is null. A name needs every part of its key; a row without a key cannot be"
                                + " locked.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\tb", "line\nfeed", "\u007f", "\u0085"})
    void whatJavaRefusesIsRefusedInSql(String part) throws SQLException {
        assertThatThrownBy(() -> LockName.of("thing", part)).isInstanceOf(IllegalArgumentException.class);
        try (Connection connection = database.source().getConnection()) {
            assertThatThrownBy(() -> nameInSql(connection, part))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("22023"))
                    .hasMessageContaining("refused: it is not in canonical form");
        }
    }

    @Test
    void namesWithoutPartsAndTooLongOnesAreAsInJava() throws SQLException {
        String longest = "x".repeat(LockName.MAX_BYTES - "thing:".length());
        try (Connection connection = database.source().getConnection()) {
            assertThat(nameInSql(connection)).isEqualTo(LockName.of("thing").toString());
            assertThat(nameInSql(connection, longest))
                    .isEqualTo(LockName.of("thing", longest).toString());
            assertThatThrownBy(() -> nameInSql(connection, longest + "x"))
                    .hasMessageContaining("not in canonical form");
            assertThatThrownBy(() -> nameInSql(connection, "ü".repeat(260)))
                    .hasMessageContaining("not in canonical form");
            assertThatThrownBy(() -> nameInSql(connection, "a", null)).hasMessageContaining("or it or a part is null");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":42",
                "4ever:1",
                "K\u00e4se:1",
                "account:5%",
                "account:%3a",
                "customer:Zoe\u0308",
                "account:a%|b"
            })
    void textThatIsNoCanonicalNameCannotBeEntered(String text) throws SQLException {
        try (Connection connection = database.source().getConnection();
                PreparedStatement enter =
                        connection.prepareStatement("SELECT fenceline.enter(?, 1, gen_random_uuid())")) {
            enter.setString(1, text);
            assertThatThrownBy(enter::execute)
                    .hasMessageContaining("refused: it is not in canonical form")
                    .hasMessageContaining("fenceline.lock_name('account', '42') writes it");
        }
        assertThatThrownBy(() -> LockName.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(8); i > 0; i--) {
            text.append(PIECES.get(random.nextInt(PIECES.size())));
        }
        return text.toString();
    }

    private static String nameInSql(Connection connection, Object... parts) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT fenceline.lock_name('thing', VARIADIC ?::text[])")) {
            String[] texts = new String[parts.length];
            for (int i = 0; i < parts.length; i++) {
                texts[i] = parts[i] == null ? null : parts[i].toString();
            }
            statement.setArray(1, connection.createArrayOf("text", texts));
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getString(1);
            }
        }
    }

    private static void claim(Connection connection, FencingToken token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("CALL fenceline.claim(?, ?, ?)")) {
            statement.setString(1, token.lock().toString());
            statement.setLong(2, token.value());
            statement.setObject(3, token.holder());
            statement.execute();
        }
    }

    private static int insert(Connection connection, Object... key) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("INSERT INTO thing VALUES (?, ?, ?, ?, ?::numeric, ?, ?::kind)")) {
            for (int i = 0; i < key.length; i++) {
                statement.setObject(i + 1, key[i] instanceof BigInteger whole ? whole.toString() : key[i]);
            }
            return statement.executeUpdate();
        }
    }

    /** The key stays, though its text may be written in another form. */
    private static int update(Connection connection, Object... key) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("UPDATE thing SET t = normalize(t, NFD), l = l WHERE u = ?")) {
            statement.setObject(1, key[5]);
            return statement.executeUpdate();
        }
    }
}
