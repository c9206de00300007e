-- Invariant: the mark of a lock only rises, is never removed, and whoever commits a fenced write held that mark unchanged until commit.
--
-- fenceline.guard holds one mark per lock: the newest (token, holder) that this database has admitted. A claim raises it in a
-- transaction of its own. A fenced transaction enters by locking the row while it equals its own token, and keeps that lock
-- until commit, so a newer claim waits for it or it is refused; nothing in between.
--
-- Functions carry a version in their name: a later release adds claim_v2 beside claim_v1, and both run during an upgrade.
-- All are SECURITY DEFINER with a fixed search_path, so that an application's role needs USAGE on the schema and EXECUTE on
-- eight functions, and no right on any table.
--
-- SQLSTATEs: FL001 the mark is not the caller's, FL002 standby, FL003 synchronous_commit is off, FL004 token from the far future,
-- FL005 a mark would fall or vanish, FL006 another transaction than the one that entered, FL007 entered too long ago.

CREATE TABLE fenceline.guard (
    lock       text COLLATE "C" PRIMARY KEY,
    token      bigint NOT NULL CHECK (token > 0 AND token < 9007199254740992),
    holder     uuid NOT NULL,
    claimed_at timestamptz NOT NULL,
    claimed_by text NOT NULL
) WITH (fillfactor = 70);

COMMENT ON TABLE fenceline.guard IS 'The newest token admitted for each lock. Rows are never deleted and marks never fall.';
COMMENT ON COLUMN fenceline.guard.claimed_by IS 'application_name of the session that made the claim';

-- One row for each fenced transaction that committed ('applied'), or that a resolver ruled out for good ('never').
CREATE TABLE fenceline.operation (
    id         uuid PRIMARY KEY,
    entered_at timestamptz NOT NULL,
    outcome    text NOT NULL CHECK (outcome IN ('applied', 'never'))
);

CREATE INDEX operation_entered_at ON fenceline.operation (entered_at);

COMMENT ON TABLE fenceline.operation IS 'What became of fenced transactions, for commits whose reply was lost. Kept 8 days, pruned by claims and by transactions that leave.';

-- Marks -----------------------------------------------------------------------------------------------------------------

CREATE FUNCTION fenceline.keep_mark_v1() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = 'FL005',
        MESSAGE = format('%s on fenceline.guard refused: a mark is never lowered, handed to another holder or removed', TG_OP),
        HINT = 'A removed mark would let an old writer in again. Marks that are too high are passed by acquiring anew.';
END
$$;

CREATE TRIGGER keep_mark AFTER UPDATE ON fenceline.guard
    FOR EACH ROW
    WHEN (NEW.token < OLD.token OR (NEW.token = OLD.token AND NEW.holder <> OLD.holder) OR NEW.lock <> OLD.lock)
    EXECUTE FUNCTION fenceline.keep_mark_v1();
CREATE TRIGGER keep_row BEFORE DELETE ON fenceline.guard
    FOR EACH STATEMENT EXECUTE FUNCTION fenceline.keep_mark_v1();
CREATE TRIGGER keep_table BEFORE TRUNCATE ON fenceline.guard
    FOR EACH STATEMENT EXECUTE FUNCTION fenceline.keep_mark_v1();
-- Also under session_replication_role = replica, which restores and some tools set.
ALTER TABLE fenceline.guard ENABLE ALWAYS TRIGGER keep_mark;
ALTER TABLE fenceline.guard ENABLE ALWAYS TRIGGER keep_row;
ALTER TABLE fenceline.guard ENABLE ALWAYS TRIGGER keep_table;

-- Helpers ---------------------------------------------------------------------------------------------------------------

-- A standby lags behind: its mark may be old, and it goes its own way when it is promoted.
CREATE FUNCTION fenceline.require_primary_v1(p_step text) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pg_is_in_recovery() THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL002',
            MESSAGE = format('%s refused: this server is a standby (pg_is_in_recovery() is true)', p_step),
            HINT = 'Connect to the primary, for instance with targetServerType=primary.';
    END IF;
END
$$;

-- Sets a timeout for this transaction, unless the session already has a shorter one. Zero means none to PostgreSQL, which shows
-- most timeouts with a unit, and tcp_user_timeout as bare milliseconds; an interval would read those as seconds.
CREATE FUNCTION fenceline.shorten_timeout_v1(p_setting text, p_ms integer) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_shown text := current_setting(p_setting);
    v_current interval := (CASE WHEN v_shown ~ '^\d+$' THEN v_shown || ' ms' ELSE v_shown END)::interval;
