package dev.fenceline.jdbc;

import dev.fenceline.RetryableConflictException;
import dev.fenceline.jdbc.MatrixCell.Operation;
import dev.fenceline.jdbc.MatrixNaive.Scene;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Two sessions of one claim about a commit whose reply is lost: the rival's transaction is still open when its user, told nothing,
 * lets the session under test find out what became of it. If it never will be applied, the work is done again.
 */
final class MatrixResolving implements MatrixSession {

    /** When and how the transaction records its operation, as the last thing before COMMIT. */
    private enum Leaving {
        BEFORE_IT_IS_ASKED_FOR,
        AFTERWARDS,
        AFTERWARDS_WITH_DO_NOTHING
    }

    /** How is found out what became of it. */
    private enum Resolver {
        LOOKING,
        WRITING
    }

    private final Scene scene;
    private final Leaving leaving;
    private final Resolver resolver;

    private MatrixResolving(Scene scene, Leaving leaving, Resolver resolver) {
        this.scene = scene;
        this.leaving = leaving;
        this.resolver = resolver;
    }

    static MatrixResolving lookingAtTheRecord(Scene scene) {
        return new MatrixResolving(scene, Leaving.BEFORE_IT_IS_ASKED_FOR, Resolver.LOOKING);
    }

    /** The right form of {@link #lookingAtTheRecord}. */
    static MatrixResolving writingTheRecord(Scene scene) {
        return new MatrixResolving(scene, Leaving.BEFORE_IT_IS_ASKED_FOR, Resolver.WRITING);
    }

    static MatrixResolving leavingWithDoNothing(Scene scene) {
        return new MatrixResolving(scene, Leaving.AFTERWARDS_WITH_DO_NOTHING, Resolver.WRITING);
    }

    /** The right form of {@link #leavingWithDoNothing}. */
    static MatrixResolving leavingPlainly(Scene scene) {
        return new MatrixResolving(scene, Leaving.AFTERWARDS, Resolver.WRITING);
    }

    private Connection connection() {
        return scene.link().connection();
    }

    @Override
    public void claim() {
        scene.right().claim();
    }

    @Override
    public Applied perform(Operation operation, String writer) throws Exception {
        Operation asked = MatrixPlay.rivalOperation(scene.cell());
        if (isApplied()) {
            return new Applied(asked, MatrixPlay.RIVAL, Optional.empty());
        }
        try {
            return scene.right().perform(asked, MatrixPlay.RIVAL);
        } catch (RetryableConflictException e) {
            return scene.right().perform(asked, MatrixPlay.RIVAL);
        }
    }

    @Override
    public Optional<Applied> performAndHold(Operation operation, String writer, Steps meanwhile) throws Exception {
        connection().setAutoCommit(false);
        try {
            MatrixSql.Entered entered =
                    MatrixSql.enter(connection(), scene.tokens().of(scene.age()));
            scene.rows().perform(connection(), operation, writer);
            if (leaving == Leaving.BEFORE_IT_IS_ASKED_FOR) {
                leave(entered);
                meanwhile.run();
            } else {
                meanwhile.run();
                leave(entered);
            }
            connection().commit();
        } catch (SQLException e) {
            // 23505: there is a verdict.
            connection().rollback();
        }
        connection().setAutoCommit(true);
        return Optional.empty();
    }

    @Override
    public void claimAndHold(Operation operation, String writer, End end, Steps meanwhile) throws Exception {
        scene.right().claimAndHold(operation, writer, end, meanwhile);
    }

    private void leave(MatrixSql.Entered entered) throws SQLException {
        String sql = leaving == Leaving.AFTERWARDS_WITH_DO_NOTHING
                ? "INSERT INTO fenceline.operation (id, entered_at, outcome) VALUES (?, ?, 'applied') ON CONFLICT DO NOTHING"
                : "SELECT fenceline.leave_v1(?, '" + entered.transaction() + "', ?)";
        try (PreparedStatement statement = connection().prepareStatement(sql)) {
            statement.setObject(1, scene.operation());
            statement.setObject(2, entered.at());
            statement.execute();
        }
    }

    private boolean isApplied() throws Exception {
        String sql = resolver == Resolver.LOOKING
                ? "SELECT outcome FROM fenceline.operation WHERE id = ?"
                : "SELECT fenceline.resolve_v1(?, clock_timestamp(), 20000)";
        return MatrixSql.inTransaction(connection(), () -> {
            MatrixSql.execute(connection(), "SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
            try (PreparedStatement ask = connection().prepareStatement(sql)) {
                ask.setObject(1, scene.operation());
                try (ResultSet row = ask.executeQuery()) {
                    return row.next() && row.getString(1).equals("applied");
                }
            }
        });
    }
}
