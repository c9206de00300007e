package dev.fenceline.bench;

import java.util.Arrays;
import java.util.Collection;
import java.util.Locale;

/**
 * The middle of some numbers and how far they spread. Medians, since on a shared machine the worst slices say nothing about
 * the code.
 *
 * @param lower a quarter is at most this
 * @param median a half is at most this
 * @param upper three quarters are at most this
 */
record Quartiles(double lower, double median, double upper) {

    static Quartiles of(Collection<Double> numbers) {
        double[] sorted =
                numbers.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return new Quartiles(quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75));
    }

    /** Between two neighbours by their distance. */
    static double quantile(double[] sorted, double share) {
        if (sorted.length == 0) {
            throw new IllegalArgumentException("No quantile of no numbers: nothing was measured.");
        }
        double at = share * (sorted.length - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }

    /** As {@link #quantile(double[], double)}, of nanoseconds in any order. */
    static double quantile(long[] nanos, double share) {
        double[] sorted = Arrays.stream(nanos).asDoubleStream().sorted().toArray();
        return quantile(sorted, share);
    }

    /** Two decimals, with the quartiles: {@code 1.03 (1.01–1.06)}. */
    String ratio() {
        return String.format(Locale.ROOT, "%.2f (%.2f–%.2f)", median, lower, upper);
    }
}