BEGIN
    IF v_current = interval '0' OR v_current > p_ms * interval '1 millisecond' THEN
        PERFORM set_config(p_setting, p_ms::text, true);
    END IF;
END
$$;

-- Small steps, and never waiting: pruning must not slow anybody down. A day later than a resolver gives up. By ctid, which is
-- safe for rows that this statement has locked, so that the only plan is a probe of the index on entered_at.
CREATE FUNCTION fenceline.prune_operations_v1(p_most integer) RETURNS void
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
    DELETE FROM fenceline.operation
     WHERE ctid = ANY (ARRAY(SELECT o.ctid FROM fenceline.operation o
                              WHERE o.entered_at < clock_timestamp() - interval '8 days'
                              ORDER BY o.entered_at LIMIT p_most
                                FOR UPDATE SKIP LOCKED))
$$;

-- What a client calls ---------------------------------------------------------------------------------------------------

CREATE FUNCTION fenceline.version_v1() RETURNS integer
    LANGUAGE sql IMMUTABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS 'SELECT 1';

-- Raises the mark to the caller's token if that is newer, or is the mark already: idempotent by holder, so a claim whose reply
-- was lost is sent again. To be run as a transaction of its own, committed before the first read under it.
CREATE FUNCTION fenceline.claim_v1(p_lock text, p_token bigint, p_holder uuid, p_timeout_ms integer)
    RETURNS TABLE (admitted boolean, newest_token bigint, newest_holder uuid, fsync text)
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
    -- Microseconds of the lock server's clock; 25 h leave room for a clock that is a time zone off. One forged token above that
    -- would lock out every honest holder for ever.
    IF v_ahead_us > 90000000000 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL004',
            MESSAGE = 'Claim refused: the token is more than 25 h ahead of this server''s clock',
            DETAIL = v_ahead_us::text;
    END IF;
    PERFORM set_config('lock_timeout', p_timeout_ms::text, true);

    INSERT INTO fenceline.guard AS g (lock, token, holder, claimed_at, claimed_by)
    VALUES (p_lock, p_token, p_holder, clock_timestamp(), current_setting('application_name'))
    ON CONFLICT (lock) DO UPDATE
        SET token = excluded.token,
            holder = excluded.holder,
            claimed_at = excluded.claimed_at,
            claimed_by = excluded.claimed_by
        WHERE g.token < excluded.token
           OR (g.token = excluded.token AND g.holder = excluded.holder);
    admitted := FOUND;

    IF admitted THEN
        PERFORM fenceline.prune_operations_v1(20);
    END IF;
    SELECT g.token, g.holder INTO STRICT newest_token, newest_holder FROM fenceline.guard g WHERE g.lock = p_lock;
    fsync := current_setting('fsync');
    RETURN NEXT;
END
$$;

-- Writes the mark as it is while it equals the caller's token, and so locks it until the transaction ends. To be called as the
-- first statement of a transaction, alone. Not FOR SHARE: two transactions of one claim must not run beside each other either.
CREATE FUNCTION fenceline.enter_v1(
        p_lock text, p_token bigint, p_holder uuid, p_wait_ms integer, p_transaction_ms integer)
    RETURNS TABLE (entered_xid text, entered_at timestamptz)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_primary_v1('Fenced transaction');
    -- A holder that is stopped here or later keeps others out no longer than this.
    PERFORM fenceline.shorten_timeout_v1('lock_timeout', p_wait_ms);
    PERFORM fenceline.shorten_timeout_v1('idle_in_transaction_session_timeout', p_wait_ms);
    PERFORM fenceline.shorten_timeout_v1('tcp_user_timeout', p_wait_ms);
    IF current_setting('server_version_num')::integer >= 170000 THEN
        PERFORM fenceline.shorten_timeout_v1('transaction_timeout', p_transaction_ms);
    END IF;

    -- An UPDATE of columns outside of the key takes the lock FOR NO KEY UPDATE, and tells later transactions that it was there:
    -- above READ COMMITTED the snapshot is older than the lock that was waited for, and only a row that was written makes such a
    -- transaction fail with 40001 instead of working on an old state. Always, at every isolation level: the one that waits need not
    -- be at the level of the one that it waited for. The new version stays on its page (HOT), and is pruned there.
    UPDATE fenceline.guard g SET claimed_at = g.claimed_at
     WHERE g.lock = p_lock AND g.token = p_token AND g.holder = p_holder;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL001',
            MESSAGE = format('Fenced transaction under token %s of lock %L refused: it is not the mark', p_token, p_lock);
    END IF;
    entered_xid := pg_current_xact_id()::text;
    entered_at := clock_timestamp();
    RETURN NEXT;
