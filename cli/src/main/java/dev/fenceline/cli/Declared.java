package dev.fenceline.cli;

import dev.fenceline.migrations.Protect;
import dev.fenceline.migrations.TableName;
import java.util.List;
import java.util.Optional;

/**
 * A table as somebody has named it, in a file or by arguments.
 *
 * @param mode empty where arguments leave it to the command
 * @param where it was named, for messages
 */
record Declared(String table, String lock, List<String> key, Optional<Mode> mode, String where) {

    Declared {
        key = List.copyOf(key);
    }

    Declared with(Mode other) {
        return new Declared(table, lock, key, Optional.of(other), where);
    }

    TableName name() {
        try {
            return TableName.parse(table);
        } catch (IllegalArgumentException e) {
            throw Failure.usage(where + ": " + e.getMessage());
        }
    }

    Protect protect() {
        try {
            Protect.Locked locked = Protect.table(name()).lock(lock, key.toArray(String[]::new));
            return mode.orElse(Mode.OBSERVE) == Mode.OBSERVE ? locked.observe() : locked.enforce();
        } catch (IllegalArgumentException e) {
            throw Failure.usage(where + ": " + e.getMessage());
        }
    }
}
