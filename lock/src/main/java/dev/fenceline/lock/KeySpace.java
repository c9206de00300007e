package dev.fenceline.lock;

import dev.fenceline.LockName;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * The names of our keys. Lock names are spread over a fixed number of buckets, each with one hash tag and one counter, so
 * that memory does not grow with the names ever used and the keys of one lock share a slot.
 *
 * <p>The prefix has no braces ({@code LockOptions} sees to it) and the tag is the first pair in the key, so braces in a
 * name change nothing.
 */
record KeySpace(String prefix) {

    static final int BUCKETS = 1024;

    private static final Pattern LOCK =
            Pattern.compile("(?<prefix>[^:]+):v1:\\{b[0-9]+\\}:lock:(?<kind>[fe]):(?<name>.+)", Pattern.DOTALL);

    String lock(LockKey lock) {
        return lock.in(this)[0];
    }

    /** Who waits, in order. */
    String queue(LockKey lock) {
        return lock.in(this)[1];
    }

    /** Where those who wait listen, and until when they count. */
    String waiters(LockKey lock) {
        return lock.in(this)[2];
    }

    /** Of a fenced lock, as the boot key and the floor. */
    String counter(LockKey lock) {
        return lock.in(this)[3];
    }

    String boot(LockKey lock) {
        return lock.in(this)[4];
    }

    String floor(LockKey lock) {
        return lock.in(this)[5];
    }

    /** All keys that grant, offer and release touch, in the order in which the scripts name them. */
    String[] all(LockKey lock) {
        String bucket = bucket(lock);
        String named = named(lock);
        String[] waiting = {bucket + ":lock:" + named, bucket + ":queue:" + named, bucket + ":waiters:" + named};
        if (lock.kind() == LockKind.EFFICIENCY) {
            return waiting;
        }
        return new String[] {
            waiting[0], waiting[1], waiting[2], bucket + ":counter", bucket + ":boot", bucket + ":floor:" + lock.name()
        };
    }

    private static String named(LockKey lock) {
        return letter(lock.kind()) + ":" + lock.name();
    }

    /** What a node of Redlock knows of itself, in one key: its mark and the counters of all buckets. */
    String node() {
        return prefix + ":v1:{redlock}:node";
    }

    /** A key that no lock has, to try permissions on. */
    String probe(int bucket, String unique) {
        return bucket(bucket) + ":probe:" + unique;
    }

    /** Where the locks of one process listen. */
    String channel(String unique) {
        return prefix + ":v1:jvm:" + unique;
    }

    /** A channel that nobody listens on, to try permissions on. */
    String probeChannel(String unique) {
        return prefix + ":v1:probe:" + unique;
    }

    /** What an access list has to grant, of keys and of channels. */
    String pattern() {
        return prefix + ":v1:*";
    }

    /** Which bucket a lock is in. */
    int bucketOf(LockKey lock) {
        CRC32 hash = new CRC32();
        hash.update(lock.name().toString().getBytes(StandardCharsets.UTF_8));
        return (int) (hash.getValue() % BUCKETS);
    }

    /** What the keys of a bucket begin with. */
    String bucket(int bucket) {
        return prefix + ":v1:{b" + bucket + "}";
    }

    private String bucket(LockKey lock) {
        return bucket(bucketOf(lock));
    }

    /** What SCAN matches to find the locks of a filter that are taken. */
    String pattern(LockFilter filter) {
        String kind = filter.kind().map(KeySpace::letter).orElse("?");
        return prefix + ":v1:{b*}:lock:" + kind + ":" + literally(filter.start()) + "*";
    }

    /** The reverse of {@link #lock}; empty for a key that is none of ours, whatever it looks like. */
    Optional<LockKey> lockOf(String key) {
        Matcher matcher = LOCK.matcher(key);
        if (!matcher.matches() || !matcher.group("prefix").equals(prefix)) {
            return Optional.empty();
        }
        LockName name;
        try {
            name = LockName.parse(matcher.group("name"));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
        LockKey lock = new LockKey(matcher.group("kind").equals("f") ? LockKind.FENCED : LockKind.EFFICIENCY, name);
        return lock(lock).equals(key) ? Optional.of(lock) : Optional.empty();
    }

    private static String letter(LockKind kind) {
        return kind == LockKind.FENCED ? "f" : "e";
    }

    private static String literally(String text) {
        return text.replaceAll("[\\\\*?\\[\\]]", "\\\\$0");
    }
}
