package dev.fenceline.bench;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Runs {@link HotPaths} under JMH, each in a JVM of its own. */
final class SingleSteps implements Scenario {

    @Override
    public String id() {
        return "jmh";
    }

    @Override
    public Section run(Settings settings) throws Exception {
        Collection<RunResult> results = new Runner(new OptionsBuilder()
                        .include(HotPaths.class.getName())
                        .forks(1)
                        .warmupIterations(5)
                        .warmupTime(TimeValue.seconds(1))
                        .measurementIterations(10)
                        .measurementTime(TimeValue.seconds(1))
                        .build())
                .run();
        Table table = new Table("", "ns", "± (99.9 %)");
        for (RunResult result : results) {
            Result<?> primary = result.getPrimaryResult();
            table.row(
                    primary.getLabel(),
                    String.format(Locale.ROOT, "%,.0f", primary.getScore()),
                    String.format(Locale.ROOT, "%,.0f", primary.getScoreError()));
        }
        return new Section(id(), table.toString(), List.of());
    }
}
