package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/** What the writers of a {@link CrashRun} do with the account. */
interface CrashWork {

    /** Moves money under a claim that was acknowledged, with a step before and behind what the server is asked for. */
    interface Claimed {
        void move(UUID operation, long amount, Runnable step) throws Exception;
    }

    Claimed claim(FencingToken token) throws SQLException;

    /** The mark that the server keeps for the account. */
    FencingToken mark(FencingToken claimed);

    /** Transactions under a guard. */
    record Units(TestDatabase database, Movements movements, PostgresFence fence) implements CrashWork {

        static Units on(TestDatabase database, Movements movements) {
            return new Units(
                    database, movements, PostgresFence.on(database.source()).listener(FencelineListener.none()));
        }

        @Override
        public Claimed claim(FencingToken token) {
            Claim<Connection> claim = fence.claim(token);
            return (operation, amount, step) -> claim.useTransaction(connection -> {
                step.run();
                movements.move(connection, token, operation, amount);
                step.run();
            });
        }

        @Override
        public FencingToken mark(FencingToken claimed) {
            return database.mark(claimed);
        }
    }

    /** Single statements of row mode, which record themselves. */
    record Rows(TestDatabase database, int account, PostgresRows<Integer> rows) implements CrashWork {

        /**
         * Has the table keep marks, and write its own log in the transaction of each write: which balance the writer says that it
         * has read, and which one it has left.
         */
        static void addMarks(TestDatabase database) {
            database.execute("ALTER TABLE account ADD COLUMN fence_token bigint NOT NULL DEFAULT 0,"
                    + " ADD COLUMN fence_holder uuid, ADD COLUMN operation uuid, ADD COLUMN read bigint");
            database.execute("CREATE FUNCTION log_movement() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                    + " INSERT INTO movement (account, operation, token, before, after) VALUES"
                    + " (NEW.id, NEW.operation, NEW.fence_token, NEW.read, NEW.balance); RETURN NULL; END $$");
            // Also of an update that sets the same operation again.
            database.execute("CREATE TRIGGER logged AFTER UPDATE OF operation ON account FOR EACH ROW"
                    + " EXECUTE FUNCTION log_movement()");
        }

        static FencedTable<Integer> table(LockName lock) {
            return FencedTable.of("account").key("id", id -> lock);
        }

        static RowValues movement(UUID operation, long read, long amount) {
            return RowValues.of("balance", read + amount)
                    .and("operation", operation)
                    .and("read", read);
        }

        static Rows on(TestDatabase database, int account, LockName lock) {
            PostgresRows<Integer> rows = PostgresRows.on(database.source(), table(lock))
                    .listener(FencelineListener.none())
                    .recorded();
            return new Rows(database, account, rows);
        }

        @Override
        public Claimed claim(FencingToken token) throws SQLException {
            RowClaim<Long> claim = rows.claim(token, account, row -> row.getLong("balance"));
            return (operation, amount, step) -> {
                long read = claim.read().orElseThrow();
                step.run();
                claim.update(movement(operation, read, amount));
                step.run();
            };
        }

        @Override
        public FencingToken mark(FencingToken claimed) {
            return mark(database, account, claimed.lock());
        }

        static FencingToken mark(TestDatabase database, int account, LockName lock) {
            try (Connection connection = database.source().getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(
                            "SELECT fence_token, fence_holder FROM account WHERE id = " + account)) {
                row.next();
                return new FencingToken(lock, row.getLong(1), row.getObject(2, UUID.class));
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
