-- Invariant: a free lock goes to whoever is first in the queue; the same holder is granted the same token however often he asks.
--
-- Acquire, poll and accept in one. Includes token.lua, which names KEYS and the first ten ARGV, and queue.lua.
-- ARGV  11 lease in ms, 12 who holds, 13 channel to queue with, or nothing for whoever does not wait,
--       14 predecessor: a holder of the same client whose lock, or whose place in the queue, is now mine; or nothing,
--       15 BEFORE_OTHERS where the predecessor's lock may come to me before others that queue
-- Reply granted, token, time [, incarnation]        held, value, PTTL [, time, incarnation]
--       or a refusal of token.lua

--#include token.lua
--#include queue.lua

local me = ARGV[1]
local fenced = #KEYS > 3

-- The message that we may have had was only a hint. Coming again keeps the place, and shows that we live.
local function enqueue(place)
  local millis = 2 * tonumber(ARGV[11])
  if not place then
    local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
    place = last and math.max(time, tonumber(last) + 1) or time
  end
  redis.call('ZADD', KEYS[2], 'NX', text(place), me)
  redis.call('HSET', KEYS[3], me, text(time + millis * 1000) .. '|' .. ARGV[13] .. '|' .. ARGV[12])
  -- A client that is gone leaves no queue behind. Others may wait longer than we do.
  for _, key in ipairs({ KEYS[2], KEYS[3] }) do
    if redis.call('PTTL', key) < 2 * millis then
      redis.call('PEXPIRE', key, text(2 * millis))
    end
  end
  local floor = tonumber(ARGV[10])
  if fenced and floor > (tonumber(redis.call('GET', KEYS[6])) or 0) then
    -- Whoever releases offers to us without knowing of our floor.
    keep_floor(floor)
  end
end

look_at_clock()
local value, counter, boot, floor
if fenced then
  local stored = redis.call('MGET', KEYS[1], KEYS[4], KEYS[5], KEYS[6])
  value, counter, boot, floor = stored[1], stored[2], stored[3], stored[4]
else
  value = redis.call('GET', KEYS[1])
end

if value and string.sub(value, 1, 32) == me then
  -- Accepted; or our reply was lost, or our command came twice: the same grant once more.
  redis.call('PEXPIRE', KEYS[1], ARGV[11])
  return { 'granted', string.match(value, '^%x+|(%d+)|'), text(time) }
end

local passed = false
if ARGV[14] ~= '' then
  passed = value and string.sub(value, 1, 32) == ARGV[14]
  local place = redis.call('ZSCORE', KEYS[2], ARGV[14])
  if place then
    leave({ ARGV[14] })
    enqueue(tonumber(place))
  end
end

if value and not passed then
  if ARGV[13] ~= '' then
    enqueue()
  end
  return { 'held', value, text(redis.call('PTTL', KEYS[1])) }
end

local refused = fenced and decide(counter, boot, floor)
if refused then
  -- Offered to nobody: those who queue poll.
  if passed then
    redis.call('DEL', KEYS[1])
  end
  return refused
end

local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
if first and first ~= me and not (passed and ARGV[15] == 'BEFORE_OTHERS') then
  value = offer()
  if value then
    if ARGV[13] ~= '' then
      enqueue()
    end
    return { 'held', value, ARGV[2], text(time), incarnation }
  end
end
if first then
  leave({ me })
end
grant(me, ARGV[12], ARGV[11])
return { 'granted', text(token), text(time), incarnation }
