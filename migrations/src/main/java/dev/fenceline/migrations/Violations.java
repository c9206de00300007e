package dev.fenceline.migrations;

import java.time.Instant;

/**
 * Writes to an observed table by one application and role that had not entered their lock: who is still to be changed before the table
 * can be enforced. Counted together, since a busy system records one for each transaction.
 *
 * <p><b>Thread-safety:</b> immutable.
 *
 * @param relation the table, quoted where it must be
 * @param operation INSERT, UPDATE, DELETE or TRUNCATE: the first of each transaction
 * @param application the application_name of the sessions; may be empty
 * @param role the role that wrote
 * @param transactions how many were recorded
 * @param first when the oldest of them wrote, by the clock of the database
 * @param last when the newest of them wrote
 * @param needed the locks that the newest would have needed, in words
 * @param entered the locks that the newest had entered, in words
 */
public record Violations(
        String relation,
        String operation,
        String application,
        String role,
        long transactions,
        Instant first,
        Instant last,
        String needed,
        String entered) {

    /** Returns one line for people. */
    @Override
    public String toString() {
        return relation + ": " + operation + " by application '" + application + "' as " + role + ", " + transactions
                + (transactions == 1 ? " transaction" : " transactions") + " from " + first + " to " + last
                + "; the last needed " + needed + " and had entered " + entered;
    }
}
