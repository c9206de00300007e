package dev.fenceline.bench;

/** One question that is put to all contestants. */
interface Scenario {

    /** How it is chosen on the command line, and the name of its block in the page. */
    String id();

    /** Runs all of it. */
    Section run(Settings settings) throws Exception;
}
