-- Invariant: a transaction changes a row of a protected table only after it has entered the row's lock, or said that it goes around the fence.
--
-- Entering leaves the transaction-local setting fenceline.entered behind: '%|731 account:42%|731 account:7%|', where 731 is the
-- transaction and every lock that it has entered is there. A canonical name holds '%' only before 25 and 3A, so no name and no
-- key of a row can hold the separator '%|'. The setting is undone by the same rollback to a savepoint as the lock on the mark;
-- a value that was left in the session, or copied from an earlier transaction, carries another number and authorises nothing.
-- Where it was never set it reads as NULL, later as '': every test is written so that only TRUE lets a row pass.
--
-- Triggers compare in their WHEN with functions of pg_catalog alone. So the function behind them runs to refuse and for nothing
-- else, whoever writes needs no right on this schema, and a dump of the table names one function of it. They are AFTER ROW, since
-- a BEFORE trigger of the user can still change NEW; one for each event, since OLD and NEW exist for some only; and ENABLE ALWAYS,
-- since session_replication_role = replica would turn them off, but for tables that a subscription fills.
--
-- This guards against mistakes, not malice: whoever sets fenceline.entered by hand, or owns the table, gets round it.
--
-- SQLSTATEs beside those of V1: FL001 also for a write to a protected table, FL010 entered too late, FL011 cannot be protected.

CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer
    LANGUAGE sql IMMUTABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS 'SELECT 4';

-- Names -----------------------------------------------------------------------------------------------------------------

-- The canonical form of a name, as LockName writes it; NULL when a part is.
CREATE FUNCTION fenceline.lock_text_v1(p_class text, p_parts text[]) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN array_position(p_parts, NULL) IS NULL THEN fenceline.row_lock_v1(p_class, p_parts) END
$$;

-- The database is asked for what LockName checks in Java, since names that differ protect nothing from each other.
CREATE FUNCTION fenceline.require_name_v1(p_lock text) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF (p_lock COLLATE "C" ~ '^[A-Za-z][A-Za-z0-9._-]{0,63}(:([^%:]|%25|%3A)*)*$'
            AND p_lock COLLATE "C" !~ '[\u0001-\u001F\u007F-\u009F]'
            AND (getdatabaseencoding() <> 'UTF8' OR p_lock IS NFC NORMALIZED)
            AND octet_length(convert_to(p_lock, 'UTF8')) <= 512) IS NOT TRUE THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('Lock name %L refused: it is not in canonical form', left(p_lock, 80)),
            HINT = 'fenceline.lock_name(''account'', ''42'') writes it: a class, then parts with % as %25 and : as %3A, in'
                ' Unicode normal form C, without control characters, at most 512 bytes.';
    END IF;
END
$$;

CREATE FUNCTION fenceline.lock_name_v1(p_class text, p_parts text[]) RETURNS text
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text := fenceline.lock_text_v1(p_class, p_parts);
BEGIN
    IF v_name IS NULL OR position(':' IN p_class) > 0 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('Lock name of class %L refused: the class holds a colon, or it or a part is null', p_class),
            HINT = 'A name needs every part of its key; a row without a key cannot be locked.';
    END IF;
    PERFORM fenceline.require_name_v1(v_name);
    RETURN v_name;
END
$$;

