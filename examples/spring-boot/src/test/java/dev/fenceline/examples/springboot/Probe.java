package dev.fenceline.examples.springboot;

import static java.util.Objects.requireNonNull;

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
    String ofAnArgument(@Nullable Pair pair) {
        return requireNonNull(pair).left();
    }

    /** Would be found by an expression over the service, and be one lock for everybody. */
    public String getId() {
        return "of the service";
    }

    @Fenced(value = "account", key = "id")
    void withoutAHash(long id) {
        throw new AssertionError(id);
    }

    @Fenced(value = "account", key = "#id.")
    void withoutAnEnd(long id) {
        throw new AssertionError(id);
    }

    @Fenced(
            value = "account",
            key = {"#from", "#to"})
    void both(long from, long to, Runnable work) {
        work.run();
    }

    @Transactional
    <T> T inTransaction(Callable<T> work) throws Exception {
        return work.call();
    }

    /** An argument with a key inside. */
    record Pair(String left) {}
}
