package dev.fenceline.verification.rollout;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A process of the service that is being replaced. It does what it is told by lines: {@code go} writes all rows all the time, {@code once}
 * writes one, {@code count} says how many writes were acknowledged and how many failed, {@code stop} ends it and says how many there were
 * to each row. A write that failed is not repeated, and the process goes on.
 */
abstract class Version {

    private static final String NOTHING_FAILED = "-";

    private final AtomicLongArray written = new AtomicLongArray(Shop.ROWS);
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicReference<String> firstFailure = new AtomicReference<>(NOTHING_FAILED);
    private final CountDownLatch stop = new CountDownLatch(1);
    private final Random random = new Random();

    /** Adds one to the quantity of a row. */
    abstract void add(int row) throws Exception;

    /** Does something that only this version can. */
    String answer(String line) throws SQLException {
        throw new IllegalStateException("Nobody knows what to do about '" + line + "'.");
    }

    final void serve() throws IOException, InterruptedException, SQLException {
        Thread writer = new Thread(this::writeAllTheTime, "writer");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = lines.readLine(); !"stop".equals(line); line = lines.readLine()) {
            if (line == null) {
                throw new IllegalStateException("The test ended without saying stop.");
            }
            switch (line) {
                case "go" -> writer.start();
                case "once order", "once parcel" ->
                    System.out.println("once " + attempt(Shop.first(line.substring("once ".length()))));
                case "count" -> System.out.println("count " + total() + " " + failed + " " + firstFailure);
                default -> System.out.println(answer(line));
            }
        }
        stop.countDown();
        writer.join();
        System.out.println("count " + total() + " " + failed + " " + firstFailure);
        System.out.println("stopped "
                + IntStream.range(0, Shop.ROWS)
                        .mapToObj(row -> Long.toString(written.get(row)))
                        .collect(Collectors.joining(" ")));
    }

    private void writeAllTheTime() {
        try {
            do {
                attempt(random.nextInt(Shop.ROWS));
            } while (!stop.await(random.nextInt(4), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            throw new IllegalStateException("Nobody interrupts the writer.", e);
        }
    }

    /** Counts only what was acknowledged. */
    private String attempt(int row) {
        try {
            add(row);
            written.incrementAndGet(row);
            return "written";
        } catch (Exception e) {
            String failure = said(e);
            failed.incrementAndGet();
            firstFailure.compareAndSet(NOTHING_FAILED, failure);
            return failure;
        }
    }

    static String said(Exception e) {
        String state =
                e instanceof SQLException sql ? sql.getSQLState() : e.getClass().getSimpleName();
        return state + " " + String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    private long total() {
        return IntStream.range(0, Shop.ROWS).mapToLong(written::get).sum();
    }
}
