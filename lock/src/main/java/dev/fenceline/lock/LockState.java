package dev.fenceline.lock;

import dev.fenceline.FencingToken;
import dev.fenceline.HolderProcess;
import dev.fenceline.LockName;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * A lock that is taken, as its server showed it at one moment: who has it, since when, and who waits.
 *
 * <p><b>Not guaranteed:</b> that it is still so. A process that was just offered the lock appears as its holder before it knows.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param kind whether it is a fenced lock
 * @param name its name
 * @param status in what way it is taken
 * @param token what a fence compares; of a fenced lock that is held
 * @param process who took it, and when; empty where {@code stored} does not tell in a form that this release knows
 * @param timeToLive how long the server keeps it taken without a renewal; empty where it never ends, which no lock of ours does
 * @param waiting how many processes wait in its queue; threads that wait within one process count as one
 * @param first the first of them in their order, at most {@value LockState#MOST_TOLD}
 * @param counter the newest token of its bucket, which it shares with other fenced locks
 * @param floor the mark that its next tokens pass, where one was raised
 * @param serverTime when this was so, by the server's clock
 * @param stored what lies there, which names the grant: {@link LockInspector#forceRelease} compares it
 */
public record LockState(
        LockKind kind,
        LockName name,
        Status status,
        Optional<FencingToken> token,
        Optional<HolderProcess> process,
        Optional<Duration> timeToLive,
        int waiting,
        List<WaitingProcess> first,
        OptionalLong counter,
        OptionalLong floor,
        Instant serverTime,
        String stored) {

    /** In what way a lock is taken. */
    public enum Status {
        /** A process holds it. */
        HELD,
        /** Released, and kept taken for its least time ({@link dev.fenceline.EfficiencyLock#holdAtLeast}). */
        KEPT,
        /** Something lies there that this release does not know: another release wrote it, or somebody else. */
        UNKNOWN
    }

    /** How many of those who wait are told of. */
    static final int MOST_TOLD = 10;

    private static final UUID NOBODY = new UUID(0, 0);

    /** Keeps its own copy of the list. */
    public LockState {
        first = List.copyOf(first);
    }

    /**
     * Returns for how long it has been taken.
     *
     * @return by the server's clock; empty where it is not known who took it
     */
    public Optional<Duration> heldFor() {
        return process.map(holder -> Duration.between(holder.since(), serverTime));
    }

    /** Reads the answer of look.lua; empty where the lock is free. */
    static Optional<LockState> of(LockKey lock, Reply reply) {
        if (reply.isNumber()) {
            return Optional.empty();
        }
        List<String> words = reply.words();
        String stored = words.get(0);
        Optional<LockValue> value = Optional.ofNullable(LockValue.parse(stored));
        Optional<UUID> holder = value.map(known -> LockValue.holder(known.holder()));
        Status status = holder.map(known -> known.equals(NOBODY) ? Status.KEPT : Status.HELD)
                .orElse(Status.UNKNOWN);
        Optional<FencingToken> token = status == Status.HELD && lock.kind() == LockKind.FENCED
                ? value.filter(known -> known.token() > 0 && known.token() < FencingToken.VALUE_LIMIT)
                        .map(known -> new FencingToken(lock.name(), known.token(), LockValue.holder(known.holder())))
                : Optional.empty();
        long left = Long.parseLong(words.get(1));
        return Optional.of(new LockState(
                lock.kind(),
                lock.name(),
                status,
                token,
                value.map(LockValue::process),
                left < 0 ? Optional.empty() : Optional.of(Duration.ofMillis(left)),
                Integer.parseInt(words.get(5)),
                waiters(words.subList(6, words.size())),
                number(words.get(3)),
                number(words.get(4)),
                instant(words.get(2)),
                stored));
    }

    private static List<WaitingProcess> waiters(List<String> words) {
        List<WaitingProcess> waiters = new ArrayList<>();
        for (int i = 0; i < words.size(); i += 2) {
            String[] who = words.get(i + 1).split("\\|", 3);
            if (who.length == 3 && who[0].matches("[0-9]{1,18}")) {
                waiters.add(new WaitingProcess(who[2], who[1], Long.parseLong(who[0]), instant(words.get(i))));
            }
        }
        return waiters;
    }

    private static OptionalLong number(String word) {
        return word.matches("[0-9]{1,16}") ? OptionalLong.of(Long.parseLong(word)) : OptionalLong.empty();
    }

    private static Instant instant(String micros) {
        return Instant.EPOCH.plus(Long.parseLong(micros), ChronoUnit.MICROS);
    }
}
