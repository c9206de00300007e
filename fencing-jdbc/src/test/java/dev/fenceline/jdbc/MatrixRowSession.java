package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.jdbc.MatrixCell.Operation;
import dev.fenceline.jdbc.MatrixStage.Link;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Row mode: a claim for each row, and the statements of {@link RowClaim}. */
final class MatrixRowSession implements MatrixSession {

    private static final FencedTable<List<Integer>> TABLE = FencedTable.of("matrix_row")
            .key(List.of("cell", "id"), key -> key, key -> LockName.of("matrix-row", key.toArray()));

    private final Link link;
    private final MatrixRows rows;
    private final Map<Integer, FencingToken> tokens;
    private final PostgresRows<List<Integer>> fence;
    private final Map<Integer, RowClaim<String>> claims = new TreeMap<>();

    /**
     * Makes a session.
     *
     * @param tokens for each row that it works on
     */
    MatrixRowSession(Link link, MatrixRows rows, Map<Integer, FencingToken> tokens) {
        this.link = link;
        this.rows = rows;
        this.tokens = tokens;
        this.fence = PostgresRows.on(link.source(), TABLE).listener(FencelineListener.none());
    }

    /** The same session, writing without a claim: each of its statements raises the mark itself. */
    MatrixSession blind() {
        return new Blind(this);
    }

    private record Blind(MatrixRowSession claiming) implements MatrixSession {

        @Override
        public void claim() {
            // Nothing is sent before the write.
        }

        @Override
        public Applied perform(Operation operation, String writer) throws SQLException {
            BlindRow row = claiming.fence.blind(claiming.tokens.get(MatrixState.ROW), claiming.key(MatrixState.ROW));
            RowValues values = RowValues.of("writers", writer);
            if (operation == Operation.INSERT) {
                row.insert(values);
            } else {
                row.upsert(values);
            }
            return new Applied(operation, writer, Optional.empty());
        }

        @Override
        public Optional<Applied> performAndHold(Operation operation, String writer, Steps meanwhile) throws Exception {
            return claiming.performAndHold(operation, writer, meanwhile);
        }

        @Override
        public void claimAndHold(Operation operation, String writer, End end, Steps meanwhile) throws Exception {
            claiming.claimAndHold(operation, writer, end, meanwhile);
        }

        @Override
        public Map<String, Steps> insist(Operation operation, String writer) {
            return claiming.insist(operation, writer);
        }
    }

    static LockName lock(int cell, int row) {
        return TABLE.lock(List.of(cell, row));
    }

    private List<Integer> key(int row) {
        return List.of(rows.cell(), row);
    }

    @Override
    public void claim() throws SQLException {
        for (int row : tokens.keySet()) {
            claims.put(row, fence.claim(tokens.get(row), key(row), found -> found.getString("writers")));
        }
    }

    @Override
    public Applied perform(Operation operation, String writer) throws Exception {
        if (operation == Operation.CLAIM_READ) {
            claim();
        }
        if (claims.isEmpty()) {
            return performElsewhere(operation, writer);
        }
        MatrixState saw = saw(claims, RowClaim::row);
        if (operation == Operation.BATCH) {
            MatrixState next = saw.after(operation, writer);
            fence.updateAll(claims.entrySet().stream()
                    .collect(Collectors.toMap(Map.Entry::getValue, claim -> values(next, claim.getKey()))));
        } else {
            write(claims, operation, saw, writer);
        }
        return new Applied(operation, writer, Optional.of(saw));
    }

    /** Another transaction of a claim has to read again, and keeps the rows that it has read. */
    private Applied performElsewhere(Operation operation, String writer) throws Exception {
        Map<Integer, RowClaim<String>> resumed = new TreeMap<>();
        for (int row : tokens.keySet()) {
            resumed.put(row, fence.resume(tokens.get(row), key(row), found -> found.getString("writers")));
        }
        return MatrixSql.inTransaction(link.connection(), () -> {
            Map<Integer, RowClaim<String>> here = here(resumed);
            MatrixState saw = saw(here, RowClaim::read);
            write(here, operation, saw, writer);
            return new Applied(operation, writer, Optional.of(saw));
        });
    }

    @Override
    public Optional<Applied> performAndHold(Operation operation, String writer, Steps meanwhile) throws Exception {
        return MatrixSql.inTransaction(link.connection(), () -> {
            MatrixState saw = saw(claims, RowClaim::row);
            write(here(claims), operation, saw, writer);
            meanwhile.run();
            return Optional.of(new Applied(operation, writer, Optional.of(saw)));
        });
    }

