package dev.fenceline.bench;

import dev.fenceline.testkit.AtomicS3;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.S3FaultProxy;
import dev.fenceline.testkit.Servers;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What the fence costs in S3: each operation next to a plain PUT or GET of the same bytes, and how many requests it takes. */
final class S3Forms implements Scenario {

    /**
     * What is written.
     *
     * @param label for people
     * @param bytes of a body, which does not compress
     * @param inOneObject whether it is an envelope
     */
    private record Body(String label, int bytes, boolean inOneObject) {}

    private static final List<Body> BODIES = List.of(
            new Body("1 KB in an envelope", 1 << 10, true),
            new Body("1 KB behind a pointer", 1 << 10, false),
            new Body("64 KB behind a pointer", 64 << 10, false),
            new Body("8 MB behind a pointer", 8 << 20, false));

    @Override
    public String id() {
        return "s3";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        StringBuilder text = new StringBuilder();
        List<Target> targets = new ArrayList<>();
        try (EmbeddedServers servers = Servers.embedded()) {
            AtomicS3 store = servers.s3();
            for (Body body : BODIES) {
                Map<S3Form, Integer> requests = requests(store, body);
                Paired<S3Form> nanos = nanos(settings, store, body);
                Table table = new Table(body.label(), "each", "× plain", "requests");
                for (S3Form form : S3Form.values()) {
                    table.row(
                            form.label(),
                            Table.micros(nanos.of(form).median()),
                            nanos.ratio(form, form.plain()).ratio(),
                            String.valueOf(requests.get(form)));
                    form.limit(body.inOneObject())
                            .ifPresent(limit -> targets.add(Target.atMost(
                                    form.label() + ", " + body.label() + ", × "
                                            + form.plain().label(),
                                    limit,
                                    nanos.ratio(form, form.plain()))));
                }
                text.append(table).append('\n');
            }
        }
        return new Section(id(), text.toString(), targets);
    }

    private static Paired<S3Form> nanos(Settings settings, AtomicS3 store, Body body) throws Exception {
        try (S3Bench bench = new S3Bench(store, store.endpoint(), S3Bench.setup(body.inOneObject()), body.bytes())) {
            return new Rounds(settings).run(List.of(S3Form.values()), (form, phase) -> {
                long end = System.nanoTime() + settings.slice().toNanos();
                long nanos = 0;
                int count = 0;
                do {
                    nanos += bench.nanos(form);
                    count++;
                } while (System.nanoTime() - end < 0);
                bench.tidy();
                return (double) nanos / count;
            });
        }
    }

    /** Counted on their way to the store, in a run of its own. */
    private static Map<S3Form, Integer> requests(AtomicS3 store, Body body) {
        Map<S3Form, Integer> requests = new EnumMap<>(S3Form.class);
        try (S3FaultProxy proxy = S3FaultProxy.to(store);
                S3Bench bench = new S3Bench(store, proxy.endpoint(), S3Bench.setup(body.inOneObject()), body.bytes())) {
            bench.nanos(S3Form.CLAIM); // the first one creates the object
            for (S3Form form : S3Form.values()) {
                int preparing = form == S3Form.STALE ? claimsTwice(bench, proxy) : 0;
                proxy.forget();
                bench.nanos(form);
                requests.put(form, proxy.requests().size() - preparing);
            }
        }
        return requests;
    }

    /** A stale write is made so by two claims, of two requests each. */
    private static int claimsTwice(S3Bench bench, S3FaultProxy proxy) {
        proxy.forget();
        bench.nanos(S3Form.CLAIM);
        return 2 * proxy.requests().size();
    }
}