-- A lock for messages, with its mark. Who observes does not look at
-- marks: that would be one more read of a serializable transaction of the user's, and could make it or another one fail.
CREATE FUNCTION fenceline.mark_text_v1(p_mode text, p_lock text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN p_lock IS NULL THEN '<none, its key is null>'
        WHEN p_mode = 'observe' THEN '''' || p_lock || ''''
        ELSE '''' || p_lock || ''' (' || coalesce(
            (SELECT fenceline.token_text_v1(g.token, g.holder) FROM fenceline.guard g WHERE g.lock = p_lock),
            'never claimed') || ')'
        END
$$;

-- Entering --------------------------------------------------------------------------------------------------------------

-- What writes fenceline.entered, with note_held_v1.
CREATE FUNCTION fenceline.note_entry_v1(p_lock text) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_transaction text := pg_current_xact_id()::text;
    v_entry text := v_transaction || ' ' || p_lock || '%|';
    v_entered text := current_setting('fenceline.entered', true);
BEGIN
    IF starts_with(v_entered, '%|' || v_transaction || ' ') IS NOT TRUE THEN
        v_entered := '%|';
    END IF;
    IF position('%|' || v_entry IN v_entered) = 0 THEN
        PERFORM set_config('fenceline.entered', v_entered || v_entry, true);
    END IF;
END
$$;

-- Called by every form that may write, when it holds all of its marks.
CREATE OR REPLACE FUNCTION fenceline.has_entered_v1(p_locks text[], p_tokens bigint[], p_holders uuid[]) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_lock text;
BEGIN
    FOREACH v_lock IN ARRAY p_locks LOOP
        -- What would end an entry, or be that of a bypass.
        IF position('%|' IN v_lock) > 0 OR v_lock = '*' THEN
            PERFORM fenceline.require_name_v1(v_lock);
        END IF;
        PERFORM fenceline.note_entry_v1(v_lock);
    END LOOP;
END
$$;

-- The same, put into the one statement of its transaction: nothing was entered before, and the lock is one that was claimed.
CREATE OR REPLACE FUNCTION fenceline.note_held_v1(p_lock text) RETURNS text
    LANGUAGE sql VOLATILE
RETURN set_config('fenceline.entered', '%|' || pg_current_xact_id()::text || ' ' || p_lock || '%|', true);

-- What this transaction has entered, for messages: four locks at most.
CREATE FUNCTION fenceline.entered_text_v1(p_mode text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    WITH entry AS (
        SELECT substr(e.line, length(pg_current_xact_id()::text) + 2) AS lock, e.place
          FROM unnest(string_to_array(current_setting('fenceline.entered', true), '%|')) WITH ORDINALITY AS e (line, place)
         WHERE starts_with(e.line, pg_current_xact_id()::text || ' ')
    )
    SELECT coalesce(string_agg(fenceline.mark_text_v1(p_mode, lock), ', ' ORDER BY place) FILTER (WHERE turn <= 4)
                    || CASE WHEN count(*) > 4 THEN ' and ' || count(*) - 4 || ' more' ELSE '' END,
                    'none')
      FROM (SELECT lock, place, row_number() OVER (ORDER BY place) AS turn FROM entry) AS numbered
$$;

-- As in V1, and says so to the triggers. Not by enter_v2, though that would cost no more: in a read-only transaction that enters by
-- reading, and whoever calls this counts on the lock.
CREATE OR REPLACE FUNCTION fenceline.enter_v1(
        p_lock text, p_token bigint, p_holder uuid, p_wait_ms integer, p_transaction_ms integer)
    RETURNS TABLE (entered_xid text, entered_at timestamptz)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_primary_v1('Fenced transaction');
    PERFORM fenceline.limit_work_v1(p_wait_ms, p_transaction_ms);
    -- Writes the row, so that a transaction above READ COMMITTED whose snapshot is older fails with 40001: see V1.
    UPDATE fenceline.guard g SET claimed_at = g.claimed_at
     WHERE g.lock = p_lock AND g.token = p_token AND g.holder = p_holder;
    IF NOT FOUND THEN
        PERFORM fenceline.not_the_mark_v1(p_lock, p_token);
    END IF;
    PERFORM fenceline.has_entered_v1(ARRAY[p_lock], ARRAY[p_token], ARRAY[p_holder]);
    entered_xid := pg_current_xact_id()::text;
    entered_at := clock_timestamp();
    RETURN NEXT;
END
$$;

-- Names the tables that this transaction has read or written already: a lock on each is kept until it ends, but given back by a rollback
-- to a savepoint. Locks on the catalogue and on this schema tell nothing. In plpgsql, which keeps the plan: making it takes longer
-- than looking into the lock table of the server.
CREATE FUNCTION fenceline.touched_v1() RETURNS text
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (
        SELECT string_agg(c.oid::regclass::text, ', ' ORDER BY c.oid::regclass::text)
          FROM pg_locks l
          JOIN pg_class c ON c.oid = l.relation
         WHERE l.pid = pg_backend_pid()
           AND l.locktype = 'relation'
           AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
           AND c.oid >= 16384
           AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
           AND c.relnamespace <> 'fenceline'::regnamespace);
END
$$;

-- Enters several locks, in the order given, in a transaction that somebody else manages. Nobody looks at its end, so a rollback to
-- an older savepoint, which would free the marks, is made impossible: the rows must carry the number of the transaction itself.
CREATE FUNCTION fenceline.join_v1(
        p_locks text[], p_tokens bigint[], p_holders uuid[], p_wait_ms integer, p_transaction_ms integer) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    FOR i IN 1 .. cardinality(p_locks) LOOP
        PERFORM fenceline.enter_v1(p_locks[i], p_tokens[i], p_holders[i], p_wait_ms, p_transaction_ms);
    END LOOP;
    IF EXISTS (SELECT FROM fenceline.guard g WHERE g.lock = ANY (p_locks) AND g.xmin <> pg_current_xact_id()::xid) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL010',
            MESSAGE = 'Entering refused: a savepoint was set before, and a rollback to it would free the mark unnoticed',
            HINT = 'Enter first, then set savepoints.';
    END IF;
END
$$;

-- Records ---------------------------------------------------------------------------------------------------------------

-- One row for each transaction and table of a writer that did not enter, in observe mode.
CREATE TABLE fenceline.violation (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at               timestamptz NOT NULL,
    relation         text NOT NULL,
    operation        text NOT NULL,
    needed           text NOT NULL,
    entered          text NOT NULL,
    application_name text NOT NULL,
    role             text NOT NULL,
    client_address   inet,
    transaction      xid8 NOT NULL
);

CREATE INDEX violation_at ON fenceline.violation (at);

COMMENT ON TABLE fenceline.violation IS 'Writers of observed tables that had not entered: the first row of each transaction and table. Kept 30 days, pruned by later records.';
COMMENT ON COLUMN fenceline.violation.client_address IS 'NULL for a local socket';

-- One row for each transaction that went around the fence on purpose. Kept for good: they are few, and somebody will ask.
CREATE TABLE fenceline.bypass (
    id               bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at               timestamptz NOT NULL,
    reason           text NOT NULL,
    application_name text NOT NULL,
    role             text NOT NULL,
    client_address   inet,
    transaction      xid8 NOT NULL
);

COMMENT ON TABLE fenceline.bypass IS 'Transactions that were allowed to write protected tables without a lock, and why.';

-- Who is at work, whatever function is: SET ROLE is seen, the owner of a SECURITY DEFINER function is not.
CREATE FUNCTION fenceline.writer_v1() RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN current_setting('role') = 'none' THEN session_user::text ELSE current_setting('role') END
$$;

-- Nobody waits here: a table that is locked makes the record fail at once, and the caller goes on without it.
CREATE FUNCTION fenceline.record_violation_v1(p_relation text, p_operation text, p_needed text, p_entered text) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    LOCK TABLE fenceline.violation IN ROW EXCLUSIVE MODE NOWAIT;
    INSERT INTO fenceline.violation
        (at, relation, operation, needed, entered, application_name, role, client_address, transaction)
    VALUES (clock_timestamp(), p_relation, p_operation, p_needed, p_entered,
        current_setting('application_name'), fenceline.writer_v1(), inet_client_addr(), pg_current_xact_id());
    -- One in, two out. Not above READ COMMITTED, where a row that another session has pruned, or a page that it has read, would
    -- fail the user's transaction.
    IF current_setting('transaction_isolation') = 'read committed' THEN
        DELETE FROM fenceline.violation
         WHERE ctid = ANY (ARRAY(SELECT v.ctid FROM fenceline.violation v
                                  WHERE v.at < clock_timestamp() - interval '30 days'
                                  ORDER BY v.at LIMIT 2
                                    FOR UPDATE SKIP LOCKED));
    END IF;
END
$$;

-- Lets this transaction, and no other, write protected tables without a lock. For data migrations: nothing keeps a holder of the
-- lock from working at the same time, so stop the writers, or take their locks instead.
CREATE FUNCTION fenceline.bypass_v1(p_reason text) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF coalesce(p_reason, '') !~ '\S' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = 'Bypass of the fence refused: it gives no reason',
            HINT = 'Say who does what and why: fenceline.bypass(''ticket 4711: recompute balances'').';
    END IF;
    INSERT INTO fenceline.bypass (at, reason, application_name, role, client_address, transaction)
    VALUES (clock_timestamp(), p_reason, current_setting('application_name'), fenceline.writer_v1(), inet_client_addr(),
        pg_current_xact_id());
    -- No class begins with a star, so this is no lock's name.
    PERFORM fenceline.note_entry_v1('*');
    PERFORM fenceline.note_call_v1();
END
$$;

-- In vain ---------------------------------------------------------------------------------------------------------------

-- What enter and bypass do holds until their transaction ends, and in auto-commit that is the statement itself: whoever forgot BEGIN
-- would take it for done. A function is not told whether its transaction was begun by BEGIN, and the times of the statement and of the
-- transaction differ in auto-commit too, where the statement came in several messages. But the end of the transaction can be
-- seen, by a deferred trigger: a COMMIT is a message of its own, with a time of its own, and in auto-commit the time is still that of
-- the call. Several statements in one string have one time too; those have then used a table. Under SET CONSTRAINTS ALL IMMEDIATE
-- the trigger does not wait for the end, and warns without need.
CREATE FUNCTION fenceline.note_call_v1() RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM set_config('fenceline.called', extract(epoch FROM statement_timestamp())::text, true);
END
$$;

CREATE FUNCTION fenceline.tell_in_vain_v1() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('fenceline.called', true) = extract(epoch FROM statement_timestamp())::text
        AND fenceline.touched_v1() IS NULL THEN
        PERFORM set_config('fenceline.called', '', true);
        RAISE WARNING USING
            MESSAGE = format('fenceline.%s holds until its transaction ends, and that was this one statement: it has no effect on the'
                ' next one', TG_ARGV[0]),
            HINT = format('Begin a transaction first (BEGIN, or auto-commit off), then call fenceline.%s, then write.', TG_ARGV[0]);
    END IF;
    RETURN NULL;
END
$$;

-- Of a column that nobody else sets, so that it costs other ways of entering nothing.
CREATE CONSTRAINT TRIGGER entered_in_vain AFTER UPDATE OF lock ON fenceline.guard
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION fenceline.tell_in_vain_v1('enter');
CREATE CONSTRAINT TRIGGER bypassed_in_vain AFTER INSERT ON fenceline.bypass
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION fenceline.tell_in_vain_v1('bypass');

-- Triggers --------------------------------------------------------------------------------------------------------------

-- Runs for a write that its trigger's WHEN has found to be unfenced: refuses it, or records it. Arguments: mode, class of the lock,
-- columns of its key. It runs as the owner of this schema, so it must not run code of the table's owner, who may also have made the
-- trigger himself, with any arguments: the text of a column is asked for by concat, which knows output functions only, and not by a
-- cast, which anybody can define for a type of his own; and by its bare name, since (row).x is also a call of x(row).
CREATE FUNCTION fenceline.judge_write_v1() RETURNS trigger
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_table text := format('%I.%I', TG_TABLE_SCHEMA, TG_TABLE_NAME);
    v_naming text;
    v_old text;
    v_new text;
    v_needed text;
    v_entered text;
BEGIN
    BEGIN
        v_entered := fenceline.entered_text_v1(TG_ARGV[0]);
        IF TG_LEVEL = 'ROW' THEN
            SELECT format('SELECT fenceline.lock_text_v1(%L, ARRAY[%s]::text[]) FROM (SELECT ($1).*) AS written', TG_ARGV[1],
                        string_agg(format('CASE WHEN %1$I IS NOT NULL THEN concat(%1$I) END', k.name), ', ' ORDER BY k.place))
              INTO v_naming
              FROM unnest(TG_ARGV[2:]) WITH ORDINALITY AS k (name, place);
        END IF;
        IF TG_OP IN ('UPDATE', 'DELETE') THEN
            EXECUTE v_naming INTO v_old USING OLD;
        END IF;
        IF TG_OP IN ('INSERT', 'UPDATE') THEN
            EXECUTE v_naming INTO v_new USING NEW;
        END IF;
        v_needed := CASE
            WHEN TG_OP = 'TRUNCATE' THEN format('every lock of class %L', TG_ARGV[1])
            WHEN TG_OP = 'DELETE' THEN 'lock ' || fenceline.mark_text_v1(TG_ARGV[0], v_old)
            WHEN TG_OP = 'INSERT' OR v_old IS NOT DISTINCT FROM v_new THEN
                'lock ' || fenceline.mark_text_v1(TG_ARGV[0], v_new)
            ELSE 'the locks ' || fenceline.mark_text_v1(TG_ARGV[0], v_old) || ' and '
                || fenceline.mark_text_v1(TG_ARGV[0], v_new) || ', between which it moves the row'
        END;
        IF TG_ARGV[0] = 'observe' THEN
            PERFORM fenceline.record_violation_v1(fenceline.protected_name_v1(TG_RELID), TG_OP, v_needed, v_entered);
        END IF;
    EXCEPTION WHEN OTHERS THEN
        IF TG_ARGV[0] = 'observe' THEN
            -- To observe must not fail anybody's transaction.
            RAISE WARNING USING
                MESSAGE = format('%s on %s without its lock was not recorded: %s', TG_OP, v_table, SQLERRM);
        ELSE
            v_needed := format('a lock that cannot be named (%s; run fenceline.protect again)', SQLERRM);
        END IF;
    END;
    IF TG_ARGV[0] = 'observe' THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION USING
        ERRCODE = 'FL001',
        MESSAGE = format('%s on %s refused: it needs %s, and the locks that this transaction has entered are: %s',
            TG_OP, v_table, v_needed, v_entered),
        HINT = 'Write through the fence, which enters first, or call fenceline.enter(lock, token, holder) first in this transaction;'
            ' entering holds until it ends. For a data migration call fenceline.bypass(reason).',
        SCHEMA = TG_TABLE_SCHEMA,
        TABLE = TG_TABLE_NAME;
END
$$;

-- The name by which a table is protected and declared, for records: a partition's is that of its root, if that has the trigger.
CREATE FUNCTION fenceline.protected_name_v1(p_relation oid) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('%I.%I', n.nspname, c.relname)
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = coalesce(
            (SELECT r.root FROM pg_partition_root(p_relation) AS r (root)
              WHERE EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = r.root AND t.tgfoid = 'fenceline.judge_write_v1'::regproc)),
            p_relation)
$$;

-- Protecting ------------------------------------------------------------------------------------------------------------

-- One column of a key: its part of the name in OLD and in NEW, and whether both are the same. Text is compared and searched in "C":
-- other collations call different texts equal. The text of a date or a float depends on settings, that of a padded char on who
-- reads it, so none of them can be part of a name.
CREATE FUNCTION fenceline.key_part_v1(
        p_table regclass, p_column text, OUT old_part text, OUT new_part text, OUT unmoved text)
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_base record;
    v_part text;
BEGIN
    WITH RECURSIVE base (type, modifier, generated) AS (
        SELECT a.atttypid, a.atttypmod, a.attgenerated
          FROM pg_attribute a
         WHERE a.attrelid = p_table AND a.attname = p_column AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT t.typbasetype, CASE WHEN b.modifier = -1 THEN t.typtypmod ELSE b.modifier END, b.generated
          FROM base b JOIN pg_type t ON t.oid = b.type
         WHERE t.typtype = 'd'
    )
    SELECT t.oid AS type, t.typcategory AS category, t.typtype AS kind, b.modifier, b.generated
      INTO v_base
      FROM base b JOIN pg_type t ON t.oid = b.type
     WHERE t.typtype <> 'd';

    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL011',
            MESSAGE = format('Protection of %s refused: it has no column %I', p_table, p_column),
            HINT = 'Name the columns that are the parts of the lock''s name, as the catalogue spells them.';
    END IF;
    IF v_base.generated = 'v' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL011',
            MESSAGE = format('Protection of %s refused: column %I is generated when it is read', p_table, p_column),
            HINT = 'Make it GENERATED ... STORED, or name the columns that it is made from.';
    END IF;
    -- A scale of zero is kept in the low bits of numeric's modifier.
    IF v_base.type IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype, 'uuid'::regtype)
        OR (v_base.type = 'numeric'::regtype AND v_base.modifier >= 4 AND ((v_base.modifier - 4) & 2047) = 0) THEN
        v_part := '(%1$s.%2$I)::text';
        unmoved := format('OLD.%1$I = NEW.%1$I', p_column);
    ELSIF (v_base.category = 'S' AND v_base.type <> 'bpchar'::regtype) OR v_base.kind = 'e' THEN
        v_part := '(%1$s.%2$I)::text COLLATE "C"';
        unmoved := format(v_part || ' = ' || '(NEW.%2$I)::text COLLATE "C"', 'OLD', p_column);
        v_part := CASE WHEN getdatabaseencoding() = 'UTF8' THEN 'normalize(' || v_part || ')' ELSE v_part END;
        v_part := 'replace(replace(' || v_part || ', ''%%'', ''%%25''), '':'', ''%%3A'')';
    ELSE
        RAISE EXCEPTION USING
            ERRCODE = 'FL011',
            MESSAGE = format('Protection of %s refused: column %I is of type %s, whose text is not the same for everybody',
                p_table, p_column, format_type(v_base.type, v_base.modifier)),
            HINT = 'A key is made of text, whole numbers, enums and UUIDs. Name other columns: a lock may cover several rows. Or add '
                -- PostgreSQL generates nothing from what depends on settings.
                || CASE WHEN (SELECT o.provolatile FROM pg_type t JOIN pg_proc o ON o.oid = t.typoutput
                               WHERE t.oid = v_base.type) = 'i'
                    THEN 'a generated column: text GENERATED ALWAYS AS (' || quote_ident(p_column) || '::text) STORED.'
                    ELSE 'a column of such a type that your writers fill.' END;
    END IF;
    old_part := format(v_part, 'OLD', p_column);
    new_part := format(v_part, 'NEW', p_column);
