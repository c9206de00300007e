-- Invariant: a node grants a lock only while it is free, and only under a token above all that it granted before.
--
-- The client proposes the token, and only a majority of nodes that hold the same one makes a grant. Two majorities share a node,
-- which refuses the token that is not above the other: so no token repeats, and whoever asks after a grant gets a higher one.
--
-- KEYS  1 node, 2 lock, and for a fenced lock also 3 floor
-- ARGV  1 to 3 as in redlock-node.lua, 4 holder, 5 lease in ms, 6 who holds, 7 token; of an efficiency lock the number of the
--       attempt, 8 S, 9 floor, or 0: a mark that refused us, or that a node told us of; a token just above it may be ahead of the
--       clock, 10 a holder of the same client whose lock is now mine, or nothing
-- Reply word, time, counter, mark, incarnation or nothing, and of `held` the value and PTTL, of `reborn` how long in
--       microseconds: granted; held by another; behind: the token is not above counter and mark; ahead: it is more than S ahead
--       of this clock; reborn

--#include time.lua
--#include redlock-node.lua

local day = 86400000000
local me, token = ARGV[4], tonumber(ARGV[7])
local fenced = #KEYS > 2
local value
local counter, mark = 0, 0
if fenced then
  local found = redis.call('MGET', KEYS[2], KEYS[3])
  value = found[1]
  counter = math.max(base, tonumber(stored[2] or 0))
  mark = tonumber(found[2] or 0)
else
  value = redis.call('GET', KEYS[2])
end

local function reply(word, first, second)
  return { word, time, counter, mark, incarnation, first, second }
end

if value and string.sub(value, 1, 32) == ARGV[10] then
  -- Also where it is then refused to me: the client has given it up.
  redis.call('DEL', KEYS[2])
  value = false
end
if value and string.sub(value, 1, 32) ~= me then
  return reply('held', value, redis.call('PTTL', KEYS[2]))
end
local own = value and tonumber(string.match(value, '^%x+|(%d+)|'))
if own == token then
  -- Our reply was lost, or our command came twice: the same grant once more.
  redis.call('PEXPIRE', KEYS[2], ARGV[5])
  return reply('granted')
end
if own and own > token then
  return reply('behind') -- a command of an earlier round, by an old connection
end
if rest > 0 then
  return reply('reborn', rest)
end
if fenced then
  if token <= counter or token <= mark then
    return reply('behind')
  end
  if token <= time + tonumber(ARGV[8]) then
    counter = token
    redis.call('HSET', KEYS[1], ARGV[3], ARGV[7])
  else
    if token > time + day or token - 1 > math.max(mark, tonumber(ARGV[9])) then
      return reply('ahead')
    end
    -- Not into the counter that other locks share. Until the clock is a day past it: what is proposed then is above it, unless
    -- the clocks were set back by that much, or this one is so far ahead.
    mark = token
    redis.call('SET', KEYS[3], ARGV[7], 'PX', text(math.ceil((token - time + day) / 1000)))
  end
end
redis.call('SET', KEYS[2], me .. '|' .. ARGV[7] .. '|' .. text(time) .. '|' .. ARGV[6], 'PX', ARGV[5])
return reply('granted')
