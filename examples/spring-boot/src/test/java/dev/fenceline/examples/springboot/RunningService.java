package dev.fenceline.examples.springboot;

import java.time.Duration;
import org.springframework.context.ConfigurableApplicationContext;

/** The service in this JVM, for all tests: it starts at first use and stops with the JVM. */
final class RunningService {

    static final Duration LEASE = Duration.ofSeconds(2);
    static final Bank BANK = Bank.create();

    private static final ConfigurableApplicationContext CONTEXT = Instance.start(Instance.settings(BANK, LEASE));

    private RunningService() {}

    static Instance instance() {
        return Instance.of(CONTEXT);
    }

    static <T> T bean(Class<T> type) {
        return CONTEXT.getBean(type);
    }
}
