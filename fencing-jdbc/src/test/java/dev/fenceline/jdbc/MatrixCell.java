package dev.fenceline.jdbc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * One cell of the two-session matrix.
 *
 * @param operation what the session under test does
 * @param form the form of the fence that both sessions use
 * @param isolation the level of the session under test
 * @param rivals the level of the other session
 * @param interleaving what the other session does meanwhile
 */
record MatrixCell(Operation operation, Form form, Isolation isolation, Isolation rivals, Interleaving interleaving) {

    /** What is done to the rows of a cell. */
    enum Operation {
        UPDATE,
        UPSERT,
        INSERT,
        DELETE,
        BATCH,
        CLAIM_READ,
        COPY,
        MERGE,
        TRUNCATE;

        @Override
        public String toString() {
            return switch (this) {
                case COPY, MERGE, TRUNCATE -> name();
                default -> words(name());
            };
        }
    }

    /** How the fence is used. */
    enum Form {
        /** Units of {@link PostgresFence}. */
        GUARD,
        /** Units of a fence that is {@link PostgresFence#concurrent}. */
        GUARD_CONCURRENT {
            @Override
            public String toString() {
                return "concurrent guard";
            }
        },
        /** Single statements of a {@link Claim}. */
        GUARD_STATEMENT {
            @Override
            public String toString() {
                return "guard in one statement";
            }
        },
        /** The typed API of row mode. */
        ROW,
        /** {@link PostgresFence#enter} in the user's own transaction, and plain SQL on a protected table. */
        ENFORCED,
        /** The functions of the schema and plain SQL on a protected table, as from psql. */
        ENFORCED_SQL {
            @Override
            public String toString() {
                return "enforced by SQL alone";
            }
        };

        @Override
        public String toString() {
            return words(name());
        }
    }

    /** Who waits for whom, and what becomes of the other. */
    enum Interleaving {
        STALE_BEHIND_COMMIT("stale waits behind newer commit"),
        STALE_BEHIND_ROLLBACK("stale waits behind newer rollback"),
        NEWER_BEHIND_CURRENT("newer waits behind current"),
        TWO_TRANSACTIONS("two transactions of one claim"),
        FIRST_GUARD_ROW("first guard row"),
        STALE_AFTER_DELETE("stale after delete");

        private final String words;

        Interleaving(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /** The matrix proper, with both sessions at one level. */
    static List<MatrixCell> all() {
        List<MatrixCell> cells = new ArrayList<>();
        for (Form form : Form.values()) {
            for (Operation operation : Operation.values()) {
                for (Isolation isolation : Isolation.values()) {
                    for (Interleaving interleaving : Interleaving.values()) {
                        cells.add(new MatrixCell(operation, form, isolation, isolation, interleaving));
                    }
                }
            }
        }
        return cells;
    }

    /** The cells of one operation again, with the sessions at different levels. */
    static List<MatrixCell> mixed(Operation operation) {
        return all().stream()
                .filter(cell -> cell.operation == operation)
                .flatMap(cell -> Arrays.stream(Isolation.values())
                        .filter(level -> level != cell.isolation)
                        .map(level -> new MatrixCell(operation, cell.form, cell.isolation, level, cell.interleaving)))
                .toList();
    }

    @Override
    public String toString() {
        String levels = isolation.sql() + (rivals == isolation ? "" : " beside " + rivals.sql());
        return operation + ", " + form + ", " + levels + ", " + interleaving;
    }

    private static String words(String name) {
        return name.toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
