package dev.fenceline.examples.pausedwriter;

import java.time.Instant;

/**
 * One row of the log of claims, written by a trigger in the transaction of the claim.
 *
 * @param at server time
 * @param lock which lock
 * @param token the token that became the mark
 * @param writer A or B
 */
record AdmittedClaim(Instant at, String lock, long token, String writer) {}
