-- Invariant: a free lock goes to whoever is first in the queue; the same holder is granted the same token however often he asks.
--
-- Acquire, poll and accept in one. KEYS and the first two ARGV are those of token.lua.
-- ARGV  3 lease in ms, 4 who holds; and as far as there are such, else nothing or not there:
--       5 floor, also there with a restart delay,
--       6 predecessor: a holder of the same client whose lock, or whose place in the queue, is now mine,
--       7 BEFORE_OTHERS where the predecessor's lock may come to me before others that queue
-- Reply the token, a number, where it was granted and INFO was not asked; or
--       granted, token, time, incarnation        held, value, PTTL [, time, incarnation]
--       or a refusal of token.lua

--#include time.lua

local me = ARGV[1]
local fenced = #KEYS > 3
local value, counter, boot, floor
if fenced then
  local stored = redis.call('MGET', KEYS[1], KEYS[4], KEYS[5], KEYS[6])
  value, counter, boot, floor = stored[1], stored[2], stored[3], stored[4]
else
  value = redis.call('GET', KEYS[1])
end

-- The usual case first, before the functions below cost anything: the lock is free, nobody queues, nothing is special. It is
-- what `decide` and `grant` would do there: with the clock above the counter and no floor TIME is the token, without a wait.
-- The offsets are those of a known incarnation; of another one they cut something that equals no boot key.
if not value and not ARGV[5] and not redis.call('ZRANGE', KEYS[2], 0, 0)[1] then
  if not fenced then
    redis.call('SET', KEYS[1], me .. '|0|' .. string.format('%.0f', time) .. '|' .. ARGV[4], 'PX', ARGV[3])
    return 0
  end
  local last = tonumber(counter)
  if last and last < time and boot and not floor and string.sub(boot, 1, 84) == string.sub(ARGV[2], 1, 84) then
    local checked = tonumber(string.sub(ARGV[2], 85, 100))
    if checked and time >= checked and time <= checked + 1000000 and time < 9007199254740992 then
      local now = string.format('%.0f', time)
      redis.call('SET', KEYS[4], now)
      redis.call('SET', KEYS[1], me .. '|' .. now .. '|' .. now .. '|' .. ARGV[4], 'PX', ARGV[3])
      return time
    end
  end
end

if value and string.sub(value, 1, 32) == me then
  -- Accepted; or our reply was lost, or our command came twice: the same grant once more.
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  return tonumber(string.match(value, '^%x+|(%d+)|'))
end

--#include token.lua
--#include queue.lua

local asked_floor = tonumber(ARGV[5]) or 0
local predecessor = ARGV[6] ~= '' and ARGV[6] or nil
local passed, place
if predecessor then
  passed = value and string.sub(value, 1, 32) == predecessor
  place = redis.call('ZSCORE', KEYS[2], predecessor)
end

-- The message that we may have had was only a hint. Coming again keeps the place, and shows that we live.
local function enqueue()
  local score = place and tonumber(place)
  if place then
    leave({ predecessor })
  elseif channel == '' then
    return
  end
  local millis = 2 * tonumber(ARGV[3])
  if not score then
    local last = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
    score = last and math.max(time, tonumber(last) + 1) or time
  end
  redis.call('ZADD', KEYS[2], 'NX', text(score), me)
  redis.call('HSET', KEYS[3], me, text(time + millis * 1000) .. '|' .. channel .. '|' .. ARGV[4])
  -- A client that is gone leaves no queue behind. Others may wait longer than we do.
  for _, key in ipairs({ KEYS[2], KEYS[3] }) do
    if redis.call('PTTL', key) < 2 * millis then
      redis.call('PEXPIRE', key, text(2 * millis))
    end
  end
  if fenced and asked_floor > (tonumber(redis.call('GET', KEYS[6])) or 0) then
    -- Whoever releases offers to us without knowing of our floor.
    keep_floor(asked_floor)
  end
end

if value and not passed then
  enqueue()
  return { 'held', value, text(redis.call('PTTL', KEYS[1])) }
end

local refused = fenced and decide(counter, boot, math.max(asked_floor, tonumber(floor) or 0))
if refused then
  if passed then
    tell_of(refused, me)
    redis.call('DEL', KEYS[1])
  end
  write_jump()
  if place then
    enqueue()
  end
  return refused
end

local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
local in_turn = not first or first == me or first == predecessor
if not in_turn and not (passed and ARGV[7] == 'BEFORE_OTHERS') then
  value = offer({ [me] = 'ASKS', [predecessor or me] = 'ASKS' })
  if value then
    enqueue()
    return { 'held', value, acceptance, text(time), incarnation }
  end
end
if first then
  leave({ me, predecessor })
end
grant(me, ARGV[4], ARGV[3])
if incarnation then
  return { 'granted', text(token), text(time), incarnation }
end
return token
