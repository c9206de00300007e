package dev.fenceline.lock;

import io.lettuce.core.cluster.SlotHash;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Which master has which slots, as far as is known; and which slot has which bucket, which never changes. */
final class Slots {

    /** A node of a Cluster. */
    record Address(String host, int port) {
        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    private final AtomicReferenceArray<@Nullable Address> masters = new AtomicReferenceArray<>(SlotHash.SLOT_COUNT);
    private final int[] slots;
    private final KeySpace keys;

    Slots(KeySpace keys) {
        this.keys = keys;
        this.slots = IntStream.range(0, KeySpace.BUCKETS)
                .map(bucket -> SlotHash.getSlot(keys.bucket(bucket)))
                .toArray();
    }

    int slot(LockKey lock) {
        return slots[keys.bucketOf(lock)];
    }

    Optional<Address> master(int slot) {
        return Optional.ofNullable(masters.get(slot));
    }

    /** Notes what MOVED said of one slot. */
    void moved(int slot, Address to) {
        masters.set(slot, to);
    }

    /** Takes over a whole answer of CLUSTER SLOTS; returns the masters in it. */
    Set<Address> learn(List<Object> answer, String askedHost) {
        @Nullable Address[] fresh = new @Nullable Address[SlotHash.SLOT_COUNT];
        for (Object row : answer) {
            List<?> range = (List<?>) row;
            List<?> node = (List<?>) range.get(2);
            String told = Objects.toString(node.get(0), "");
            // A node that does not know its own name leaves it out, and means the one that was asked.
            String host = told.isEmpty() ? askedHost : told;
            Address master = new Address(host, Math.toIntExact((Long) node.get(1)));
            Arrays.fill(fresh, Math.toIntExact((Long) range.get(0)), Math.toIntExact((Long) range.get(1)) + 1, master);
        }
        Set<Address> named = new LinkedHashSet<>();
        for (int slot = 0; slot < fresh.length; slot++) {
            Address master = fresh[slot];
            masters.set(slot, master);
            if (master != null) {
                named.add(master);
            }
        }
        return named;
    }

    /** One of the buckets that a master has. */
    Optional<Integer> someBucketOf(Address master) {
        int[] its = IntStream.range(0, KeySpace.BUCKETS)
                .filter(bucket -> master.equals(masters.get(slots[bucket])))
                .toArray();
        // Another one each time: the slot of one may be on its way to another master.
        return its.length == 0
                ? Optional.empty()
                : Optional.of(its[ThreadLocalRandom.current().nextInt(its.length)]);
    }
}
