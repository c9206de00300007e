-- Invariant: only the holder releases; sent twice, late, or for a grant that never came, it changes nothing for others.
--
-- Release and cancel in one: the holder leaves lock and queue, and a lock that is free then goes to the first who waits.
-- Includes token.lua, which names KEYS and the first ten ARGV, and queue.lua.
-- ARGV  11 for how many more ms the lock stays taken
-- Reply released, or absent [, time, incarnation]

--#include token.lua
--#include queue.lua

-- Under a holder that nobody is: what we sent before and is still on its way, a renewal or a release, must not change the time.
local function keep(value)
  redis.call('SET', KEYS[1], string.rep('0', 32) .. string.sub(value, 33), 'PX', ARGV[11])
end

local me = ARGV[1]
local value = redis.call('GET', KEYS[1])
local mine = value and string.sub(value, 1, 32) == me
local word = mine and 'released' or 'absent'

local line = redis.call('ZRANGE', KEYS[2], 0, 1)
if #line == 0 then
  if mine then
    if ARGV[11] == '0' then
      redis.call('DEL', KEYS[1])
    else
      keep(value)
    end
  end
  return { word }
end

look_at_clock()
if not mine then
  if value and line[1] == me and line[2] then
    -- We were to watch this holder; now the next one does.
    watch(line[2], text(redis.call('PTTL', KEYS[1])))
  end
  leave({ me })
elseif ARGV[11] ~= '0' then
  watch(line[1], ARGV[11])
  keep(value)
end
if (value and not mine) or (mine and ARGV[11] ~= '0') then
  return { word }
end

-- The lock is free now.
local refused, given
if #KEYS > 3 then
  local stored = redis.call('MGET', KEYS[4], KEYS[5], KEYS[6])
  refused = decide(stored[1], stored[2], stored[3])
end
if not refused then
  given = offer()
elseif refused[1] == 'wait' or refused[1] == 'reborn' then
  -- Offered to nobody: they ask again, and the first need not wait for what it thinks is left of our lease.
  local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  if first then
    watch(first, text(math.ceil(tonumber(refused[2]) / 1000)))
  end
end
if mine and not given then
  redis.call('DEL', KEYS[1])
end
return { word, text(time), incarnation }
