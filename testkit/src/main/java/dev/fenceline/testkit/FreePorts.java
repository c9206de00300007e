package dev.fenceline.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

/**
 * Hands out TCP ports that stay free for whoever got them.
 *
 * <p>A server that is killed and started again needs its port a second time. A port that the system hands out (port 0) comes from
 * the range that outgoing connections use too, so any process of the machine may sit on it by then; even the client that tries
 * to reconnect may, by connecting to itself. So ports come from below that range (Linux begins at 32768, macOS at 49152), and no
 * port is handed out twice in one JVM.
 */
final class FreePorts {

    private static final int FIRST = 15_000;
    private static final int END = 32_000;
    private static final int TRIES = 1_000;

    /** How far above its port a node of a Redis Cluster talks to the others. */
    static final int BUS_DISTANCE = 10_000;

    private static final Set<Integer> HANDED_OUT = new HashSet<>();
    private static final Random RANDOM = new Random();

    private FreePorts() {}

    /** A port that was free a moment ago; whoever starts on it tries again when another process was faster. */
    static synchronized int next() {
        for (int attempt = 0; attempt < TRIES; attempt++) {
            int port = random(END);
            if (isFree(port)) {
                HANDED_OUT.add(port);
                return port;
            }
        }
        throw none("port", END);
    }

    /** As {@link #next}, for a node of a Cluster: its bus port is free too, and below the same range. */
    static synchronized int nextWithBus() {
        for (int attempt = 0; attempt < TRIES; attempt++) {
            int port = random(END - BUS_DISTANCE);
            if (isFree(port) && isFree(port + BUS_DISTANCE)) {
                HANDED_OUT.add(port);
                HANDED_OUT.add(port + BUS_DISTANCE);
                return port;
            }
        }
        throw none("port with another " + BUS_DISTANCE + " above it", END - BUS_DISTANCE);
    }

    private static int random(int end) {
        return FIRST + RANDOM.nextInt(end - FIRST);
    }

    private static IllegalStateException none(String what, int end) {
        return new IllegalStateException("No free TCP " + what + " on the loopback address between " + FIRST + " and "
                + end + ", after " + TRIES + " tries.");
    }

    private static boolean isFree(int port) {
        if (HANDED_OUT.contains(port)) {
            return false;
        }
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            // Taken: that is what was asked.
            return false;
        }
    }
}
