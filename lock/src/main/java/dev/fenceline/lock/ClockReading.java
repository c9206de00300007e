package dev.fenceline.lock;

import dev.fenceline.Finding;
import dev.fenceline.Finding.Severity;
import dev.fenceline.LockOptions;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How far a server's clock is ahead of ours, in microseconds: at least and at most, since its answer was on its way for a time.
 * Only what is certain is told, so a slow network is no finding.
 */
record ClockReading(String server, long least, long most) {

    static List<Finding> judge(List<ClockReading> readings, LockOptions options) {
        List<Finding> findings = new ArrayList<>();
        // Closer than a second nobody's clock has to be to ours, whatever S is.
        long tolerated = Math.max(1_000_000, micros(options.clockStepTolerance()));
        for (ClockReading reading : readings) {
            if (reading.certainDistance() > tolerated) {
                findings.add(reading.farFromOurs(options));
            }
        }
        for (int i = 0; i < readings.size(); i++) {
            for (int j = i + 1; j < readings.size(); j++) {
                long apart = readings.get(i).certainDistance(readings.get(j));
                if (apart > micros(options.masterClockSkew())) {
                    findings.add(readings.get(i).farFrom(readings.get(j), apart, options));
                }
            }
        }
        return findings;
    }

    /** How far it is from ours at least. */
    private long certainDistance() {
        return Math.max(0, Math.max(least, -most));
    }

    private long certainDistance(ClockReading other) {
        return Math.max(0, Math.max(least - other.most, other.least - most));
    }

    private Finding farFromOurs(LockOptions options) {
        return new Finding(
                "redis-clock",
                Severity.WARNING,
                server,
                "has a clock that is " + text(certainDistance()) + (least > 0 ? " ahead of" : " behind")
                        + " that of this machine",
                "Tokens follow that clock. Find out which of the two is wrong, and synchronise both. A clock that is set back by"
                        + " more than S = " + text(micros(options.clockStepTolerance()))
                        + " stops all grants until it has caught up; tokens that are more than 25 h ahead of PostgreSQL's clock"
                        + " are refused there.");
    }

    private Finding farFrom(ClockReading other, long apart, LockOptions options) {
        return new Finding(
                "redis-clock-skew",
                Severity.WARNING,
                server,
                "has a clock that is " + text(apart) + " away from that of " + other.server + ", and K = "
                        + text(micros(options.masterClockSkew())) + " is what the locks allow for",
                "Synchronise them, or set masterClockSkew to more. When a slot moves between masters further apart than that, tokens"
                        + " can fall, and the fence refuses the newer holder.");
    }

    private static long micros(Duration duration) {
        return TimeUnit.NANOSECONDS.toMicros(duration.toNanos());
    }

    private static String text(long micros) {
        return RiskRules.text(Duration.of(micros, ChronoUnit.MICROS));
    }
}
