package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.fenceline.BackendMisconfiguredException;
import dev.fenceline.Finding;
import dev.fenceline.LockName;
import java.time.Duration;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whoever sits at a shell is told commands, and whoever programs is told calls. */
@Tag("server")
class WordingTest {

    private static final Protect ORDERS =
            Protect.table("orders").lock("order", "id").observe();

    private static Database empty;
    private static Database installed;
    private static String guest;

    @BeforeAll
    static void databases() throws InterruptedException {
        empty = Database.empty();
        installed = Database.installed();
        installed.execute("CREATE TABLE orders (id int PRIMARY KEY); CREATE TABLE \"Odd Name\" (id int PRIMARY KEY)");
        guest = installed.newRole("it's a guest ");
        FenceMigrations.on(installed.source())
                .plan(ORDERS, Protect.table("\"Odd Name\"").lock("odd", "id").observe())
                .apply(ApplyOptions.defaults());
    }

    private static FenceMigrations migrations(Database database) {
        return FenceMigrations.on(database.source()).worded(Wording.SHELL);
    }

    private static void refused(ThrowingCallable call, String end) {
        assertThatThrownBy(call)
                .isInstanceOf(BackendMisconfiguredException.class)
                .hasMessageEndingWith(end)
                .hasMessageNotContaining("FenceMigrations");
    }

    @Test
    void whatIsMissingIsInstalledByACommand() {
        refused(() -> migrations(empty).plan(ORDERS), " has no fence schema. Install it first: fenceline install.");
        FenceOperations operations = FenceOperations.on(empty.source()).worded(Wording.SHELL);
        String once = " This database has no fence schema of this release: run fenceline install once.";
        refused(() -> operations.mark(LockName.of("order", 1)), once);
        refused(() -> operations.blockers(LockName.of("order", 1)), once);
        refused(() -> operations.raise(LockName.of("order", 1)), once);
        refused(() -> operations.waitAtMost(Duration.ofSeconds(1)).violations(Duration.ofDays(1)), once);
        refused(() -> operations.afterRestore(progress -> {}), once);
        assertThat(migrations(empty).verify(List.of(ORDERS)).differences())
                .extracting(Difference::remedy)
                .contains("Run fenceline install.");
        assertThat(migrations(empty).doctor()).extracting(Finding::remedy).contains("Run fenceline install.");
    }

    @Test
    void aRightThatIsMissingIsGrantedByACommand() {
        FenceMigrations migrations = FenceMigrations.on(installed.as(guest)).worded(Wording.SHELL);
        String grant = "fenceline grant protection --to '" + guest.replace("'", "'\\''") + "'";
        refused(() -> migrations.plan(ORDERS), " Have the owner of schema fenceline run " + grant + ".");
        refused(
                () -> migrations.verify(List.of(ORDERS)),
                " may not see what is protected. Run " + grant + " as the owner of the schema.");
        refused(
                () -> FenceOperations.on(installed.as(guest))
                        .worded(Wording.SHELL)
                        .violations(Duration.ofDays(1)),
                " Run fenceline grant operations --to ROLE as the owner of the schema, and as the owner of tables grant what is"
                        + " missing there; or connect as these owners.");
    }

    @Test
    void whatNobodyDeclaresIsTakenOffByACommand() {
        assertThat(migrations(installed).verify(List.of(ORDERS)).differences())
                .extracting(Difference::remedy)
                .containsExactly("Declare it, or take it off with fenceline unprotect --table 'public.\"Odd Name\"'.");
    }

    @Test
    void aGrantOfAnEarlierReleaseIsRepeatedByACommand() {
        String role = installed.newRole("earlier_");
        FenceMigrations migrations = migrations(installed);
        migrations.grantRowsTo(role);
        installed.execute("REVOKE EXECUTE ON FUNCTION fenceline.refuse_row_v1 FROM " + role);

        assertThat(migrations.doctor())
                .extracting(Finding::remedy)
                .contains("It was granted by an earlier release, or in part. Run fenceline grant rows --to " + role
                        + " again.");
    }

    @Test
    void noCallOfThisLibraryIsInTheWordsOfTheShell() {
        for (Wording wording : Wording.values()) {
            List<String> words = List.of(
                    wording.install(),
                    wording.verify(),
                    wording.afterRestore(),
                    wording.unprotect(TableName.parse("app.order")),
                    wording.onSubscriber("app.order"),
                    wording.grant(Wording.Right.BYPASS),
                    wording.grant(Wording.Right.APP, "shop"));
            if (wording == Wording.SHELL) {
                assertThat(words)
                        .containsExactly(
                                "fenceline install",
                                "fenceline verify",
                                "fenceline after-restore",
                                "fenceline unprotect --table 'app.\"order\"'",
                                "fenceline unprotect --subscriber --table app.order",
                                "fenceline grant bypass --to ROLE",
                                "fenceline grant app --to shop");
            } else {
                assertThat(words)
                        .containsExactly(
                                "FenceMigrations.on(owner).install()",
                                "FenceMigrations.verify",
                                "FenceOperations.afterRestore",
                                "Unprotect",
                                "Unprotect.table(…).onSubscriber() for it",
                                "FenceMigrations.on(owner).grantBypassTo(role)",
                                "FenceMigrations.on(owner).grantTo(\"shop\")");
            }
        }
    }
}
