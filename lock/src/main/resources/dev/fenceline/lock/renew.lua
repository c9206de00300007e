-- Invariant: only the holder prolongs a lock, and one that is gone is never made again.
-- KEYS lock. ARGV holder, lease in ms. Reply 1 renewed, 0 refused.
local value = redis.call('GET', KEYS[1])
if value and string.sub(value, 1, 32) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
