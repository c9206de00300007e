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

    @Test
    void theBusPortOfAClusterNodeIsFreeTooAndHandedOutToNobodyElse() throws IOException {
        Set<Integer> nodes =
                IntStream.range(0, 20).mapToObj(i -> FreePorts.nextWithBus()).collect(Collectors.toSet());
        assertThat(nodes).hasSize(20).allSatisfy(port -> assertThat(port).isBetween(15_000, 21_999));
        assertThat(IntStream.range(0, 200).mapToObj(i -> FreePorts.next()))
                .doesNotContainAnyElementsOf(nodes.stream()
                        .map(port -> port + FreePorts.BUS_DISTANCE)
                        .toList());
        int bus = nodes.iterator().next() + FreePorts.BUS_DISTANCE;
        try (ServerSocket socket = new ServerSocket(bus, 1, InetAddress.getLoopbackAddress())) {
            assertThat(socket.getLocalPort()).isEqualTo(bus);
        }
    }
}
