-- The folklore check: refuses a token lower than the last one written. It does not see who has read meanwhile.
UPDATE account SET balance_cents = ?, version = version + 1, fence_token = ? WHERE id = ? AND fence_token <= ? RETURNING version - 1
