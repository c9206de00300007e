-- Idempotent: a movement that is booked already returns no amount, and so does not count twice.
INSERT INTO booking (movement_id, account, amount_cents)
SELECT m.id, ?, m.amount FROM unnest(?::text[], ?::bigint[]) AS m (id, amount)
ON CONFLICT DO NOTHING
RETURNING amount_cents
