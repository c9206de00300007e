-- Base and replaced version differ exactly when this write wiped out one that its writer had not seen.
INSERT INTO history (account, scene, writer, token, base_version, replaced_version, balance_cents, change_cents)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
