package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.jdbc.MatrixCell.Operation;
import dev.fenceline.jdbc.MatrixStage.Link;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Enforced mode: transactions that the user manages, on a protected table. One way to claim and enter is {@link PostgresFence}, the
 * other the functions of the schema; what is written between is plain SQL in both.
 */
final class MatrixEnforcedSession implements MatrixSession {

    /** Claiming and entering. */
    private interface Way {
        void claim() throws SQLException;

        void enter() throws SQLException;
    }

    private final Link link;
    private final MatrixRows rows;
    private final FencingToken token;
    private final Way way;

    private MatrixEnforcedSession(Link link, MatrixRows rows, FencingToken token, Way way) {
        this.link = link;
        this.rows = rows;
        this.token = token;
        this.way = way;
    }

    static MatrixEnforcedSession byLibrary(Link link, MatrixRows rows, FencingToken token) {
        PostgresFence fence = PostgresFence.on(link.source()).listener(FencelineListener.none());
        return new MatrixEnforcedSession(link, rows, token, new Way() {
            @Override
            public void claim() {
                fence.claim(token);
            }

            @Override
            public void enter() {
                fence.enter(link.connection(), token);
            }
        });
    }

    static MatrixEnforcedSession bySql(Link link, MatrixRows rows, FencingToken token) {
        return new MatrixEnforcedSession(link, rows, token, new Way() {
            @Override
            public void claim() throws SQLException {
                try (CallableStatement call = link.connection().prepareCall("CALL fenceline.claim(?, ?, ?)")) {
                    MatrixSql.bind(call, token);
                    call.execute();
                }
            }

            @Override
            public void enter() throws SQLException {
                enterBySql(link.connection(), token);
            }
        });
    }

    private static void enterBySql(Connection connection, FencingToken token) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("SELECT fenceline.enter(?, ?, ?)")) {
            MatrixSql.bind(select, token);
            select.execute();
        }
    }

    @Override
    public void claim() throws SQLException {
        way.claim();
    }

    @Override
    public Applied perform(Operation operation, String writer) throws Exception {
        if (operation == Operation.CLAIM_READ) {
            claim();
        }
        return perform(operation, writer, () -> {});
    }

    @Override
    public Optional<Applied> performAndHold(Operation operation, String writer, Steps meanwhile) throws Exception {
        return Optional.of(perform(operation, writer, meanwhile));
    }

    private Applied perform(Operation operation, String writer, Steps meanwhile) throws Exception {
        return MatrixSql.inTransaction(link.connection(), () -> {
            way.enter();
            MatrixState saw = rows.perform(link.connection(), operation, writer);
            meanwhile.run();
            return new Applied(operation, writer, Optional.of(saw));
        });
    }

    /** A claim is committed at once by either way, so one that others find open is made by the function beneath. */
    @Override
    public void claimAndHold(Operation operation, String writer, End end, Steps meanwhile) throws Exception {
        MatrixSql.claimAndHold(link.connection(), token, end, () -> {
            enterBySql(link.connection(), token);
            rows.perform(link.connection(), operation, writer);
            meanwhile.run();
        });
    }

    /** The trigger stands behind entering: whoever goes on without is refused by it, whatever the statement is. */
    @Override
    public Map<String, Steps> insist(Operation operation, String writer) throws SQLException {
        MatrixState there = rows.read(link.connection());
        Map<String, Steps> ways = new TreeMap<>();
        ways.put("to claim again", way::claim);
        ways.put("to enter", () -> perform(operation, writer, () -> {}));
        // A statement that finds no row changes nothing, and one that finds its key taken fails before the trigger.
        boolean taken = there.rows().containsKey(MatrixState.ROW)
                && (operation == Operation.INSERT || operation == Operation.COPY);
        if (!taken && !there.after(operation, writer).equals(there)) {
            ways.put("to write without entering", () -> rows.perform(link.connection(), operation, writer));
        }
        return ways;
    }
}
