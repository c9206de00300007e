package dev.fenceline.s3;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;
import dev.fenceline.testkit.FenceDriver;
import dev.fenceline.testkit.NamedFenceContract;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag("server")
class EnvelopeContractTest extends NamedFenceContract {

    static TestStore store;

    @BeforeAll
    static void create() {
        store = TestStore.fresh();
    }

    @Override
    protected FenceDriver resource(LockName resource, String value) {
        return new ObjectDriver(store.envelope(), TestStore.freshKey(), value);
    }

    /** The value is the text of the object; before the first write it is what the contract says. */
    record ObjectDriver(ObjectFence<?> fence, String key, String initial) implements FenceDriver {

        @Override
        public Session claim(FencingToken token) {
            return session(fence.claim(token, key));
        }

        @Override
        public Session resume(FencingToken token) {
            return session(fence.resume(token, key));
        }

        @Override
        public String read() {
            return fence.read(key).map(S3Content::text).orElse(initial);
        }

        private Session session(ObjectClaim claim) {
            return new Session() {

                @Override
                public String read() {
                    return claim.read().map(S3Content::text).orElse(initial);
                }

                @Override
                public void write(String value) {
                    claim.update(content -> S3Body.of(value));
                }
            };
        }
    }
}