END
$$;

-- Records the operation, as the last statement before COMMIT. Fails in an aborted transaction, whose COMMIT would succeed
-- quietly, and in any other transaction than the one that entered.
CREATE FUNCTION fenceline.leave_v1(p_operation uuid, p_entered_xid text, p_entered_at timestamptz) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pg_current_xact_id()::text <> p_entered_xid THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL006',
            MESSAGE = format('Commit refused: transaction %s entered, but this is %s', p_entered_xid, pg_current_xact_id());
    END IF;
    -- A resolver's verdict is pruned after 8 days and would no longer stop us.
    IF p_entered_at < clock_timestamp() - interval '7 days' THEN
        RAISE EXCEPTION USING ERRCODE = 'FL007', MESSAGE = 'Commit refused: the transaction entered more than 7 days ago';
    END IF;
    -- Plain: with ON CONFLICT DO NOTHING we would commit although a resolver has ruled that we never will.
    INSERT INTO fenceline.operation (id, entered_at, outcome) VALUES (p_operation, p_entered_at, 'applied');
    -- One in, two out: a claim may have any number of transactions, and the table must not outgrow its 8 days. Not above READ
    -- COMMITTED, where a row that another session has pruned meanwhile would fail this transaction; claims prune for those.
    IF current_setting('transaction_isolation') = 'read committed' THEN
        PERFORM fenceline.prune_operations_v1(2);
    END IF;
END
$$;

-- Settles for good whether a transaction committed. Looking is not enough: the COMMIT may still be on its way. The insert waits
-- for a transaction in flight, and makes its own insert fail if it comes later. To be run READ COMMITTED, on its own.
CREATE FUNCTION fenceline.resolve_v1(p_operation uuid, p_entered_at timestamptz, p_timeout_ms integer) RETURNS text
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_outcome text;
BEGIN
    PERFORM fenceline.require_primary_v1('Resolution');
    IF p_entered_at < clock_timestamp() - interval '7 days' THEN
        RETURN 'too old';
    END IF;
    PERFORM set_config('lock_timeout', p_timeout_ms::text, true);
    INSERT INTO fenceline.operation (id, entered_at, outcome) VALUES (p_operation, p_entered_at, 'never')
        ON CONFLICT (id) DO NOTHING;
    SELECT o.outcome INTO STRICT v_outcome FROM fenceline.operation o WHERE o.id = p_operation;
    RETURN v_outcome;
END
$$;

-- Tells what became of the transaction that entered: 'open' (it is this session's own), 'in progress' (another session's),
-- 'committed', 'aborted', 'prepared' (for a two-phase commit, and out of everybody's hands) or 'too old'.
CREATE FUNCTION fenceline.status_v1(p_entered_xid text) RETURNS text
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_primary_v1('Asking for a transaction');
    IF pg_current_xact_id_if_assigned()::text = p_entered_xid THEN
        RETURN 'open';
    END IF;
    IF EXISTS (SELECT FROM pg_prepared_xacts p WHERE p.transaction = p_entered_xid::xid8::xid) THEN
        RETURN 'prepared';
    END IF;
    RETURN coalesce(pg_xact_status(p_entered_xid::xid8), 'too old');
END
$$;

-- Reads the mark; no row when the lock was never claimed here.
CREATE FUNCTION fenceline.mark_v1(p_lock text) RETURNS TABLE (newest_token bigint, newest_holder uuid)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_primary_v1('Reading a mark');
    RETURN QUERY SELECT g.token, g.holder FROM fenceline.guard g WHERE g.lock = p_lock;
END
$$;

-- Names who holds the row of a mark: every transaction, and every part of one, holds a lock on its own number.
CREATE FUNCTION fenceline.blocker_v1(p_lock text)
    RETURNS TABLE (pid integer, application_name text)
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT l.pid, coalesce(a.application_name, '')
      FROM fenceline.guard g
      JOIN pg_catalog.pg_locks l
        ON l.locktype = 'transactionid' AND l.transactionid = g.xmax AND l.mode = 'ExclusiveLock' AND l.granted
      LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
     WHERE g.lock = p_lock
     LIMIT 1
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA fenceline FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA fenceline FROM PUBLIC;
