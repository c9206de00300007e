package dev.fenceline.examples.springboot;

/** Another service, which is asked about each payment and takes its time. */
interface Clearing {

    /** Returns when the payment may go on. */
    void confirm(long account, long cents);
}
