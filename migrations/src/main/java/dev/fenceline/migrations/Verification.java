package dev.fenceline.migrations;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What a look at a database has found to differ from what was declared.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param differences the fence schema's first, then those of tables by name
 */
public record Verification(List<Difference> differences) {

    /** Keeps its own copy. */
    public Verification {
        differences = List.copyOf(differences);
    }

    /**
     * Tells whether the database is as declared.
     *
     * @return true when there is no difference
     */
    public boolean isAsDeclared() {
        return differences.isEmpty();
    }

    /** Returns a line for each difference. */
    @Override
    public String toString() {
        return isAsDeclared()
                ? "The database is as declared."
                : differences.stream().map(Difference::toString).collect(Collectors.joining("\n"));
    }
}
