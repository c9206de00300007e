package dev.fenceline.jdbc.samples.orders;

import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.reflect.BeanMapper;
import org.jdbi.v3.core.mapper.reflect.ConstructorMapper;
import org.jdbi.v3.core.statement.PreparedBatch;

/** Orders over a handle that the caller opens. */
public class JdbiOrderStore implements OrderStore {

    private final Handle handle;

    public JdbiOrderStore(Handle handle) {
        this.handle = handle;
        handle.registerRowMapper(BeanMapper.factory(Order.class));
        handle.registerRowMapper(ConstructorMapper.factory(OrderLine.class));
    }

    @Override
    public long place(String customer) {
        return handle.createUpdate("INSERT INTO orders (customer) VALUES (:customer)")
                .bind("customer", customer)
                .executeAndReturnGeneratedKeys("id")
                .mapTo(Long.class)
                .one();
    }

    @Override
    public Order load(long orderId) {
        return handle.createQuery("SELECT id, customer, status, total_cents FROM orders WHERE id = :id")
                .bind("id", orderId)
                .mapTo(Order.class)
                .one();
    }

    @Override
    public List<OrderLine> linesOf(long orderId) {
        return handle.createQuery("SELECT product, quantity, cents FROM order_lines WHERE order_id = :id ORDER BY id")
                .bind("id", orderId)
                .mapTo(OrderLine.class)
                .list();
    }

    @Override
    public void update(Order order) {
        handle.createUpdate("UPDATE orders SET customer = :customer, status = :status, total_cents = :totalCents"
                        + " WHERE id = :id")
                .bindBean(order)
                .execute();
    }

    @Override
    public void addLine(long orderId, OrderLine line) {
        handle.useTransaction(transaction -> {
            Order order = load(orderId);
            transaction
                    .createUpdate("INSERT INTO order_lines (order_id, product, quantity, cents)"
                            + " VALUES (:orderId, :product, :quantity, :cents)")
                    .bind("orderId", orderId)
                    .bindMethods(line)
                    .execute();
            order.setTotalCents(order.getTotalCents() + line.quantity() * line.cents());
            update(order);
        });
    }

    @Override
    public void shipAll(List<Order> orders) {
        handle.useTransaction(transaction -> {
            PreparedBatch batch = transaction.prepareBatch(
                    "UPDATE orders SET status = 'shipped', total_cents = :totalCents WHERE id = :id");
            orders.forEach(order -> batch.bindBean(order).add());
            batch.execute();
        });
    }
}
