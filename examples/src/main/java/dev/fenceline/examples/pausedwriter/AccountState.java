package dev.fenceline.examples.pausedwriter;

/**
 * What a session read, and computes from.
 *
 * @param balanceCents the balance
 * @param version how many writes the row had seen
 * @param lastToken the token of the last write, where writes carry one
 */
record AccountState(long balanceCents, long version, long lastToken) {}
