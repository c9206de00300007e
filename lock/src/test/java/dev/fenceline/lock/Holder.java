package dev.fenceline.lock;

import dev.fenceline.FencedLease;
import dev.fenceline.FencelineException;
import dev.fenceline.FencelineListener;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A second process that holds a lock: arguments are the URI, the key prefix and the lease in ms; it is told by lines. */
public final class Holder {

    private Holder() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        LockOptions options = LockOptions.builder()
                .keyPrefix(args[1])
                .lease(Duration.ofMillis(Long.parseLong(args[2])))
                .application("holder")
                .listener(FencelineListener.none())
                .build();
        Locks locks = RedisLocks.connect(args[0], options);
        FencedLease lease = locks.fenced(Fixture.ACCOUNT).acquire();
        lease.onLost(lost -> System.out.println("lost " + lost.reason()));
        System.out.println("held " + lease.token().value());
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            switch (line) {
                case "check" -> System.out.println("checked " + check(lease));
                case "exit" -> System.exit(0);
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    private static String check(FencedLease lease) {
        try {
            lease.requireHeld();
            return "held";
        } catch (FencelineException e) {
            return String.valueOf(e.getMessage());
        }
    }
}
