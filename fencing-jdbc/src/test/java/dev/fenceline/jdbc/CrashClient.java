package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import dev.fenceline.Locks;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;

/** A client with a claim of a guard and one unit of work. */
final class CrashClient extends CrashingClient<CrashClient.Step> {

    /** How far the client gets. */
    enum Step implements CrashingClient.Step {
        CLAIM_ON_ITS_WAY(Keeper.HELD_REQUEST, "claim_v"),
        CLAIM_WAITS(Keeper.PREPARED_TRANSACTION, ""),
        CLAIM_UNANSWERED(Keeper.HELD_REPLY, "claim_v"),
        CLAIMED(Keeper.LATCH, ""),
        ENTER_WAITS(Keeper.PREPARED_TRANSACTION, ""),
        ENTER_UNANSWERED(Keeper.HELD_REPLY, "enter_v"),
        WRITTEN(Keeper.LATCH, ""),
        LEAVE_UNANSWERED(Keeper.HELD_REPLY, "leave_v"),
        COMMIT_ON_ITS_WAY(Keeper.HELD_REQUEST, "COMMIT"),
        COMMIT_UNANSWERED(Keeper.HELD_REPLY, "COMMIT");

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
    }

    private final PostgresFence fence;
    private volatile Optional<Claim<Connection>> claim = Optional.empty();

    CrashClient(Step step, Return back, TestDatabase database, Locks locks, int account, Outage outage) {
        super(step, back, database, locks, account, outage);
        fence = PostgresFence.on(source()).listener(FencelineListener.none());
    }

    @Override
    void prepare() {
        PostgresFence.on(database.source()).claim(older);
        if (step == Step.CLAIM_WAITS) {
            blockTheMark();
        }
    }

    @Override
    void work() throws Exception {
        Claim<Connection> admitted = fence.claim(lease);
        claim = Optional.of(admitted);
        stayAt(Step.CLAIMED);
        if (step == Step.ENTER_WAITS) {
            blockTheMark();
        }
        admitted.useTransaction(c -> {
            movements.move(c, token(), operation, 10);
            stayAt(Step.WRITTEN);
        });
    }

    /** By a prepared transaction: no session of it dies with the server, so nobody gets in while the server dies. */
    private void blockTheMark() {
        try (Connection connection = database.source().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SELECT FROM fenceline.guard WHERE lock = '" + token().lock() + "' FOR UPDATE");
            statement.execute("PREPARE TRANSACTION '" + name + "'");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    void unblock() {
        if (step.keeper() == Keeper.PREPARED_TRANSACTION) {
            database.execute("ROLLBACK PREPARED '" + name + "'");
        }
    }

    /** The claim, if it was acknowledged. */
    Optional<Claim<Connection>> claim() {
        return claim;
    }
}
