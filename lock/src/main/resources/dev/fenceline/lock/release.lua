-- Invariant: only the holder releases; sent twice, late, or for a grant that never came, it changes nothing.
-- KEYS lock. ARGV holder. Reply released, or absent.
local value = redis.call('GET', KEYS[1])
if value and string.sub(value, 1, 32) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  return { 'released' }
end
return { 'absent' }
