package dev.fenceline.lock;

/** What PUBLISH answers in a script: the number of those who listen, or only of those who listen at the same node. */
enum Listeners {
    /** All of them: nobody listens where the answer is 0. */
    COUNTED,
    /** Those at one node of a Cluster; 0 says nothing. */
    NOT_COUNTED
}