    private Map<Integer, RowClaim<String>> here(Map<Integer, RowClaim<String>> elsewhere) {
        return elsewhere.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, claim -> claim.getValue().in(link.connection())));
    }

    /** How a row is read under its claim. */
    private interface Look {
        Optional<String> at(RowClaim<String> claim) throws SQLException;
    }

    /** What the claims show; a row without one is none of this session's, and as it was in the beginning. */
    private static MatrixState saw(Map<Integer, RowClaim<String>> under, Look look) throws SQLException {
        MatrixState state = MatrixState.otherRowOnly();
        for (Map.Entry<Integer, RowClaim<String>> claim : under.entrySet()) {
            Optional<String> writers = look.at(claim.getValue());
            state = writers.isPresent() ? state.with(claim.getKey(), writers.get()) : state.without(claim.getKey());
        }
        return state;
    }

    private void write(Map<Integer, RowClaim<String>> under, Operation operation, MatrixState saw, String writer)
            throws SQLException {
        MatrixState next = saw.after(operation, writer);
        RowClaim<String> claim = under.get(MatrixState.ROW);
        switch (operation) {
            case CLAIM_READ -> {
                // Claimed and read already.
            }
            case UPDATE -> claim.update(values(next, MatrixState.ROW));
            case UPSERT -> claim.upsert(values(next, MatrixState.ROW));
            case INSERT -> claim.insert(values(next, MatrixState.ROW));
            case DELETE -> claim.delete();
            case BATCH -> {
                // The batch is a transaction of its own, so in one of the user's it is row by row.
                for (int row : under.keySet()) {
                    under.get(row).update(values(next, row));
                }
            }
            case COPY, MERGE, TRUNCATE -> throw new AssertionError("Row mode has no " + operation);
        }
    }

    private static RowValues values(MatrixState state, int row) {
        return RowValues.of("writers", state.rows().getOrDefault(row, "of a row that is not there"));
    }

    /** A claim is committed at once, so one that others find open is made by the statements beneath. */
    @Override
    public void claimAndHold(Operation operation, String writer, End end, Steps meanwhile) throws Exception {
        MatrixSql.hold(link.connection(), end, () -> {
            for (int row : tokens.keySet()) {
                claimBySql(row);
            }
            MatrixState next = rows.read(link.connection()).after(operation, writer);
            for (int row : tokens.keySet()) {
                if (operation == Operation.UPSERT || operation == Operation.INSERT) {
                    raiseGuard(row);
                }
                put(row, next.rows().get(row));
            }
            meanwhile.run();
        });
    }

    private void claimBySql(int row) throws SQLException {
        FencingToken token = tokens.get(row);
        int claimed = change(
                "UPDATE matrix_row SET fence_token = ?, fence_holder = ? WHERE cell = ? AND id = ? AND fence_token < ?",
                token.value(),
                token.holder(),
                rows.cell(),
                row,
                token.value());
        if (claimed == 0) {
            raiseGuard(row);
        }
    }

    private void put(int row, String writers) throws SQLException {
        FencingToken token = tokens.get(row);
        change(
                "INSERT INTO matrix_row VALUES (?, ?, ?, ?, ?) ON CONFLICT (cell, id) DO UPDATE SET writers = excluded.writers",
                rows.cell(),
                row,
                writers,
                token.value(),
                token.holder());
    }

    private void raiseGuard(int row) throws SQLException {
        FencingToken token = tokens.get(row);
        change(
                "INSERT INTO fenceline.guard AS g VALUES (?, ?, ?, now(), 'matrix') ON CONFLICT (lock) DO UPDATE"
                        + " SET token = excluded.token, holder = excluded.holder WHERE g.token < excluded.token",
                token.lock().toString(),
                token.value(),
                token.holder());
    }

    private int change(String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = link.connection().prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            return statement.executeUpdate();
        }
    }

    @Override
    public Map<String, Steps> insist(Operation operation, String writer) {
        Map<String, Steps> ways = new TreeMap<>();
        FencingToken token = tokens.get(MatrixState.ROW);
        List<Integer> key = key(MatrixState.ROW);
        RowValues values = RowValues.of("writers", writer);
        ways.put("to claim again", () -> fence.claim(token, key, found -> found.getString("writers")));
        ways.put("to resume", () -> fence.resume(token, key, found -> found.getString("writers")));
        ways.put("to insert blindly", () -> fence.blind(token, key).insert(values));
        ways.put("to upsert blindly", () -> fence.blind(token, key).upsert(values));
        ways.put("to update blindly", () -> fence.blind(token, key).update(values));
        return ways;
    }
}
