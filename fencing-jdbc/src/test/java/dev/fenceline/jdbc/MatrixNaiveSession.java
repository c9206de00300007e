package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.jdbc.MatrixCell.Operation;
import dev.fenceline.jdbc.MatrixNaive.Scene;
import dev.fenceline.jdbc.MatrixStage.Side;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;

/** A session of guard mode in which one step is done as it is commonly done. */
abstract class MatrixNaiveSession implements MatrixSession {

    final Scene scene;
    final MatrixRows rows;
    final FencingToken token;
    private final MatrixGuardSession right;

    private MatrixNaiveSession(Scene scene) {
        this.scene = scene;
        this.rows = scene.rows();
        this.token = scene.tokens().of(scene.age());
        this.right = scene.right();
    }

    Connection connection() {
        return scene.link().connection();
    }

    @Override
    public void claim() throws Exception {
        right.claim();
    }

    @Override
    public Applied perform(Operation operation, String writer) throws Exception {
        return right.perform(operation, writer);
    }

    @Override
    public Optional<Applied> performAndHold(Operation operation, String writer, Steps meanwhile) throws Exception {
        return right.performAndHold(operation, writer, meanwhile);
    }

    @Override
    public void claimAndHold(Operation operation, String writer, End end, Steps meanwhile) throws Exception {
        right.claimAndHold(operation, writer, end, meanwhile);
    }

    /** The folklore: no claim, and each write brings a token that must not be older than the one in the row. */
    static final class GreaterOrEqual extends MatrixNaiveSession {

        private MatrixState known = MatrixState.none();

        GreaterOrEqual(Scene scene) {
            super(scene);
        }

        @Override
        public void claim() throws SQLException {
            known = rows.read(connection());
        }

        @Override
        public Applied perform(Operation operation, String writer) throws Exception {
            return write(operation, writer, () -> {});
        }

        @Override
        public Optional<Applied> performAndHold(Operation operation, String writer, Steps meanwhile) throws Exception {
            return Optional.of(write(operation, writer, meanwhile));
        }

        private Applied write(Operation operation, String writer, Steps meanwhile) throws Exception {
            return MatrixSql.inTransaction(connection(), () -> {
                if (operation == Operation.DELETE) {
                    rows.write(connection(), operation, known, writer);
                } else {
                    stamp(known.after(operation, writer));
                }
                meanwhile.run();
                return new Applied(operation, writer, Optional.of(known));
            });
        }

        private void stamp(MatrixState next) throws SQLException {
            String sql = "INSERT INTO " + rows.table() + " AS t (cell, id, writers, fence_token) VALUES (?, ?, ?, ?)"
                    + " ON CONFLICT (cell, id) DO UPDATE SET writers = excluded.writers, fence_token = excluded.fence_token"
                    + " WHERE t.fence_token <= excluded.fence_token";
            for (int row : next.rows().keySet()) {
                if (next.rows().get(row).equals(known.rows().get(row))) {
                    continue;
                }
                try (PreparedStatement statement = connection().prepareStatement(sql)) {
                    statement.setInt(1, rows.cell());
                    statement.setInt(2, row);
                    statement.setString(3, next.rows().get(row));
                    statement.setLong(4, token.value());
                    if (statement.executeUpdate() == 0) {
                        throw new IllegalStateException("Refused: a newer token is there");
                    }
                }
            }
        }
    }

    /** Looks at the mark first, and holds nothing. */
    static final class UnlockedCheck extends MatrixNaiveSession {

        UnlockedCheck(Scene scene) {
            super(scene);
        }

        @Override
        public Applied perform(Operation operation, String writer) throws Exception {
            return MatrixSql.inTransaction(connection(), () -> {
                if (!MatrixSql.isTheMark(connection(), token, "")) {
                    throw new IllegalStateException("Refused: another mark is there");
                }
                MatrixState saw = rows.perform(connection(), operation, writer);
                return new Applied(operation, writer, Optional.of(saw));
            });
        }
    }

    /** Claims and reads in one statement, whose snapshot is taken before the claim waits. */
    static final class SameSnapshot extends MatrixNaiveSession {

        private MatrixState known = MatrixState.none();

        SameSnapshot(Scene scene) {
            super(scene);
        }

        @Override
        public void claim() throws SQLException {
            Map<Integer, String> read = new TreeMap<>();
            try (PreparedStatement statement = connection()
                    .prepareStatement("SELECT r.id, r.writers FROM fenceline.claim_v1(?, ?, ?, 20000) c, "
                            + rows.table() + " r WHERE c.admitted AND r.cell = ?")) {
                MatrixSql.bind(statement, token);
                statement.setInt(4, rows.cell());
                try (ResultSet row = statement.executeQuery()) {
                    while (row.next()) {
                        read.put(row.getInt(1), row.getString(2));
                    }
                }
            }
            known = new MatrixState(new TreeMap<>(read));
        }

