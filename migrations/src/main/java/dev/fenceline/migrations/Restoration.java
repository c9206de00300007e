package dev.fenceline.migrations;

import java.util.List;
import java.util.UUID;

/**
 * What raising all marks has done, and what is left for another run.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param holder the fresh holder that the raised marks have
 * @param raised for each table how many marks were raised, {@code fenceline.guard} first
 * @param left marks that were in use all the time that this waited for them, or that somebody has written so high that none can be
 *     higher: whoever works under them is still admitted
 */
public record Restoration(UUID holder, List<Raised> raised, List<Left> left) {

    /** Keeps its own copies. */
    public Restoration {
        raised = List.copyOf(raised);
        left = List.copyOf(left);
    }

    /**
     * How many marks of a table were raised.
     *
     * @param relation the table, quoted where it must be
     * @param marks their number in this run
     */
    public record Raised(String relation, long marks) {}

    /**
     * A mark that was not raised.
     *
     * @param relation the table, quoted where it must be
     * @param mark the lock, or which rows
     * @param reason who was in the way, or what else, and what to do
     */
    public record Left(String relation, String mark, String reason) {}

    /**
     * Tells whether every mark is raised, so that work may begin again.
     *
     * @return false when another run is needed
     */
    public boolean isComplete() {
        return left.isEmpty();
    }

    /** Returns a line for each table, and for each mark that is left. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        raised.forEach(table -> text.append(table.relation())
                .append(": ")
                .append(table.marks())
                .append(table.marks() == 1 ? " mark raised\n" : " marks raised\n"));
        left.forEach(mark -> text.append(mark.relation())
                .append(": NOT raised: ")
                .append(mark.mark())
                .append(", ")
                .append(mark.reason())
                .append('\n'));
        return text.append(isComplete() ? "All marks are raised." : "Run it again for the marks that are left.")
                .toString();
    }
}
