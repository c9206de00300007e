package dev.fenceline.jdbc;

import dev.fenceline.FencelineEvent;
import dev.fenceline.FencelineListener;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keeps every event of a kind for a test to look at. */
final class RecordedEvents implements FencelineListener {

    private final List<FencelineEvent> events = new CopyOnWriteArrayList<>();

    @Override
    public void on(FencelineEvent event) {
        events.add(event);
    }

    <E extends FencelineEvent> List<E> of(Class<E> kind) {
        return events.stream().filter(kind::isInstance).map(kind::cast).toList();
    }
}
