package dev.fenceline.verification.torture;

import dev.fenceline.testkit.RedisServer;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a process takes up while its locks are in use: connections, by how servers see them, and threads. It must be the same
 * after any number of faults as before them; what is left behind at each new connection adds up.
 */
record Footprint(Map<String, Integer> counts) {

    /** Threads of ours, of Lettuce and of Netty. */
    private static final Pattern THREADS =
            Pattern.compile("(?i)(fenceline|lettuce|netty|redis|epoll|nio|multithread).*");

    /** Counts the connections that bear the name, at servers and at Sentinels apart, with and without subscriptions. */
    static Footprint connections(
            String client, Collection<? extends RedisServer> servers, Collection<? extends RedisServer> sentinels) {
        Map<String, Integer> counts = new TreeMap<>();
        count(counts, "at servers", client, servers);
        count(counts, "at Sentinels", client, sentinels);
        return new Footprint(counts);
    }

    private static void count(
            Map<String, Integer> counts, String where, String client, Collection<? extends RedisServer> servers) {
        for (RedisServer server : servers) {
            server.command("CLIENT", "LIST")
                    .lines()
                    .map(Footprint::fields)
                    .filter(field -> client.equals(field.get("name")))
                    .forEach(field -> counts.merge(
                            (field.getOrDefault("flags", "").contains("P") ? "subscriptions " : "connections ") + where,
                            1,
                            Integer::sum));
        }
    }

    private static Map<String, String> fields(String line) {
        return Arrays.stream(line.split(" ", -1))
                .map(field -> field.split("=", 2))
                .filter(field -> field.length == 2)
                .collect(Collectors.toMap(field -> field[0], field -> field[1], (first, second) -> first));
    }

    /** Counts the threads of this JVM. */
    static Footprint threads() {
        return threads(Thread.getAllStackTraces().keySet().stream()
                .filter(Thread::isAlive)
                .map(Thread::getName)
                .toList());
    }

    static Footprint threads(List<String> names) {
        return new Footprint(new TreeMap<>(names.stream()
                .filter(name -> THREADS.matcher(name).matches())
                .collect(Collectors.toMap(
                        name -> "threads " + name.replaceAll("[0-9]+", "#").replace(' ', '_'),
                        name -> 1,
                        Integer::sum))));
    }

    /** As one line, for another process to parse. */
    String encode() {
        return counts.entrySet().stream()
                .map(count -> count.getKey() + "=" + count.getValue())
                .collect(Collectors.joining(","));
    }

    static Footprint parse(String text) {
        return new Footprint(new TreeMap<>(Arrays.stream(text.split(",", -1))
                .filter(count -> !count.isEmpty())
                .map(count -> count.split("=", -1))
                .collect(Collectors.toMap(count -> count[0], count -> Integer.valueOf(count[1])))));
    }

    Footprint and(Footprint other) {
        Map<String, Integer> sum = new TreeMap<>(counts);
        other.counts.forEach((what, count) -> sum.merge(what, count, Integer::sum));
        return new Footprint(sum);
    }

    /** The smaller count of each thing: what is there now and then only, as a question to a Sentinel, is no part of it. */
    Footprint atLeast(Footprint other) {
        Map<String, Integer> least = new TreeMap<>();
        counts.forEach((what, count) -> {
            int both = Math.min(count, other.counts.getOrDefault(what, 0));
            if (both > 0) {
                least.put(what, both);
            }
        });
        return new Footprint(least);
    }

    /**
     * The same with the threads that the pools of one client may still start: a pool grows to its size when it is used, and a
     * second pool of the kind goes beyond it.
     */
    Footprint withFullPools() {
        Map<String, Integer> full = new TreeMap<>(counts);
        full.merge("threads lettuce-eventExecutorLoop-#-#", Access.POOL, Math::max);
        // Begins with the first event, such as a server that lost its data.
        full.merge("threads fenceline-lock-events", 1, Math::max);
        full.replaceAll((what, count) -> what.endsWith("Loop-#-#") ? Math.max(count, Access.POOL) : count);
        return new Footprint(full);
    }

    int count(String what) {
        return counts.getOrDefault(what, 0);
    }

    /** What is more here than there, with both counts; nothing means that nothing was left behind. */
    Map<String, String> beyond(Footprint before) {
        Map<String, String> more = new TreeMap<>();
        counts.forEach((what, count) -> {
            if (count > before.count(what)) {
                more.put(what, before.count(what) + " became " + count);
            }
        });
        return more;
    }
}
