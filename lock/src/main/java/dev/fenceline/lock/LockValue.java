package dev.fenceline.lock;

import dev.fenceline.HolderProcess;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What lies under a lock's key: {@code holder|token|since|pid|host|application}. The application comes last, so that it may
 * hold a bar.
 */
record LockValue(String holder, long token, HolderProcess process) {

    private static final Pattern TEXT =
            Pattern.compile("([0-9a-f]{32})\\|([0-9]{1,16})\\|([0-9]{1,16})\\|([0-9]{1,18})\\|([^|]*)\\|(.*)");
    private static final HexFormat HEX = HexFormat.of();
    private static final int MAX_HOST_LENGTH = 100;

    /** Reads a value; null for one that another release or somebody else wrote. */
    static @Nullable LockValue parse(String text) {
        Matcher matcher = TEXT.matcher(text);
        if (!matcher.matches()) {
            return null;
        }
        Instant since = Instant.EPOCH.plus(Long.parseLong(matcher.group(3)), ChronoUnit.MICROS);
        return new LockValue(
                matcher.group(1),
                Long.parseLong(matcher.group(2)),
                new HolderProcess(matcher.group(6), matcher.group(5), Long.parseLong(matcher.group(4)), since));
    }

    /** Describes this process for those who wait: the part of the value after {@code since}. */
    static String who(String application) {
        return ProcessHandle.current().pid() + "|" + host() + "|" + application;
    }

    /** This process as others see it. */
    static HolderProcess ourselves(String application, Instant since) {
        return new HolderProcess(application, host(), ProcessHandle.current().pid(), since);
    }

    static String hex(UUID holder) {
        return HEX.toHexDigits(holder.getMostSignificantBits()) + HEX.toHexDigits(holder.getLeastSignificantBits());
    }

    /** The reverse of {@link #hex}, for 32 hexadecimal digits. */
    static UUID holder(String hex) {
        return new UUID(Long.parseUnsignedLong(hex, 0, 16, 16), Long.parseUnsignedLong(hex, 16, 32, 16));
    }

    private static String host() {
        String plain = HostName.ours().replaceAll("[|\\p{Cntrl}]", "_");
        return plain.length() <= MAX_HOST_LENGTH ? plain : plain.substring(0, MAX_HOST_LENGTH);
    }
}
