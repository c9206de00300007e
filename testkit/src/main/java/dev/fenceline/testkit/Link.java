package dev.fenceline.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection through a {@link FaultProxy}: a thread for each direction. When the client goes, the server only
 * sees the end of its requests, and its last answers are drained: a reset could overtake a request that was let go late.
 */
final class Link {

    /** How long the server is silent before a request whose reply is to be lost: answers to earlier requests are through. */
    static final int SILENCE_MILLIS = 20;

    private static final int CHUNK = 64 * 1024;
    static final int LONGEST_MARKER = 1024;

    private final Socket client;
    private final FaultProxy proxy;
    private final AtomicBoolean cut = new AtomicBoolean();
    private final AtomicReference<@Nullable Fault> onNextReply = new AtomicReference<>();
    private volatile @Nullable Socket server;
    private volatile boolean clientGone;
    private volatile boolean holding;
    private volatile long lastTraffic = System.nanoTime();

    Link(Socket client, FaultProxy proxy) throws IOException {
        this.client = client;
        this.proxy = proxy;
        client.setTcpNoDelay(true);
    }

    void carryRequests() {
        proxy.awaitLine();
        Socket upstream;
        try {
            upstream = proxy.connect();
        } catch (IOException e) {
            cut(FaultProxy.Cut.RST); // what connecting to a dead server looks like through any proxy
            return;
        }
        server = upstream;
        if (cut.get()) {
            end(upstream, FaultProxy.Cut.RST);
            return;
        }
        proxy.start("replies", () -> carryReplies(upstream));
        try {
            forwardRequests(upstream);
        } catch (IOException e) {
            clientGone = true;
        }
        try {
            upstream.shutdownOutput();
        } catch (IOException e) {
            return; // the server has ended it already
        }
    }

    private void forwardRequests(Socket upstream) throws IOException {
        byte[] window = new byte[LONGEST_MARKER + CHUNK];
        int tail = 0;
        InputStream in = client.getInputStream();
        for (int n = in.read(window, tail, CHUNK); n >= 0; n = in.read(window, tail, CHUNK)) {
            proxy.awaitLine();
            int length = tail + n;
            proxy.faultFor(window, tail, length).ifPresent(this::apply);
            if (cut.get()) {
                return;
            }
            lastTraffic = System.nanoTime();
            upstream.getOutputStream().write(window, tail, n);
            // Kept for a marker that the next chunk completes.
            int kept = Math.min(LONGEST_MARKER, length);
            System.arraycopy(window, length - kept, window, 0, kept);
            tail = kept;
        }
    }

    private void apply(Fault fault) {
        if (fault.step().place() == Fault.Place.REPLY) {
            awaitSilence();
            onNextReply.set(fault);
        } else {
            fault.step().action().accept(this);
        }
    }

    private void awaitSilence() {
        long silence = TimeUnit.MILLISECONDS.toNanos(SILENCE_MILLIS);
        try {
            for (long left = silence; left > 0; left = lastTraffic + silence - System.nanoTime()) {
                TimeUnit.NANOSECONDS.sleep(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Keeps back the request that is at hand, and the connection to the server with it. */
    void hold(Fault fault) {
        holding = true;
        fault.fire();
        fault.awaitLetGo();
        holding = false;
    }

    private void carryReplies(Socket upstream) {
        FaultProxy.Cut end = FaultProxy.Cut.FIN;
        byte[] chunk = new byte[CHUNK];
        try {
            InputStream in = upstream.getInputStream();
            for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
                lastTraffic = System.nanoTime();
                Optional.ofNullable(onNextReply.getAndSet(null))
                        .filter(fault -> !fault.ended())
                        .ifPresent(fault -> fault.step().action().accept(this));
                proxy.awaitLine();
                forwardReply(chunk, n);
            }
        } catch (IOException e) {
            end = FaultProxy.Cut.RST;
        }
        cut(end);
    }

    private void forwardReply(byte[] chunk, int length) {
        try {
            if (!clientGone && !cut.get()) {
                client.getOutputStream().write(chunk, 0, length);
            }
        } catch (IOException e) {
            clientGone = true;
        }
    }

    /** Ends the connection on both sides, or on the client's side alone while a request is held for the server. */
    void cut(FaultProxy.Cut how) {
        if (holding) {
            clientGone = true;
            end(client, how);
            return;
        }
        if (cut.compareAndSet(false, true)) {
            end(client, how);
            Optional.ofNullable(server).ifPresent(socket -> end(socket, how));
            proxy.ended(this);
        }
    }

    private static void end(Socket socket, FaultProxy.Cut how) {
        try {
            if (how == FaultProxy.Cut.RST) {
                socket.setSoLinger(true, 0);
            } else {
                socket.shutdownOutput();
                // Closing a socket with bytes that nobody has read would send a reset behind the end of the stream.
                InputStream unread = socket.getInputStream();
                unread.skipNBytes(unread.available());
            }
        } catch (IOException e) {
            // The other side was faster; closing is all that is left.
        }
        try {
            socket.close();
        } catch (IOException e) {
            return;
        }
    }
}
