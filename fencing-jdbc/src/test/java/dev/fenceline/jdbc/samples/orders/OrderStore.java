package dev.fenceline.jdbc.samples.orders;

import java.util.List;

public interface OrderStore {

    /** Begins an order and returns its id. */
    long place(String customer);

    Order load(long orderId);

    List<OrderLine> linesOf(long orderId);

    void update(Order order);

    /** Adds a line, and what it costs to the total. */
    void addLine(long orderId, OrderLine line);

    /** Ships each of these orders. */
    void shipAll(List<Order> orders);
}
