package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The judge over one account: each unit writes into a log, in its own transaction, which balance it has read and which one it
 * has left. That log says what was committed; the clients say what they were told; both are compared.
 *
 * <p>All units of an account run under one lock, one after the other, so the numbers of the log rise in the order of the commits.
 */
final class Movements {

    /** What a client was told about an operation. */
    enum Belief {
        APPLIED,
        NEVER_APPLIED
    }

    private static final long OPENING = 100;

    private record Movement(UUID operation, long token, long before, long after) {}

    private final TestDatabase database;
    private final int account;
    private final Map<UUID, Belief> beliefs = new ConcurrentHashMap<>();

    Movements(TestDatabase database, int account) {
        this.database = database;
        this.account = account;
        database.account(account, OPENING);
    }

    static void createLog(TestDatabase database) {
        database.execute(
                "CREATE TABLE movement (number bigserial PRIMARY KEY, account int NOT NULL, operation uuid NOT NULL,"
                        + " token bigint NOT NULL, before bigint NOT NULL, after bigint NOT NULL)");
    }

    /** Reads, computes and writes; to be run in a fenced transaction. */
    void move(Connection connection, FencingToken token, UUID operation, long amount) throws SQLException {
        long before = TestDatabase.read(connection, account);
        TestDatabase.write(connection, account, before + amount);
        try (PreparedStatement log = connection.prepareStatement(
                "INSERT INTO movement (account, operation, token, before, after) VALUES (?, ?, ?, ?, ?)")) {
            log.setInt(1, account);
            log.setObject(2, operation);
            log.setLong(3, token.value());
            log.setLong(4, before);
            log.setLong(5, before + amount);
            log.executeUpdate();
        }
    }

    void believe(UUID operation, Belief belief) {
        beliefs.put(operation, belief);
    }

    boolean holds(UUID operation) {
        return log().stream().anyMatch(movement -> movement.operation().equals(operation));
    }

    /** What does not fit together, in words; empty when all is well. */
    List<String> violations() {
        List<String> found = new ArrayList<>();
        Map<UUID, Integer> times = new HashMap<>();
        long balance = OPENING;
        long newest = 0;
        for (Movement movement : log()) {
            if (movement.before() != balance) {
                found.add(movement + " is based on another balance than " + balance + ", which was there");
            }
            if (movement.token() < newest) {
                found.add(movement + " was written behind token " + newest);
            }
            balance = movement.after();
            newest = Math.max(newest, movement.token());
            times.merge(movement.operation(), 1, Integer::sum);
        }
        if (database.balance(account) != balance) {
            found.add("the balance is " + database.balance(account) + ", and the log ends with " + balance);
        }
        times.forEach((operation, count) -> {
            if (count > 1) {
                found.add("operation " + operation + " was applied " + count + " times");
            }
            if (beliefs.get(operation) != Belief.APPLIED) {
                found.add("operation " + operation + " is there, and was told as " + beliefs.get(operation));
            }
        });
        beliefs.forEach((operation, belief) -> {
            if (belief == Belief.APPLIED && !times.containsKey(operation)) {
                found.add("operation " + operation + " was acknowledged, and is lost");
            }
        });
        return found;
    }

    private List<Movement> log() {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows =
                        statement.executeQuery("SELECT operation, token, before, after FROM movement WHERE account = "
                                + account + " ORDER BY number")) {
            List<Movement> log = new ArrayList<>();
            while (rows.next()) {
                log.add(new Movement(rows.getObject(1, UUID.class), rows.getLong(2), rows.getLong(3), rows.getLong(4)));
            }
            return log;
        } catch (SQLException e) {
            throw new IllegalStateException("The log of account " + account + " cannot be read", e);
        }
    }
}
