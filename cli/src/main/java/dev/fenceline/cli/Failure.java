package dev.fenceline.cli;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.OutcomeUnknownException;
import dev.fenceline.UnfinishedException;
import dev.fenceline.migrations.Applied;
import dev.fenceline.migrations.PlanRefusedException;
import dev.fenceline.migrations.PlanUnfinishedException;
import java.nio.channels.ClosedByInterruptException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Ends a command with one clear line, or with one for each of several faults. */
final class Failure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Outcome outcome;
    private final transient List<String> lines;
    private final transient Map<String, @Nullable Object> fields;

    Failure(Outcome outcome, String message, @Nullable Throwable cause) {
        this(outcome, message, List.of(message), Map.of(), cause);
    }

    private Failure(
            Outcome outcome,
            String message,
            List<String> lines,
            Map<String, @Nullable Object> fields,
            @Nullable Throwable cause) {
        super(message, cause);
        this.outcome = outcome;
        this.lines = lines;
        this.fields = fields;
    }

    static Failure usage(String message) {
        return new Failure(Outcome.USAGE, message, null);
    }

    static Failure refused(String message) {
        return new Failure(Outcome.REFUSED, message, null);
    }

    /** Done in part, and what is done is in the message and in the fields. */
    static Failure unfinished(String message, Map<String, @Nullable Object> fields, Throwable cause) {
        return new Failure(Outcome.UNFINISHED, message, List.of(message), fields, cause);
    }

    Outcome outcome() {
        return outcome;
    }

    List<String> lines() {
        return lines;
    }

    /** What {@code --json} adds to the message. */
    Map<String, @Nullable Object> fields() {
        return fields;
    }

    /** Also where a library has wrapped it. */
    private static boolean isInterrupt(Throwable thrown) {
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException || cause instanceof ClosedByInterruptException) {
                return true;
            }
        }
        return false;
    }

    /** What anything thrown means for whoever called the command. */
    static Failure of(Throwable thrown) {
        String said = thrown.getMessage() == null ? thrown.toString() : thrown.getMessage();
        if (thrown instanceof Failure failure) {
            return failure;
        }
        if (isInterrupt(thrown)) {
            return new Failure(
                    Outcome.INTERRUPTED,
                    "Interrupted. What was done before stays, and the same command again does the rest.",
                    thrown);
        }
        if (thrown instanceof PlanRefusedException refused) {
            return new Failure(
                    Outcome.REFUSED,
                    said,
                    refused.faults().stream().map(Object::toString).toList(),
                    Json.object("faults", refused.faults()),
                    thrown);
        }
        if (thrown instanceof PlanUnfinishedException unfinished) {
            Applied applied = unfinished.applied();
            return new Failure(
                    Outcome.UNFINISHED, said, List.of(said), Json.object("steps", Steps.json(applied)), thrown);
        }
        if (thrown instanceof UnfinishedException || thrown instanceof OutcomeUnknownException) {
            return new Failure(Outcome.UNFINISHED, said, thrown);
        }
        if (thrown instanceof BackendUnavailableException) {
            return new Failure(Outcome.UNREACHABLE, said, thrown);
        }
        if (thrown instanceof FencelineException) {
            return new Failure(Outcome.REFUSED, said, thrown);
        }
        if (thrown instanceof IllegalArgumentException) {
            return new Failure(Outcome.USAGE, said, thrown);
        }
        return new Failure(
                Outcome.FAULT,
                "This is a fault of fenceline: " + thrown.getClass().getName() + ": " + said
                        + " Run it again with --verbose and report what it prints.",
                thrown);
    }
}
