package dev.fenceline.jdbc.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.LockName;
import dev.fenceline.LockOptions;
import dev.fenceline.Locks;
import dev.fenceline.UnfencedWriteException;
import dev.fenceline.jdbc.JdbiFence;
import dev.fenceline.jdbc.repository.FencedRepository;
import dev.fenceline.jdbc.samples.orders.JdbiOrderStore;
import dev.fenceline.jdbc.samples.orders.Order;
import dev.fenceline.jdbc.samples.orders.OrderLine;
import dev.fenceline.jdbc.samples.orders.OrderStore;
import dev.fenceline.lock.RedisLocks;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.RealServers;
import dev.fenceline.testkit.RedisServer;
import java.util.List;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A store of orders over a handle, with transactions of its own inside, wrapped as it is. */
@Tag("server")
@RealServers
class OrderStoreTest {

    private static final LockName ORDER = LockName.of("order", 1);
    private static final OrderLine CHAIR = new OrderLine("chair", 2, 5_000);

    private final Jdbi jdbi;
    private final TwoAtOnce play;
    private final Locks locks;
    private final FencedRepository<OrderStore> orders;

    OrderStoreTest(DataSource database, RedisServer redis, LockOptions.Builder options) {
        this.jdbi = Jdbi.create(database);
        this.play = new TwoAtOnce(database, "orders WHERE id = 1");
        this.locks = RedisLocks.connect(redis.uri(), options.listener(play).build());
        this.orders = FencedRepository.of(OrderStore.class, JdbiFence.on(jdbi), locks)
                .delegate(JdbiOrderStore::new)
                .lock("order", "orderId")
                .lock(Order.class, order -> LockName.of("order", order.getId()))
                .lockEach(Order.class, order -> LockName.of("order", order.getId()))
                .lock("customer", "customer")
                .reads("load", "linesOf")
                .selfContained("addLine")
                .blind("place")
                .build();
    }

    @BeforeAll
    static void schema(DataSource database) {
        FenceMigrations.on(database).install();
        Jdbi.create(database).useHandle(handle -> handle.execute("""
                        CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer text NOT NULL,
                            status text NOT NULL DEFAULT 'open', total_cents bigint NOT NULL DEFAULT 0);
                        CREATE TABLE order_lines (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                            order_id bigint NOT NULL REFERENCES orders, product text NOT NULL, quantity int NOT NULL,
                            cents bigint NOT NULL)"""));
    }

    @BeforeEach
    void anOrder() {
        jdbi.useHandle(handle -> handle.execute("""
                TRUNCATE orders, order_lines RESTART IDENTITY;
                INSERT INTO orders (customer, total_cents) VALUES ('ACME', 20000)"""));
    }

    @AfterEach
    void close() {
        locks.close();
    }

    @Test
    void aDiscountAndALineAtOnceAreBothInTheTotal() throws Exception {
        play.fenced(
                () -> {
                    orders.unit(ORDER, OrderStoreTest::lessTenEuros);
                    return true;
                },
                () -> {
                    orders.proxy().addLine(1, CHAIR);
                    return true;
                });

        assertThat(orders.proxy().load(1).getTotalCents()).isEqualTo(20_000 - 1_000 + 2 * 5_000);
        assertThat(orders.proxy().linesOf(1)).containsExactly(CHAIR);
    }

    @Test
    void withoutTheWrapperOneOfThemIsLost() throws Exception {
        play.unfenced(
                () -> {
                    jdbi.useHandle(handle -> lessTenEuros(new JdbiOrderStore(handle)));
                    return true;
                },
                () -> {
                    jdbi.useHandle(handle -> new JdbiOrderStore(handle).addLine(1, CHAIR));
                    return true;
                });

        assertThat(orders.proxy().load(1).getTotalCents()).isIn(20_000L - 1_000, 20_000L + 2 * 5_000);
    }

    private static void lessTenEuros(OrderStore store) {
        Order order = store.load(1);
        order.setTotalCents(order.getTotalCents() - 1_000);
        store.update(order);
    }

    @Test
    void theStoreWorksAsBefore() throws Exception {
        OrderStore store = orders.proxy();
        long second = store.place("Initech");
        assertThat(second).isEqualTo(2);
        store.addLine(second, CHAIR);
        List<Order> both = List.of(store.load(second), store.load(1));

        assertThatThrownBy(() -> store.shipAll(both)).isInstanceOf(UnfencedWriteException.class);
        orders.unit(
                List.of(LockName.of("order", second), ORDER),
                fenced -> fenced.shipAll(List.of(fenced.load(second), fenced.load(1))));

        assertThat(List.of(store.load(1), store.load(second)))
                .extracting(Order::getStatus)
                .containsExactly("shipped", "shipped");
        assertThat(store.load(second).getTotalCents()).isEqualTo(10_000);
    }
}
