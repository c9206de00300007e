package dev.fenceline.bench;

import io.lettuce.core.ScriptOutputType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.UUID;

/** What a careful person writes by hand: one script to take the lock, one to give it back if it is still theirs. */
final class HandContestant extends LettuceContestant {

    private static final String LEASE_MILLIS = "10000";

    private final SecureRandom random = new SecureRandom();
    private final String acquire;
    private final String release;

    HandContestant(String redis) throws Exception {
        super(Entrant.HAND, redis);
        this.acquire = answer(commands().scriptLoad(script("hand-acquire.lua")));
        this.release = answer(commands().scriptLoad(script("hand-release.lua")));
    }

    @Override
    public Mutex lock(String name) {
        String[] key = {"hand:" + name};
        return () -> {
            String me = new UUID(random.nextLong(), random.nextLong()).toString();
            Long granted = answer(commands().evalsha(acquire, ScriptOutputType.INTEGER, key, me, LEASE_MILLIS));
            if (granted != 1) {
                throw new IllegalStateException("The hand-written lock '" + name + "' is held; it cannot wait.");
            }
            return () -> released(name, answer(commands().evalsha(release, ScriptOutputType.INTEGER, key, me)));
        };
    }

    private static void released(String name, Long removed) {
        if (removed != 1) {
            throw new IllegalStateException("The hand-written lock '" + name + "' was not ours at its release.");
        }
    }

    private static String script(String file) throws IOException {
        try (InputStream in = HandContestant.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(
                        "The file " + file + " is missing beside " + HandContestant.class + ".");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
