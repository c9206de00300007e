package dev.fenceline.examples.pausedwriter;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Writes {@code movements.csv}. The seed is fixed: the same file comes out each time, and a test compares it with the one
 * that is committed.
 */
final class MovementGenerator {

    private static final int ACCOUNTS = 40;
    private static final int MOVEMENTS = 4_000;
    private static final LocalDate FIRST_DAY = LocalDate.of(2026, 9, 1);
    private static final int DAYS = 90;
    private static final long SEED = 20_261_129L;

    /** A kind of movement: how often it occurs, between which amounts in cents, and in which steps. */
    private record Kind(int weight, long least, long most, long step, String purpose) {

        Kind(int weight, long least, long most, String purpose) {
            this(weight, least, most, 1, purpose);
        }
    }

    private static final List<Kind> KINDS = List.of(
            new Kind(4, 210_000, 480_000, "Salary"),
            new Kind(3, -140_000, -65_000, "Rent"),
            new Kind(3, -14_500, -3_900, "Electricity"),
            new Kind(3, -5_999, -1_499, "Mobile phone"),
            new Kind(4, -19_900, -2_200, "Insurance premium"),
            new Kind(28, -14_200, -420, "Groceries"),
            new Kind(16, -8_900, -310, "Card payment %04d"),
            new Kind(9, -20_000, -2_000, 1_000, "Cash withdrawal"),
            new Kind(8, -32_000, -990, "Online order %05d"),
            new Kind(4, 990, 24_000, "Refund of order %05d"),
            new Kind(7, 1_000, 90_000, "Transfer received"),
            new Kind(6, -75_000, -1_000, "Transfer sent"),
            new Kind(3, -4_900, -4_900, "Railway monthly ticket"),
            new Kind(2, 21_900, 25_500, "Child benefit"));

    private MovementGenerator() {}

    /**
     * Writes the file to the path given as the only argument.
     *
     * @param args where to write
     * @throws IOException when it cannot be written
     */
    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            throw new IllegalArgumentException("Expected one argument: the path of the file to write.");
        }
        Files.writeString(Path.of(args[0]), csv());
    }

    static String csv() {
        Random random = new Random(SEED);
        StringBuilder csv = new StringBuilder(Movement.HEADER).append('\n');
        for (int i = 0; i < MOVEMENTS; i++) {
            csv.append(movement(i, random).line()).append('\n');
        }
        return csv.toString();
    }

    private static Movement movement(int index, Random random) {
        Kind kind = kind(random);
        String account = String.valueOf(10_004_200 + 17 * random.nextInt(ACCOUNTS));
        long steps = (kind.most() - kind.least()) / kind.step() + 1;
        long amount = kind.least() + kind.step() * (long) (random.nextDouble() * steps);
        String purpose = String.format(Locale.ROOT, kind.purpose(), random.nextInt(10_000));
        // Dates rise with the number, as in an export.
        LocalDate date = FIRST_DAY.plusDays((long) index * DAYS / MOVEMENTS);
        return new Movement(String.format(Locale.ROOT, "M%05d", index + 1), account, date, amount, purpose);
    }

    private static Kind kind(Random random) {
        int total = KINDS.stream().mapToInt(Kind::weight).sum();
        int point = random.nextInt(total);
        for (Kind kind : KINDS) {
            point -= kind.weight();
            if (point < 0) {
                return kind;
            }
        }
        throw new AssertionError("A point below the sum of weights lies in one of them.");
    }
}
