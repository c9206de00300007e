package dev.fenceline.cli;

import dev.fenceline.migrations.Change;
import dev.fenceline.migrations.TableName;
import dev.fenceline.migrations.Unprotect;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Takes protection off. */
@Command(
        name = "unprotect",
        description =
                "Takes the triggers off tables. To let writers pass for a while, rather protect with --mode observe.")
final class UnprotectTables extends ChangeTables {

    @Option(
            names = "--subscriber",
            order = 15,
            description = "On a subscriber of logical replication: let its apply worker pass, and nobody else.")
    private boolean subscriber;

    @Mixin
    private final Confirmation confirmation;

    UnprotectTables(Terminal terminal) {
        super(terminal);
        this.confirmation = new Confirmation(terminal);
    }

    @Override
    Change change(TableName table) {
        Unprotect change = Unprotect.table(table);
        return subscriber ? change.onSubscriber() : change;
    }

    @Override
    void confirm(String tables) {
        confirmation.require(
                subscriber
                        ? "This lets replication write " + tables + " without a lock."
                        : "This lets everybody write " + tables + " without a lock, and nobody is recorded.");
    }
}
