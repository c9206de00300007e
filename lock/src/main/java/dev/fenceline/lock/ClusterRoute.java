package dev.fenceline.lock;

import dev.fenceline.BackendUnavailableException;
import dev.fenceline.lock.Slots.Address;
import io.lettuce.core.RedisURI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The route through a Redis Cluster: each lock has one slot, and each slot one master, to which a connection of our own leads. A
 * command carries what was learnt of the server that it goes to, so it must not be sent on by somebody who does not know that.
 *
 * <p>MOVED and ASK say that nothing was executed, and who would: the request is made again there, with what is known of that
 * server, a few times within one command timeout. All else that a node cannot do now (TRYAGAIN while a slot is moved,
 * CLUSTERDOWN, LOADING) is left to whoever waits for the lock, who asks again anyway.
 */
final class ClusterRoute implements Route {

    private static final Pattern REDIRECT = Pattern.compile("\\b(MOVED|ASK) ([0-9]+) (\\S*):([0-9]+)");
    private static final Pattern OUT_OF_DATE = Pattern.compile("\\b(MOVED|CLUSTERDOWN|READONLY)\\b");
    private static final int MOST_REDIRECTS = 5;

    /** A bucket that is being moved to a node which has no slot yet, and when somebody was last sent there for it. */
    private record Import(int bucket, long lastAsked) {}

    private final Network network;
    private final List<RedisURI> seeds;
    private final Context context;
    private final String server;
    private final Incarnations.Knowledge knowledge;
    private final Slots slots;
    private final Topology topology;
    private final Map<Address, ServerConnection> nodes = new ConcurrentHashMap<>();
    private final Map<Address, Import> importing = new ConcurrentHashMap<>();
    private final AtomicInteger places = new AtomicInteger();

    private volatile Set<Address> masters = Set.of();
    private volatile @Nullable Subscription subscription;
    private volatile @Nullable String lastTried;
    /** From the first connect, which looks at each master itself, to the end. */
    private volatile boolean open;

    ClusterRoute(Network network, List<RedisURI> seeds, Context context) {
        this(network, seeds, context, Incarnations.Knowledge.CHECKED);
    }

    /** With another knowledge than is right here, to show what it would cost. */
    ClusterRoute(Network network, List<RedisURI> seeds, Context context, Incarnations.Knowledge knowledge) {
        this.network = network;
        this.seeds = seeds;
        this.context = context;
        this.server = "Redis Cluster at " + Uris.addresses(seeds);
        this.knowledge = context.knowledge(knowledge);
        this.slots = new Slots(context.keys());
        this.topology = new Topology(network, seeds, context, this::learnt);
    }

    @Override
    public String server() {
        return server;
    }

    @Override
    public CompletableFuture<Void> connect(Subscription listening) {
        this.subscription = listening;
        return FirstConnect.patiently(
                context, () -> topology.askSeeds().thenCompose(done -> connectAll(listening)), this::tried);
    }

    private void tried(String last) {
        lastTried = last;
    }

    /** Each master is looked at; the subscription is made, and judged, beside the first one. */
    private CompletableFuture<Void> connectAll(Subscription listening) {
        tried("connecting to the masters " + masters);
        List<Supplier<CompletableFuture<Void>>> connecting = new ArrayList<>();
        for (Address master : masters) {
            if (slots.someBucketOf(master).isPresent() && !nodes.containsKey(master)) {
                ServerConnection node = connectionTo(master);
                Supplier<CompletableFuture<Void>> beside =
                        connecting.isEmpty() && !listening.live() ? listening::connect : this::nothing;
                connecting.add(() -> node.connect(beside).thenAccept(done -> nodes.put(master, node)));
            }
        }
        CompletableFuture<?>[] all = connecting.stream().map(Supplier::get).toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(all).thenAccept(done -> {
            open = true;
            if (nodes.isEmpty()) {
                throw new BackendUnavailableException(
                        server + " has no master for any slot of these locks. Nothing was sent; look at CLUSTER SLOTS.",
                        null);
            }
        });
    }

    private CompletableFuture<Void> nothing() {
        return CompletableFuture.completedFuture(null);
    }

    private ServerConnection connectionTo(Address address) {
        ServerConnection.Place place = new ServerConnection.Place(
                Uris.at(seeds.get(0), address.host(), address.port()), "Redis Cluster node at " + address);
        return new ServerConnection(
                network,
                limit -> CompletableFuture.completedFuture(place),
                place.name(),
                at -> ServerCheck.ofCluster(at.name(), context.options(), probeBucket(address)),
                new Incarnations(knowledge),
                context,
                link -> {});
    }

    private int probeBucket(Address address) {
        return slots.someBucketOf(address)
                .or(() -> Optional.ofNullable(importing.get(address)).map(Import::bucket))
                .orElse(0);
    }

    @Override
    public Optional<String> lastTried() {
        return Optional.ofNullable(lastTried);
    }

    @Override
    public <T> CompletableFuture<T> run(LockKey lock, Function<Link, CompletableFuture<T>> request) {
        return new Journey<>(lock, request).begin();
    }

    @Override
    public List<ServerConnection> servers() {
        return List.copyOf(nodes.values());
    }

    /** One request on its way through the Cluster. */
    private final class Journey<T> {

        private final LockKey lock;
        private final Function<Link, CompletableFuture<T>> request;
        private final long end;
        private int redirects;

        Journey(LockKey lock, Function<Link, CompletableFuture<T>> request) {
            this.lock = lock;
            this.request = request;
            this.end = context.clock().nanoTime() + context.commandTimeout().toNanos();
        }

