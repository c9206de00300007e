-- What a session computes from: the balance, and the version that its write will be based on.
SELECT balance_cents, version, fence_token FROM account WHERE id = ?
