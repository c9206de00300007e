package dev.fenceline.jdbc;

/** What a statement does to a row, as the first word of a message. */
enum RowForm {
    UPDATE("Update"),
    INSERT("Insert"),
    UPSERT("Upsert"),
    DELETE("Delete");

    private final String step;

    RowForm(String step) {
        this.step = step;
    }

    String step() {
        return step;
    }

    /** While there is no row the guard's mark rules, so what makes a row or removes it raises that one. */
    boolean movesGuard() {
        return this != UPDATE;
    }

    /** These need a row; the others make one. */
    boolean needsRow() {
        return this == UPDATE || this == DELETE;
    }
}
