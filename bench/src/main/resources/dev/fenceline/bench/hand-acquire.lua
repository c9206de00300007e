-- Invariant: sets the lock only if nobody holds it. The least that a lock with a lease does; no token, no queue.
-- KEYS lock. ARGV holder, lease in ms. Reply 1 granted, 0 held.
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return 1
end
return 0
