-- Invariant: tells whether a server takes part in Redlock, and changes nothing.
--
-- KEYS  1 node
-- Reply 1 or 0

return redis.call('HGET', KEYS[1], 'boot') and 1 or 0
