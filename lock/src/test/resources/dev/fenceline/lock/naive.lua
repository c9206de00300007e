-- The folklore, as a control that repeats numbers: a counter that is only counted up.
-- KEYS lock, counter. ARGV holder, lease in ms.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return -1
end
local token = redis.call('INCR', KEYS[2])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return token
