-- Invariant: a balance changes only together with its bookings and one row of history, in one transaction.
CREATE TABLE account (
    id            text PRIMARY KEY,
    balance_cents bigint NOT NULL DEFAULT 0,
    version       bigint NOT NULL DEFAULT 0,
    fence_token   bigint NOT NULL DEFAULT 0
);
CREATE TABLE booking (
    movement_id  text PRIMARY KEY,
    account      text NOT NULL REFERENCES account (id),
    amount_cents bigint NOT NULL
);
CREATE TABLE history (
    seq              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account          text NOT NULL REFERENCES account (id),
    scene            text NOT NULL,
    writer           text NOT NULL,
    token            bigint NOT NULL,
    base_version     bigint NOT NULL,
    replaced_version bigint NOT NULL,
    balance_cents    bigint NOT NULL,
    change_cents     bigint NOT NULL,
    written_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
