-- Invariant: while a row exists its own mark rules, while it does not the guard's; and no function here lowers either.
--
-- Row mode keeps the mark in the row that it protects: fence_token bigint NOT NULL DEFAULT 0, fence_holder uuid. Its statements
-- are sent by the client, since each is about a table of the user's, and read and raise fenceline.guard themselves; so its role
-- needs SELECT, INSERT and UPDATE there, and the guard's own triggers keep it from lowering or removing a mark.
--
-- SQLSTATEs as in V1; FL008: a table that keep_marks_v1 cannot serve.

CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer
    LANGUAGE sql IMMUTABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS 'SELECT 3';

-- Refuses what must not raise a mark, and limits the wait for it. Called by every statement that may raise one, in a subquery of
-- its own, which PostgreSQL evaluates before the statement looks for a row. Without a limit, the transaction is the user's own.
CREATE FUNCTION fenceline.check_claim_v1(p_token bigint, p_timeout_ms integer) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_ahead_us bigint := p_token - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
BEGIN
    PERFORM fenceline.require_primary_v1('Claim');
    IF current_setting('synchronous_commit') = 'off' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL003',
            MESSAGE = 'Claim refused: synchronous_commit is off, so a crash could forget the mark after it was acknowledged',
            HINT = 'Set synchronous_commit to on, at least for the role that claims.';
    END IF;
    -- The bound of claim_v1. One forged token above it would lock out every honest holder of the row for ever.
    IF v_ahead_us > 90000000000 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL004',
            MESSAGE = 'Claim refused: the token is more than 25 h ahead of this server''s clock',
            DETAIL = v_ahead_us::text;
    END IF;
    IF p_timeout_ms IS NOT NULL THEN
        PERFORM set_config('lock_timeout', p_timeout_ms::text, true);
    END IF;
    RETURN true;
END
$$;

-- As in V1, but with a bound that is computed once: compared with a volatile function, no row ends the scan, and each claim and each
-- transaction would read the index to its end to find that nothing is old.
CREATE OR REPLACE FUNCTION fenceline.prune_operations_v1(p_most integer) RETURNS void
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM fenceline.operation
     WHERE ctid = ANY (ARRAY(SELECT o.ctid FROM fenceline.operation o
                              WHERE o.entered_at < (SELECT clock_timestamp() - interval '8 days')
                              ORDER BY o.entered_at LIMIT p_most
                                FOR UPDATE SKIP LOCKED))
$$;

-- Records the operation of a statement that wrote, in the same statement: it is committed iff the write is.
CREATE FUNCTION fenceline.record_row_v1(p_operation uuid, p_begun_at timestamptz) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- A resolver's verdict is pruned after 8 days and would no longer stop us.
    IF p_begun_at < clock_timestamp() - interval '7 days' THEN
        RAISE EXCEPTION USING ERRCODE = 'FL007', MESSAGE = 'Write refused: its time is more than 7 days ago';
    END IF;
    -- Plain: with ON CONFLICT DO NOTHING we would commit although a resolver has ruled that we never will.
    INSERT INTO fenceline.operation (id, entered_at, outcome) VALUES (p_operation, p_begun_at, 'applied');
    IF current_setting('transaction_isolation') = 'read committed' THEN
        PERFORM fenceline.prune_operations_v1(2);
    END IF;
    RETURN true;
END
$$;

