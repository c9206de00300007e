package dev.fenceline.jdbc;

import dev.fenceline.FencelineListener;
import dev.fenceline.FencingToken;
import dev.fenceline.jdbc.MatrixCell.Operation;
import dev.fenceline.jdbc.MatrixStage.Link;
import java.sql.Connection;
import java.util.Map;
import java.util.Optional;

/** Guard mode: units of {@link PostgresFence}, or single statements. */
final class MatrixGuardSession implements MatrixSession {

    /** How an operation is done under a claim. */
    private interface Way {
        Applied perform(Claim<Connection> claim, Operation operation, String writer, Steps meanwhile) throws Exception;
    }

    private final Link link;
    private final MatrixRows rows;
    private final FencingToken token;
    private final PostgresFence fence;
    private final Way way;
    private Optional<Claim<Connection>> claim = Optional.empty();

    private MatrixGuardSession(Link link, MatrixRows rows, FencingToken token, PostgresFence fence, Way way) {
        this.link = link;
        this.rows = rows;
        this.token = token;
        this.fence = fence.listener(FencelineListener.none());
        this.way = way;
    }

    static MatrixGuardSession ofUnits(Link link, MatrixRows rows, FencingToken token) {
        return new MatrixGuardSession(link, rows, token, PostgresFence.on(link.source()), unit(rows));
    }

    static MatrixGuardSession ofConcurrentUnits(Link link, MatrixRows rows, FencingToken token) {
        return new MatrixGuardSession(
                link, rows, token, PostgresFence.on(link.source()).concurrent(), unit(rows));
    }

    /** Nothing can be held in the middle of a statement, so this is for the session under test only. */
    static MatrixGuardSession ofStatements(Link link, MatrixRows rows, FencingToken token) {
        return new MatrixGuardSession(
                link, rows, token, PostgresFence.on(link.source()), (claim, operation, writer, meanwhile) -> {
                    MatrixStatement statement = MatrixStatement.of(rows, operation, writer);
                    claim.update(statement.sql(), statement.parameters().toArray());
                    meanwhile.run();
                    return new Applied(operation, writer, Optional.empty());
                });
    }

    private static Way unit(MatrixRows rows) {
        return (claim, operation, writer, meanwhile) -> {
            MatrixState saw = claim.<MatrixState, Exception>inTransaction(connection -> {
                MatrixState read = rows.perform(connection, operation, writer);
                meanwhile.run();
                return read;
            });
            return new Applied(operation, writer, Optional.of(saw));
        };
    }

    @Override
    public void claim() {
        claim = Optional.of(fence.claim(token));
    }

    /** To claim and read is to claim, committed, and then to read in a unit: never both in one statement. */
    @Override
    public Applied perform(Operation operation, String writer) throws Exception {
        if (operation == Operation.CLAIM_READ) {
            claim();
        }
        return way.perform(claimed(), operation, writer, () -> {});
    }

    @Override
    public Optional<Applied> performAndHold(Operation operation, String writer, Steps meanwhile) throws Exception {
        return Optional.of(way.perform(claimed(), operation, writer, meanwhile));
    }

    /** Its own claim, or as a session that was handed the token. */
    private Claim<Connection> claimed() {
        return claim.orElseGet(() -> fence.resume(token));
    }

    /** The library commits a claim at once, so one that others find open is made in SQL. */
    @Override
    public void claimAndHold(Operation operation, String writer, End end, Steps meanwhile) throws Exception {
        MatrixSql.claimAndHold(link.connection(), token, end, () -> {
            rows.perform(link.connection(), operation, writer);
            meanwhile.run();
        });
    }

    /** As a session would after the loss of a claim in a failover: it believes in its claim, and only entering tells. */
    @Override
    public Map<String, Steps> insist(Operation operation, String writer) {
        Claim<Connection> believed = new Claim<>(fence.source(), fence.settings(), Tokens.of(token), null);
        return Map.of(
                "to claim again", () -> fence.claim(token),
                "to resume", () -> fence.resume(token),
                "to write", () -> way.perform(believed, operation, writer, () -> {}));
    }
}
