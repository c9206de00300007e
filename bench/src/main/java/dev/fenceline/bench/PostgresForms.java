package dev.fenceline.bench;

import dev.fenceline.bench.Bank.Commits;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a fenced write costs next to one without a fence: one row at a time and a hundred, one thread and eight, with and without the disk. */
final class PostgresForms implements Scenario {

    private static final int MOST_THREADS = 8;

    @Override
    public String id() {
        return "postgres";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        StringBuilder body = new StringBuilder();
        List<Target> targets = new ArrayList<>();
        try (Bank bank = new Bank()) {
            Accounts accounts = new Accounts(bank, MOST_THREADS);
            for (Commits commits : Commits.values()) {
                for (int threads : List.of(1, MOST_THREADS)) {
                    String where = String.format(
                            Locale.ROOT,
                            "synchronous_commit = %s, %d %s",
                            commits == Commits.SYNCHRONOUS ? "on" : "off",
                            threads,
                            threads == 1 ? "thread" : "threads");
                    for (WriteForm.Size size : WriteForm.Size.values()) {
                        List<WriteForm> forms = WriteForm.of(size, commits);
                        Paired<WriteForm> nanos = measure(settings, accounts, commits, threads, forms);
                        body.append(table(where + ", " + size.label(), forms, nanos))
                                .append('\n');
                        targets.addAll(targets(where, forms, nanos));
                    }
                }
            }
        }
        return new Section(id(), body.toString(), targets);
    }

    private static Paired<WriteForm> measure(
            Settings settings, Accounts accounts, Commits commits, int threads, List<WriteForm> forms)
            throws Exception {
        Map<WriteForm, List<Write>> writes = new EnumMap<>(WriteForm.class);
        for (WriteForm form : forms) {
            List<Write> ofThreads = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                ofThreads.add(accounts.write(form, commits, thread));
            }
            writes.put(form, ofThreads);
        }
        try (Crew crew = new Crew(threads)) {
            return new Rounds(settings)
                    .run(
                            forms,
                            (form, phase) ->
                                    crew.nanosPerWrite(settings.slice(), writes.getOrDefault(form, List.of())));
        }
    }

    private static String table(String where, List<WriteForm> forms, Paired<WriteForm> nanos) {
        Table table = new Table(where, "per write", "× plain", "round trips");
        for (WriteForm form : forms) {
            table.row(
                    form.label(),
                    Table.micros(nanos.of(form).median()),
                    nanos.ratio(form, form.plain()).ratio(),
                    form.roundTrips());
        }
        return table.toString();
    }

    private static List<Target> targets(String where, List<WriteForm> forms, Paired<WriteForm> nanos) {
        return forms.stream()
                .filter(form -> form.limit().isPresent())
                .map(form -> Target.atMost(
                        form.label() + ", " + where + ", × " + form.plain().label(),
                        form.limit().getAsDouble(),
                        nanos.ratio(form, form.plain())))
                .toList();
    }
}
