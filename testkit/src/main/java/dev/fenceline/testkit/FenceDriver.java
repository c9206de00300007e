package dev.fenceline.testkit;

import dev.fenceline.FencingToken;

/**
 * What {@link FenceContract} needs of a fence: one resource with a value, and the ways to it. Every method lets the
 * exceptions of Fenceline through as they are.
 */
public interface FenceDriver {

    /**
     * Claims the resource.
     *
     * @param token the token of the claim
     * @return what may be done under the claim
     */
    Session claim(FencingToken token);

    /**
     * Goes on under a claim that was made before, as another process would.
     *
     * @param token the token of that claim
     * @return what may be done under the claim
     */
    Session resume(FencingToken token);

    /**
     * Reads what is committed, past the fence.
     *
     * @return the value
     */
    String read();

    /** What a claim allows. */
    interface Session {

        /**
         * Reads the value under the claim.
         *
         * @return the value
         */
        String read();

        /**
         * Replaces the value under the claim.
         *
         * @param value the new one
         */
        void write(String value);
    }
}
