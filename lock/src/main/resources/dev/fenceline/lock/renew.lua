-- Invariant: only the holder prolongs a lock, and one that is gone is never made again.
-- KEYS lock. ARGV holder, lease in ms. Reply renewed, or refused.
local value = redis.call('GET', KEYS[1])
if value and string.sub(value, 1, 32) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) == 1 then
  return { 'renewed' }
end
return { 'refused' }
