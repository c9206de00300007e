-- Invariant: a lock that ends goes to the first who waits, or is free; who was told of it is who holds it.
--
-- Included by the scripts that end a lock, which say whose: `me`; what lies there: `value`; and for how long it stays taken, if
-- it does: `keep`. The reply is that of release.lua.

local mine = value and string.sub(value, 1, 32) == me
local line = redis.call('ZRANGE', KEYS[2], 0, 1)

-- The usual case first, before the functions below cost anything.
if not line[1] and not (mine and keep) then
  return mine and redis.call('DEL', KEYS[1]) or 0
end

--#include time.lua
--#include token.lua
--#include queue.lua

if mine and keep then
  if line[1] then
    watch(line[1], keep)
  end
  -- Under a holder that nobody is: what we sent before and is still on its way, a renewal or a release, must not change the time.
  redis.call('SET', KEYS[1], string.rep('0', 32) .. string.sub(value, 33), 'PX', keep)
  return 1
end
if value and not mine then
  if line[1] == me and line[2] then
    -- We were to watch this holder; now the next one does.
    watch(line[2], text(redis.call('PTTL', KEYS[1])))
  end
  leave({ me })
  return 0
end

-- The lock is free now.
local refused, given
if #KEYS > 3 then
  local stored = redis.call('MGET', KEYS[4], KEYS[5], KEYS[6])
  refused = decide(stored[1], stored[2], tonumber(stored[3]) or 0)
end
if refused then
  tell_of(refused, me)
else
  given = offer({ [me] = 'LEAVES' })
end
if not mine then
  leave({ me })
end
if refused then
  write_jump()
end
if mine and not given then
  redis.call('DEL', KEYS[1])
end
local word = mine and 1 or 0
if incarnation then
  return { text(word), text(time), incarnation }
end
return word
