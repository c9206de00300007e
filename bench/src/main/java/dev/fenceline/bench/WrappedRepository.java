package dev.fenceline.bench;

import com.zaxxer.hikari.HikariDataSource;
import dev.fenceline.bench.Bank.Commits;
import dev.fenceline.bench.RepositoryForm.Call;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** What a wrapped repository costs next to the bare one, with one thread and eight that do not meet, and what it is made of. */
final class WrappedRepository implements Scenario {

    private static final int MOST_THREADS = 8;

    /** The driver prepares a statement on the server at its fifth use, and asks for some things at the first. */
    private static final int CALLS_BEFORE_COUNTING = 20;

    private static final int COUNTED_CALLS = 50;

    /** Round trips of one call, to each server. */
    private record Made(double postgres, double redis) {}

    @Override
    public String id() {
        return "repository";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        StringBuilder body = new StringBuilder();
        try (Bank bank = new Bank()) {
            bank.execute(
                    "CREATE TABLE balance (id bigint PRIMARY KEY, balance bigint NOT NULL) WITH (fillfactor = 50)");
            bank.execute("INSERT INTO balance SELECT i, 0 FROM generate_series(0, " + (MOST_THREADS - 1) + ") AS i");
            Map<RepositoryForm, Made> made = counted(bank);
            Repositories repositories = new Repositories(bank.source(Commits.SYNCHRONOUS), bank.locks());
            for (int threads : List.of(1, MOST_THREADS)) {
                for (Call call : Call.values()) {
                    Paired<RepositoryForm> nanos = measure(settings, repositories, threads, call.forms());
                    body.append(table(call, threads, nanos, made)).append('\n');
                }
            }
        }
        return new Section(id(), body.toString(), List.of());
    }

    /** On one connection of its own, so that no other thread's are counted. */
    private static Map<RepositoryForm, Made> counted(Bank bank) throws Exception {
        Map<RepositoryForm, Made> made = new EnumMap<>(RepositoryForm.class);
        try (HikariDataSource source = bank.counted()) {
            Repositories repositories = new Repositories(source, bank.locks());
            for (RepositoryForm form : RepositoryForm.values()) {
                Write call = repositories.call(form, 0);
                repeat(call, CALLS_BEFORE_COUNTING);
                long postgres = RoundTrips.counted();
                long redis = bank.scripts();
                repeat(call, COUNTED_CALLS);
                made.put(
                        form,
                        new Made(
                                (double) (RoundTrips.counted() - postgres) / COUNTED_CALLS,
                                (double) (bank.scripts() - redis) / COUNTED_CALLS));
            }
        }
        return made;
    }

    private static void repeat(Write call, int times) throws Exception {
        for (int i = 0; i < times; i++) {
            call.run(i);
        }
    }

    private static Paired<RepositoryForm> measure(
            Settings settings, Repositories repositories, int threads, List<RepositoryForm> forms) throws Exception {
        Map<RepositoryForm, List<Write>> calls = new EnumMap<>(RepositoryForm.class);
        for (RepositoryForm form : forms) {
            List<Write> ofThreads = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                ofThreads.add(repositories.call(form, thread));
            }
            calls.put(form, ofThreads);
        }
        try (Crew crew = new Crew(threads)) {
            return new Rounds(settings)
                    .run(
                            forms,
                            (form, phase) -> crew.nanosPerWrite(settings.slice(), calls.getOrDefault(form, List.of())));
        }
    }

    private static String table(Call call, int threads, Paired<RepositoryForm> nanos, Map<RepositoryForm, Made> made) {
        String where =
                String.format(Locale.ROOT, "%s; %d %s", call.label(), threads, threads == 1 ? "thread" : "threads");
        Table table = new Table(where, "takes", "× bare", "round trips to PostgreSQL", "scripts in Redis");
        for (RepositoryForm form : call.forms()) {
            Made trips = made.getOrDefault(form, new Made(0, 0));
            table.row(
                    form.label(),
                    Table.micros(nanos.of(form).median()),
                    nanos.ratio(form, call.bare()).ratio(),
                    number(trips.postgres()),
                    number(trips.redis()));
        }
        return table.toString();
    }

    /** A whole one as a rule; what is done once in many calls makes it a little more. */
    private static String number(double count) {
        return count == Math.rint(count) ? Table.whole(count) : Table.decimal(count);
    }
}
