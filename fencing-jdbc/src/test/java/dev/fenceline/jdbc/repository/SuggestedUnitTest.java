package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LockName;
import dev.fenceline.UnfencedWriteException;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The unit that a refusal shows compiles, and saves what was read in it and never what its caller had before. */
class SuggestedUnitTest {

    private static final LockName LOCK = LockName.of("account", 42);

    private static <R> RepositoryBuilder<R> ruled(Class<R> type) {
        return RepositoryBuilderTest.of(type).lockBy("s*", arguments -> LOCK).reads("find*");
    }

    private static void assertShown(Runnable refused, String unit) {
        assertThatThrownBy(refused::run)
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining("Put the read and the write into one unit: " + unit + " Only if ");
    }

    interface Perhaps {
        Optional<Account> findById(int id);

        void save(Account account);

        void save(Account account, String reason);

        void saveAll(List<Account> accounts);

        void setBalance(int id, long balance);

        void saveOptional(Optional<Account> account);
    }

    @Test
    void whatMayBeMissingIsOpened() {
        Perhaps perhaps = ruled(Perhaps.class).build().proxy();
        String read = "perhaps.unit(LockName.of(\"account\", 42), p -> { var x = p.findById(42)";

        assertShown(() -> perhaps.save(new Account(42, 0)), read + ".orElseThrow(); …; p.save(x); });");
        assertShown(() -> perhaps.save(new Account(42, 0), "why"), read + ".orElseThrow(); …; p.save(x, …); });");
        assertShown(() -> perhaps.saveAll(List.of()), read + ".orElseThrow(); …; p.saveAll(/* made from x */); });");
        assertShown(() -> perhaps.setBalance(42, 0), read + ".orElseThrow(); …; p.setBalance(/* made from x */); });");
        assertShown(() -> perhaps.saveOptional(Optional.empty()), read + "; …; p.saveOptional(x); });");
    }

    interface Several {
        List<Account> findByOwner(String owner, int from);

        void save(Account account);

        void saveAll(List<Account> accounts);

        void set(long balance);
    }

    @Test
    void whatIsSeveralIsWalkedOrSavedWhole() {
        Several several = ruled(Several.class).build().proxy();
        String unit = "several.unit(LockName.of(\"account\", 42), s -> { ";

        assertShown(
                () -> several.save(new Account(42, 0)),
                unit + "for (var x : s.findByOwner(owner, from)) { …; s.save(x); } });");
        assertShown(
                () -> several.saveAll(List.of()), unit + "var x = s.findByOwner(owner, from); …; s.saveAll(x); });");
        assertShown(
                () -> several.set(1), unit + "var x = s.findByOwner(owner, from); …; s.set(/* made from x */); });");
    }

    interface Generic extends Crud<Account, Integer> {
        Optional<Account> find(Integer id);

        String findOwner(int id);

        void setOwner(int id, String owner);
    }

    @Test
    void whatATypeInheritsIsWhatItStandsForAndAKeyIsNotTakenForWhatWasRead() {
        Generic generic = ruled(Generic.class)
                .lockBy("deleteById", arguments -> LOCK)
                .build()
                .proxy();
        String unit = "generic.unit(LockName.of(\"account\", 42), g -> { ";

        assertShown(
                () -> generic.save(new Account(42, 0)), unit + "var x = g.find(42).orElseThrow(); …; g.save(x); });");
        assertShown(
                () -> generic.setOwner(42, "eva"),
                unit + "var x = g.find(42).orElseThrow(); …; g.setOwner(/* made from x */); });");
    }

    interface Transfers {
        void transfer(long from, long to, long amount);
    }

    @Test
    void severalArgumentsThatMayBeKeysAreOfferedAsAChain() {
        assertThatThrownBy(() -> RepositoryBuilderTest.of(Transfers.class).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith(
                        "\n- transfer(long, long, long) has no lock: no rule finds one in its arguments. If it writes nothing,"
                                + " .reads(\"transfer\"); else .lock(…, \"from\"), for several locks chained, .lock(…, \"from\").lock(…,"
                                + " \"to\"), since .lock(…, \"from\", \"to\") is one lock, which keeps out nobody who holds one of these;"
                                + " or .lockBy(\"transfer\", arguments -> LockName.of(…))");
    }

    @Test
    void withoutNamesOfArgumentsACollectionIsOfferedByItsElements() throws Exception {
        Class<?> nameless = Nameless.compiled(
                "void saveAll(java.util.List<Integer> all); void saveIn(long id, java.util.Set<String> all);");

        assertThatThrownBy(() ->
                        RepositoryBuilderTest.of(nameless).lock("account", "id").build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "- saveAll(List) has no lock: no rule finds one in its arguments. If it writes nothing, .reads(\"saveAll\");"
                                + " else .lockEach(Integer.class, it -> LockName.of(…)) or .lockBy(\"saveAll\", arguments ->")
                .hasMessageContaining("or say where its lock is: .lockEach(String.class, it -> LockName.of(…)) or"
                        + " .lockBy(\"saveIn\", arguments -> LockName.of(…, arguments.get(0)))");
    }
}
