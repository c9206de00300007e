package dev.fenceline.examples.pausedwriter;

import java.time.LocalDate;

/**
 * One line of the file of account movements.
 *
 * @param id unique, so that a movement is booked once however often it is tried
 * @param account whose balance it changes
 * @param date booked on
 * @param amountCents negative when money leaves the account
 * @param purpose as on a bank statement
 */
record Movement(String id, String account, LocalDate date, long amountCents, String purpose) {

    static final String HEADER = "booking_id,account,date,amount_cents,purpose";

    Movement {
        if (purpose.indexOf(',') >= 0 || purpose.indexOf('"') >= 0) {
            throw new IllegalArgumentException(
                    "Purpose '" + purpose + "' holds a comma or a quote, which this file does not escape.");
        }
    }

    static Movement parse(String line) {
        String[] columns = line.split(",", -1);
        if (columns.length != 5) {
            throw new IllegalArgumentException("Expected the five columns " + HEADER + ", got: " + line);
        }
        return new Movement(
                columns[0], columns[1], LocalDate.parse(columns[2]), Long.parseLong(columns[3]), columns[4]);
    }

    String line() {
        return String.join(",", id, account, date.toString(), Long.toString(amountCents), purpose);
    }
}
