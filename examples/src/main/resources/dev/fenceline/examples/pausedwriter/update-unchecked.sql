-- Sets what the writer computed. Returns the version that was replaced, whatever the writer believes it to be.
UPDATE account SET balance_cents = ?, version = version + 1 WHERE id = ? RETURNING version - 1
