package dev.fenceline.s3;

import dev.fenceline.FencingToken;

/**
 * What stands under a key.
 *
 * @param header its mark
 * @param payload the body of an envelope, or where the data of a pointer lies
 * @param attributes what the store keeps beside it
 * @param <P> the payload
 */
record Document<P>(Header header, P payload, Attributes attributes) {

    FencingToken token() {
        return header.token();
    }

    Document<P> claimedBy(FencingToken claimant) {
        return new Document<>(header.claimedBy(claimant), payload, attributes);
    }

    /** The same again, in other bytes: whatever is still on its way to the version before fails from now on. */
    Document<P> bumped() {
        return new Document<>(header.next(header.state()), payload, attributes);
    }

    Document<P> written(P next, Attributes of) {
        return new Document<>(header.next(Header.State.DATA), next, of);
    }

    Document<P> deleted(P nothing, Attributes of) {
        return new Document<>(header.next(Header.State.NONE), nothing, of);
    }
}
