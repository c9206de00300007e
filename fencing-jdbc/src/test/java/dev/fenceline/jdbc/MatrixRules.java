package dev.fenceline.jdbc;

import dev.fenceline.jdbc.MatrixCell.Form;
import dev.fenceline.jdbc.MatrixCell.Interleaving;
import dev.fenceline.jdbc.MatrixCell.Operation;
import java.util.Locale;
import java.util.Optional;

/**
 * The right answer of each cell, as rules that can be read beside the design of the fence. The interleaving says what is right in
 * the end; who waited says whether READ COMMITTED looks again and knows, or a stricter level gives up with 40001; the form says
 * whether that comes out as it is, or somebody looks at the mark first. The level of the other session is asked for nowhere.
 */
final class MatrixRules {

    /** What the session under test is told. */
    enum Answer {
        /** It has happened, once, on top of what was committed before it. */
        APPLIED,
        /** Somebody newer has claimed; it never happens. */
        STALE,
        /** A race was lost and nothing happened; a new transaction under the same claim has the lasting answer. */
        RETRYABLE,
        /** The form has no such operation. */
        NOT_APPLICABLE;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    /**
     * The answer of a cell.
     *
     * @param first what the first attempt is told
     * @param lasting what every later one is told
     * @param why the rule, in words
     */
    record Ruling(Answer first, Answer lasting, String why) {

        private static Ruling of(Answer answer, String why) {
            return new Ruling(answer, answer, why);
        }

        boolean isApplicable() {
            return first != Answer.NOT_APPLICABLE;
        }

        @Override
        public String toString() {
            return first == lasting ? first.toString() : first + ", then " + lasting;
        }
    }

    private MatrixRules() {}

    static Ruling of(MatrixCell cell, int serverVersion) {
        return notApplicable(cell, serverVersion)
                .map(why -> Ruling.of(Answer.NOT_APPLICABLE, why))
                .orElseGet(() -> of(cell));
    }

    private static Ruling of(MatrixCell cell) {
        return switch (cell.interleaving()) {
            case STALE_AFTER_DELETE ->
                Ruling.of(Answer.STALE, "the newer claim is committed, and every snapshot shows its mark");
            case STALE_BEHIND_ROLLBACK ->
                Ruling.of(Answer.APPLIED, "a claim that was rolled back leaves no version behind, at any level");
            case STALE_BEHIND_COMMIT ->
                waited(cell, Answer.STALE, isClaim(cell) ? sendsItsClaimAgain(cell) : judgesByTheMark(cell));
            case NEWER_BEHIND_CURRENT -> waited(cell, Answer.APPLIED, sendsItsClaimAgain(cell));
            case FIRST_GUARD_ROW ->
                waited(cell, Answer.STALE, writesTheGuardItself(cell) ? Optional.empty() : sendsItsClaimAgain(cell));
            case TWO_TRANSACTIONS ->
                waited(cell, Answer.APPLIED, isClaim(cell) ? sendsItsClaimAgain(cell) : sendsItsStatementAgain(cell));
        };
    }

    /** Behind a version that was committed meanwhile. */
    private static Ruling waited(MatrixCell cell, Answer answer, Optional<String> settledByTheFence) {
        if (cell.isolation() == Isolation.READ_COMMITTED) {
            return Ruling.of(answer, "READ COMMITTED looks again at the version that it waited for");
        }
        return settledByTheFence
                .map(why -> Ruling.of(answer, why))
                .orElseGet(() -> new Ruling(
                        Answer.RETRYABLE,
                        answer,
                        "above READ COMMITTED a version that is newer than the snapshot is 40001, whoever wrote it"));
    }

    /** Where 40001 at entering comes out as what the mark says. */
    private static Optional<String> judgesByTheMark(MatrixCell cell) {
        return switch (cell.form()) {
            case GUARD, GUARD_CONCURRENT, GUARD_STATEMENT, ENFORCED ->
                Optional.of("the library rolls back and reads the mark anew at READ COMMITTED: it is another's");
            case ROW, ENFORCED_SQL -> Optional.empty();
        };
    }

    private static boolean isClaim(MatrixCell cell) {
        return cell.operation() == Operation.CLAIM_READ;
    }

    /** Where 40001 at a claim does not come out, since a claim is idempotent by holder. */
    private static Optional<String> sendsItsClaimAgain(MatrixCell cell) {
        return switch (cell.form()) {
            case GUARD, GUARD_CONCURRENT, GUARD_STATEMENT, ROW, ENFORCED ->
                Optional.of("the library sends a claim that lost a race again");
            case ENFORCED_SQL -> Optional.empty();
        };
    }

    /** Where 40001 at a statement does not come out, since all that it is based on is in it. */
    private static Optional<String> sendsItsStatementAgain(MatrixCell cell) {
        return cell.form() == Form.GUARD_STATEMENT
                ? Optional.of("the library sends a statement that is its own transaction again, with a new snapshot")
                : Optional.empty();
    }

    /** In row mode what makes a row or removes it raises the guard in the same statement, which is no claim. */
    private static boolean writesTheGuardItself(MatrixCell cell) {
        return cell.form() == Form.ROW && !isClaim(cell);
    }

    private static Optional<String> notApplicable(MatrixCell cell, int serverVersion) {
        Optional<String> inForm = switch (cell.form()) {
            case GUARD, ENFORCED, ENFORCED_SQL -> Optional.empty();
            case GUARD_CONCURRENT -> notConcurrently(cell);
            case GUARD_STATEMENT -> notInOneStatement(cell, serverVersion);
            case ROW -> notInRowMode(cell);
        };
        return inForm.isPresent() || cell.operation() != Operation.MERGE || serverVersion >= 15
                ? inForm
                : Optional.of("MERGE came with PostgreSQL 15");
    }

    private static Optional<String> notConcurrently(MatrixCell cell) {
        return cell.interleaving() == Interleaving.TWO_TRANSACTIONS
                ? Optional.of(
                        "concurrent transactions of one claim do not wait for each other; their order is their holder's affair")
                : Optional.empty();
    }

    private static Optional<String> notInOneStatement(MatrixCell cell, int serverVersion) {
        return switch (cell.operation()) {
            case CLAIM_READ -> Optional.of("one statement that only reads is a read-only unit");
            case COPY, TRUNCATE -> Optional.of("COPY and TRUNCATE cannot be a part of another statement");
            case MERGE ->
                serverVersion < 17
                        ? Optional.of("MERGE cannot be a part of another statement before PostgreSQL 17")
                        : Optional.empty();
            case UPDATE, UPSERT, INSERT, DELETE, BATCH -> Optional.empty();
        };
    }

    private static Optional<String> notInRowMode(MatrixCell cell) {
        boolean firstGuardRow = cell.interleaving() == Interleaving.FIRST_GUARD_ROW;
        return switch (cell.operation()) {
            case COPY -> Optional.of("row mode has no COPY: a row that comes so meets no condition");
            case MERGE -> Optional.of("row mode has no MERGE: its upsert is one statement for both");
            case TRUNCATE -> Optional.of("row mode has no TRUNCATE, which looks at no row, hence at no mark of one");
            case BATCH, UPDATE ->
                firstGuardRow
                        ? Optional.of("while a row exists its own mark rules, and an update leaves the guard alone")
                        : cell.operation() == Operation.BATCH && cell.interleaving() == Interleaving.TWO_TRANSACTIONS
                                ? Optional.of("a batch of row mode is one statement of values that were read in others")
                                : Optional.empty();
            case UPSERT, INSERT, DELETE, CLAIM_READ -> Optional.empty();
        };
    }
}