        /** What follows is as it should be, but for what it is based on. */
        @Override
        public Applied perform(Operation operation, String writer) throws Exception {
            return MatrixSql.inTransaction(connection(), () -> {
                MatrixSql.enter(connection(), token);
                rows.write(connection(), operation, known, writer);
                return new Applied(operation, writer, Optional.of(known));
            });
        }
    }

    /** Enters and writes by one string, which in simple mode the driver sends as two transactions. */
    static final class TwoStatements extends MatrixNaiveSession {

        private MatrixState known = MatrixState.none();

        TwoStatements(Scene scene) {
            super(scene);
        }

        @Override
        public void claim() throws Exception {
            super.claim();
            known = rows.read(connection());
        }

        @Override
        public Applied perform(Operation operation, String writer) throws Exception {
            PGSimpleDataSource source =
                    scene.stage().source(Side.SUBJECT, scene.cell().isolation());
            source.setPreferQueryMode(PreferQueryMode.SIMPLE);
            String string = "SELECT fenceline.enter_v1(?, ?, ?, 20000, 20000); INSERT INTO " + rows.table()
                    + " (cell, id, writers) VALUES (?, ?, ?) ON CONFLICT (cell, id) DO UPDATE SET writers = excluded.writers";
            try (Connection simple = source.getConnection();
                    PreparedStatement both = simple.prepareStatement(string)) {
                MatrixSql.bind(both, token);
                both.setInt(4, rows.cell());
                both.setInt(5, MatrixState.ROW);
                both.setString(6, known.after(operation, writer).rows().get(MatrixState.ROW));
                both.execute();
            }
            return new Applied(operation, writer, Optional.of(known));
        }
    }

    /** Enters under a savepoint, and rolls back to it, as frameworks do when a statement fails: the lock goes with it. */
    static final class SavepointFirst extends MatrixNaiveSession {

        private MatrixState known = MatrixState.none();

        SavepointFirst(Scene scene) {
            super(scene);
        }

        @Override
        public void claim() throws Exception {
            super.claim();
            connection().setAutoCommit(false);
            Savepoint savepoint = connection().setSavepoint();
            MatrixSql.enter(connection(), token);
            known = rows.read(connection());
            connection().rollback(savepoint);
        }

        @Override
        public Applied perform(Operation operation, String writer) throws Exception {
            rows.write(connection(), operation, known, writer);
            connection().commit();
            return new Applied(operation, writer, Optional.of(known));
        }
    }

    /** Keeps claims out, and not the other thread. */
    static final class ForShare extends MatrixNaiveSession {

        ForShare(Scene scene) {
            super(scene);
        }

        @Override
        public Applied perform(Operation operation, String writer) throws Exception {
            return shared(operation, writer, () -> {});
        }

        @Override
        public Optional<Applied> performAndHold(Operation operation, String writer, Steps meanwhile) throws Exception {
            return Optional.of(shared(operation, writer, meanwhile));
        }

        private Applied shared(Operation operation, String writer, Steps meanwhile) throws Exception {
            return MatrixSql.inTransaction(connection(), () -> {
                if (!MatrixSql.isTheMark(connection(), token, "FOR SHARE")) {
                    throw new IllegalStateException("Refused: another mark is there");
                }
                MatrixState saw = rows.perform(connection(), operation, writer);
                meanwhile.run();
                return new Applied(operation, writer, Optional.of(saw));
            });
        }
    }

    /** Holds the mark in a CTE, as is right, and does not ask whether what it reads is older than that. */
    static final class OneSnapshot extends MatrixNaiveSession {

        OneSnapshot(Scene scene) {
            super(scene);
        }

        @Override
        public Applied perform(Operation operation, String writer) throws SQLException {
            MatrixStatement statement = MatrixStatement.of(rows, operation, writer);
            String sql = "WITH g AS MATERIALIZED (SELECT * FROM fenceline.enter_v1(?, ?, ?, 20000, 20000)), w AS ("
                    + statement.sql() + " RETURNING 1)"
                    + " SELECT CASE WHEN EXISTS (SELECT 1 FROM g) THEN (SELECT count(*) FROM w) END";
            List<Object> parameters = statement.behind(token.lock().toString(), token.value(), token.holder());
            try (PreparedStatement prepared = connection().prepareStatement(sql)) {
                for (int i = 0; i < parameters.size(); i++) {
                    prepared.setObject(i + 1, parameters.get(i));
                }
                prepared.execute();
            }
            return new Applied(operation, writer, Optional.empty());
        }
    }

    /** Writes what it has read before, in a statement of its own, as old code does that knows of no fence. */
    static final class NotEntering extends MatrixNaiveSession {

        private MatrixState known = MatrixState.none();

        NotEntering(Scene scene) {
            super(scene);
        }

        @Override
        public void claim() throws Exception {
            super.claim();
            known = rows.read(connection());
        }

        @Override
        public Applied perform(Operation operation, String writer) throws Exception {
            if (scene.side() == Side.RIVAL) {
                return super.perform(operation, writer);
            }
            rows.write(connection(), operation, known, writer);
            return new Applied(operation, writer, Optional.of(known));
        }
    }
}
