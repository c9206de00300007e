package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.FencelineEvent;
import dev.fenceline.FencelineEvent.UnsafeSetting;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.PostgresFence;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A repository that was built on the pool beside the fence writes unfenced; that is to be seen before it loses something. */
@Tag("server")
class WiringTest {

    static Bank bank;

    private final Queue<FencelineEvent> heard = new ConcurrentLinkedQueue<>();
    private final PostgresFence fence = PostgresFence.on(bank.source()).listener(heard::add);

    @BeforeAll
    static void create() {
        bank = Bank.create();
    }

    @AfterAll
    static void close() {
        bank.locks().close();
    }

    @BeforeEach
    void open() {
        bank.open();
    }

    private FencedRepository<Accounts> over(DataSource source) {
        return FencedRepositoryContract.ruled(
                        FencedRepository.of(Accounts.class, fence, bank.locks()).delegate(new JdbcAccounts(source)))
                .build();
    }

    private List<UnsafeSetting> told() {
        return heard.stream()
                .filter(UnsafeSetting.class::isInstance)
                .map(UnsafeSetting.class::cast)
                .filter(setting -> setting.resource().startsWith("FencedRepository"))
                .toList();
    }

    @Test
    void aUnitThatReadAndWroteBesideTheFenceIsRefusedAtItsEnd() {
        FencedRepository<Accounts> accounts = over(bank.source());

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> accounts.unit(
                            Bank.account(42), a -> a.save(a.find(42).plus(5))))
                    .isInstanceOf(UnfencedWriteException.class)
                    .hasMessage(
                            "Unit of 'account:42' refused at its end: find(int), save(Account) took no connection of"
                                    + " fence.dataSource(), and neither did any unit of this JdbcAccounts before. What was written in it"
                                    + " was written without the fence, and stays. Build the JdbcAccounts on fence.dataSource(), and not on"
                                    + " the data source that the fence was made of.");
        }
        assertThat(told()).isEmpty();
    }

    @Test
    void aLoneCallMayHaveHadNothingToDoAndIsToldOnceTheNextIsRefused() throws Exception {
        Accounts accounts = over(bank.source()).proxy();

        accounts.withdraw(42, 10);
        assertThat(told())
                .singleElement()
                .isEqualTo(
                        new UnsafeSetting(
                                "FencedRepository over JdbcAccounts",
                                "perhaps a data source that is not the fence's",
                                "withdraw(int, long) took no connection of fence.dataSource(). If there was nothing to write, all is"
                                        + " well; else it was written without the fence: build the JdbcAccounts on fence.dataSource()"));
        assertThatThrownBy(() -> accounts.withdraw(42, 10))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith(
                        "Unit of 'account:42' refused at its end: withdraw(int, long) took no connection");
        assertThat(told()).hasSize(1);
    }

    @Test
    void oneThatWasSeenOnTheFenceMayCallInVainAsOftenAsItLikes() throws Exception {
        FencedRepository<Accounts> accounts = over(fence.dataSource());
        accounts.proxy().setAll(7, new Account(41, 0));

        FencedRepository<Accounts> lazy = FencedRepositoryContract.ruled(
                        FencedRepository.of(Accounts.class, fence, bank.locks())
                                .delegate(Lazy.over(new JdbcAccounts(fence.dataSource()))))
                .build();
        lazy.proxy().withdraw(42, 10);
        for (int i = 0; i < 3; i++) {
            lazy.proxy().withdraw(42, 0);
            lazy.unit(Bank.account(42), a -> a.saveAll(List.of()));
        }
        assertThat(bank.balance(42)).isEqualTo(90);
        assertThat(told()).isEmpty();
    }

    @Test
    void whatHasNothingToDoIsNoReasonToRefuseByItself() throws Exception {
        FencedRepository<Accounts> lazy = FencedRepositoryContract.ruled(
                        FencedRepository.of(Accounts.class, fence, bank.locks())
                                .delegate(Lazy.over(new JdbcAccounts(fence.dataSource()))))
                .build();

        for (int i = 0; i < 3; i++) {
            lazy.unit(Bank.account(42), a -> a.saveAll(List.of()));
            lazy.unit(Bank.account(42), a -> {});
        }
        assertThat(told()).isEmpty();
        lazy.proxy().withdraw(42, 0);
        assertThat(told()).hasSize(1);
        lazy.proxy().withdraw(42, 10);
        lazy.proxy().withdraw(42, 0);
        assertThat(bank.balance(42)).isEqualTo(90);
        assertThat(told()).hasSize(1);
    }

    @Test
    void theWorkOfAClassIsToldOnceAndNeverRefusedSinceNobodySeesWhatItCalls() throws Exception {
        RepositoryUnits<JdbcAccounts> units = FencedRepository.of(JdbcAccounts.class, fence, bank.locks())
                .delegate(new JdbcAccounts(bank.source()))
                .buildUnits();

        for (int i = 0; i < 3; i++) {
            units.unit(Bank.account(42), a -> a.save(a.find(42).plus(1)));
        }
        assertThat(told())
                .singleElement()
                .satisfies(setting -> assertThat(setting.consequence())
                        .startsWith(
                                "its work took no connection of fence.dataSource(). If there was nothing to write"));
    }

    @Test
    void aFailureOfTheWorkComesOutAsItIs() {
        IllegalStateException own = new IllegalStateException("of the work");
        FencedRepository<Accounts> accounts = over(bank.source());

        assertThatThrownBy(() -> accounts.unit(Bank.account(42), a -> {
                    a.save(a.find(42).plus(5));
                    throw own;
                }))
                .isSameAs(own);
    }
}
