package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.migrations.FenceMigrations;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Protected tables of several kinds, and a role that may write all of them and has no other right.
 *
 * <p>{@code vault} is locked by its key, {@code card} too and hangs on {@code customer} by a foreign key, {@code reading} is
 * partitioned and one partition was attached after it was protected, {@code note} may have no key, {@code journal} is under one
 * lock as a whole. {@code vault} has a trigger of the user's that moves a row when its balance becomes 666.
 */
record ProtectedBank(TestDatabase database, String role) {

    private static final String TABLES = """
            CREATE TABLE vault (id int PRIMARY KEY, balance bigint NOT NULL);
            CREATE TABLE customer (id int PRIMARY KEY);
            CREATE TABLE card (id int PRIMARY KEY,
                customer int NOT NULL REFERENCES customer ON DELETE CASCADE ON UPDATE CASCADE);
            CREATE TABLE reading (region text, id int, value bigint, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
            CREATE TABLE reading_eu PARTITION OF reading FOR VALUES IN ('eu');
            CREATE TABLE note (key text, body text);
            CREATE TABLE journal (line text);
            CREATE VIEW vaults AS SELECT id, balance FROM vault;
            CREATE FUNCTION move_the_damned() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN NEW.id := 3; RETURN NEW; END';
            CREATE TRIGGER move_the_damned BEFORE UPDATE ON vault FOR EACH ROW WHEN (NEW.balance = 666)
                EXECUTE FUNCTION move_the_damned();
            CREATE FUNCTION pay_out() RETURNS void LANGUAGE sql SECURITY DEFINER AS
                'UPDATE public.vault SET balance = 0 WHERE id = 1';
            """;
    private static final String PROTECT = """
            SELECT fenceline.protect('vault', 'vault', '{id}', '%1$s'), fenceline.protect('card', 'card', '{id}', '%1$s'),
                fenceline.protect('reading', 'reading', '{region,id}', '%1$s'), fenceline.protect('note', 'note', '{key}', '%1$s'),
                fenceline.protect('journal', 'journal', '{}', '%1$s')
            """;
    private static final String ATTACH = """
            CREATE TABLE reading_us (LIKE reading INCLUDING ALL);
            ALTER TABLE reading ATTACH PARTITION reading_us FOR VALUES IN ('us');
            """;
    // One round trip; each statement of a string runs in the same transaction.
    private static final String FILL = """
            SELECT fenceline.bypass('the test begins anew');
            DELETE FROM vault; DELETE FROM customer; DELETE FROM reading; DELETE FROM note; DELETE FROM journal;
            INSERT INTO vault VALUES (1, 100), (2, 200);
            INSERT INTO customer VALUES (1);
            INSERT INTO card VALUES (1, 1);
            INSERT INTO reading VALUES ('eu', 1, 10), ('us', 1, 20);
            INSERT INTO note VALUES ('a', 'first');
            INSERT INTO journal VALUES ('begun');
            """;
    private static final String CONTENTS = """
            SELECT concat_ws(' | ',
                (SELECT string_agg(v::text, ' ' ORDER BY v::text) FROM vault v),
                (SELECT string_agg(c::text, ' ' ORDER BY c::text) FROM card c),
                (SELECT string_agg(r::text, ' ' ORDER BY r::text) FROM reading r),
                (SELECT string_agg(n::text, ' ' ORDER BY n::text) FROM note n),
                (SELECT string_agg(j::text, ' ' ORDER BY j::text) FROM journal j))
            """;

    static ProtectedBank create() {
        TestDatabase database = TestDatabase.create();
        String role = "writer_" + database.name();
        database.execute(TABLES);
        database.execute("CREATE ROLE " + role + " LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON"
                + " vault, vaults, customer, card, reading, reading_eu, note, journal TO " + role);
        FenceMigrations.on(database.source()).grantTo(role);
        ProtectedBank bank = new ProtectedBank(database, role);
        bank.protect("enforce");
        database.execute(ATTACH + "GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON reading_us TO " + role);
        return bank;
    }

    /** Puts missing triggers back, and sets the mode of all. */
    void protect(String mode) {
        database.execute(PROTECT.formatted(mode));
    }

    void fill() {
        database.execute(FILL);
    }

    String contents() {
        return database.text(CONTENTS);
    }

    DataSource source() {
        return database.server().dataSource(database.name(), role);
    }

    /** A token for the lock of a row, claimed in this database. */
    FencingToken claimed(String lockClass, Object... key) {
        FencingToken token = Grants.next(LockName.of(lockClass, key));
        PostgresFence.on(source()).claim(token);
        return token;
    }

    /** Enters as a client in another language does. */
    static void enter(Connection connection, FencingToken token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT fenceline.enter(?, ?, ?)")) {
            statement.setString(1, token.lock().toString());
            statement.setLong(2, token.value());
            statement.setObject(3, token.holder());
            statement.execute();
        }
    }

    static int run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return Math.max(0, statement.getUpdateCount());
        }
    }
}
