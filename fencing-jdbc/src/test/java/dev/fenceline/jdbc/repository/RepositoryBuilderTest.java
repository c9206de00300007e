package dev.fenceline.jdbc.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LockName;
import dev.fenceline.Locks;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.JdbiFence;
import dev.fenceline.jdbc.PostgresFence;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.math.BigDecimal;
import java.sql.ResultSet;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.result.ResultIterable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** What fits together, and what is refused before anything runs; no server is asked. */
class RepositoryBuilderTest {

    private static final PostgresFence FENCE = PostgresFence.on(new PGSimpleDataSource());

    /** Nobody asks it for anything here. */
    private static final Locks LOCKS = (Locks) Proxy.newProxyInstance(
            RepositoryBuilderTest.class.getClassLoader(), new Class<?>[] {Locks.class}, (proxy, method, arguments) -> {
                throw new AssertionError(method + " called");
            });

    @SuppressWarnings("unchecked")
    static <R> RepositoryBuilder<R> of(Class<R> type) {
        R answersNothing = (R) Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> null);
        return of(type, answersNothing);
    }

    private static <R> RepositoryBuilder<R> of(Class<R> type, R delegate) {
        return FencedRepository.of(type, FENCE, LOCKS).delegate(delegate);
    }

    // 1: a method without a rule.

    interface Orders {
        void place(long customer, String text);

        void cancel(UUID order);

        void cancel(UUID order, String reason);

        int count();
    }

    @Test
    void rule1MethodsWithoutALockAreAllNamedAtOnce() {
        assertThatThrownBy(() -> of(Orders.class).lock("order", "order").build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("FencedRepository of Orders cannot be built:\n"
                        + "- count() has no lock: no rule finds one in its arguments. If it writes nothing, .reads(\"count\");"
                        + " else .lock(…) or .lockBy(\"count\", arguments -> LockName.of(…))\n"
                        + "- place(long, String) has no lock: no rule finds one in its arguments. If it writes nothing,"
                        + " .reads(\"place\"); else .lock(…) or .lockBy(\"place\", arguments -> LockName.of(…))");
    }

    @Test
    void rule1APatternThatMatchesNothingAndTwoRulesForOneMethodAreRefused() {
        assertThatThrownBy(() -> of(Orders.class)
                        .lock("order", "order")
                        .lock("customer", "customer")
                        .lock("invoice", "invoice")
                        .lock(BigDecimal.class, amount -> LockName.of("amount"))
                        .reads("count", "find*", "c*")
                        .selfContained("cancel(UUID)", "place(long)")
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "\n- reads(\"find*\") matches no method; there are cancel(UUID), cancel(UUID, String),"
                                + " count(), place(long, String)")
                .hasMessageContaining("\n- selfContained(\"place(long)\") matches no method")
                .hasMessageContaining("\n- lock(\"invoice\", \"invoice\") finds a lock in no method")
                .hasMessageContaining("\n- lock(BigDecimal.class, …) finds a lock in no method")
                .hasMessageContaining(
                        "\n- cancel(UUID) is named by several rules, reads and selfContained, and only one can be"
                                + " true")
                .satisfies(thrown -> assertThat(thrown.getMessage().lines()).hasSize(6));
    }

    @Test
    void rule1PatternsChooseAmongOverloads() {
        Orders orders = of(Orders.class)
                .lock("order", "order")
                .lock("customer", "customer")
                .reads("count", "cancel(UUID, String)")
                .build()
                .proxy();

        orders.cancel(new UUID(0, 1), "passes as it is said to read");
        assertThatThrownBy(() -> orders.cancel(new UUID(0, 1)))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageContaining(
                        "orders.unit(LockName.of(\"order\", \"00000000-0000-0000-0000-000000000001\"), o -> {"
                                + " …; o.cancel(…); });");
        assertThatThrownBy(() -> orders.place(7, "text"))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("Orders.place(long, String) under 'customer:7' refused outside of a unit");
    }

    // 1: names of arguments.

    @Test
    void withoutNamesInTheClassFileTheOptionOfTheCompilerIsNamed() throws Exception {
        Class<?> nameless = Nameless.compiled("void save(long id, long balance);");

        assertThatThrownBy(() -> of(nameless).lock("account", "id").build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "FencedRepository of Nameless cannot be built:\n- save(long, long) has no lock: the names of its"
                                + " arguments are not in the class file. Compile Nameless with -parameters (Maven:"
                                + " <maven.compiler.parameters>true, Gradle: options.compilerArgs.add(\"-parameters\")), or say where its"
                                + " lock is: .lockBy(\"save\", arguments -> LockName.of(…, arguments.get(0)))");
        assertThat(of(nameless)
                        .lockBy("save", arguments -> LockName.of("account", arguments.get(0)))
                        .build()
                        .proxy())
                .isNotNull();
    }

    interface Prices {
        void set(BigDecimal id, long price);
    }

    @Test
    void rule11AnArgumentThatIsNoKeyIsRefused() {
        assertThatThrownBy(() -> of(Prices.class).lock("price", "id").build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith(
                        "\n- set(BigDecimal, long) its argument id is of type BigDecimal, and a name of a lock is made of"
                                + " strings, whole numbers and UUIDs. Say how: .lock(BigDecimal.class, it -> LockName.of(\"price\", …))");
    }

    // 9: results that come later.

    interface Late {
        Stream<String> stream();

        IntStream ints();

        Iterator<String> iterator();

        CompletableFuture<String> future();

        Future<String> oldFuture();

        Flow.Publisher<String> publisher();

        ResultSet rows();

        ResultIterable<String> iterable();

        List<String> list();

        Optional<String> optional();

        void each(Consumer<String> row);
    }

    @Test
    void rule9ResultsThatComeAfterTheUnitAreRefusedAlsoOfMethodsThatRead() {
        assertThatThrownBy(() -> of(Late.class).reads("*").build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        "\n- stream() returns Stream, whose content is read or written after the method has"
                                + " returned, and so outside of its unit. Return a list or a value, or take a function that is called with"
                                + " each row")
                .satisfies(thrown -> assertThat(thrown.getMessage().lines().skip(1))
                        .extracting(line -> line.substring(2, line.indexOf(" returns")))
                        .containsExactly(
                                "future()",
                                "ints()",
                                "iterable()",
                                "iterator()",
                                "oldFuture()",
                                "publisher()",
                                "rows()",
                                "stream()"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"org.reactivestreams.Publisher", "org.reactivestreams.Processor"})
    void rule9PublishersOfALibraryAreKnownByName(String type) throws ClassNotFoundException {
        assertThat(LateResults.isLate(Class.forName(type))).isTrue();
    }

    // 13: default methods, classes.

    interface Greeting {
        String find(String id);

        void save(String id, String text);

        default String greet(String id) {
            return "Hello " + find(id);
        }

        default String append(String id, String... texts) {
            save(id, find(id) + String.join("", texts));
            return id;
        }

        default String overridden(String id) {
            return "by the interface";
        }
    }

    static final class Greetings implements Greeting {
        @Override
        public String find(String id) {
            return id;
        }

        @Override
        public void save(String id, String text) {
            throw new AssertionError("saved outside of a unit");
        }

        @Override
        public String overridden(String id) {
            return "by the class";
        }
    }

    @Test
    void rule13ADefaultMethodRunsAsItIsAndWhatItCallsIsCalledByTheRules() {
        Greeting greeting = of(Greeting.class, new Greetings())
                .lock("greeting", "id")
                .reads("find")
                .build()
                .proxy();

        assertThat(greeting.greet("eva")).isEqualTo("Hello eva");
        assertThatThrownBy(() -> greeting.append("eva", "a", "b"))
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith(
                        "Greeting.save(String, String) under 'greeting:eva', called by the default method"
                                + " append(String, String[]), refused outside of a unit");
        assertThatThrownBy(() -> greeting.overridden("eva"))
                .as("it is not the interface's code that would run")
                .isInstanceOf(UnfencedWriteException.class)
                .hasMessageStartingWith("Greeting.overridden(String) under 'greeting:eva' refused outside of a unit");
        assertThat(of(Greeting.class, new Greetings())
                        .lock("greeting", "id")
                        .reads("find", "overridden")
                        .build()
                        .proxy()
                        .overridden("eva"))
                .isEqualTo("by the class");
    }

    @Test
    void rule13AClassGetsUnitsAndNoProxyAndNoRules() {
        Greetings greetings = new Greetings();

        assertThatThrownBy(() ->
                        of(Greetings.class, greetings).lock("greeting", "id").build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Greetings is a class, and only an interface can be implemented anew. Extract one, or end with"
                                + " buildUnits(), which runs units with the class as it is and refuses nothing outside of them.");
        assertThatThrownBy(() -> of(Greetings.class, greetings).reads("find").buildUnits())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Rules for methods of Greetings given, and without a proxy nothing enforces them. Leave them out, or"
                                + " use build() with an interface.");
        assertThat(of(Greetings.class, greetings).buildUnits()).isNotNull();
    }

    // 8: what a proxy cannot throw.

    @Test
    void rule8ACheckedExceptionThatAMethodDoesNotDeclareIsNamedAndNotHidden() {
        IOException secret = new IOException("disk full");
        Greeting greeting = of(Greeting.class, (Greeting) Proxy.newProxyInstance(
                        Greeting.class.getClassLoader(),
                        new Class<?>[] {Greeting.class},
                        (proxy, method, arguments) -> {
                            throw new AssertionError();
                        }))
                .lock("greeting", "id")
                .reads("find")
                .build()
                .proxy();
        Greeting throwing = of(Greeting.class, new Secretive(secret))
                .lock("greeting", "id")
                .reads("find")
                .build()
                .proxy();

        assertThatThrownBy(() -> greeting.find("eva")).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> throwing.find("eva"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "Greeting.find(String) threw java.io.IOException: disk full, which it does not declare, and a proxy"
                                + " cannot pass that on. Declare it there.")
                .hasCause(secret);
    }

    record Secretive(IOException secret) implements Greeting {
        @Override
        public String find(String id) {
            throw Thrown.unchanged(secret);
        }

        @Override
        public void save(String id, String text) {}
    }

    // Values that cannot be.

    @Test
    void valuesOutOfRangeAreRefused() {
        RepositoryBuilder<Orders> builder = of(Orders.class);

        assertThatThrownBy(() -> builder.waitAtMost(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("waitAtMost of PT-0.001S is not between zero, which tries once, and 366 days.");
        assertThatThrownBy(() -> builder.retries(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("retries of 0 is not between 1 and 100; without it there are none.");
        assertThatThrownBy(() -> builder.lockAtMost(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("lockAtMost of 0 is not between 1 and 10,000.");
        assertThatThrownBy(() -> builder.reads(" "))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("A pattern for methods is blank.");
        assertThatThrownBy(() -> builder.lock("order"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("No argument named: the lock \"order\" would be one for all.");
        assertThatThrownBy(() -> builder.lock("4ever", "id"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("Lock class '4ever' cannot be used");
    }

    @Test
    void aDefaultMethodOverAHandleNeedsARule() {
        JdbiFence jdbi = JdbiFence.on(Jdbi.create(new PGSimpleDataSource()));

        assertThatThrownBy(() -> FencedRepository.of(Greeting.class, jdbi, LOCKS)
                        .delegate(handle -> new Greetings())
                        .lockBy("save", arguments -> LockName.of("greeting"))
                        .reads("find")
                        .build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("- greet(String) has no lock");
    }
}
