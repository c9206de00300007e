package dev.fenceline.jdbc;

import dev.fenceline.jdbc.MatrixCell.Form;
import dev.fenceline.jdbc.MatrixCell.Interleaving;
import dev.fenceline.jdbc.MatrixCell.Operation;
import dev.fenceline.jdbc.MatrixStage.Link;
import dev.fenceline.jdbc.MatrixStage.Side;
import dev.fenceline.jdbc.MatrixTokens.Age;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** The rows of the matrix that must lose: what is commonly done instead of claim, enter and leave, and in which cells it shows. */
enum MatrixNaive {
    GREATER_OR_EQUAL("token >= stored alone") {
        @Override
        MatrixSession session(Scene scene) {
            return new MatrixNaiveSession.GreaterOrEqual(scene);
        }

        /** A mark in the row goes with the row, so behind a delete no level of isolation helps. */
        @Override
        boolean losesAt(MatrixCell cell) {
            return switch (cell.interleaving()) {
                case NEWER_BEHIND_CURRENT -> isReadCommitted(cell) && OVERWRITING.contains(cell.operation());
                case STALE_AFTER_DELETE -> cell.operation() == Operation.INSERT || cell.operation() == Operation.UPSERT;
                default -> false;
            };
        }
    },

    UNLOCKED_CHECK("a check without a lock") {
        @Override
        MatrixSession session(Scene scene) {
            return scene.side() == Side.RIVAL ? scene.right() : new MatrixNaiveSession.UnlockedCheck(scene);
        }

        @Override
        boolean losesAt(MatrixCell cell) {
            return overwrites(cell, Interleaving.STALE_BEHIND_COMMIT);
        }
    },

    SAME_SNAPSHOT("claim and read in one snapshot") {
        @Override
        MatrixSession session(Scene scene) {
            return scene.side() == Side.RIVAL ? scene.right() : new MatrixNaiveSession.SameSnapshot(scene);
        }

        @Override
        boolean losesAt(MatrixCell cell) {
            return overwrites(cell, Interleaving.NEWER_BEHIND_CURRENT);
        }
    },

    TWO_STATEMENTS("check and write in one string in simple mode") {
        @Override
        MatrixSession session(Scene scene) {
            return scene.side() == Side.RIVAL ? scene.right() : new MatrixNaiveSession.TwoStatements(scene);
        }

        /** Nobody waits here, so every level is the same. */
        @Override
        boolean losesAt(MatrixCell cell) {
            return cell.interleaving() == Interleaving.STALE_AFTER_DELETE
                    && (cell.operation() == Operation.INSERT || cell.operation() == Operation.UPSERT);
        }
    },

    SAVEPOINT_FIRST("a savepoint before entering") {
        @Override
        MatrixSession session(Scene scene) {
            return scene.side() == Side.RIVAL ? scene.right() : new MatrixNaiveSession.SavepointFirst(scene);
        }

        @Override
        boolean losesAt(MatrixCell cell) {
            return overwrites(cell, Interleaving.STALE_BEHIND_COMMIT);
        }
    },

    FOR_SHARE("FOR SHARE with two threads") {
        @Override
        MatrixSession session(Scene scene) {
            return new MatrixNaiveSession.ForShare(scene);
        }

        @Override
        boolean losesAt(MatrixCell cell) {
            return overwrites(cell, Interleaving.TWO_TRANSACTIONS);
        }
    },

    ONE_SNAPSHOT("one statement that waits for the mark behind its own snapshot") {
        @Override
        MatrixSession session(Scene scene) {
            return scene.side() == Side.RIVAL ? scene.right() : new MatrixNaiveSession.OneSnapshot(scene);
        }

        @Override
        boolean losesAt(MatrixCell cell) {
            return overwrites(cell, Interleaving.TWO_TRANSACTIONS) && cell.operation() != Operation.MERGE;
        }
    },

