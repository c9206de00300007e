package dev.fenceline.lock;

import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.testkit.LockContract;
import io.lettuce.core.resource.ClientResources;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** What every lock service promises, on three independent masters. */
@Tag("server")
class RedlockContractTest extends LockContract {

    /** For all connections of all tests here. */
    private static final ClientResources RESOURCES = ClientResources.create();

    @AfterAll
    static void endThreads() {
        RESOURCES.shutdown(0, 0, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    @Override
    protected Locks connect(LockOptions options) {
        return Redlock.of(FiveServers.uris(FiveServers.NODES.subList(0, 3)))
                .on(RESOURCES)
                .options(options)
                .nodeTimeout(FiveServers.nodeTimeout(options))
                .firstStart()
                .connect();
    }
}
