package dev.fenceline.examples.pausedwriter;

import java.time.Instant;
import java.util.List;

/**
 * One row of the history, written in the same transaction as the balance.
 *
 * @param at server time, just before the commit
 * @param account whose balance
 * @param scene in which part of the run
 * @param writer A or B
 * @param token under which token
 * @param baseVersion the version that the writer had read and computed from
 * @param replacedVersion the version that the row in fact had when it was replaced, as the database returned it
 * @param balanceCents the balance that was written
 * @param changeCents by how much the writer meant to change it
 */
record AcceptedWrite(
        Instant at,
        String account,
        Scene scene,
        String writer,
        long token,
        long baseVersion,
        long replacedVersion,
        long balanceCents,
        long changeCents) {

    /** Tells whether this write wiped out one that its writer had never seen: a lost update. */
    boolean overwroteUnseen() {
        return baseVersion != replacedVersion;
    }

    static long lostUpdates(List<AcceptedWrite> history) {
        return history.stream().filter(AcceptedWrite::overwroteUnseen).count();
    }
}
