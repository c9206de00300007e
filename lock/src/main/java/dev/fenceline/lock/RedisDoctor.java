package dev.fenceline.lock;

import dev.fenceline.FencelineException;
import dev.fenceline.Finding;
import dev.fenceline.Finding.Severity;
import dev.fenceline.lock.ServerCheck.Examination;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Looks at each server with the rules by which a connect is refused, and then at what no connect asks for: settings that make no
 * lock wrong but cost something on the day of a crash. What cannot be looked at is told, since silence would read as health.
 */
final class RedisDoctor {

    private static final List<String> SETTINGS = List.of("appendfsync", "min-replicas-to-write");

    private final Connecting.Parts parts;
    private final Context context;
    private final Duration limit;
    private final List<Finding> findings = new ArrayList<>();
    private final List<ClockReading> clocks = new ArrayList<>();

    RedisDoctor(Connecting.Parts parts) {
        this.parts = parts;
        this.context = parts.context();
        // Of several steps, one after the other, each of which has a limit of its own.
        this.limit = Network.CONNECT_TIMEOUT.plus(context.commandTimeout().multipliedBy(8));
    }

    List<Finding> findings() {
        for (ServerConnection server : parts.route().servers()) {
            server.place().ifPresent(place -> look(server, place));
        }
        findings.addAll(ClockReading.judge(clocks, context.options()));
        // A stable sort: of one severity, server by server.
        return findings.stream().sorted(Comparator.comparing(Finding::severity)).toList();
    }

    private void look(ServerConnection server, ServerConnection.Place place) {
        try {
            Link link = await(server.connected());
            Examination examination = await(server.check(place).examine(link, () -> subscribing(place)));
            examination.faults().forEach(fault -> findings.add(fault.finding(place.name())));
            // In another mode all else is beside the point, as the server to look at is another one.
            if (examination.faults().stream().noneMatch(fault -> fault.code().equals("redis-mode"))) {
                consider(link, examination.info());
            }
        } catch (SendFailure failure) {
            if (failure.getCause() instanceof FencelineException ours) {
                throw ours;
            }
            findings.add(new Finding(
                    "redis-unavailable",
                    Severity.ERROR,
                    place.name(),
                    "could not be looked at: " + failure.getMessage(),
                    "Locks that it has can be neither taken nor released. See whether it runs and can be reached."));
        }
    }

    /** Of what a connect does not ask: a server that refuses one question may answer the next. */
    private void consider(Link link, String info) {
        Map<String, String> settings = new LinkedHashMap<>();
        Map<String, String> unseen = new LinkedHashMap<>();
        String persistence = "";
        try {
            persistence = await(link.info("persistence"));
        } catch (SendFailure failure) {
            unseen.put("INFO persistence", said(link, failure));
        }
        for (String name : SETTINGS) {
            try {
                settings.putAll(await(link.setting(name)));
            } catch (SendFailure failure) {
                unseen.put("CONFIG GET " + name, said(link, failure));
            }
        }
        RiskRules rules = isRedlockNode(link)
                ? RiskRules.redlock(link.server(), context.options())
                : new RiskRules(
                        link.server(), context.options(), context.options().restartDelay());
        findings.addAll(rules.findings(info + "\n" + persistence, settings));
        if (!unseen.isEmpty()) {
            findings.add(RiskRules.unseen(link.server(), unseen));
        }
        readClock(link);
    }

    /** Other masters of a Cluster than the one that has the key would lead elsewhere, and none of them is one. */
    private boolean isRedlockNode(Link link) {
        try {
            return await(Looking.redlock(link, context.keys()));
        } catch (SendFailure failure) {
            // Of a Cluster; or the check has named the grant that is missing.
            return false;
        }
    }

    private void readClock(Link link) {
        long before = context.clock().wallMicros();
        long server;
        try {
            server = await(link.micros());
        } catch (SendFailure failure) {
            // The check has named the grant that is missing.
            return;
        }
        long after = context.clock().wallMicros();
        clocks.add(new ClockReading(link.server(), server - after, server - before));
    }

    private static String said(Link link, SendFailure failure) {
        return String.valueOf(failure.getMessage()).replace(link.server() + " ", "");
    }

    private CompletableFuture<Void> subscribing(ServerConnection.Place place) {
        Subscription trial = new Subscription(parts.network(), place::uri, context);
        return trial.connect().whenComplete((done, thrown) -> {
            var unused = trial.close();
        });
    }

    private <T> T await(CompletableFuture<T> answer) throws SendFailure {
        return Uninterruptibly.await(answer, limit);
    }
}
