package dev.fenceline.examples.springboot;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** A service whose work is the test's. */
@Service
class Probe {

    @Fenced(value = "account", key = "#id")
    <T> T fenced(@Nullable Long id, Callable<T> work) throws Exception {
        return work.call();
    }

    /** Declares nothing. */
    @Fenced(value = "account", key = "#id")
    void quiet(long id, Runnable work) {
        work.run();
    }

    @Fenced(value = "account", key = "#pair.left")
    String ofAnArgument(Pair pair) {
        return pair.left();
    }

    @Transactional
    <T> T inTransaction(Callable<T> work) throws Exception {
        return work.call();
    }

    /** An argument with a key inside. */
    record Pair(String left) {}
}
