package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.Locks;
import java.sql.Connection;
import java.util.Optional;

/** A client with a claim of a row and one write to it. */
final class RowCrashClient extends CrashingClient<RowCrashClient.Step> {

    private static final RowReader<Long> BALANCE = row -> row.getLong("balance");

    /** How far the client gets, and with what. */
    enum Step implements CrashingClient.Step {
        CLAIM_ON_ITS_WAY(Keeper.HELD_REQUEST, "RETURNING a.*"),
        CLAIM_UNANSWERED(Keeper.HELD_REPLY, "RETURNING a.*"),
        CLAIMED(Keeper.LATCH, ""),
        ABSENCE_CLAIM_UNANSWERED(Keeper.HELD_REPLY, "INSERT INTO fenceline.guard"),
        ABSENCE_CLAIMED(Keeper.LATCH, ""),
        WRITE_ON_ITS_WAY(Keeper.HELD_REQUEST, "SET \"balance\""),
        WRITE_UNANSWERED(Keeper.HELD_REPLY, "SET \"balance\""),
        RECORDED_WRITE_ON_ITS_WAY(Keeper.HELD_REQUEST, "record_row_v1"),
        RECORDED_WRITE_UNANSWERED(Keeper.HELD_REPLY, "record_row_v1"),
        DELETION_UNANSWERED(Keeper.HELD_REPLY, "DELETE FROM"),
        WRITTEN_IN_A_TRANSACTION(Keeper.LATCH, "");

        private final Keeper keeper;
        private final String marker;

        Step(Keeper keeper, String marker) {
            this.keeper = keeper;
            this.marker = marker;
        }

        @Override
        public Keeper keeper() {
            return keeper;
        }

        @Override
        public String marker() {
            return marker;
        }

        boolean isOfNoRow() {
            return this == ABSENCE_CLAIM_UNANSWERED || this == ABSENCE_CLAIMED;
        }
    }

    final int account;
    private final PostgresRows<Integer> rows;
    private volatile Optional<RowClaim<Long>> claim = Optional.empty();

    RowCrashClient(Step step, Return back, TestDatabase database, Locks locks, int account, Outage outage) {
        super(step, back, database, locks, account, outage);
        this.account = account;
        PostgresRows<Integer> plain =
                PostgresRows.on(source(), CrashWork.Rows.table(lock)).listener(FencelineListener.none());
        rows = step.name().startsWith("RECORDED") ? plain.recorded() : plain;
    }

    /** The same row, past the client's proxy. */
    PostgresRows<Integer> rows() {
        return PostgresRows.on(database.source(), CrashWork.Rows.table(lock)).listener(FencelineListener.none());
    }

    RowClaim<Long> claim(FencingToken token) throws Exception {
        return rows().claim(token, account, BALANCE);
    }

    @Override
    void prepare() throws Exception {
        if (step.isOfNoRow()) {
            database.execute("DELETE FROM account WHERE id = " + account);
        }
        claim(older);
    }

    @Override
    void work() throws Exception {
        RowClaim<Long> admitted = rows.claim(lease, account, BALANCE);
        claim = Optional.of(admitted);
        stayAt(Step.CLAIMED);
        stayAt(Step.ABSENCE_CLAIMED);
        switch (step) {
            case ABSENCE_CLAIM_UNANSWERED, ABSENCE_CLAIMED -> admitted.insert(RowValues.of("balance", 7));
            case DELETION_UNANSWERED -> admitted.delete();
            case WRITTEN_IN_A_TRANSACTION -> {
                try (Connection connection = source().getConnection()) {
                    connection.setAutoCommit(false);
                    admitted.in(connection).update(movement(admitted));
                    stayAt(Step.WRITTEN_IN_A_TRANSACTION);
                    admitted.in(connection).update(movement(admitted));
                    connection.commit();
                }
            }
            default -> admitted.update(movement(admitted));
        }
    }

    private RowValues movement(RowClaim<Long> admitted) {
        return CrashWork.Rows.movement(operation, admitted.row().orElseThrow(), 10);
    }

    /** The claim, if it was acknowledged. */
    Optional<RowClaim<Long>> claim() {
        return claim;
    }

    /** The mark that rules: the row's, or the guard's where there is no row. */
    FencingToken mark() {
        boolean exists = database.number("SELECT count(*) FROM account WHERE id = " + account) > 0;
        return exists ? CrashWork.Rows.mark(database, account, lock) : database.mark(older);
    }
}
