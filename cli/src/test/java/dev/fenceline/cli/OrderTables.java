package dev.fenceline.cli;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A database with two tables and a view of one, an empty folder, and the arguments that name the first table. */
abstract class OrderTables {

    static final String[] ORDERS = {"--table", "orders", "--lock", "order", "--key", "id"};

    Database database;

    @TempDir
    Path folder;

    @BeforeEach
    void tables() {
        database = Database.installed();
        database.execute(
                "CREATE TABLE orders (id int PRIMARY KEY, state text)",
                "CREATE TABLE line (order_id int, number int, PRIMARY KEY (order_id, number))",
                "CREATE VIEW open_orders AS SELECT * FROM orders WHERE state = 'open'");
    }

    final List<String> modes() {
        return database.rows("SELECT relation || ' ' || mode FROM fenceline.protected ORDER BY relation::text");
    }

    static String[] and(String first, String[] more, String... last) {
        return Stream.of(Stream.of(first), Stream.of(more), Stream.of(last))
                .flatMap(each -> each)
                .toArray(String[]::new);
    }
}
