package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A name is shown as PostgreSQL writes it, whose messages and records stand beside ours: app."order" is one table, and not two. */
@Tag("server")
class NamesShownTest {

    private static final String ODD =
            "VALUES ('plain'), ('with_1'), ('_x'), ('Capital'), ('has space'), ('a$b'), ('1st'), ('ä'), ('quo\"te'), ('a.b')";

    @Test
    void asTheServerQuotesThem() {
        List<String> names = Database.empty().rows("SELECT word FROM pg_get_keywords() UNION ALL " + ODD);
        List<String> quoted = Database.empty()
                .rows("SELECT quote_ident(word) FROM pg_get_keywords() UNION ALL SELECT quote_ident(column1) FROM ("
                        + ODD + ") AS odd");

        assertThat(names).hasSizeGreaterThan(400);
        assertThat(names.stream().map(Identifiers::shown).toList()).containsExactlyElementsOf(quoted);
    }

    @Test
    void inPlansVerificationAndRecordsAlikeAndPartitionsByTheirRoot() throws InterruptedException {
        Database database = Database.prepared();
        FenceMigrations migrations = FenceMigrations.on(database.source());
        database.execute("CREATE SCHEMA app; CREATE TABLE app.\"order\" (id int, at int) PARTITION BY RANGE (at);"
                + " CREATE TABLE app.order_1 PARTITION OF app.\"order\" FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (at);"
                + " CREATE TABLE app.order_1_1 PARTITION OF app.order_1 FOR VALUES FROM (0) TO (5)");
        Protect order = Protect.table("app.order").lock("order", "id").observe();
        Plan plan = migrations.plan(order);
        assertThat(plan.steps()).singleElement().hasToString("app.\"order\": observe with locks order:<id>");
        plan.apply(ApplyOptions.defaults());

        database.execute("INSERT INTO app.\"order\" VALUES (1, 2)");
        database.execute("INSERT INTO app.order_1_1 VALUES (1, 3)");
        database.execute("TRUNCATE app.order_1");

        assertThat(FenceOperations.on(database.source()).violations(Duration.ofHours(1)))
                .extracting(Violations::relation, Violations::operation, Violations::transactions)
                .containsExactlyInAnyOrder(
                        tuple("app.\"order\"", "INSERT", 2L), tuple("app.\"order\"", "TRUNCATE", 1L));
        assertThat(migrations.verify(List.of()).differences())
                .extracting(Difference::subject)
                .containsExactly("app.\"order\"");
        database.execute("CREATE TABLE app.order_2 PARTITION OF app.\"order\" FOR VALUES FROM (10) TO (20)");
        assertThat(migrations.verify(List.of(order)).differences())
                .extracting(Difference::toString)
                .containsExactly(
                        "app.order_2: expected trigger fenceline_truncate, found none. It is a partition of app.\"order\": protect"
                                + " that again, by planning and applying its declaration.");
    }

    /** One that was protected by itself and attached since has a name of its own: nothing is declared for its root. */
    @Test
    void aProtectedTableThatWasAttachedToOneThatIsNotKeepsItsName() {
        Database database = Database.prepared();
        database.execute(
                "CREATE TABLE part (id int, at int); SELECT fenceline.protect('part', 'part', '{id}', 'observe');"
                        + " CREATE TABLE root (id int, at int) PARTITION BY RANGE (at);"
                        + " ALTER TABLE root ATTACH PARTITION part FOR VALUES FROM (0) TO (10); INSERT INTO root VALUES (1, 2)");

        assertThat(FenceOperations.on(database.source()).violations(Duration.ofHours(1)))
                .extracting(Violations::relation)
                .containsExactly("public.part");
        assertThat(FenceMigrations.on(database.source()).verify(List.of()).differences())
                .extracting(Difference::subject)
                .containsExactly("public.part");
    }
}
