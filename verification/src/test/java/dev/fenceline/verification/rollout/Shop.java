package dev.fenceline.verification.rollout;

import dev.fenceline.LockName;
import dev.fenceline.jdbc.FencedTable;
import dev.fenceline.migrations.FenceMigrations;
import dev.fenceline.testkit.PostgresServer;
import dev.fenceline.testkit.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** The database of the service: one role owns its tables and deploys, another one is that of all versions. */
record Shop(PostgresServer server, String database, String owner, String role) {

    static final int ROWS = 6;

    static final FencedTable<Integer> PARCELS =
            FencedTable.of("shop", "parcel").key("id", id -> LockName.of("parcel", id));

    /** Half of the rows are orders, the others parcels. */
    static boolean isOrder(int row) {
        return row % 2 == 0;
    }

    static String table(int row) {
        return isOrder(row) ? "shop.\"order\"" : "shop.parcel";
    }

    static int first(String kind) {
        return kind.equals("order") ? 0 : 1;
    }

    static Shop create() {
        PostgresServer server = SharedServers.postgres();
        String database = server.newDatabase();
        Shop shop = new Shop(server, database, "deployer_" + database, "orders_" + database);
        execute(
                server.dataSource(database),
                "CREATE ROLE " + shop.owner + " LOGIN; CREATE ROLE " + shop.role
                        + " LOGIN; CREATE SCHEMA shop AUTHORIZATION " + shop.owner + "; GRANT CREATE ON DATABASE "
                        + database + " TO " + shop.owner);
        execute(
                shop.asOwner(),
                "CREATE TABLE shop.\"order\" (id int PRIMARY KEY, quantity bigint NOT NULL DEFAULT 0);"
                        + " CREATE TABLE shop.parcel (id int PRIMARY KEY, quantity bigint NOT NULL DEFAULT 0);"
                        + " INSERT INTO shop.\"order\" (id) SELECT generate_series(0, " + (ROWS - 1) + ", 2);"
                        + " INSERT INTO shop.parcel (id) SELECT generate_series(1, " + (ROWS - 1) + ", 2);"
                        + " GRANT USAGE ON SCHEMA shop TO " + shop.role
                        + "; GRANT SELECT, UPDATE ON shop.\"order\", shop.parcel TO " + shop.role);
        return shop;
    }

    DataSource asOwner() {
        return server.dataSource(database, owner);
    }

    DataSource asService() {
        return server.dataSource(database, role);
    }

    String url() {
        return "jdbc:postgresql://" + server.host() + ":" + server.port() + "/" + database;
    }

    FenceMigrations migrations() {
        return FenceMigrations.on(asOwner());
    }

    List<Long> quantities() {
        return rows(
                        "SELECT quantity FROM (TABLE shop.\"order\" UNION ALL SELECT id, quantity FROM shop.parcel) AS r ORDER BY id")
                .stream()
                .map(Long::valueOf)
                .toList();
    }

    long violations() {
        return Long.parseLong(rows("SELECT count(*) FROM fenceline.violation").get(0));
    }

    static void execute(DataSource source, String sql) {
        try (Connection connection = source.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    List<String> rows(String sql) {
        try (Connection connection = server.dataSource(database).getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            List<String> all = new ArrayList<>();
            while (rows.next()) {
                all.add(rows.getString(1));
            }
            return all;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }
}
