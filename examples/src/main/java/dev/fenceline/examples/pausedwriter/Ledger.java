package dev.fenceline.examples.pausedwriter;

import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The file of account movements: the work to be done, and what the balances must be when it is done. */
final class Ledger {

    private final List<Movement> movements;
    private final Map<String, Movement> byId;

    private Ledger(List<Movement> movements) {
        this.movements = movements;
        this.byId = movements.stream().collect(Collectors.toUnmodifiableMap(Movement::id, Function.identity()));
    }

    static Ledger fromResource() {
        return parse(Resources.text("movements.csv"));
    }

    static Ledger parse(String csv) {
        List<String> lines = csv.lines().toList();
        if (lines.isEmpty() || !lines.get(0).equals(Movement.HEADER)) {
            throw new IllegalArgumentException("The file of movements must begin with the line " + Movement.HEADER);
        }
        return new Ledger(lines.stream().skip(1).map(Movement::parse).toList());
    }

    List<Movement> movements() {
        return movements;
    }

    Movement movement(String id) {
        Movement movement = byId.get(id);
        if (movement == null) {
            throw new IllegalArgumentException("There is no movement " + id + " in the file.");
        }
        return movement;
    }

    /** The movements of each account, in the order of the file; accounts in ascending order. */
    SortedMap<String, List<Movement>> byAccount() {
        return movements.stream().collect(Collectors.groupingBy(Movement::account, TreeMap::new, Collectors.toList()));
    }

    /** What each account must hold once every movement was booked exactly once; all of them start at zero. */
    SortedMap<String, Long> expectedBalances() {
        return movements.stream()
                .collect(Collectors.groupingBy(
                        Movement::account, TreeMap::new, Collectors.summingLong(Movement::amountCents)));
    }
}
