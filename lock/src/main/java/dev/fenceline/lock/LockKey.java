package dev.fenceline.lock;

import dev.fenceline.LockName;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One lock on a server. Keeps what is worked out of its name, as it is used again and again. */
final class LockKey {

    private final LockKind kind;
    private final LockName name;
    private final int hash;
    private volatile @Nullable Keys keys;

    /** The keys of a lock in one key space. */
    private static final class Keys {

        private final KeySpace space;
        private final String[] all;

        Keys(KeySpace space, String[] all) {
            this.space = space;
            this.all = all;
        }
    }

    LockKey(LockKind kind, LockName name) {
        this.kind = kind;
        this.name = name;
        this.hash = Objects.hash(kind, name);
    }

    LockKind kind() {
        return kind;
    }

    LockName name() {
        return name;
    }

    /** All its keys, as {@link KeySpace#all} makes them. Not to be written to. */
    String[] in(KeySpace space) {
        Keys known = keys;
        if (known == null || !known.space.equals(space)) {
            known = new Keys(space, space.all(this));
            keys = known;
        }
        return known.all;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof LockKey key && kind == key.kind && name.equals(key.name));
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public String toString() {
        return kind + " " + name;
    }
}
