package dev.fenceline.migrations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever somebody has changed in the fence schema itself is told: what runs, whose it is, and who may do what with it. */
@Tag("server")
class VerifySchemaTest {

    Database database;
    FenceMigrations migrations;

    @BeforeEach
    void prepare() {
        database = Database.prepared();
        migrations = FenceMigrations.on(database.source());
    }

    /** Before PostgreSQL 16 the columns of a view with one table are written with its name. */
    private static String shown(String view) {
        return view.startsWith("SELECT g.") || view.contains(" SELECT g.") ? view.replace("g.", "") : view;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "CREATE OR REPLACE FUNCTION fenceline.not_the_mark_v1(p_lock text, p_token bigint) RETURNS void LANGUAGE plpgsql"
                        + " SET search_path = pg_catalog, pg_temp AS 'BEGIN RETURN; END'"
                        + "| function fenceline.not_the_mark_v1 | the body that this release installs"
                        + "| another, which has in line 1 'BEGIN RETURN; END' instead of ''",
                "ALTER FUNCTION fenceline.judge_write_v1() SECURITY INVOKER"
                        + "| function fenceline.judge_write_v1 | LANGUAGE plpgsql SECURITY DEFINER VOLATILE SET search_path=pg_catalog, pg_temp"
                        + "| LANGUAGE plpgsql SECURITY INVOKER VOLATILE SET search_path=pg_catalog, pg_temp",
                "ALTER FUNCTION fenceline.claim_v1(text, bigint, uuid, integer) SET search_path = public"
                        + "| function fenceline.claim_v1 | LANGUAGE plpgsql SECURITY DEFINER VOLATILE SET search_path=pg_catalog, pg_temp"
                        + "| LANGUAGE plpgsql SECURITY DEFINER VOLATILE SET search_path=public",
                "ALTER FUNCTION fenceline.enter_v2(text[], bigint[], uuid[], integer, integer) STABLE"
                        + "| function fenceline.enter_v2 | LANGUAGE plpgsql SECURITY DEFINER VOLATILE SET search_path=pg_catalog, pg_temp"
                        + "| LANGUAGE plpgsql SECURITY DEFINER STABLE SET search_path=pg_catalog, pg_temp",
                "CREATE OR REPLACE FUNCTION fenceline.note_held_v1(p_lock text) RETURNS text LANGUAGE sql RETURN p_lock"
                        + "| function fenceline.note_held_v1 | the body that this release installs"
                        + "| ~another, which has in line 1 'RETURN p_lock' instead of 'RETURN set_config('fenceline.entered'::text,"
                        + " (((('%|'::text || (pg_current_xact_id())::text) || ' '::text) || p_lock) || '%|'::text), true)'~",
                "DROP FUNCTION fenceline.seen_v1(text[])"
                        + "| function fenceline.seen_v1 | it as this release installs it | none",
                "CREATE FUNCTION fenceline.mine() RETURNS int LANGUAGE sql AS 'SELECT 1';"
                        + " REVOKE ALL ON FUNCTION fenceline.mine() FROM PUBLIC"
                        + "| function fenceline.mine | none of this name | one",
                "CREATE FUNCTION fenceline.unprotect_v1(text) RETURNS void LANGUAGE sql AS '';"
                        + " REVOKE ALL ON FUNCTION fenceline.unprotect_v1(text) FROM PUBLIC"
                        + "| function fenceline.unprotect_v1 with other arguments | none of this name | one",
                "SET check_function_bodies = off; CREATE OR REPLACE FUNCTION fenceline.lock_text_v1(p_class text, p_parts text[]) RETURNS text LANGUAGE plpgsql STABLE"
                        + " SET search_path = pg_catalog, pg_temp AS $$%1$s$$"
                        + "| function fenceline.lock_text_v1 | LANGUAGE sql SECURITY INVOKER STABLE SET search_path=pg_catalog, pg_temp"
                        + "| LANGUAGE plpgsql SECURITY INVOKER STABLE SET search_path=pg_catalog, pg_temp",
                "ALTER FUNCTION fenceline.enter(text, bigint, uuid, integer) OWNER TO %2$s"
                        + "| function fenceline.enter | owner 'postgres', who has the rest of the schema | owner '%2$s'",
                "ALTER TABLE fenceline.operation OWNER TO %2$s"
                        + "| table fenceline.operation | owner 'postgres', who has the rest of the schema | owner '%2$s'",
                "ALTER VIEW fenceline.holding_v1 OWNER TO %2$s"
                        + "| view fenceline.holding_v1 | owner 'postgres', who has the rest of the schema | owner '%2$s'",
                "GRANT EXECUTE ON FUNCTION fenceline.bypass(text) TO PUBLIC"
                        + "| schema fenceline | no right of PUBLIC | EXECUTE on function fenceline.bypass",
                "GRANT SELECT ON fenceline.violation TO PUBLIC"
                        + "| schema fenceline | no right of PUBLIC | SELECT on relation fenceline.violation",
                "GRANT UPDATE (token) ON fenceline.holding_v1 TO PUBLIC"
                        + "| schema fenceline | no right of PUBLIC | UPDATE on column fenceline.holding_v1.token",
                "GRANT USAGE ON SCHEMA fenceline TO PUBLIC"
                        + "| schema fenceline | no right of PUBLIC | USAGE on schema fenceline",
                "GRANT CREATE ON SCHEMA fenceline TO %2$s"
                        + "| schema fenceline | no right of role '%2$s' but those that a grant of the fence gives"
                        + "| CREATE on schema fenceline",
                "GRANT EXECUTE ON FUNCTION fenceline.note_entry_v1(text) TO %2$s; GRANT DELETE ON fenceline.guard TO %2$s"
                        + "| schema fenceline | no right of role '%2$s' but those that a grant of the fence gives"
                        + "| EXECUTE on function fenceline.note_entry_v1, DELETE on relation fenceline.guard",
                "CREATE OR REPLACE VIEW fenceline.holding_v1 AS SELECT g.lock, g.token, g.holder, g.claimed_at, g.xmin AS version"
                        + " FROM fenceline.guard g WHERE g.token > 0"
                        + "| view fenceline.holding_v1"
                        + "| SELECT lock, token, holder, claimed_at, xmin AS version FROM fenceline.guard g;"
                        + "| SELECT lock, token, holder, claimed_at, xmin AS version FROM fenceline.guard g WHERE (token > 0);",
                "ALTER VIEW fenceline.holding_v1 SET (security_barrier = true)"
                        + "| view fenceline.holding_v1"
                        + "| SELECT lock, token, holder, claimed_at, xmin AS version FROM fenceline.guard g;"
                        + "| WITH (security_barrier=true) SELECT lock, token, holder, claimed_at, xmin AS version FROM fenceline.guard g;",
                "ALTER TABLE fenceline.guard ENABLE TRIGGER keep_mark"
                        + "| table fenceline.guard | trigger keep_mark to fire always"
                        + "| that it does not fire under session_replication_role = replica",
                "DROP TRIGGER keep_row ON fenceline.guard | table fenceline.guard | trigger keep_row | none",
                "DROP TRIGGER entered_in_vain ON fenceline.guard | table fenceline.guard"
                        + "| CREATE CONSTRAINT TRIGGER entered_in_vain AFTER UPDATE OF lock ON fenceline.guard DEFERRABLE INITIALLY DEFERRED FOR"
                        + " EACH ROW EXECUTE FUNCTION fenceline.tell_in_vain_v1('enter') | none",
                "ALTER TABLE fenceline.bypass DISABLE TRIGGER bypassed_in_vain | table fenceline.bypass"
                        + "| trigger bypassed_in_vain to fire | that it is disabled",
                "CREATE TRIGGER mine BEFORE UPDATE ON fenceline.guard FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()"
                        + "| table fenceline.guard | none such, since this release makes none"
                        + "| CREATE TRIGGER mine BEFORE UPDATE ON fenceline.guard FOR EACH ROW EXECUTE FUNCTION"
                        + " suppress_redundant_updates_trigger()",
                "CREATE RULE mine AS ON UPDATE TO fenceline.guard DO INSTEAD NOTHING | table fenceline.guard | none such, since this release makes none"
                        + "| CREATE RULE mine AS ON UPDATE TO fenceline.guard DO INSTEAD NOTHING;",
                "ALTER TABLE fenceline.guard ENABLE ROW LEVEL SECURITY | table fenceline.guard | none such, since this release makes none | ROW LEVEL SECURITY",
                "ALTER TABLE fenceline.guard DROP CONSTRAINT guard_pkey | table fenceline.guard | PRIMARY KEY (lock) | none",
                "ALTER TABLE fenceline.guard DROP CONSTRAINT guard_token_check | table fenceline.guard"
                        + "| CHECK (((token > 0) AND (token < '9007199254740992'::bigint))) | none",
                "ALTER TABLE fenceline.operation DROP CONSTRAINT operation_pkey | table fenceline.operation | PRIMARY KEY (id) | none",
                "ALTER TABLE fenceline.raising ADD CHECK (lock <> '') NOT VALID | table fenceline.raising | none such, since this release makes none"
                        + "| CHECK ((lock <> ''::text)) NOT VALID",
                "ALTER TABLE fenceline.guard SET UNLOGGED"
                        + "| table fenceline.guard | a permanent table | an unlogged one, which a crash empties",
                "CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer LANGUAGE sql AS 'SELECT 3'"
                        + "| schema fenceline | version 5 | version 3",
                "CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer LANGUAGE sql AS 'SELECT 99'"
                        + "| schema fenceline | version 5 | version 99",
                "DROP SCHEMA fenceline CASCADE | schema fenceline | version 5 | none",
            })
    void whatWasChangedInTheFenceSchemaIsTold(String change, String subject, String expected, String found) {
        String stranger = database.newRole("stranger_");
        String body = database.rows("SELECT prosrc FROM pg_proc WHERE proname = 'lock_text_v1'")
                .get(0);
        database.execute(change.replace("%1$s", body).replace("%2$s", stranger));

        Verification verification = migrations.verify(List.of());

        assertThat(verification.differences()).singleElement().satisfies(difference -> {
            assertThat(difference.subject()).isEqualTo(subject);
            assertThat(shown(difference.expected())).isEqualTo(expected.replace("%2$s", stranger));
            assertThat(shown(difference.found())).isEqualTo(found.replace("%2$s", stranger));
            assertThat(difference.remedy()).isNotBlank();
        });
    }

    @Test
    void theKeeperOfMarksWithAWeakerConditionIsTold() {
        database.execute("CREATE OR REPLACE TRIGGER keep_mark AFTER UPDATE ON fenceline.guard FOR EACH ROW"
                + " WHEN (NEW.lock <> OLD.lock) EXECUTE FUNCTION fenceline.keep_mark_v1();"
                + " ALTER TABLE fenceline.guard ENABLE ALWAYS TRIGGER keep_mark");

        assertThat(migrations.verify(List.of()).differences())
                .singleElement()
                .satisfies(difference -> assertThat(difference.found())
                        .isEqualTo(
                                "CREATE TRIGGER keep_mark AFTER UPDATE ON fenceline.guard FOR EACH ROW WHEN ((new.lock <> old.lock))"
                                        + " EXECUTE FUNCTION fenceline.keep_mark_v1()"));
    }

    /** What our own grants give is what they give, also where a role has several of them. */
    @Test
    void rightsThatTheFenceGrantsAreNoDifference() {
        String role = database.newRole("all_");
        migrations.grantTo(role);
        migrations.grantRowsTo(role);
        migrations.grantProtectionTo(role);
        migrations.grantOperationsTo(role);
        migrations.grantBypassTo(role);
        // To look does no harm.
        database.execute("GRANT SELECT ON fenceline.operation TO " + role);

        assertThat(migrations.verify(List.of()).differences()).isEmpty();
    }

    /** As after a dump that was restored without rights, or ALTER DEFAULT PRIVILEGES. */
    @Test
    void manyRightsOfOneRoleAreOneDifference() {
        database.execute("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA fenceline TO PUBLIC");

        assertThat(migrations.verify(List.of()).differences()).singleElement().satisfies(difference -> {
            assertThat(difference.found())
                    .startsWith(
                            "EXECUTE on function fenceline.admit_v1, EXECUTE on function fenceline.begin_raising_v1, ")
                    .matches(".* and \\d+ more");
            assertThat(difference.remedy())
                    .isEqualTo("Find out who gave it, and run: REVOKE … FROM PUBLIC; as the owner of the schema.");
        });
    }
}