END
$$;

-- The text of a WHEN that is true for a row to be refused or recorded. In observe mode it also notes, in a second setting, that the
-- transaction is recorded for this table: the function then runs once, and not for each of 200,000 rows. That one names no
-- transaction: whoever leaves it in his session is not recorded, and nothing worse. CASE, since an OR promises no order.
CREATE FUNCTION fenceline.condition_v1(p_mode text, p_table regclass, p_covered text) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE p_mode
        WHEN 'enforce' THEN format('(%s OR %s) IS NOT TRUE', p_covered, bypassed)
        ELSE format('CASE WHEN strpos(current_setting(''fenceline.observed'', true) COLLATE "C", %1$s) > 0 THEN false'
            ' WHEN %2$s OR %3$s THEN false'
            ' ELSE set_config(''fenceline.observed'', coalesce(current_setting(''fenceline.observed'', true), '''') || %1$s, true)'
            ' IS NOT NULL END', observed, p_covered, bypassed)
        END
      FROM (SELECT
        'strpos(current_setting(''fenceline.entered'', true) COLLATE "C",'
            ' ''%|'' || pg_current_xact_id()::text || '' *%|'') > 0' AS bypassed,
        quote_literal('%|' || replace(p_table::text, '%', '%25') || '%|') AS observed) AS x
$$;

-- Refuses what triggers cannot protect.
CREATE FUNCTION fenceline.require_protectable_v1(p_table regclass) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_kind "char";
    v_partition boolean;
    v_schema text;
    v_why text;
    v_hint text := 'Protect the tables that hold the rows.';
    v_names text;
BEGIN
    -- A temporary table is its session's own, whatever its schema is called.
    SELECT c.relkind, c.relispartition, CASE WHEN c.relpersistence <> 't' THEN n.nspname END
      INTO v_kind, v_partition, v_schema
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.oid = p_table;
    IF v_kind IS NULL THEN
        v_why := 'there is no such table';
        v_hint := 'Name a table that exists.';
    ELSIF v_schema = 'fenceline' THEN
        -- Protected, the guard would refuse the claims that open it.
        v_why := 'it is the fence''s own';
        v_hint := 'Protect the tables that hold your rows.';
    ELSIF v_schema = 'information_schema' OR starts_with(v_schema, 'pg_') THEN
        v_why := 'it is PostgreSQL''s own';
        v_hint := 'Protect the tables that hold your rows.';
    ELSIF v_kind IN ('v', 'm') THEN
        SELECT string_agg(DISTINCT d.refobjid::regclass::text, ', ') INTO v_names
          FROM pg_rewrite r
          JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                          AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
         WHERE r.ev_class = p_table;
        v_why := 'it is a view of ' || coalesce(v_names, 'no table');
    ELSIF v_kind NOT IN ('r', 'p') THEN
        v_why := 'it is not a table of this database';
    ELSIF v_partition THEN
        v_why := 'it is a partition of ' || pg_partition_root(p_table)::text;
        v_hint := 'Protect that, and every partition is protected with it.';
    ELSIF EXISTS (SELECT FROM pg_partition_tree(p_table) p JOIN pg_class c ON c.oid = p.relid WHERE c.relkind = 'f') THEN
        v_why := 'one of its partitions is a foreign table, which others write without us';
    ELSIF v_kind = 'r' AND EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = p_table) THEN
        SELECT string_agg(i.inhrelid::regclass::text, ', ' ORDER BY i.inhrelid::regclass::text) INTO v_names
          FROM pg_inherits i WHERE i.inhparent = p_table;
        v_why := 'rows of its children ' || v_names || ' do not fire its triggers';
    END IF;
    IF v_why IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL011',
            MESSAGE = format('Protection of %s refused: %s', p_table, v_why),
            HINT = v_hint;
    END IF;

    SELECT string_agg(format('%I on %s', t.tgname, t.tgrelid::regclass), ', ') INTO v_names
      FROM pg_trigger t
     WHERE t.tgrelid IN (SELECT p_table UNION ALL SELECT p.relid FROM pg_partition_tree(p_table) p)
       AND t.tgname IN ('fenceline_insert', 'fenceline_update', 'fenceline_delete', 'fenceline_truncate')
       AND t.tgfoid <> 'fenceline.judge_write_v1'::regproc;
    IF v_names IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL011',
            MESSAGE = format('Protection of %s refused: there is a trigger %s, which is not of this fence', p_table, v_names),
            HINT = 'Rename that trigger.';
    END IF;
END
$$;

-- What a trigger is, in short; the same in every session. A trigger made by hand may have the arguments of ours and any condition.
CREATE FUNCTION fenceline.trigger_hash_v1(p_trigger oid) RETURNS text
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
AS 'SELECT ''fence '' || md5(pg_get_triggerdef(p_trigger))';

-- Puts the triggers on a table, or changes their mode or key; as the owner of the table, hence no SECURITY DEFINER. Locks out
-- writers until the transaction ends, and never readers: replacing takes a weaker lock than dropping.
CREATE FUNCTION fenceline.protect_v1(p_table regclass, p_lock_class text, p_key text[], p_mode text) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_old text := '';
    v_new text := '';
    v_unmoved text := 'true';
    v_covers text := 'strpos(current_setting(''fenceline.entered'', true) COLLATE "C",'
        ' ''%%|'' || pg_current_xact_id()::text || %L%s || ''%%|'') > 0';
    v_covered_old text;
    v_covered_new text;
    v_arguments text;
    v_event text;
    v_covered text;
    v_member regclass;
    v_enable text;
    v_made record;
BEGIN
    IF (p_mode IN ('observe', 'enforce')) IS NOT TRUE THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('Protection of %s refused: mode %L is neither observe nor enforce', p_table, p_mode),
            HINT = 'observe records writers without their lock and lets them pass, enforce refuses them.';
    END IF;
    IF (p_lock_class COLLATE "C" ~ '^[A-Za-z][A-Za-z0-9._-]{0,63}$') IS NOT TRUE THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('Protection of %s refused: %L is no class of locks', p_table, p_lock_class),
            HINT = 'A class is a letter followed by at most 63 letters, digits, dots, hyphens or underscores: for locks such as'
                ' account:42 it is account.';
    END IF;
    IF p_key IS NULL OR array_position(p_key, NULL) IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('Protection of %s refused: its key is null, or has a null in it', p_table),
            HINT = 'For locks such as account:42 the key is ARRAY[''id'']; with ''{}'' one lock covers all rows.';
    END IF;
    PERFORM fenceline.require_protectable_v1(p_table);

    SELECT coalesce(string_agg(' || '':'' || ' || part.old_part, '' ORDER BY k.place), ''),
           coalesce(string_agg(' || '':'' || ' || part.new_part, '' ORDER BY k.place), ''),
           coalesce(string_agg(part.unmoved, ' AND ' ORDER BY k.place), 'true')
      INTO v_old, v_new, v_unmoved
      FROM unnest(p_key) WITH ORDINALITY AS k (name, place), fenceline.key_part_v1(p_table, k.name) AS part;
    -- The apply worker of a subscription writes what was judged where it was first written, and enters nothing: fired always, the
    -- triggers would stop it, or record all it does. Fired as by default, they judge everybody else.
    v_enable := CASE WHEN EXISTS (SELECT FROM pg_subscription_rel s
                                   WHERE s.srrelid = p_table
                                      OR s.srrelid IN (SELECT p.relid FROM pg_partition_tree(p_table) p))
        THEN 'ENABLE' ELSE 'ENABLE ALWAYS' END;
    v_covered_old := format(v_covers, ' ' || p_lock_class, v_old);
    v_covered_new := format(v_covers, ' ' || p_lock_class, v_new);
    SELECT string_agg(quote_literal(a.value), ', ' ORDER BY a.place) INTO v_arguments
      FROM unnest(ARRAY[p_mode, p_lock_class] || p_key) WITH ORDINALITY AS a (value, place);

    FOR v_event, v_covered IN VALUES
        ('insert', v_covered_new),
        -- Both names must fit, or a row could be moved out of another lock, or into it.
        ('update', format('%s AND (%s OR %s)', v_covered_new, v_unmoved, v_covered_old)),
        ('delete', v_covered_old)
    LOOP
        EXECUTE format('CREATE OR REPLACE TRIGGER fenceline_%1$s AFTER %1$s ON %2$s FOR EACH ROW WHEN (%3$s)'
            ' EXECUTE FUNCTION fenceline.judge_write_v1(%4$s)',
            v_event, p_table, fenceline.condition_v1(p_mode, p_table, v_covered), v_arguments);
    END LOOP;
    EXECUTE format('ALTER TABLE %1$s %2$s TRIGGER fenceline_insert, %2$s TRIGGER fenceline_update, %2$s TRIGGER fenceline_delete',
        p_table, v_enable);

    -- A partition inherits triggers for rows and not this one. Nobody holds every lock of a key, so only one lock for all rows fits.
    v_covered := CASE WHEN cardinality(p_key) = 0 THEN v_covered_new ELSE 'false' END;
    FOR v_member IN SELECT p_table UNION SELECT p.relid FROM pg_partition_tree(p_table) p ORDER BY 1 LOOP
        EXECUTE format('CREATE OR REPLACE TRIGGER fenceline_truncate BEFORE TRUNCATE ON %s FOR EACH STATEMENT WHEN (%s)'
            ' EXECUTE FUNCTION fenceline.judge_write_v1(%s)',
            v_member, fenceline.condition_v1(p_mode, p_table, v_covered), v_arguments);
        EXECUTE format('ALTER TABLE ONLY %s %s TRIGGER fenceline_truncate', v_member, v_enable);
    END LOOP;

    -- Said on the trigger itself, so that whoever looks sees whether it is still the one that was made here.
    FOR v_made IN
        SELECT t.tgname, t.tgrelid::regclass AS relation, fenceline.trigger_hash_v1(t.oid) AS hash
          FROM pg_trigger t
         WHERE t.tgrelid IN (SELECT p_table UNION SELECT p.relid FROM pg_partition_tree(p_table) p)
           AND t.tgfoid = 'fenceline.judge_write_v1'::regproc
           AND t.tgname IN ('fenceline_insert', 'fenceline_update', 'fenceline_delete', 'fenceline_truncate')
           AND t.tgparentid = 0
    LOOP
        EXECUTE format('COMMENT ON TRIGGER %I ON %s IS %L', v_made.tgname, v_made.relation, v_made.hash);
    END LOOP;
END
$$;

-- Takes the triggers off a table and its partitions. Idempotent; as the owner of the table.
CREATE FUNCTION fenceline.unprotect_v1(p_table regclass) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_statement text;
BEGIN
    FOR v_statement IN
        SELECT format('DROP TRIGGER %I ON %s', t.tgname, t.tgrelid::regclass)
          FROM pg_trigger t
         WHERE t.tgrelid IN (SELECT p_table UNION ALL SELECT p.relid FROM pg_partition_tree(p_table) p)
           AND t.tgfoid = 'fenceline.judge_write_v1'::regproc
           AND t.tgparentid = 0
         ORDER BY t.tgrelid, t.tgname
    LOOP
        EXECUTE v_statement;
    END LOOP;
END
$$;

-- What is protected, and how: read from the triggers themselves, so it is never out of step with them. A table that is partitioned is
-- here once. The arguments of a trigger are kept one after the other, each ended by a zero byte; as hexadecimal pairs they can be
-- told apart whatever text they hold, and decode passes over the spaces. Whether they fire is told beside: always, as by default, which
-- session_replication_role = replica turns off (right on a subscriber), or in part, with one of them missing or disabled somewhere.
CREATE VIEW fenceline.protected AS
    SELECT t.tgrelid::regclass AS relation, a.arguments[1] AS mode, a.arguments[2] AS lock_class, a.arguments[3:] AS key,
           CASE WHEN count(*) < 3 OR NOT bool_and(f.firings <@ '{A,O}') THEN 'in part'
                WHEN bool_and(f.firings = '{A}') THEN 'always'
                ELSE 'origin' END AS fires
      FROM pg_catalog.pg_trigger t,
           LATERAL (SELECT array_agg(convert_from(decode(p.pairs, 'hex'), getdatabaseencoding()) ORDER BY p.place) AS arguments
                      FROM unnest(string_to_array(regexp_replace(encode(t.tgargs, 'hex'), '(..)', '\1 ', 'g'), '00 '))
                           WITH ORDINALITY AS p (pairs, place)
                     WHERE p.place <= t.tgnargs) AS a,
           -- Its own firing, and that of the same trigger on each partition.
           LATERAL (SELECT array_agg(DISTINCT c.tgenabled::text) AS firings
                      FROM pg_catalog.pg_trigger c
                     WHERE c.tgfoid = t.tgfoid AND c.tgname = t.tgname
                       AND (c.oid = t.oid OR c.tgrelid IN (SELECT m.relid FROM pg_partition_tree(t.tgrelid) m))) AS f
     WHERE t.tgfoid = 'fenceline.judge_write_v1'::regproc
       AND t.tgname IN ('fenceline_insert', 'fenceline_update', 'fenceline_delete')
       AND t.tgparentid = 0
     GROUP BY t.tgrelid, a.arguments;

COMMENT ON VIEW fenceline.protected IS 'The tables of this database that are protected: mode, class of the lock, the columns that are the parts of its name, and when its triggers fire.';

-- For people --------------------------------------------------------------------------------------------------------------
-- Names without a version, whose arguments and meaning stay: docs/sql-contract.md. Each goes to the newest version beneath.

-- The canonical name of a lock: fenceline.lock_name('account', '42') is account:42.
CREATE FUNCTION fenceline.lock_name(p_class text, VARIADIC p_parts text[] DEFAULT '{}') RETURNS text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS 'SELECT fenceline.lock_name_v1(p_class, p_parts)';

-- Raises the mark, or fails with FL001 when that is newer.
CREATE FUNCTION fenceline.admit_v1(p_lock text, p_token bigint, p_holder uuid, p_wait_ms integer) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_name_v1(p_lock);
    PERFORM fenceline.claim_v2(ARRAY[p_lock], ARRAY[p_token], ARRAY[p_holder], p_wait_ms);
END
$$;

-- A procedure, since it commits: a claim must be acknowledged before anything is read under it, and within a transaction of
-- somebody else's this fails with 2D000. Neither SECURITY DEFINER nor with a search_path, which would forbid the COMMIT.
CREATE PROCEDURE fenceline.claim(p_lock text, p_token bigint, p_holder uuid, p_wait_ms integer DEFAULT 10000)
    LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM fenceline.admit_v1(p_lock, p_token, p_holder, p_wait_ms);
    COMMIT;
END
$$;

-- Locks the mark while it equals this token, until the transaction ends. First in the transaction, as a statement of its own.
CREATE FUNCTION fenceline.enter(p_lock text, p_token bigint, p_holder uuid, p_wait_ms integer DEFAULT 10000) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_touched text := fenceline.touched_v1();
BEGIN
    PERFORM fenceline.require_name_v1(p_lock);
    IF v_touched IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL010',
            MESSAGE = format('Entering lock %L refused: this transaction has used %s already, and what it has read may be older than'
                ' the claim', p_lock, v_touched),
            HINT = 'Roll back, and enter first in the transaction, as a statement of its own; settings may come before.';
    END IF;
    PERFORM fenceline.join_v1(ARRAY[p_lock], ARRAY[p_token], ARRAY[p_holder], p_wait_ms, 600000);
    PERFORM fenceline.note_call_v1();
    -- Changes nothing, and has entered_in_vain look at the end of this transaction.
    UPDATE fenceline.guard g SET lock = g.lock WHERE g.lock = p_lock;
END
$$;

CREATE FUNCTION fenceline.protect(p_table regclass, p_lock_class text, p_key text[], p_mode text) RETURNS void
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS 'SELECT fenceline.protect_v1(p_table, p_lock_class, p_key, p_mode)';

CREATE FUNCTION fenceline.unprotect(p_table regclass) RETURNS void
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS 'SELECT fenceline.unprotect_v1(p_table)';

CREATE FUNCTION fenceline.bypass(p_reason text) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS 'SELECT fenceline.bypass_v1(p_reason)';

REVOKE ALL ON ALL ROUTINES IN SCHEMA fenceline FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA fenceline FROM PUBLIC;
