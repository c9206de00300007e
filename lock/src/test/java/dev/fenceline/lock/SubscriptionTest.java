package dev.fenceline.lock;

import static dev.fenceline.lock.Fixture.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import dev.fenceline.LockOptions;
import dev.fenceline.testkit.EmbeddedServers;
import dev.fenceline.testkit.FaultProxy;
import dev.fenceline.testkit.RedisProcess;
import dev.fenceline.testkit.RedisSpec;
import dev.fenceline.testkit.Servers;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is told to these locks on their channel, and when that begins again. */
@Tag("server")
class SubscriptionTest {

    private static final EmbeddedServers SERVERS = Servers.embedded();
    private static RedisProcess redis;

    private final LockOptions options =
            Fixture.options().commandTimeout(Duration.ofMillis(300)).build();

    @BeforeAll
    static void startServer() {
        redis = SERVERS.redis(RedisSpec.master());
    }

    @AfterAll
    static void stopServers() {
        SERVERS.close();
    }

    static final class Heard implements LockTransport.Hints {

        private final List<String> messages = new CopyOnWriteArrayList<>();
        final AtomicInteger beginnings = new AtomicInteger();

        List<String> messages() {
            return messages;
        }

        @Override
        public void heard(String message) {
            messages.add(message);
        }

        @Override
        public void subscribed() {
            beginnings.incrementAndGet();
        }
    }

    @Test
    void messagesAreHeardFromTheMomentOfConnecting() {
        try (Fixture.Wire wire = new Fixture.Wire(redis, options)) {
            Heard heard = new Heard();
            wire.transport().listen(heard);
            assertThat(wire.transport().listening()).isTrue();
            assertThat(publish(wire, "one")).isEqualTo("1");
            publish(wire, "two");
            eventually("both messages are heard", () -> heard.messages.equals(List.of("one", "two")));
            assertThat(heard.beginnings).hasValue(0);
        }
    }

    @Test
    void eachTransportHasAChannelOfItsOwnBelowThePrefix() {
        try (Fixture.Wire one = new Fixture.Wire(redis, options);
                Fixture.Wire two = new Fixture.Wire(redis, options)) {
            assertThat(one.transport().channel()).matches(options.keyPrefix() + ":v1:jvm:[0-9a-f]{32}");
            assertThat(two.transport().channel()).isNotEqualTo(one.transport().channel());
        }
    }

    @Test
    void aSubscriptionThatWasCutIsMadeAgainAndSaidToBe() {
        try (Fixture.Wire wire = new Fixture.Wire(redis, options)) {
            Heard heard = new Heard();
            wire.transport().listen(heard);
            redis.command("CLIENT", "KILL", "TYPE", "pubsub");
            eventually("it is said that messages are heard again", () -> heard.beginnings.get() == 1);
            assertThat(wire.transport().listening()).isTrue();
            publish(wire, "after");
            eventually("the message is heard", () -> heard.messages.equals(List.of("after")));
        }
    }

    @Test
    void aRestartOfTheServerEndsInOneSubscription() {
        try (Fixture.Wire wire = new Fixture.Wire(redis, options)) {
            Heard heard = new Heard();
            wire.transport().listen(heard);
            redis.restart();
            eventually(
                    "messages are heard again",
                    () -> heard.beginnings.get() > 0 && publish(wire, "x").equals("1"));
        }
    }

    /** A peer that vanished without a FIN: nothing is ever sent on this connection, so nothing would fail. */
    @Test
    void aSubscriptionThatFellSilentIsNoticed() {
        try (FaultProxy proxy = FaultProxy.to(redis.host(), redis.port());
                Fixture.Wire wire = new Fixture.Wire("redis://" + proxy.host() + ":" + proxy.port(), options)) {
            Heard heard = new Heard();
            wire.transport().listen(heard);
            proxy.blackhole();
            eventually("the silence is noticed", () -> !wire.transport().listening());
            proxy.heal();
            eventually("messages are heard again", () -> heard.beginnings.get() > 0);
            publish(wire, "after");
            eventually("the message is heard", () -> heard.messages.contains("after"));
        }
    }

    /** The new connection leads to the place of before, and must not be taken for one to the place of now. */
    @Test
    void aSubscriptionThatIsOnItsWayToThePlaceOfBeforeIsMadeAgain() {
        ScheduledThreadPoolExecutor scheduler = new ScheduledThreadPoolExecutor(1);
        Notices notices = new Notices(options.listener());
        Network network = new Network(null, null);
        try (RedisProcess other = SERVERS.redis(RedisSpec.master());
                FaultProxy proxy = FaultProxy.to(redis.host(), redis.port())) {
            AtomicReference<RedisURI> place =
                    new AtomicReference<>(RedisURI.create("redis://" + proxy.host() + ":" + proxy.port()));
            Subscription subscription =
                    new Subscription(network, place::get, Context.of(options, LockClock.system(), scheduler, notices));
            subscription.connect().join();
            FaultProxy.Armed onItsWay = proxy.onRequest("SUBSCRIBE").holdReply();
            proxy.cutAll(FaultProxy.Cut.FIN);
            onItsWay.awaitFired(Duration.ofSeconds(10));
            place.set(RedisURI.create(other.uri()));
            subscription.renew();
            onItsWay.letGo();
            eventually(
                    "the subscription is at the other server alone",
                    // The server counts a subscription before its answer has come here.
                    () -> subscription.live()
                            && other.command("PUBLISH", subscription.channel(), "x")
                                    .equals("1")
                            && redis.command("PUBLISH", subscription.channel(), "x")
                                    .equals("0"));
            subscription.close().join();
        } finally {
            scheduler.shutdownNow();
            notices.close(Duration.ZERO);
            network.close();
            network.shutDown(CompletableFuture.completedFuture(null), Duration.ofSeconds(2));
        }
    }

    private static String publish(Fixture.Wire wire, String message) {
        return redis.command("PUBLISH", wire.transport().channel(), message);
    }
}
