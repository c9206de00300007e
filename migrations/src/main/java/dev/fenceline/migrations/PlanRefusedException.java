package dev.fenceline.migrations;

import java.util.List;
import java.util.stream.Collectors;

/** The changes that were asked for do not fit what is in the database. Nothing was changed; all faults of all tables are in it. */
public final class PlanRefusedException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final transient List<Fault> faults;

    PlanRefusedException(List<Fault> faults) {
        super("Plan refused, nothing was changed: "
                + (faults.size() == 1
                        ? faults.get(0).toString()
                        : faults.size() + " faults.\n"
                                + faults.stream().map(fault -> "- " + fault).collect(Collectors.joining("\n"))));
        this.faults = List.copyOf(faults);
    }

    /**
     * Returns what is wrong, one by one, in the order of the changes.
     *
     * @return at least one
     */
    public List<Fault> faults() {
        return faults;
    }
}
