package dev.fenceline.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FreePortsTest {

    @Test
    void portsLieBelowThoseOfOutgoingConnectionsAndAreNotHandedOutTwice() throws IOException {
        Set<Integer> ports =
                IntStream.range(0, 50).mapToObj(i -> FreePorts.next()).collect(Collectors.toSet());
        assertThat(ports).hasSize(50).allSatisfy(port -> assertThat(port).isBetween(15_000, 31_999));
        int one = ports.iterator().next();
        try (ServerSocket socket = new ServerSocket(one, 1, InetAddress.getLoopbackAddress())) {
            assertThat(socket.getLocalPort()).isEqualTo(one);
        }
    }
}