    NO_TRIGGER("plain SQL on a table whose trigger is dropped") {
        @Override
        MatrixSession session(Scene scene) {
            return new MatrixNaiveSession.NotEntering(scene);
        }

        @Override
        Form form() {
            return Form.ENFORCED_SQL;
        }

        /** Whatever brings a row back that a newer holder has deleted. */
        @Override
        boolean losesAt(MatrixCell cell) {
            return cell.interleaving() == Interleaving.STALE_AFTER_DELETE
                    && switch (cell.operation()) {
                        case INSERT, UPSERT, COPY, MERGE -> true;
                        case UPDATE, DELETE, BATCH, CLAIM_READ, TRUNCATE -> false;
                    };
        }
    },

    LOOKING_RESOLVER("a resolver that only looks") {
        @Override
        MatrixSession session(Scene scene) {
            return MatrixResolving.lookingAtTheRecord(scene);
        }

        @Override
        boolean losesAt(MatrixCell cell) {
            return doneTwice(cell);
        }

        @Override
        MatrixState wrong(MatrixCell cell) {
            return twice(cell);
        }
    },

    DO_NOTHING("own operation id with DO NOTHING") {
        @Override
        MatrixSession session(Scene scene) {
            return MatrixResolving.leavingWithDoNothing(scene);
        }

        /** Above READ COMMITTED even DO NOTHING fails on a record that its snapshot does not show. */
        @Override
        boolean losesAt(MatrixCell cell) {
            return doneTwice(cell) && isReadCommitted(cell);
        }

        @Override
        MatrixState wrong(MatrixCell cell) {
            return twice(cell);
        }
    };

    /**
     * What a session of a naive form needs.
     *
     * @param operation the id that the rival's transaction records, where it does
     */
    record Scene(
            MatrixStage stage,
            MatrixCell cell,
            MatrixRows rows,
            MatrixTokens tokens,
            UUID operation,
            Side side,
            Link link,
            Age age) {

        /** The right form in this place. */
        MatrixGuardSession right() {
            return MatrixGuardSession.ofUnits(link, rows, tokens.of(age));
        }
    }

    // They write what follows from what they have read, over whatever is there by then.
    private static final Set<Operation> OVERWRITING =
            EnumSet.of(Operation.UPDATE, Operation.UPSERT, Operation.BATCH, Operation.MERGE);

    private final String words;

    MatrixNaive(String words) {
        this.words = words;
    }

    abstract MatrixSession session(Scene scene);

    abstract boolean losesAt(MatrixCell cell);

    /** Whose table and whose rival. */
    Form form() {
        return Form.GUARD;
    }

    /** The rows as they are when it has lost: as if the rival had never been there. */
    MatrixState wrong(MatrixCell cell) {
        return MatrixPlay.start(cell).after(cell.operation(), MatrixPlay.SUBJECT);
    }

    /** The cells in which it loses; all others may look fine. */
    List<MatrixCell> cells(int serverVersion) {
        return MatrixCell.all().stream()
                .filter(cell -> cell.form() == form())
                .filter(this::losesAt)
                .filter(cell -> cell.operation() != Operation.MERGE || serverVersion >= 15)
                .toList();
    }

    /** Above READ COMMITTED the server itself refuses to write over a version that it has not seen. */
    private static boolean overwrites(MatrixCell cell, Interleaving interleaving) {
        return cell.interleaving() == interleaving && isReadCommitted(cell) && OVERWRITING.contains(cell.operation());
    }

    private static boolean isReadCommitted(MatrixCell cell) {
        return cell.isolation() == Isolation.READ_COMMITTED;
    }

    private static boolean doneTwice(MatrixCell cell) {
        return cell.interleaving() == Interleaving.TWO_TRANSACTIONS && OVERWRITING.contains(cell.operation());
    }

    private static MatrixState twice(MatrixCell cell) {
        Operation done = MatrixPlay.rivalOperation(cell);
        return MatrixPlay.start(cell).after(done, MatrixPlay.RIVAL).after(done, MatrixPlay.RIVAL);
    }

    @Override
    public String toString() {
        return words;
    }
}
