package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import java.sql.SQLException;
import java.util.Map;

/** Every statement of row mode, made ready under a token and then run. Each sets the value to 110, or removes the row. */
enum RowForms {
    CLAIM(true, "100") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) {
            return () -> rows.claim(token, id, OneRow.VALUE);
        }
    },
    CLAIM_OF_NO_ROW(false, "none") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) {
            return () -> rows.claim(token, id, OneRow.VALUE);
        }
    },
    UPDATE(true, "110") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) throws SQLException {
            RowClaim<Long> claim = rows.claim(token, id, OneRow.VALUE);
            return () -> claim.update(OneRow.value(110));
        }
    },
    INSERT(false, "110") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) throws SQLException {
            RowClaim<Long> claim = rows.claim(token, id, OneRow.VALUE);
            return () -> claim.insert(OneRow.value(110));
        }
    },
    UPSERT(true, "110") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) throws SQLException {
            RowClaim<Long> claim = rows.claim(token, id, OneRow.VALUE);
            return () -> claim.upsert(OneRow.value(110));
        }
    },
    UPSERT_OF_NO_ROW(false, "110") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) throws SQLException {
            RowClaim<Long> claim = rows.claim(token, id, OneRow.VALUE);
            return () -> claim.upsert(OneRow.value(110));
        }
    },
    DELETE(true, "none") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) throws SQLException {
            RowClaim<Long> claim = rows.claim(token, id, OneRow.VALUE);
            return claim::delete;
        }
    },
    BATCH(true, "110") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) throws SQLException {
            RowClaim<Long> claim = rows.claim(token, id, OneRow.VALUE);
            return () -> rows.updateAll(Map.of(claim, OneRow.value(110)));
        }
    },
    BLIND_UPDATE(true, "110") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) {
            return () -> rows.blind(token, id).update(OneRow.value(110));
        }
    },
    BLIND_INSERT(false, "110") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) {
            return () -> rows.blind(token, id).insert(OneRow.value(110));
        }
    },
    BLIND_UPSERT(true, "110") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) {
            return () -> rows.blind(token, id).upsert(OneRow.value(110));
        }
    },
    BLIND_UPSERT_OF_NO_ROW(false, "110") {
        @Override
        Ready ready(PostgresRows<Long> rows, FencingToken token, long id) {
            return () -> rows.blind(token, id).upsert(OneRow.value(110));
        }
    };

    /** A statement whose claim, where it needs one, is made. */
    interface Ready {
        void run() throws SQLException;
    }

    final boolean needsRow;
    final String after;

    RowForms(boolean needsRow, String after) {
        this.needsRow = needsRow;
        this.after = after;
    }

    abstract Ready ready(PostgresRows<Long> rows, FencingToken token, long id) throws SQLException;

    String before() {
        return needsRow ? "100" : "none";
    }
}
