package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is protected can be asked for, and the answer is what the triggers do. */
@Tag("server")
class ProtectedViewTest {

    private static final String VIEW = "SELECT concat_ws(' ', relation, mode, lock_class, key) FROM fenceline.protected"
            + " ORDER BY relation::text";

    Database database;

    @BeforeEach
    void install() {
        database = Database.prepared();
        database.execute("CREATE TABLE plain (id int, name text); CREATE TABLE journal (line text);");
    }

    @Test
    void aTableIsThereFromItsProtectionUntilThatIsTakenOff() {
        assertThat(database.rows(VIEW)).isEmpty();

        database.execute("SELECT fenceline.protect('plain', 'thing', '{id,name}', 'observe'),"
                + " fenceline.protect('journal', 'journal', '{}', 'enforce')");
        assertThat(database.rows(VIEW)).containsExactly("journal enforce journal {}", "plain observe thing {id,name}");

        database.execute(
                "SELECT fenceline.protect('plain', 'other', '{name}', 'enforce'), fenceline.unprotect('journal')");
        assertThat(database.rows(VIEW)).containsExactly("plain enforce other {name}");

        database.execute("DROP TABLE plain");
        assertThat(database.rows(VIEW)).isEmpty();
    }

    @Test
    void aPartitionedTableIsThereOnceAndADetachedPartitionIsNot() {
        database.execute("CREATE TABLE measured (id int, at int) PARTITION BY RANGE (at);"
                + " CREATE TABLE measured_1 PARTITION OF measured FOR VALUES FROM (0) TO (10);"
                + " CREATE TABLE measured_2 PARTITION OF measured FOR VALUES FROM (10) TO (20);"
                + " SELECT fenceline.protect('measured', 'measured', '{id}', 'enforce');"
                + " ALTER TABLE measured DETACH PARTITION measured_2");

        assertThat(database.rows(VIEW)).containsExactly("measured enforce measured {id}");
    }

    @Test
    void columnsOfAnyNameAreToldApart() {
        List<String> names = List.of("a\\000b", "\\", "größe", "0", "x,y", "qu\"ote", "per%cent", "c".repeat(63));
        database.execute("CREATE TABLE odd ("
                + String.join(
                        " int, ",
                        names.stream()
                                .map(n -> '"' + n.replace("\"", "\"\"") + '"')
                                .toList())
                + " int)");
        String key = "ARRAY["
                + String.join(", ", names.stream().map(n -> "'" + n + "'").toList()) + "]";

        database.execute("SELECT fenceline.protect('odd', 'odd.class-1', " + key + ", 'observe')");

        assertThat(database.rows("SELECT unnest(key) FROM fenceline.protected")).isEqualTo(names);
    }

    @Test
    void anOldStyleChildOfLaterIsNotProtectedUntilItIsByItself() {
        database.execute(
                "SELECT fenceline.protect('plain', 'thing', '{id}', 'enforce');"
                        + " CREATE TABLE child () INHERITS (plain); INSERT INTO child VALUES (7, 'x'); UPDATE plain SET name = 'y'");
        assertThat(database.rows("SELECT name FROM plain")).containsExactly("y");
        assertThat(database.rows(VIEW)).containsExactly("plain enforce thing {id}");

        database.execute("SELECT fenceline.protect('child', 'thing', '{id}', 'enforce')");
        assertThatThrownBy(() -> Database.run(database.source(), "UPDATE plain SET name = 'z'"))
                .hasMessageContaining("UPDATE on public.child refused: it needs lock 'thing:7' (never claimed)");
    }

    @Test
    void aTriggerThatSomebodyMadeByHandIsNoProtection() {
        database.execute("CREATE TRIGGER by_hand AFTER INSERT ON plain FOR EACH ROW"
                + " EXECUTE FUNCTION fenceline.judge_write_v1('observe', 'thing', 'id')");

        assertThat(database.rows(VIEW)).isEmpty();
    }

    @Test
    void whetherItsTriggersFireIsTold() {
        String fires = "SELECT relation || ' ' || fires FROM fenceline.protected ORDER BY relation::text";
        database.execute("SELECT fenceline.protect('plain', 'thing', '{id}', 'enforce');"
                + " CREATE TABLE measured (id int, at int) PARTITION BY RANGE (at);"
                + " CREATE TABLE measured_1 PARTITION OF measured FOR VALUES FROM (0) TO (10);"
                + " SELECT fenceline.protect('measured', 'measured', '{id}', 'observe')");
        assertThat(database.rows(fires)).containsExactly("measured always", "plain always");

        database.execute("ALTER TABLE plain DISABLE TRIGGER ALL; INSERT INTO plain VALUES (7, 'unfenced');"
                + " ALTER TABLE measured_1 DISABLE TRIGGER fenceline_update");
        assertThat(database.rows(fires)).containsExactly("measured in part", "plain in part");

        // Enabled again in the ordinary way they do not fire under session_replication_role = replica.
        database.execute("ALTER TABLE plain ENABLE TRIGGER ALL");
        assertThat(database.rows(fires)).containsExactly("measured in part", "plain origin");

        database.execute("SELECT fenceline.protect('plain', 'thing', '{id}', 'enforce'),"
                + " fenceline.protect('measured', 'measured', '{id}', 'observe')");
        assertThat(database.rows(fires)).containsExactly("measured always", "plain always");

        database.execute("DROP TRIGGER fenceline_delete ON plain");
        assertThat(database.rows(fires)).containsExactly("measured always", "plain in part");
    }

    @Test
    void whoMayProtectSeesItAndTheRecordsOfObserversAndNobodyElseDoes() {
        String owner = database.newRole("protector_");
        String app = database.newRole("app_");
        database.execute(
                "SELECT fenceline.protect('plain', 'thing', '{id}', 'observe'); INSERT INTO plain VALUES (7, 'x')");
        FenceMigrations migrations = FenceMigrations.on(database.source());
        migrations.grantTo(app);
        migrations.grantProtectionTo(owner);

        assertThat(Database.rows(database.as(owner), VIEW)).containsExactly("plain observe thing {id}");
        assertThat(Database.rows(database.as(owner), "SELECT operation || ' ' || needed FROM fenceline.violation"))
                .containsExactly("INSERT lock 'thing:7'");
        assertThatThrownBy(() -> Database.run(database.as(app), VIEW))
                .hasMessageContaining("permission denied for view protected");
        assertThatThrownBy(() -> Database.run(database.as(app), "SELECT * FROM fenceline.violation"))
                .hasMessageContaining("permission denied for table violation");
    }
}
