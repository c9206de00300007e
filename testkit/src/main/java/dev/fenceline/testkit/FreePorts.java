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

    private static final Set<Integer> HANDED_OUT = new HashSet<>();
    private static final Random RANDOM = new Random();

    private FreePorts() {}

    /** A port that was free a moment ago; whoever starts on it tries again when another process was faster. */
    static synchronized int next() {
        for (int attempt = 0; attempt < TRIES; attempt++) {
            int port = FIRST + RANDOM.nextInt(END - FIRST);
            if (isFree(port) && HANDED_OUT.add(port)) {
                return port;
            }
        }
        throw new IllegalStateException("No free TCP port on the loopback address between " + FIRST + " and " + END
                + ", after " + TRIES + " tries.");
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            // Taken: that is what was asked.
            return false;
        }
    }
}
