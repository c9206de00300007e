package dev.fenceline.examples.pausedwriter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LedgerTest {

    private final Ledger ledger = Ledger.fromResource();

    @Test
    void theGeneratorReproducesTheCommittedFile() {
        assertThat(MovementGenerator.csv()).isEqualTo(Resources.text("movements.csv"));
    }

    @Test
    void theFileHoldsThousandsOfMovementsOnFortyAccounts() {
        assertThat(ledger.movements()).hasSize(4_000);
        assertThat(ledger.byAccount()).hasSize(40);
        assertThat(ledger.movements()).extracting(Movement::id).doesNotHaveDuplicates();
    }

    @Test
    void anExpectedBalanceIsTheSumOfTheAccountsMovements() {
        Ledger small = Ledger.parse("""
                booking_id,account,date,amount_cents,purpose
                M1,10,2026-09-01,250000,Salary
                M2,20,2026-09-01,-999,Groceries
                M3,10,2026-09-02,-1250,Groceries
                """);
        assertThat(small.expectedBalances()).containsEntry("10", 248_750L).containsEntry("20", -999L);
    }

    @Test
    void aFileWithOtherColumnsIsRefused() {
        assertThatThrownBy(() -> Ledger.parse("id,amount\n1,2\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "The file of movements must begin with the line booking_id,account,date,amount_cents,purpose");
        assertThatThrownBy(() -> Ledger.parse(Movement.HEADER + "\nM1,10,2026-09-01,5\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Expected the five columns " + Movement.HEADER + ", got: M1,10,2026-09-01,5");
        assertThatThrownBy(() -> ledger.movement("M99999"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("There is no movement M99999 in the file.");
    }

    @Test
    void thePlanHandsOutEveryMovementExactlyOnce() {
        Plan plan = new Plan(ledger);
        List<Movement> handedOut = new ArrayList<>();
        for (String writer : List.of("A", "B")) {
            for (Plan.Half half : Plan.Half.values()) {
                plan.batches(writer, half).forEach(batch -> handedOut.addAll(batch.movements()));
            }
        }
        for (Scene scene : List.of(Scene.FIRST_PAUSE, Scene.SECOND_PAUSE)) {
            handedOut.add(plan.staged(scene).byA());
            handedOut.add(plan.staged(scene).byB());
        }
        assertThat(handedOut).containsExactlyInAnyOrderElementsOf(ledger.movements());
    }

    @Test
    void bothWritersWorkOnEveryAccount() {
        Plan plan = new Plan(ledger);
        for (String writer : List.of("A", "B")) {
            List<String> accounts = new ArrayList<>();
            for (Plan.Half half : Plan.Half.values()) {
                plan.batches(writer, half).forEach(batch -> accounts.add(batch.account()));
            }
            assertThat(accounts).containsAll(ledger.byAccount().keySet());
        }
    }

    @Test
    void moneyReadsAsOnAStatement() {
        assertThat(Money.euros(123_456_789)).isEqualTo("1,234,567.89 €");
        assertThat(Money.euros(-5)).isEqualTo("-0.05 €");
        assertThat(Money.change(1_000)).isEqualTo("+10.00 €");
        assertThat(Money.change(-1_000)).isEqualTo("-10.00 €");
    }
}