        CompletableFuture<T> begin() {
            int slot = slots.slot(lock);
            Optional<Address> master = slots.master(slot);
            if (master.isEmpty()) {
                topology.refresh();
                return CompletableFuture.failedFuture(new SendFailure(
                        SendFailure.Kind.UNREACHABLE, server + " has no master for slot " + slot, null));
            }
            return at(master.get(), request);
        }

        private CompletableFuture<T> at(Address address, Function<Link, CompletableFuture<T>> made) {
            ServerConnection node = node(address);
            Optional<Link> link = node.link();
            CompletableFuture<T> answer = link.isPresent()
                    ? onTime(node.run(made))
                    // A master that was heard of just now; nobody has connected to it yet. Nothing is sent before.
                    : within(node.first(), SendFailure.Kind.UNREACHABLE, address + " was not connected within ")
                            .thenCompose(done -> onTime(node.run(made)));
            return answer.exceptionallyCompose(thrown -> {
                SendFailure failure = SendFailure.of(thrown);
                // A link that is still there was not silent: it said something else, or too few replicas have a grant.
                boolean lost = failure.kind() == SendFailure.Kind.UNREACHABLE
                        || (failure.kind() == SendFailure.Kind.UNANSWERED
                                && (link.isEmpty() || !link.equals(node.link())));
                if (lost) {
                    topology.refresh();
                }
                return failed(address, failure);
            });
        }

        private CompletableFuture<T> failed(Address from, SendFailure failure) {
            String said = String.valueOf(failure.getMessage());
            Matcher redirect = REDIRECT.matcher(said);
            if (OUT_OF_DATE.matcher(said).find()) {
                topology.refresh();
            }
            if (failure.kind() != SendFailure.Kind.UNABLE
                    || !redirect.find()
                    || redirects++ >= MOST_REDIRECTS
                    || context.clock().nanoTime() - end >= 0) {
                return CompletableFuture.failedFuture(failure);
            }
            int slot = Integer.parseInt(redirect.group(2));
            String host = redirect.group(3).isEmpty() ? from.host() : redirect.group(3);
            Address to = new Address(host, Integer.parseInt(redirect.group(4)));
            if (redirect.group(1).equals("MOVED")) {
                slots.moved(slot, to);
                return at(to, request);
            }
            importing.put(
                    to,
                    new Import(context.keys().bucketOf(lock), context.clock().nanoTime()));
            return at(to, link -> request.apply(link.asking()));
        }

        /** A request that was redirected has what the others left; the first one has the command timeout of its link. */
        private CompletableFuture<T> onTime(CompletableFuture<T> answer) {
            return redirects == 0
                    ? answer
                    : within(answer, SendFailure.Kind.UNANSWERED, server + " did not answer within ");
        }

        /** The whole journey takes one command timeout; a request that was made is not forgotten by whoever made it. */
        private <A> CompletableFuture<A> within(CompletableFuture<A> step, SendFailure.Kind kind, String otherwise) {
            long left = Math.max(1, end - context.clock().nanoTime());
            return step.copy().orTimeout(left, TimeUnit.NANOSECONDS).exceptionallyCompose(thrown -> {
                Throwable why = Link.unwrapped(thrown);
                return CompletableFuture.failedFuture(
                        why instanceof TimeoutException
                                ? new SendFailure(
                                        kind,
                                        otherwise + context.commandTimeout().toMillis() + " ms",
                                        why)
                                : why);
            });
        }
    }

    private ServerConnection node(Address address) {
        return nodes.computeIfAbsent(address, unknown -> {
            ServerConnection fresh = connectionTo(address);
            var unused = fresh.connectForGood();
            return fresh;
        });
    }

    /** Takes over what a node says of the whole; keeps connections to its masters, and to no one else. */
    private void learnt(List<Object> answer, String askedHost) {
        Set<Address> before = masters;
        Set<Address> now = slots.learn(answer, askedHost);
        masters = now;
        topology.know(now);
        long time = context.clock().nanoTime();
        importing.keySet().removeAll(now);
        // Over, given up, or without a held lock: whoever is sent there again connects again.
        importing
                .values()
                .removeIf(move ->
                        time - move.lastAsked() > context.options().lease().toNanos());
        if (!open) {
            return;
        }
        now.stream().filter(master -> slots.someBucketOf(master).isPresent()).forEach(this::node);
        nodes.forEach((address, node) -> {
            if (!now.contains(address) && !importing.containsKey(address) && nodes.remove(address, node)) {
                var unused = node.close();
            }
        });
        Subscription listening = subscription;
        if (!now.equals(before) && listening != null) {
            // Whoever left the Cluster takes part in its messages no more.
            listening.renew();
        }
    }

    /** Messages go through the whole Cluster, so any node will do; another one after one that failed. */
    @Override
    public RedisURI listeningPlace() {
        List<Address> candidates = nodes.entrySet().stream()
                .filter(node -> node.getValue().link().isPresent())
                .map(Map.Entry::getKey)
                .toList();
        List<Address> choice = candidates.isEmpty() ? List.copyOf(masters) : candidates;
        if (choice.isEmpty()) {
            return seeds.get(0);
        }
        Address place = choice.get(Math.floorMod(places.getAndIncrement(), choice.size()));
        return Uris.at(seeds.get(0), place.host(), place.port());
    }

    @Override
    public Listeners listeners() {
        return Listeners.NOT_COUNTED;
    }

    @Override
    public CompletableFuture<Void> close() {
        open = false;
        return CompletableFuture.allOf(
                nodes.values().stream().map(ServerConnection::close).toArray(CompletableFuture<?>[]::new));
    }
}
