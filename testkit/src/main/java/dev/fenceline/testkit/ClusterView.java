package dev.fenceline.testkit;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What one node of a Cluster says of all of them: the answer to CLUSTER NODES. */
record ClusterView(List<Node> nodes) {

    /** One line: {@code id ip:port@bus flags master ping pong epoch link slot slot …}. */
    record Node(String id, int port, List<String> flags, String master, long epoch, List<SlotRange> slots) {

        boolean isMaster() {
            return flags.contains("master");
        }

        boolean owns(int slot) {
            return slots.stream().anyMatch(range -> range.first() <= slot && slot <= range.last());
        }
    }

    /** Slots from first to last. */
    record SlotRange(int first, int last) {

        int size() {
            return last - first + 1;
        }

        static SlotRange parse(String text) {
            String[] ends = text.split("-", 2);
            return new SlotRange(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
        }
    }

    static ClusterView parse(String answer) {
        List<Node> nodes = new ArrayList<>();
        answer.lines().filter(line -> !line.isBlank()).forEach(line -> {
            String[] words = line.strip().split(" ", -1);
            String address = words[1].substring(0, words[1].indexOf('@'));
            nodes.add(new Node(
                    words[0],
                    Integer.parseInt(address.substring(address.lastIndexOf(':') + 1)),
                    List.of(words[2].split(",")),
                    words[3],
                    Long.parseLong(words[6]),
                    Arrays.stream(words, 8, words.length)
                            .filter(word -> !word.startsWith("[")) // a slot that is being moved
                            .map(SlotRange::parse)
                            .toList()));
        });
        return new ClusterView(nodes);
    }

    Node myself() {
        return nodes.stream()
                .filter(node -> node.flags().contains("myself"))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("CLUSTER NODES without the node itself: " + nodes));
    }

    Optional<Node> at(int port) {
        return nodes.stream().filter(node -> node.port() == port).findFirst();
    }

    /** Who serves which slots, by port; equal for nodes that agree. */
    Map<Integer, List<SlotRange>> serving() {
        return nodes.stream()
                .filter(node -> node.isMaster() && !node.slots().isEmpty())
                .collect(Collectors.toMap(Node::port, Node::slots, (one, other) -> one, TreeMap::new));
    }
}
