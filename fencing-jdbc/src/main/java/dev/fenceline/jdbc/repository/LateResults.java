package dev.fenceline.jdbc.repository;

import java.util.Enumeration;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** Results that are not there yet when the method returns: what is read or written for them then would be outside of its unit. */
final class LateResults {

    private static final List<Class<?>> TYPES = List.of(
            Future.class,
            CompletionStage.class,
            Flow.Publisher.class,
            Iterator.class,
            Spliterator.class,
            Enumeration.class,
            // A stream, a result set, a statement, a connection, a handle.
            AutoCloseable.class);

    /** Of libraries that we do not depend on. */
    private static final List<String> NAMES =
            List.of("org.reactivestreams.Publisher", "org.jdbi.v3.core.result.ResultIterable");

    private LateResults() {}

    static boolean isLate(Class<?> type) {
        return TYPES.stream().anyMatch(late -> late.isAssignableFrom(type)) || isNamed(type);
    }

    private static boolean isNamed(Class<?> type) {
        return NAMES.contains(type.getName())
                || Stream.of(type.getInterfaces()).anyMatch(LateResults::isNamed)
                || (type.getSuperclass() != null && isNamed(type.getSuperclass()));
    }
}
