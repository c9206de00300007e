-- Invariant: only the holder releases a node, and the late release of one attempt leaves a later attempt alone.
--
-- KEYS  1 lock
-- ARGV  1 holder, 2 the highest token that is released, or nothing for any, 3 for how many more ms the lock stays taken, or 0
-- Reply 1 released, 0 absent

local value = redis.call('GET', KEYS[1])
if not value or string.sub(value, 1, 32) ~= ARGV[1] then
  return 0
end
if ARGV[2] ~= '' and tonumber(string.match(value, '^%x+|(%d+)|')) > tonumber(ARGV[2]) then
  return 0
end
if ARGV[3] ~= '0' then
  -- Under a holder that nobody is, as in ending.lua.
  redis.call('SET', KEYS[1], string.rep('0', 32) .. string.sub(value, 33), 'PX', ARGV[3])
  return 1
end
return redis.call('DEL', KEYS[1])
