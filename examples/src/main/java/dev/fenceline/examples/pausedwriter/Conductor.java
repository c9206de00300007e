package dev.fenceline.examples.pausedwriter;

import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.PostgresProcess;
import dev.fenceline.testkit.PostgresSpec;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** Starts the servers and both writers, has the three runs played, and reads the books. Ends all it started, in any case. */
class Conductor {

    private final Story story;
    private final List<Mode> modes;
    private final Path directory;
    private final Path page;
    private final Ledger ledger = Ledger.fromResource();
    private final Plan plan = new Plan(ledger);

    Conductor(Story story, Path target) {
        this(story, target, List.of(Mode.values()));
    }

    Conductor(Story story, Path target, List<Mode> modes) {
        this.story = story;
        this.modes = List.copyOf(modes);
        this.directory = target.resolve("paused-writer");
        this.page = target.resolve("timeline.html");
    }

    Summary conduct() throws IOException, SQLException {
        Files.createDirectories(directory);
        for (String actor : List.of("A", "B", Event.CONDUCTOR)) {
            EventFile.in(directory, actor).clear();
        }
        try (EmbeddedServers servers = Servers.embedded()) {
            RedisProcess redis = servers.redis(RedisSpec.master());
            PostgresProcess postgres = servers.postgres(PostgresSpec.primary());
            String name = postgres.newDatabase();
            DemoDatabase database = new DemoDatabase(postgres.dataSource(name));
            database.setUp(ledger.byAccount().keySet());
            prepare(postgres.dataSource(name));
            String url = postgres.jdbcUrl(name);
            try (WriterProcess a = WriterProcess.start("A", redis.uri(), url, directory.toString());
                    WriterProcess b = WriterProcess.start("B", redis.uri(), url, directory.toString())) {
                a.awaitReady();
                b.awaitReady();
                LockServer lockServer = new LockServer(redis);
                String processes = "Writer A is process " + a.pid() + ", writer B is process " + b.pid()
                        + ". Redis " + lockServer.version() + " is process " + redis.pid() + ", PostgreSQL "
                        + database.version() + " is process " + postgres.pid() + ".";
                introduce(processes);
                EventFile events = EventFile.in(directory, Event.CONDUCTOR);
                return play(new StagedPause.Cast(plan, a, b, lockServer, database, events, story), processes);
            }
        }
    }

    /** Nothing more: a test weakens the fence here and sees the demo fail. */
    void prepare(DataSource database) throws SQLException {}

    private void introduce(String processes) {
        story.plain("The paused writer: two processes book "
                + thousands(ledger.movements().size()) + " movements on "
                + ledger.byAccount().size() + " accounts, three times.");
        story.plain(processes);
        story.plain("A lease lasts " + Writer.LEASE.toSeconds()
                + " s. Writer A is stopped between its read and its write, for longer than that.");
    }

    private Summary play(StagedPause.Cast cast, String processes) throws SQLException, IOException {
        List<RunTrace> traces = new ArrayList<>();
        for (Mode mode : modes) {
            story.chapter(traces.size() + 1, mode);
            bulk(cast, mode, Plan.Half.BEFORE_THE_PAUSES);
            int refused = new StagedPause(mode, Scene.FIRST_PAUSE, cast).run()
                    + new StagedPause(mode, Scene.SECOND_PAUSE, cast).run();
            bulk(cast, mode, Plan.Half.AFTER_THE_PAUSES);
            RunTrace trace = trace(cast.database(), mode, refused);
            reportBooks(trace.result());
            traces.add(trace);
        }
        statement(cast);
        Files.writeString(page, new TimelinePage(traces, processes).html());
        Summary summary = new Summary(
                ledger.movements().size(), traces.stream().map(RunTrace::result).toList());
        story.plain("");
        story.plain(summary.table());
        story.plain("   The same as a picture: " + page.toAbsolutePath().normalize());
        return summary;
    }

    private void bulk(StagedPause.Cast cast, Mode mode, Plan.Half half) {
        long start = System.nanoTime();
        cast.a().tellToBookBulk(mode, half);
        cast.b().tellToBookBulk(mode, half);
        List<Integer> byA = cast.a().awaitBulk();
        List<Integer> byB = cast.b().awaitBulk();
        story.scene(
                "bulk",
                String.format(
                        Locale.ROOT,
                        "A books %,d movements and B %,d, lock by lock, in %d sessions and %.1f s",
                        byA.get(1),
                        byB.get(1),
                        byA.get(0) + byB.get(0),
                        (System.nanoTime() - start) / 1e9));
    }

    private RunTrace trace(DemoDatabase database, Mode mode, int refusedWhileStopped) throws SQLException {
        List<Event> events = Stream.of("A", "B", Event.CONDUCTOR)
                .flatMap(actor -> EventFile.in(directory, actor).events().stream())
                .filter(event -> event.mode() == mode)
                .toList();
        List<AcceptedWrite> history = database.history(mode);
        RunResult result = new RunResult(
                mode,
                database.bookings(mode),
                history.size(),
                events.stream()
                        .filter(event -> event.kind() == Event.Kind.REFUSED)
                        .count(),
                refusedWhileStopped,
                AcceptedWrite.lostUpdates(history),
                BookError.between(ledger.expectedBalances(), database.balances(mode)));
        return new RunTrace(result, events, database.claims(mode), history);
    }

    private void reportBooks(RunResult result) {
        if (result.errors().isEmpty()) {
            story.scene("books", "every balance is what the file of movements adds up to");
        }
        for (BookError error : result.errors()) {
            story.scene(
                    "books",
                    "account " + error.account() + " should hold " + Money.euros(error.expectedCents())
                            + " and holds " + Money.euros(error.actualCents()) + ": "
                            + Money.change(error.differenceCents()));
        }
    }

    /** The other kind of lock: work that may happen twice but need not. */
    private void statement(StagedPause.Cast cast) {
        story.plain("");
        story.plain("+  EFFICIENCY MODE: the daily statement may be made twice but need not, so it needs no fence.");
        List<String> first = cast.a().statement();
        List<String> second = cast.b().statement();
        if (!first.get(1).equals(Reply.RUNNING) || !second.get(1).equals(Reply.SKIPPED)) {
            throw new IllegalStateException(
                    "One writer was to run the statement and the other to skip it, but: " + first + ", " + second);
        }
        story.step("A", "makes the statement");
        story.step("B", "skips it. " + second.get(2));
        List<String> done = cast.a().finishStatement();
        story.step("A", "done: " + done.get(2) + " accounts hold " + Money.euros(Long.parseLong(done.get(3))));
    }

    private static String thousands(int number) {
        return String.format(Locale.ROOT, "%,d", number);
    }
}
