package dev.fenceline.cli;

import picocli.CommandLine;

/** All commands, in the order in which a newcomer needs them. */
final class Commands {

    private Commands() {}

    static void addTo(CommandLine root, Terminal terminal) {
        root.addSubcommand("install", new Install(terminal, "Installed"));
        root.addSubcommand("upgrade", new Install(terminal, "Upgraded"));
        root.addSubcommand("grant", new Grant(terminal));
        root.addSubcommand("plan", new ShowPlan(terminal));
        root.addSubcommand("apply", new Apply(terminal));
        root.addSubcommand("protect", new ProtectTables(terminal));
        root.addSubcommand("unprotect", new UnprotectTables(terminal));
        root.addSubcommand("add-columns", new AddMarkColumns(terminal));
        root.addSubcommand("drop-columns", new DropMarkColumns(terminal));
        root.addSubcommand("sql", new WriteSql(terminal));
        root.addSubcommand("rollback-sql", new RollbackSql(terminal));
        root.addSubcommand("verify", new Verify(terminal));
        root.addSubcommand("doctor", new Doctor(terminal));
        root.addSubcommand("violations", new ShowViolations(terminal));
        root.addSubcommand("after-restore", new AfterRestore(terminal));
        root.addSubcommand(
                "locks",
                new CommandLine(new LockCommands())
                        .addSubcommand("ls", new LockCommands.Ls(terminal))
                        .addSubcommand("show", new LockCommands.Show(terminal))
                        .addSubcommand("force-release", new LockCommands.ForceRelease(terminal)));
        root.addSubcommand(
                "redlock",
                new CommandLine(new RedlockCommands())
                        .addSubcommand("show", new RedlockCommands.Show(terminal))
                        .addSubcommand("first-start", new RedlockCommands.FirstStart(terminal)));
        root.addSubcommand(
                "fence",
                new CommandLine(new FenceCommands())
                        .addSubcommand("show", new FenceCommands.Show(terminal))
                        .addSubcommand("blockers", new FenceCommands.Blockers(terminal))
                        .addSubcommand("raise", new FenceCommands.Raise(terminal)));
        root.addSubcommand(
                "s3",
                new CommandLine(new S3Commands())
                        .addSubcommand("probe", new S3Commands.Probe(terminal))
                        .addSubcommand("show", new S3Commands.Show(terminal))
                        .addSubcommand("gc", new S3Commands.Gc(terminal)));
        root.addSubcommand("completion", new Completion(terminal));
    }
}
