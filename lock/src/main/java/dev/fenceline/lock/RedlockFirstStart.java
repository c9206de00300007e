package dev.fenceline.lock;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.BackendUnavailableException;
import dev.fenceline.FencelineException;
import dev.fenceline.LockOptions;
import dev.fenceline.OutcomeUnknownException;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Marks nodes that were never used, all of them or none. Connects for itself, and disconnects. */
final class RedlockFirstStart {

    private static final Duration LIMIT = Duration.ofMillis(5_500);

    private static final Script FIRST = Script.load("redlock-first.lua");

    /** A node, and what it says of itself: whether it was used, and its process. */
    private record Answer(String name, String word, String process) {}

    private final List<Link> links = new ArrayList<>();
    private final LockOptions options;
    private final String[] key;

    private RedlockFirstStart(LockOptions options) {
        this.options = options;
        this.key = new String[] {new KeySpace(options.keyPrefix()).node()};
    }

    static void of(Network network, List<RedisURI> nodes, LockOptions options) {
        RedlockFirstStart start = new RedlockFirstStart(options);
        try {
            start.connect(network, nodes);
            List<Answer> before = start.look();
            if (refuse(before)) {
                start.mark();
            }
        } finally {
            network.disconnect(start.links, options.commandTimeout());
        }
    }

    private void connect(Network network, List<RedisURI> nodes) {
        List<CompletableFuture<Link>> opening = new ArrayList<>();
        for (RedisURI node : nodes) {
            String name = "Redis at " + Uris.address(node);
            opening.add(network.connect(node, Network.CONNECT_TIMEOUT)
                    .thenApply(
                            connection -> Link.passing(connection, LockClock.system(), name, Network.CONNECT_TIMEOUT))
                    // Before any is marked: one that refuses later leaves the others marked, and this is no first start
                    // then.
                    .thenCompose(link -> ServerCheck.standalone(name, options)
                            .run(link, () -> CompletableFuture.completedFuture(null))
                            .thenApply(done -> link))
                    .exceptionallyCompose(
                            thrown -> CompletableFuture.failedFuture(ConnectFailure.of(name, Link.unwrapped(thrown)))));
        }
        FencelineException missing = null;
        for (int i = 0; i < opening.size(); i++) {
            try {
                links.add(await("Redis at " + Uris.address(nodes.get(i)), opening.get(i)));
            } catch (FencelineException e) {
                missing = e;
            }
        }
        if (missing != null) {
            throw missing;
        }
    }

    private void mark() {
        List<CompletableFuture<Reply>> asked = ask("MARK");
        List<String> marked = new ArrayList<>();
        Map<String, SendFailure> doubtful = new LinkedHashMap<>();
        for (int i = 0; i < asked.size(); i++) {
            String name = links.get(i).server();
            try {
                Reply unused = Uninterruptibly.await(asked.get(i), LIMIT);
                marked.add(name);
            } catch (SendFailure failure) {
                doubtful.put(name, failure);
            }
        }
        if (!doubtful.isEmpty()) {
            SendFailure first = doubtful.values().iterator().next();
            throw new OutcomeUnknownException(
                    (marked.isEmpty() ? "No node" : String.join(", ", marked))
                            + (marked.size() > 1 ? " were" : " was") + " marked as new, and "
                            + String.join(", ", doubtful.keySet()) + " did not answer (" + first.getMessage()
                            + "), so " + (doubtful.size() > 1 ? "they were or were not" : "it was or was not")
                            + ". A node that was not marked grants nothing for one lease once somebody"
                            + " connects, and then goes on; leave it to that.",
                    null,
                    first);
        }
    }

    private List<CompletableFuture<Reply>> ask(String mode) {
        return links.stream().map(link -> link.run(FIRST, key, mode)).toList();
    }

    private List<Answer> look() {
        List<CompletableFuture<Reply>> asked = ask("LOOK");
        List<Answer> answers = new ArrayList<>();
        for (int i = 0; i < asked.size(); i++) {
            String name = links.get(i).server();
            List<String> words = await(name, asked.get(i)).words();
            answers.add(new Answer(name, words.get(0), words.get(1)));
        }
        return answers;
    }

    /** Whether all of them are new; false where all of them were marked before. */
    private static boolean refuse(List<Answer> answers) {
        Map<String, String> processes = new HashMap<>();
        for (Answer answer : answers) {
            String other = processes.putIfAbsent(answer.process(), answer.name());
            if (other != null) {
                throw new BackendMisconfiguredException(
                        "No node was marked: " + other + " and " + answer.name()
                                + " are one server. Name each server once.",
                        null);
            }
        }
        List<String> used = answers.stream()
                .filter(answer -> answer.word().equals("used"))
                .map(Answer::name)
                .toList();
        if (!used.isEmpty() && used.size() < answers.size()) {
            List<String> empty = answers.stream()
                    .map(Answer::name)
                    .filter(name -> !used.contains(name))
                    .toList();
            throw new BackendMisconfiguredException(
                    "No node was marked: " + String.join(", ", used)
                            + (used.size() > 1 ? " were" : " was")
                            + " used before, if only by a connect that was refused, so this is no first start, and "
                            + String.join(", ", empty)
                            + (empty.size() > 1
                                    ? " are new or lost their data. They grant nothing for one lease once somebody connects, and"
                                            + " then go on; leave them to that."
                                    : " is new or lost its data. It grants nothing for one lease once somebody connects, and then"
                                            + " goes on; leave it to that."),
                    null);
        }
        return used.isEmpty();
    }

    private static <T> T await(String name, CompletableFuture<T> answer) {
        try {
            return Uninterruptibly.await(answer, LIMIT);
        } catch (SendFailure failure) {
            if (failure.getCause() instanceof FencelineException ours) {
                throw ours;
            }
            throw new BackendUnavailableException(
                    "No node was marked: " + name + " did not answer (" + failure.getMessage()
                            + "), and a first start is one of all nodes. Start it, and call this again.",
                    failure);
        }
    }
}
