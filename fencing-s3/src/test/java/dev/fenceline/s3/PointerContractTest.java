package dev.fenceline.s3;

import dev.fenceline.LockName;
import dev.fenceline.testkit.FenceDriver;
import dev.fenceline.testkit.NamedFenceContract;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("server")
class PointerContractTest extends NamedFenceContract {

    static TestStore store;

    @BeforeAll
    static void create() {
        store = TestStore.fresh();
    }

    @Override
    protected FenceDriver resource(LockName resource, String value) {
        return new EnvelopeContractTest.ObjectDriver(store.pointer(), TestStore.freshKey(), value);
    }
}
