package dev.fenceline.s3;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * Where the writers of a race wait for each other: in the middle of their requests, before the last byte of the body. The store has all their
 * conditions by then, and has carried out none.
 *
 * <p>Threads that only begin together do not meet: on a busy machine one has its answer before the next has signed its request, and a
 * store that races looks as if it did not.
 */
final class Meeting {

    /** As much as is too long for the buffers of clients: else the store has nothing while the last byte is held. */
    static final int BODY = 12 * 1024;

    private final CountDownLatch missing;
    private final Duration patience;

    /** The patience is for those who do not come: a client may have fewer connections than there are writers. */
    Meeting(int writers, Duration patience) {
        this.missing = new CountDownLatch(writers);
        this.patience = patience;
    }

    /** One more writer; closed when its request has ended, so that nobody waits for it. */
    Writer expect() {
        return new Writer();
    }

    final class Writer implements ExecutionInterceptor, AutoCloseable {

        private final AtomicBoolean isThere = new AtomicBoolean();
        /** The body may be read before, to be signed. */
        private volatile boolean isOnItsWay;

        private Writer() {}

        void on(AwsRequestOverrideConfiguration.Builder request) {
            request.addPlugin(config -> config.overrideConfiguration(config.overrideConfiguration().toBuilder()
                    .addExecutionInterceptor(this)
                    .build()));
        }

        @Override
        public Optional<RequestBody> modifyHttpContent(
                Context.ModifyHttpRequest context, ExecutionAttributes executionAttributes) {
            return context.requestBody().map(body -> {
                long length = body.optionalContentLength().orElseThrow();
                return RequestBody.fromContentProvider(
                        () -> new Held(body.contentStreamProvider().newStream(), length), length, body.contentType());
            });
        }

        @Override
        public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes executionAttributes) {
            isOnItsWay = true;
        }

        @Override
        public void close() {
            if (!isThere.getAndSet(true)) {
                missing.countDown();
            }
        }

        private void meet() throws IOException {
            close();
            try {
                if (!missing.await(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                    // It goes on all the same: the race says less then, and nothing wrong.
                    return;
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("The request was interrupted while it waited for the others of its race.", e);
            }
        }

        private final class Held extends FilterInputStream {

            private long left;

            Held(InputStream body, long length) {
                super(body);
                this.left = length;
            }

            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
            }

            @Override
            public int read(byte[] into, int from, int length) throws IOException {
                if (left == 1 && isOnItsWay) {
                    meet();
                }
                int read = in.read(into, from, (int) Math.min(length, Math.max(1, left - 1)));
                left -= Math.max(0, read);
                return read;
            }
        }
    }
}
