-- Invariant: every form of fenced work (several locks, concurrent, read-only, one statement) is refused unless each of its marks is its own, and what it writes commits only while they all stay so.
--
-- Functions that take arrays take the locks in the order of their names' bytes, the same for every caller, so that no two wait
-- for each other in a circle. Element n of the three arrays is one token.
--
-- Concurrent transactions hold their mark FOR SHARE, beside each other. Overlapping ones could keep a claim out for ever, so there
-- is an advisory lock in front of the row: they take it shared, a claim takes it exclusively, and PostgreSQL lets nobody pass who
-- comes after a waiting claim. It is there for fairness only and never decides who may write: two locks may share a key, and
-- whoever does not take it is as safe. Its class is 1178947139 ("FENC").

CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer
    LANGUAGE sql IMMUTABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS 'SELECT 2';

-- Helpers ---------------------------------------------------------------------------------------------------------------

-- All keys are taken before any guard row, in their own order, which is not that of the names.
CREATE FUNCTION fenceline.turn_keys_v1(p_locks text[]) RETURNS integer[]
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT array_agg(DISTINCT hashtext(l COLLATE "C") ORDER BY hashtext(l COLLATE "C")) FROM unnest(p_locks) l
$$;

CREATE FUNCTION fenceline.share_turn_v1(p_locks text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_key integer;
BEGIN
    FOREACH v_key IN ARRAY fenceline.turn_keys_v1(p_locks) LOOP
        PERFORM pg_advisory_xact_lock_shared(1178947139, v_key);
    END LOOP;
END
$$;

-- The mark is compared where it is written, and not where it is only locked by writing it as it is (enter_v1): a trigger's WHEN is
-- prepared anew by each statement, which is a fifth of what entering costs.
CREATE OR REPLACE TRIGGER keep_mark AFTER UPDATE OF lock, token, holder ON fenceline.guard
    FOR EACH ROW
    WHEN (NEW.token < OLD.token OR (NEW.token = OLD.token AND NEW.holder <> OLD.holder) OR NEW.lock <> OLD.lock)
    EXECUTE FUNCTION fenceline.keep_mark_v1();
ALTER TABLE fenceline.guard ENABLE ALWAYS TRIGGER keep_mark;

-- A holder that is stopped keeps others out no longer than this. Most sessions have no limits, and nothing to compare. Assignments and
-- no PERFORM: those would each be a query. A client calls it too, through limit_statement_v1.
CREATE FUNCTION fenceline.limit_work_v1(p_wait_ms integer, p_transaction_ms integer) RETURNS boolean
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_set text;
BEGIN
    IF current_setting('lock_timeout') = '0' THEN
        v_set := set_config('lock_timeout', p_wait_ms::text, true);
    ELSE
        PERFORM fenceline.shorten_timeout_v1('lock_timeout', p_wait_ms);
    END IF;
    IF current_setting('idle_in_transaction_session_timeout') = '0' THEN
        v_set := set_config('idle_in_transaction_session_timeout', p_wait_ms::text, true);
    ELSE
        PERFORM fenceline.shorten_timeout_v1('idle_in_transaction_session_timeout', p_wait_ms);
    END IF;
    IF current_setting('tcp_user_timeout') = '0' THEN
        v_set := set_config('tcp_user_timeout', p_wait_ms::text, true);
    ELSE
        PERFORM fenceline.shorten_timeout_v1('tcp_user_timeout', p_wait_ms);
    END IF;
    -- From 17 on.
    IF current_setting('transaction_timeout', true) = '0' THEN
        v_set := set_config('transaction_timeout', p_transaction_ms::text, true);
    ELSIF current_setting('transaction_timeout', true) IS NOT NULL THEN
        PERFORM fenceline.shorten_timeout_v1('transaction_timeout', p_transaction_ms);
    END IF;
    RETURN true;
END
$$;

-- Tells by its form whether a holder is that of a mark that an operator has raised (V5), for messages alone: a UUID of version 8 whose end
-- is "raised" in ASCII. A grant's holder is random, and looks so with a chance below 2^-52.
CREATE FUNCTION fenceline.is_raised_holder_v1(p_holder uuid) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p_holder::text LIKE '______________8_________726169736564'
$$;

-- What to do for whoever finds another mark than his own.
CREATE FUNCTION fenceline.overtaken_hint_v1(p_holder uuid) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN fenceline.is_raised_holder_v1(p_holder)
        THEN 'An operator has raised the mark, which shut out every earlier holder. '
        ELSE 'Another holder has taken over. ' END
        || 'Stop, and do not retry with this token: acquire the lock anew'
$$;

-- A token for messages, as written elsewhere: value and the first digits of the holder.
CREATE FUNCTION fenceline.token_text_v1(p_token bigint, p_holder uuid) RETURNS text
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 'token ' || p_token || '/' || left(p_holder::text, 8)
$$;

-- Refuses work under a token that is not the mark, and says whose turn it is to do what.
CREATE FUNCTION fenceline.not_the_mark_v1(p_lock text, p_token bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_mark fenceline.guard;
BEGIN
    SELECT g.* INTO v_mark FROM fenceline.guard g WHERE g.lock = p_lock;
    RAISE EXCEPTION USING
        ERRCODE = 'FL001',
        MESSAGE = format('Fenced work under token %s of lock %L refused: %s', p_token, p_lock,
            coalesce('the mark is ' || fenceline.token_text_v1(v_mark.token, v_mark.holder), 'it was never claimed here')),
        HINT = CASE WHEN v_mark.token >= p_token
            THEN fenceline.overtaken_hint_v1(v_mark.holder) || ', and begin at the read.'
            ELSE 'Claim first, in a transaction of its own: CALL fenceline.claim(lock, token, holder).'
            END;
END
$$;

-- Called by every form that may write, when it holds all of its marks. Nothing is to be told yet: V4 replaces this, so that triggers
-- know which locks the transaction has entered.
CREATE FUNCTION fenceline.has_entered_v1(p_locks text[], p_tokens bigint[], p_holders uuid[]) RETURNS void
    LANGUAGE plpgsql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN;
END
$$;

-- Claims ----------------------------------------------------------------------------------------------------------------

-- Raises the marks of all locks, or of none. Else as claim_v1. Refused with FL001, whose DETAIL is which lock (its number in the
-- array) and its mark (token and holder).
CREATE FUNCTION fenceline.claim_v2(p_locks text[], p_tokens bigint[], p_holders uuid[], p_timeout_ms integer)
    RETURNS TABLE (claimed_at timestamptz, fsync text)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_deadline timestamptz := clock_timestamp() + p_timeout_ms * interval '1 millisecond';
    v_now_us bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    v_left_ms integer;
    v_set text;
    v_keys integer[];
    v_key integer;
    v_newest fenceline.guard;
BEGIN
    PERFORM fenceline.require_primary_v1('Claim');
    IF current_setting('synchronous_commit') = 'off' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL003',
            MESSAGE = 'Claim refused: synchronous_commit is off, so a crash could forget the mark after it was acknowledged',
            HINT = 'Set synchronous_commit to on, at least for the role that claims.';
    END IF;
    FOR i IN 1 .. cardinality(p_locks) LOOP
        IF p_tokens[i] - v_now_us > 90000000000 THEN
            RAISE EXCEPTION USING
                ERRCODE = 'FL004',
                MESSAGE = format('Claim of %s on lock %L refused: it is more than 25 h ahead of this server''s clock, and the mark is %s',
                    fenceline.token_text_v1(p_tokens[i], p_holders[i]), p_locks[i],
                    coalesce((SELECT fenceline.token_text_v1(g.token, g.holder) FROM fenceline.guard g WHERE g.lock = p_locks[i]),
                        'not set')),
                DETAIL = format('%s %s', i, p_tokens[i] - v_now_us),
                HINT = 'Nothing happened. A token is microseconds of the lock server''s time: check that clock and this one, and who sent the token.';
        END IF;
    END LOOP;

    -- Always, since somebody else's transactions may be concurrent. One limit for all the waiting, and never longer than asked for,
    -- whatever the clock does meanwhile. Assignments and no PERFORM: those would each be a query.
    v_set := set_config('lock_timeout', p_timeout_ms::text, true);
    v_keys := CASE cardinality(p_locks)
        WHEN 1 THEN ARRAY[hashtext(p_locks[1] COLLATE "C")]
        ELSE fenceline.turn_keys_v1(p_locks)
    END;
    FOREACH v_key IN ARRAY v_keys LOOP
        PERFORM pg_advisory_xact_lock(1178947139, v_key);
        v_left_ms := greatest(1, least(p_timeout_ms, ceil(extract(epoch FROM v_deadline - clock_timestamp()) * 1000)));
        v_set := set_config('lock_timeout', v_left_ms::text, true);
    END LOOP;

    FOR i IN 1 .. cardinality(p_locks) LOOP
        INSERT INTO fenceline.guard AS g (lock, token, holder, claimed_at, claimed_by)
        VALUES (p_locks[i], p_tokens[i], p_holders[i], clock_timestamp(), current_setting('application_name'))
        ON CONFLICT (lock) DO UPDATE
            SET token = excluded.token,
                holder = excluded.holder,
                claimed_at = excluded.claimed_at,
                claimed_by = excluded.claimed_by
            WHERE g.token < excluded.token
               OR (g.token = excluded.token AND g.holder = excluded.holder);
        IF NOT FOUND THEN
            SELECT g.* INTO STRICT v_newest FROM fenceline.guard g WHERE g.lock = p_locks[i];
            RAISE EXCEPTION USING
                ERRCODE = 'FL001',
                MESSAGE = format('Claim of %s on lock %L refused: the mark is %s',
                    fenceline.token_text_v1(p_tokens[i], p_holders[i]), p_locks[i],
                    fenceline.token_text_v1(v_newest.token, v_newest.holder)),
                DETAIL = format('%s %s %s', i, v_newest.token, v_newest.holder),
                HINT = fenceline.overtaken_hint_v1(v_newest.holder) || '.';
        END IF;
        v_left_ms := greatest(1, least(p_timeout_ms, ceil(extract(epoch FROM v_deadline - clock_timestamp()) * 1000)));
        v_set := set_config('lock_timeout', v_left_ms::text, true);
    END LOOP;

    PERFORM fenceline.prune_operations_v1(20);
    claimed_at := clock_timestamp();
    fsync := current_setting('fsync');
    RETURN NEXT;
END
$$;

-- Transactions ----------------------------------------------------------------------------------------------------------

-- Enters by an unlocked look, and so takes the snapshot where the transaction has one: what is read is as of entering. Nobody
-- waits for a reader. Whether this is still the same transaction is told by when it began.
CREATE FUNCTION fenceline.enter_reading_v1(
        p_locks text[], p_tokens bigint[], p_holders uuid[], p_wait_ms integer, p_transaction_ms integer)
    RETURNS TABLE (entered_xid text, entered_at timestamptz, begun_at timestamptz, has_snapshot boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_primary_v1('Fenced transaction');
    PERFORM fenceline.limit_work_v1(p_wait_ms, p_transaction_ms);
    FOR i IN 1 .. cardinality(p_locks) LOOP
        PERFORM 1 FROM fenceline.guard g WHERE g.lock = p_locks[i] AND g.token = p_tokens[i] AND g.holder = p_holders[i];
        IF NOT FOUND THEN
            PERFORM fenceline.not_the_mark_v1(p_locks[i], p_tokens[i]);
        END IF;
    END LOOP;
    entered_at := clock_timestamp();
    begun_at := now();
    has_snapshot := current_setting('transaction_isolation') IN ('repeatable read', 'serializable');
    RETURN NEXT;
END
$$;

-- The end of a transaction that entered by reading and has no snapshot, or may have been ended from within. Marks only rise: one
-- that is the caller's now has been so all the time.
CREATE FUNCTION fenceline.leave_reading_v1(
        p_locks text[], p_tokens bigint[], p_holders uuid[], p_begun_at timestamptz)
    RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF now() <> p_begun_at THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL006',
            MESSAGE = format('End refused: a transaction begun at %s entered, but this began at %s', p_begun_at, now());
    END IF;
    FOR i IN 1 .. cardinality(p_locks) LOOP
        PERFORM 1 FROM fenceline.guard g WHERE g.lock = p_locks[i] AND g.token = p_tokens[i] AND g.holder = p_holders[i];
        IF NOT FOUND THEN
            PERFORM fenceline.not_the_mark_v1(p_locks[i], p_tokens[i]);
        END IF;
    END LOOP;
END
$$;

-- As enter_v1, for all locks. A transaction that is read-only can lock nothing, and enters by reading: its entered_xid is null.
CREATE FUNCTION fenceline.enter_v2(
        p_locks text[], p_tokens bigint[], p_holders uuid[], p_wait_ms integer, p_transaction_ms integer)
    RETURNS TABLE (entered_xid text, entered_at timestamptz, begun_at timestamptz, has_snapshot boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'on' THEN
        RETURN QUERY SELECT * FROM fenceline.enter_reading_v1(p_locks, p_tokens, p_holders, p_wait_ms, p_transaction_ms);
        RETURN;
    END IF;
    PERFORM fenceline.require_primary_v1('Fenced transaction');
    PERFORM fenceline.limit_work_v1(p_wait_ms, p_transaction_ms);
    FOR i IN 1 .. cardinality(p_locks) LOOP
        -- Written as it is, not only locked: see enter_v1.
        UPDATE fenceline.guard g SET claimed_at = g.claimed_at
         WHERE g.lock = p_locks[i] AND g.token = p_tokens[i] AND g.holder = p_holders[i];
        IF NOT FOUND THEN
            PERFORM fenceline.not_the_mark_v1(p_locks[i], p_tokens[i]);
        END IF;
    END LOOP;
    PERFORM fenceline.has_entered_v1(p_locks, p_tokens, p_holders);
    entered_xid := pg_current_xact_id()::text;
    entered_at := clock_timestamp();
    begun_at := now();
    RETURN NEXT;
END
$$;

-- Enters beside other transactions of the same claim, and still keeps newer claims out until the end. Two of these that read and
-- then write the same rows lose updates to each other.
CREATE FUNCTION fenceline.enter_concurrent_v1(
        p_locks text[], p_tokens bigint[], p_holders uuid[], p_wait_ms integer, p_transaction_ms integer)
    RETURNS TABLE (entered_xid text, entered_at timestamptz, begun_at timestamptz, has_snapshot boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF current_setting('transaction_read_only') = 'on' THEN
        RETURN QUERY SELECT * FROM fenceline.enter_reading_v1(p_locks, p_tokens, p_holders, p_wait_ms, p_transaction_ms);
        RETURN;
    END IF;
    PERFORM fenceline.require_primary_v1('Fenced transaction');
    PERFORM fenceline.limit_work_v1(p_wait_ms, p_transaction_ms);
    PERFORM fenceline.share_turn_v1(p_locks);
    FOR i IN 1 .. cardinality(p_locks) LOOP
        PERFORM 1 FROM fenceline.guard g
          WHERE g.lock = p_locks[i] AND g.token = p_tokens[i] AND g.holder = p_holders[i]
            FOR SHARE;
        IF NOT FOUND THEN
            PERFORM fenceline.not_the_mark_v1(p_locks[i], p_tokens[i]);
        END IF;
    END LOOP;
    PERFORM fenceline.has_entered_v1(p_locks, p_tokens, p_holders);
    entered_xid := pg_current_xact_id()::text;
    entered_at := clock_timestamp();
    begun_at := now();
    RETURN NEXT;
END
$$;

-- One statement --------------------------------------------------------------------------------------------------------
-- One lock is held by the statement itself, in plain SQL: a function that did it would cost as much as the statement. Several locks
-- have an order, which SQL does not promise, and are held by hold_v1.
--
-- Functions with RETURN are put into the calling statement by the planner, and cost nothing. Their names were resolved when they
-- were created, so they need no search_path, with which they would be called instead.

-- What such a statement may do with marks: lock one by writing it as it is (see enter_v1). A view, since the rights to it are those
-- of its owner: nobody needs any on the table. The version is what the statement's snapshot sees; one that it did not see is not
-- held, or the rest of the statement would work on an older state than the mark's.
CREATE VIEW fenceline.holding_v1 AS SELECT g.lock, g.token, g.holder, g.claimed_at, g.xmin AS version FROM fenceline.guard g;

COMMENT ON VIEW fenceline.holding_v1 IS 'Marks, to be locked by UPDATE ... SET claimed_at = claimed_at. No other column can be written.';

-- As limit_work_v1, but for lying idle, which a statement that is its own transaction never does.
CREATE FUNCTION fenceline.limit_statement_v1(p_wait_ms integer, p_transaction_ms integer) RETURNS boolean
    LANGUAGE sql VOLATILE
RETURN CASE
    WHEN current_setting('lock_timeout') = '0' AND current_setting('tcp_user_timeout') = '0'
         AND coalesce(current_setting('transaction_timeout', true), '0') = '0'
    THEN set_config('lock_timeout', p_wait_ms::text, true) IS NOT NULL
         AND set_config('tcp_user_timeout', p_wait_ms::text, true) IS NOT NULL
         AND (current_setting('transaction_timeout', true) IS NULL
              OR set_config('transaction_timeout', p_transaction_ms::text, true) IS NOT NULL)
    ELSE fenceline.limit_work_v1(p_wait_ms, p_transaction_ms)
END;

-- As has_entered_v1, for the lock that the statement holds. V4 replaces this too.
CREATE FUNCTION fenceline.note_held_v1(p_lock text) RETURNS text
    LANGUAGE sql VOLATILE
RETURN p_lock;

-- Undoes the statement, which has found no mark to hold: another one, or its own in a version that it did not see, which is 40001, to
-- be run again.
CREATE FUNCTION fenceline.refuse_held_v1(p_lock text, p_token bigint, p_holder uuid) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM 1 FROM fenceline.guard g WHERE g.lock = p_lock AND g.token = p_token AND g.holder = p_holder;
    IF NOT FOUND THEN
        PERFORM fenceline.not_the_mark_v1(p_lock, p_token);
    END IF;
    RAISE EXCEPTION USING
        ERRCODE = '40001',
        MESSAGE = format('Another transaction under token %s of lock %L has ended since this statement began', p_token, p_lock);
END
$$;

-- The versions of the marks that the calling statement sees. STABLE, and so with the snapshot of that statement.
CREATE FUNCTION fenceline.seen_v1(p_locks text[]) RETURNS xid[]
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT array_agg(g.xmin ORDER BY l.n)
              FROM unnest(p_locks) WITH ORDINALITY AS l(name, n) LEFT JOIN fenceline.guard g ON g.lock = l.name);
END
$$;

-- Holds the marks for the statement that calls this first, in a CTE beside the caller's own INSERT, UPDATE or DELETE. What that
-- reads is as old as the statement's snapshot, which was taken before any waiting here: if a mark was written since, by another
-- transaction of the same claim, the statement would work on an old state, and is refused with 40001, to be run again.
CREATE FUNCTION fenceline.hold_v1(
        p_locks text[], p_tokens bigint[], p_holders uuid[], p_wait_ms integer, p_transaction_ms integer, p_seen xid[])
    RETURNS TABLE (held_at timestamptz)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_primary_v1('Fenced statement');
    PERFORM fenceline.limit_work_v1(p_wait_ms, p_transaction_ms);
    FOR i IN 1 .. cardinality(p_locks) LOOP
        -- Written as it is: see enter_v1. A version that another transaction has replaced is looked at anew, and does not fit then.
        UPDATE fenceline.guard g SET claimed_at = g.claimed_at
         WHERE g.lock = p_locks[i] AND g.token = p_tokens[i] AND g.holder = p_holders[i] AND g.xmin = p_seen[i];
        CONTINUE WHEN FOUND;
        PERFORM fenceline.refuse_held_v1(p_locks[i], p_tokens[i], p_holders[i]);
    END LOOP;
    PERFORM fenceline.has_entered_v1(p_locks, p_tokens, p_holders);
    held_at := clock_timestamp();
    RETURN NEXT;
END
$$;

-- As enter_concurrent_v1, for one statement.
CREATE FUNCTION fenceline.hold_concurrent_v1(
        p_locks text[], p_tokens bigint[], p_holders uuid[], p_wait_ms integer, p_transaction_ms integer)
    RETURNS TABLE (held_at timestamptz)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_primary_v1('Fenced statement');
    PERFORM fenceline.limit_work_v1(p_wait_ms, p_transaction_ms);
    PERFORM fenceline.share_turn_v1(p_locks);
    FOR i IN 1 .. cardinality(p_locks) LOOP
        PERFORM 1 FROM fenceline.guard g
          WHERE g.lock = p_locks[i] AND g.token = p_tokens[i] AND g.holder = p_holders[i]
            FOR SHARE;
        IF NOT FOUND THEN
            PERFORM fenceline.not_the_mark_v1(p_locks[i], p_tokens[i]);
        END IF;
    END LOOP;
    PERFORM fenceline.has_entered_v1(p_locks, p_tokens, p_holders);
    held_at := clock_timestamp();
    RETURN NEXT;
END
$$;

-- What one statement changed, so that this is known too where its reply was lost.
ALTER TABLE fenceline.operation ADD COLUMN changed bigint;

COMMENT ON COLUMN fenceline.operation.changed IS 'How many rows a single statement changed; null for a transaction';

-- Records the operation within the statement itself; else as leave_v1. The caller does not know when it entered, and says since when it
-- has not: a time of this server that it was told before it sent the statement.
CREATE FUNCTION fenceline.record_v1(p_operation uuid, p_since timestamptz, p_changed bigint) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_since < clock_timestamp() - interval '7 days' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'FL007',
            MESSAGE = 'Statement refused: it was sent on what this server told more than 7 days ago';
    END IF;
    -- Plain, as in leave_v1.
    INSERT INTO fenceline.operation (id, entered_at, outcome, changed) VALUES (p_operation, p_since, 'applied', p_changed);
    IF current_setting('transaction_isolation') = 'read committed' THEN
        PERFORM fenceline.prune_operations_v1(2);
    END IF;
END
$$;

CREATE FUNCTION fenceline.changed_v1(p_operation uuid) RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT o.changed FROM fenceline.operation o WHERE o.id = p_operation
$$;

-- Questions -------------------------------------------------------------------------------------------------------------

-- Reads the marks; nulls for a lock that was never claimed here.
CREATE FUNCTION fenceline.marks_v1(p_locks text[])
    RETURNS TABLE (newest_token bigint, newest_holder uuid, read_at timestamptz)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_primary_v1('Reading a mark');
    RETURN QUERY
        SELECT g.token, g.holder, clock_timestamp()
          FROM unnest(p_locks) WITH ORDINALITY AS l(name, n) LEFT JOIN fenceline.guard g ON g.lock = l.name
         ORDER BY l.n;
END
$$;

-- Names who keeps a claim of these tokens out. Who holds the row of a mark comes first; else who stands in front of it.
--
-- Is overtaken: a transaction under an older token, to be ended if it will not end. Never another claim, and nobody whose token is as
-- new as the caller's. A row that is locked exclusively has one locker, and xmax is its number. One that is shared has many, and
-- xmax may be the number of their list; numbers of lists and of transactions are counted apart and can be equal, so of those
-- only the ones count that hold the shared turn too.
CREATE FUNCTION fenceline.blockers_v1(p_locks text[], p_tokens bigint[])
    RETURNS TABLE (lock text, pid integer, application_name text, is_overtaken boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_guard record;
    v_key oid;
    v_shared boolean;
    v_lockers xid[];
    v_sharing integer[];
    v_claiming integer[];
BEGIN
    FOR i IN 1 .. cardinality(p_locks) LOOP
        v_key := (hashtext(p_locks[i] COLLATE "C")::bigint & 4294967295)::oid;
        SELECT coalesce(array_agg(l.pid) FILTER (WHERE l.mode = 'ShareLock'), '{}'),
               coalesce(array_agg(l.pid) FILTER (WHERE l.mode = 'ExclusiveLock'), '{}')
          INTO v_sharing, v_claiming
          FROM pg_locks l
         WHERE l.locktype = 'advisory' AND l.granted AND l.pid <> pg_backend_pid()
           AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
           AND l.classid = 1178947139::oid AND l.objid = v_key AND l.objsubid = 2;
        SELECT g.token, g.xmax INTO v_guard FROM fenceline.guard g WHERE g.lock = p_locks[i];
        IF FOUND THEN
            v_lockers := ARRAY[v_guard.xmax];
            BEGIN
                PERFORM 1 FROM fenceline.guard g WHERE g.lock = p_locks[i] FOR SHARE NOWAIT;
                v_shared := true;
                v_lockers := v_lockers || ARRAY(SELECT m.xid FROM pg_get_multixact_members(v_guard.xmax) m);
            EXCEPTION
                WHEN lock_not_available THEN
                    v_shared := false;
                WHEN OTHERS THEN
                    -- Not the number of a list.
                    v_shared := true;
            END;
            RETURN QUERY
                SELECT p_locks[i], l.pid, coalesce(a.application_name, ''),
                       v_guard.token < p_tokens[i] AND l.pid <> ALL (v_claiming)
                  FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
                 WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock'
                   AND l.transactionid = ANY (v_lockers) AND l.pid <> pg_backend_pid()
                   AND (NOT v_shared OR l.pid = ANY (v_sharing));
            CONTINUE WHEN FOUND;
        END IF;
        RETURN QUERY
            SELECT p_locks[i], p.pid, coalesce(a.application_name, ''), false
              FROM unnest(v_sharing || v_claiming) AS p(pid) LEFT JOIN pg_stat_activity a ON a.pid = p.pid;
    END LOOP;
END
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA fenceline FROM PUBLIC;
