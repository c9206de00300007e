package dev.fenceline.migrations;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the catalogue says about one table.
 *
 * @param subscriptions those that fill it, or one of its partitions
 * @param others triggers with our function that protecting it would not have made
 * @param said what its triggers say, one entry where they agree
 */
record TableState(
        TableName name,
        long oid,
        Kind kind,
        String owner,
        boolean owned,
        boolean reachable,
        int partitions,
        List<String> subscriptions,
        List<Column> columns,
        List<Trigger> triggers,
        List<Other> others,
        List<Protect> said) {

    static final String TOKEN = "fence_token";
    static final String HOLDER = "fence_holder";

    // As somebody types it, and as it reads where it was given as a bigint.
    static final List<String> ZERO = List.of("0", "'0'::bigint");

    /** What it is, as far as it matters here. */
    enum Kind {
        TABLE,
        TYPED_TABLE,
        PARTITION,
        OTHER
    }

    /** A column; what depends on it is looked for only where it could be one of row mode. */
    record Column(String name, String type, boolean notNull, Optional<String> byDefault, List<String> dependents) {

        String described() {
            return name
                    + ' '
                    + type
                    + (notNull ? " NOT NULL" : "")
                    + byDefault.map(expression -> " DEFAULT " + expression).orElse("");
        }
    }

    /**
     * A trigger of the fence that is to be there.
     *
     * @param enabled empty where it is not there
     * @param asMade whether it is still the one that protecting the table has made
     */
    record Trigger(TableName member, String event, Optional<Character> enabled, String arguments, boolean asMade) {

        String name() {
            return "fenceline_" + event;
        }
    }

    /** A trigger with our function and somebody else's name. */
    record Other(TableName member, String name, char enabled) {}

    Optional<Column> column(String wanted) {
        return columns.stream().filter(column -> column.name().equals(wanted)).findFirst();
    }

    /** Fired always; but not for the apply worker of a subscription. */
    char enabledAsItMustBe() {
        return subscriptions.isEmpty() ? 'A' : 'O';
    }

    boolean isProtected() {
        return !others.isEmpty()
                || triggers.stream().anyMatch(trigger -> trigger.enabled().isPresent());
    }

    /** All that is to be there is there and says this. */
    boolean isProtectedAs(Protect wanted) {
        return said.equals(List.of(wanted))
                && triggers.stream()
                        .allMatch(trigger -> trigger.enabled().equals(Optional.of(enabledAsItMustBe()))
                                && trigger.asMade()
                                && trigger.arguments().equals(triggers.get(0).arguments()));
    }

    /** What it was protected as so far, where that can be told. */
    Optional<Protect> protectedAs() {
        return said.size() == 1 ? Optional.of(said.get(0)) : Optional.empty();
    }

    /** The mark columns that are there. */
    List<Column> markColumns() {
        return Stream.of(TOKEN, HOLDER)
                .flatMap(wanted -> column(wanted).stream())
                .toList();
    }

    boolean hasMarkColumns() {
        return column(TOKEN)
                        .filter(token -> token.type().equals("bigint")
                                && token.notNull()
                                && token.byDefault().filter(ZERO::contains).isPresent())
                        .isPresent()
                && column(HOLDER)
                        .filter(holder -> holder.type().equals("uuid")
                                && !holder.notNull()
                                && holder.byDefault().isEmpty())
                        .isPresent();
    }

    List<String> dependents() {
        List<String> all = new ArrayList<>();
        markColumns().forEach(column -> all.addAll(column.dependents()));
        return all.stream().distinct().toList();
    }
}
