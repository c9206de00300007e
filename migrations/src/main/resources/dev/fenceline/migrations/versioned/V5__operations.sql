-- Invariant: a mark that is raised here belongs to nobody, and is above what it was and above what the lock server has issued by its clock; so whoever was admitted by it before is refused.
--
-- SQLSTATEs beside those before: FL013, a mark that cannot be higher.
--
-- For people who operate a database: after a restore, whose marks are those of an earlier time, and for a holder that is to be shut out.
-- The holder of a raised mark is fresh, and no token carries it. That alone makes it safe, whatever the clocks say: work goes on under
-- a mark by equality. The height is for those whose grant has not claimed yet, and for order.
--
-- S, the backward step of its clock that a lock server tolerates, is 10 s, and K, the skew between its masters, 250 ms: see token.lua.

CREATE OR REPLACE FUNCTION fenceline.version_v1() RETURNS integer
    LANGUAGE sql IMMUTABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS 'SELECT 5';

-- One row for each raising, whose holder tells a raised mark from a claimed one. Kept for good: they are few, and somebody will ask.
CREATE TABLE fenceline.raising (
    holder           uuid PRIMARY KEY,
    at               timestamptz NOT NULL,
    lock             text COLLATE "C",
    application_name text NOT NULL,
    role             text NOT NULL,
    client_address   inet
);

COMMENT ON TABLE fenceline.raising IS 'Marks that were raised by an operator. A mark with such a holder admits nobody: the next claim passes it.';
COMMENT ON COLUMN fenceline.raising.lock IS 'NULL where all marks were raised, after a restore';

-- The highest that a token can be: the lock server computes in doubles.
CREATE FUNCTION fenceline.highest_token_v1() RETURNS bigint
    LANGUAGE sql IMMUTABLE
    SET search_path = pg_catalog, pg_temp
AS 'SELECT 9007199254740991';

-- The height of a raised mark; of one that is below the highest.
CREATE FUNCTION fenceline.raised_token_v1(p_token bigint) RETURNS bigint
    LANGUAGE sql VOLATILE
    SET search_path = pg_catalog, pg_temp
AS $$
    SELECT greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint + 10250000, p_token + 1)
$$;

-- Records that somebody raises a mark, or all, and answers with the holder to do it with: fresh, and of the form of is_raised_holder_v1, so
-- that whoever is refused by it can be told that an operator did it, wherever the mark has come to.
CREATE FUNCTION fenceline.begin_raising_v1(p_lock text) RETURNS uuid
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_holder uuid := overlay(overlay(gen_random_uuid()::text PLACING '8' FROM 15) PLACING '726169736564' FROM 25);
BEGIN
    PERFORM fenceline.check_claim_v1(1, NULL);
    INSERT INTO fenceline.raising (holder, at, lock, application_name, role, client_address)
    VALUES (v_holder, clock_timestamp(), p_lock, current_setting('application_name'), fenceline.writer_v1(), inet_client_addr());
    RETURN v_holder;
END
$$;

-- Only for holders of begin_raising_v1: a mark of any other could be somebody's.
CREATE FUNCTION fenceline.require_raising_v1(p_holder uuid) RETURNS void
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM fenceline.raising r WHERE r.holder = p_holder) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'invalid_parameter_value',
            MESSAGE = format('Raising refused: %L is no holder of a raising', p_holder),
            HINT = 'fenceline.begin_raising_v1(lock) answers with one.';
    END IF;
END
$$;

-- Raises one mark, also of a lock that was never claimed here. Waits for who works under it, and takes the turn that claim_v2 takes, or
-- concurrent transactions that overlap could keep it out for ever; a second of its waits is no longer than what the first has left.
--
-- The wait can be long, so the record is looked at after it and not before: a lock on fenceline.raising would be held all the time,
-- and an upgrade that changes that table would wait for it, and everybody else for the upgrade.
CREATE FUNCTION fenceline.raise_v1(p_lock text, p_holder uuid, p_timeout_ms integer) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_deadline timestamptz := clock_timestamp() + p_timeout_ms * interval '1 millisecond';
    v_left_ms integer;
    v_mark fenceline.guard;
