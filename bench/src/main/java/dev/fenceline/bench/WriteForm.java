package dev.fenceline.bench;

import dev.fenceline.bench.Bank.Commits;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalDouble;

/** The ways to write a row, or a hundred rows, that are compared. */
enum WriteForm {
    PLAIN(Size.ONE, "plain UPDATE", "1"),
    ROW(Size.ONE, "row mode: update after a claim", "1", 1.05),
    ROW_BLIND(Size.ONE, "row mode: blind update", "1"),
    STATEMENT(Size.ONE, "guard mode: single statement", "1", 1.3),
    STATEMENT_RECORDED(Size.ONE, "guard mode: single statement, recorded", "1"),
    TRANSACTION(Size.ONE, "plain transaction: BEGIN, UPDATE, COMMIT", "2"),
    UNIT(Size.ONE, "guard mode: unit with an UPDATE", "4"),
    UNIT_CONCURRENT(Size.ONE, "guard mode: concurrent unit with an UPDATE", "4"),
    UNIT_ENFORCED(Size.ONE, "guard mode: unit with an UPDATE of a protected table", "4"),
    BATCH(Size.HUNDRED, "plain transaction: batch of 100 UPDATEs, COMMIT", "2"),
    ROW_BATCH(Size.HUNDRED, "row mode: batch by unnest", "1", 0.5),
    UNIT_BATCH(Size.HUNDRED, "guard mode: unit with a batch of 100 UPDATEs", "4");

    /** How many rows one write changes. */
    enum Size {
        ONE("one row"),
        HUNDRED("100 rows");

        private final String label;

        Size(String label) {
            this.label = label;
        }

        String label() {
            return label;
        }
    }

    private final Size size;
    private final String label;
    private final String roundTrips;
    private final OptionalDouble limit;

    WriteForm(Size size, String label, String roundTrips) {
        this(size, label, roundTrips, OptionalDouble.empty());
    }

    WriteForm(Size size, String label, String roundTrips, double limit) {
        this(size, label, roundTrips, OptionalDouble.of(limit));
    }

    WriteForm(Size size, String label, String roundTrips, OptionalDouble limit) {
        this.size = size;
        this.label = label;
        this.roundTrips = roundTrips;
        this.limit = limit;
    }

    /** Those that there are: a blind write raises the mark, which is refused to whoever does not wait for the disk. */
    static List<WriteForm> of(Size size, Commits commits) {
        return Arrays.stream(values())
                .filter(form -> form.size == size)
                .filter(form -> form != ROW_BLIND || commits == Commits.SYNCHRONOUS)
                .toList();
    }

    String label() {
        return label;
    }

    /** As the tests of fencing-jdbc count them; BEGIN travels with the first statement. */
    String roundTrips() {
        return roundTrips;
    }

    /** The design's limit for its ratio. */
    OptionalDouble limit() {
        return limit;
    }

    /** Without a fence: what it is compared with. */
    WriteForm plain() {
        return size == Size.ONE ? PLAIN : BATCH;
    }
}