-- Undoes the statement, or the transaction, that it is called from.
CREATE FUNCTION fenceline.refuse_row_v1(p_table text, p_lock text, p_token bigint, p_newest text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'FL001',
        MESSAGE = format('Write to %s under token %s of lock %L refused: the mark is %s', p_table, p_token, p_lock, p_newest);
END
$$;

-- Marks of rows that are deleted without the fence ------------------------------------------------------------------------

-- The canonical text of a lock's name, as LockName writes it. Text is brought to normal form C, as there.
CREATE FUNCTION fenceline.row_lock_v1(p_class text, p_parts text[]) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p_class || coalesce(string_agg(
               ':' || replace(replace(CASE WHEN getdatabaseencoding() = 'UTF8' THEN normalize(part, NFC) ELSE part END,
                                      '%', '%25'), ':', '%3A'), '' ORDER BY n), '')
      FROM unnest(p_parts) WITH ORDINALITY AS p (part, n)
$$;

-- Copies the mark of a deleted row to the guard. After a fenced DELETE that finds the guard as it is to be. An unfenced one would
-- take the mark with it, and whoever is older than the row could insert it again.
CREATE FUNCTION fenceline.keep_mark_of_row_v1() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[];
    v_ahead_us bigint;
BEGIN
    -- By concat, which asks a type for its text alone: a cast, to json too, may be the table owner's own code, and would run with
    -- our rights. And by the bare name: ($1).to_jsonb would call that function where there is no such column.
    EXECUTE (SELECT 'SELECT ARRAY[' || string_agg(format('CASE WHEN %1$I IS NOT NULL THEN concat(%1$I) END', a.name), ', '
                                                  ORDER BY a.n) || ']::text[] FROM (SELECT ($1).*) AS deleted'
               FROM unnest(TG_ARGV) WITH ORDINALITY AS a (name, n)
              WHERE a.n > 1)
       INTO v_parts USING OLD;
    -- The mark likewise: whoever may create this trigger may do so on columns of his own types. The bound is that of a claim: no fence
    -- has written a higher one, and kept, it would lock out every honest holder for ever.
    v_ahead_us := concat(OLD.fence_token)::bigint - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    IF v_ahead_us > 90000000000 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL004',
            MESSAGE = format('Deletion from %s refused: the mark of the row, %s, is more than 25 h ahead of this server''s clock',
                TG_RELID::regclass, concat(OLD.fence_token)),
            DETAIL = v_ahead_us::text,
            HINT = 'No fence has written it. Set fence_token of that row to 0 and fence_holder to NULL, then delete it again.';
    END IF;
    INSERT INTO fenceline.guard AS g (lock, token, holder, claimed_at, claimed_by)
    VALUES (fenceline.row_lock_v1(TG_ARGV[0], v_parts), concat(OLD.fence_token)::bigint, concat(OLD.fence_holder)::uuid,
            clock_timestamp(), current_setting('application_name'))
    ON CONFLICT (lock) DO UPDATE
        SET token = excluded.token,
            holder = excluded.holder,
            claimed_at = excluded.claimed_at,
            claimed_by = excluded.claimed_by
        WHERE g.token < excluded.token;
    RETURN NULL;
END
$$;

-- Puts that trigger on a table: SELECT fenceline.keep_marks_v1('bank.account', 'account', 'id'). The key columns are given in the
-- order of the parts of the lock's name. To be called as a role that owns the table and may put triggers on tables
-- (grant_protection.sql). The role that writes the rows needs nothing for it: who fires a trigger need not be able to call it.
CREATE FUNCTION fenceline.keep_marks_v1(p_table regclass, p_lock_class text, VARIADIC p_key text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_column text;
    v_type regtype;
BEGIN
    FOREACH v_column IN ARRAY p_key || ARRAY['fence_token', 'fence_holder'] LOOP
        SELECT a.atttypid INTO v_type FROM pg_attribute a
         WHERE a.attrelid = p_table AND a.attname = v_column AND a.attnum > 0 AND NOT a.attisdropped;
        IF NOT FOUND THEN
            RAISE EXCEPTION USING
                ERRCODE = 'FL008',
                MESSAGE = format('Marks of %s cannot be kept: it has no column %I', p_table, v_column);
        END IF;
        -- What a LockName takes, and what reads the same in SQL and in a client.
        IF v_type NOT IN ('smallint', 'integer', 'bigint', 'text', 'varchar', 'uuid') THEN
            RAISE EXCEPTION USING
                ERRCODE = 'FL008',
                MESSAGE = format('Marks of %s cannot be kept: column %I is %s, and a lock is named by whole numbers, text and uuid',
                    p_table, v_column, v_type);
        END IF;
    END LOOP;
    EXECUTE format('CREATE TRIGGER fenceline_keep_mark AFTER DELETE ON %s FOR EACH ROW'
        ' WHEN (OLD.fence_token > 0 AND OLD.fence_holder IS NOT NULL) EXECUTE FUNCTION fenceline.keep_mark_of_row_v1(%L, %s)',
        p_table, p_lock_class, (SELECT string_agg(quote_literal(k.name), ', ' ORDER BY k.n)
                                  FROM unnest(p_key) WITH ORDINALITY AS k (name, n)));
    -- Also under session_replication_role = replica.
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER fenceline_keep_mark', p_table);
END
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA fenceline FROM PUBLIC;