BEGIN
    PERFORM fenceline.require_name_v1(p_lock);
    IF NOT coalesce(fenceline.is_raised_holder_v1(p_holder), false) THEN
        PERFORM fenceline.require_raising_v1(p_holder);
    END IF;
    PERFORM fenceline.check_claim_v1(1, p_timeout_ms);
    PERFORM pg_advisory_xact_lock(1178947139, hashtext(p_lock COLLATE "C"));
    v_left_ms := greatest(1, least(p_timeout_ms, ceil(extract(epoch FROM v_deadline - clock_timestamp()) * 1000)));
    PERFORM set_config('lock_timeout', v_left_ms::text, true);
    INSERT INTO fenceline.guard AS g (lock, token, holder, claimed_at, claimed_by)
    VALUES (p_lock, fenceline.raised_token_v1(0), p_holder, clock_timestamp(), current_setting('application_name'))
    ON CONFLICT (lock) DO UPDATE
        SET token = fenceline.raised_token_v1(g.token),
            holder = excluded.holder,
            claimed_at = excluded.claimed_at,
            claimed_by = excluded.claimed_by
        WHERE g.holder <> excluded.holder AND g.token < fenceline.highest_token_v1();
    IF NOT FOUND THEN
        SELECT g.* INTO v_mark FROM fenceline.guard g WHERE g.lock = p_lock;
        IF v_mark.holder <> p_holder THEN
            RAISE EXCEPTION USING
                ERRCODE = 'FL013',
                MESSAGE = format('Raising the mark of lock %L refused: it is %s, and no mark can be higher',
                    p_lock, fenceline.token_text_v1(v_mark.token, v_mark.holder)),
                HINT = 'No fence has claimed it, since a claim is at most 25 h ahead of the clock. Find out who wrote it. Then, with all who use'
                    ' this lock stopped, the owner of the schema sets it to the present, with trigger keep_mark disabled for that statement.';
        END IF;
    END IF;
    PERFORM fenceline.require_raising_v1(p_holder);
END
$$;

-- Raises the next marks in the order of their names, and waits for nobody: those that somebody works under are answered as busy, for
-- raise_v1, and so are those that cannot be higher, of which it says so. Passes over marks of this very raising alone: one that an earlier
-- raising has raised is an old mark like any other, and whose grant is newer than that raising could still claim it. Above the highest there
-- is no such grant.
CREATE FUNCTION fenceline.raise_marks_v1(p_holder uuid, p_after text, p_most integer)
    RETURNS TABLE (last_lock text, looked bigint, raised bigint, busy text[])
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_mark record;
    v_token bigint;
BEGIN
    PERFORM fenceline.require_raising_v1(p_holder);
    PERFORM fenceline.check_claim_v1(1, NULL);
    last_lock := p_after;
    looked := 0;
    raised := 0;
    busy := '{}';
    FOR v_mark IN
        SELECT g.lock, g.holder,
               g.token >= fenceline.highest_token_v1()
                   AND EXISTS (SELECT FROM fenceline.raising r WHERE r.holder = g.holder) AS is_shut
          FROM fenceline.guard g
         WHERE g.lock > p_after
         ORDER BY g.lock
         LIMIT p_most
    LOOP
        last_lock := v_mark.lock;
        looked := looked + 1;
        CONTINUE WHEN v_mark.holder = p_holder OR v_mark.is_shut;
        SELECT g.token INTO v_token FROM fenceline.guard g
         WHERE g.lock = v_mark.lock AND g.token < fenceline.highest_token_v1() FOR NO KEY UPDATE SKIP LOCKED;
        IF FOUND THEN
            UPDATE fenceline.guard g
               SET token = fenceline.raised_token_v1(v_token),
                   holder = p_holder,
                   claimed_at = clock_timestamp(),
                   claimed_by = current_setting('application_name')
             WHERE g.lock = v_mark.lock;
            raised := raised + 1;
        ELSE
            busy := busy || v_mark.lock;
        END IF;
    END LOOP;
    RETURN NEXT;
END
$$;

-- The mark of a lock, with who claimed it and when; no row when the lock was never claimed here.
CREATE FUNCTION fenceline.describe_mark_v1(p_lock text)
    RETURNS TABLE (token bigint, holder uuid, claimed_at timestamptz, claimed_by text, is_raised boolean)
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM fenceline.require_primary_v1('Reading a mark');
    RETURN QUERY
        SELECT g.token, g.holder, g.claimed_at, g.claimed_by,
               EXISTS (SELECT FROM fenceline.raising r WHERE r.holder = g.holder)
          FROM fenceline.guard g
         WHERE g.lock = p_lock;
END
$$;

REVOKE ALL ON ALL ROUTINES IN SCHEMA fenceline FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA fenceline FROM PUBLIC;
