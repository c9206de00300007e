package dev.fenceline.examples.pausedwriter;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Who books what, when: the same in each process and each run, since it follows from the file alone.
 *
 * <p>Two accounts are set apart for the pauses, with one movement for each writer. All the rest is bulk: batches of one
 * account's movements, written by A and B by turns, half of them before the pauses and half after.
 */
final class Plan {

    /** One session: movements of one account, booked in one transaction. */
    record Batch(String account, List<Movement> movements) {

        Batch {
            movements = List.copyOf(movements);
        }
    }

    /** One staged pause: what A will book late, and what B books meanwhile. */
    record Staged(String account, Movement byA, Movement byB) {}

    /** Half of the bulk. */
    enum Half {
        BEFORE_THE_PAUSES,
        AFTER_THE_PAUSES
    }

    private static final int BATCH = 20;
    private static final int FIRST_ACCOUNT = 1;
    private static final int SECOND_ACCOUNT = 12;
    private static final String LARGE = "Salary";

    private final Map<String, List<Movement>> byAccount;
    private final Staged first;
    private final Staged second;
    private final Set<String> stagedIds = new HashSet<>();

    Plan(Ledger ledger) {
        byAccount = ledger.byAccount();
        List<String> accounts = List.copyOf(byAccount.keySet());
        // In the first pause B's money is at stake, in the second A's: that is the salary each time.
        String one = accounts.get(FIRST_ACCOUNT);
        first = new Staged(one, small(one), large(one));
        String two = accounts.get(SECOND_ACCOUNT);
        second = new Staged(two, large(two), small(two));
        for (Staged staged : List.of(first, second)) {
            stagedIds.add(staged.byA().id());
            stagedIds.add(staged.byB().id());
        }
    }

    Staged staged(Scene scene) {
        return switch (scene) {
            case FIRST_PAUSE -> first;
            case SECOND_PAUSE -> second;
            case BULK -> throw new IllegalArgumentException("Nothing is staged in the bulk of the work.");
        };
    }

    /** The batches of one writer in one half, each writer beginning at another account so that they seldom wait. */
    List<Batch> batches(String writer, Half half) {
        List<String> accounts = new ArrayList<>(byAccount.keySet());
        boolean isA = writer.equals("A");
        if (!isA) {
            java.util.Collections.rotate(accounts, accounts.size() / 2);
        }
        List<Batch> batches = new ArrayList<>();
        for (String account : accounts) {
            List<Batch> all = allOf(account);
            for (int i = 0; i < all.size(); i++) {
                Half itsHalf = i < all.size() / 2 ? Half.BEFORE_THE_PAUSES : Half.AFTER_THE_PAUSES;
                if (itsHalf == half && (i % 2 == 0) == isA) {
                    batches.add(all.get(i));
                }
            }
        }
        return batches;
    }

    private List<Batch> allOf(String account) {
        List<Movement> bulk = movementsOf(account).stream()
                .filter(movement -> !stagedIds.contains(movement.id()))
                .toList();
        List<Batch> batches = new ArrayList<>();
        for (int from = 0; from < bulk.size(); from += BATCH) {
            batches.add(new Batch(account, bulk.subList(from, Math.min(from + BATCH, bulk.size()))));
        }
        return batches;
    }

    private Movement large(String account) {
        return movementsOf(account).stream()
                .filter(movement -> movement.purpose().equals(LARGE))
                .findFirst()
                .orElseThrow(
                        () -> new IllegalStateException("Account " + account + " has no movement '" + LARGE + "'."));
    }

    private Movement small(String account) {
        return movementsOf(account).stream()
                .filter(movement -> movement.purpose().equals("Groceries"))
                .max(Comparator.comparing(Movement::id))
                .orElseThrow(() -> new IllegalStateException("Account " + account + " buys no groceries."));
    }

    private List<Movement> movementsOf(String account) {
        return byAccount.getOrDefault(account, List.of());
    }
}
