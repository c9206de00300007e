package dev.fenceline.migrations;

/**
 * One reason why a plan is refused.
 *
 * @param table the table that was named, as SQL writes it
 * @param problem what is wrong with it, with the values that were found
 * @param remedy what to do now
 */
public record Fault(String table, String problem, String remedy) {

    /** Returns one line. */
    @Override
    public String toString() {
        return table + ": " + problem + ". " + remedy;
    }
}
