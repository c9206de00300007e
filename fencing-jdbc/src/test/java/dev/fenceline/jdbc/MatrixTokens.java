package dev.fenceline.jdbc;

import dev.fenceline.FencingToken;
import dev.fenceline.LockName;

/** The tokens of two grants of one lock, one after the other. */
record MatrixTokens(FencingToken older, FencingToken newer) {

    /** Which of the two. */
    enum Age {
        OLDER,
        NEWER
    }

    static MatrixTokens of(LockName lock) {
        return new MatrixTokens(Grants.next(lock), Grants.next(lock));
    }

    FencingToken of(Age age) {
        return age == Age.OLDER ? older : newer;
    }
}
