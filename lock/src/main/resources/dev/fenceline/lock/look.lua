-- Invariant: reads one lock at one moment, and changes nothing.
-- KEYS as of token.lua. ARGV 1 how many of those who wait are told of.
-- Reply 0 where the lock is free; else value, PTTL, time, counter, floor, how many wait, and for each of the first of them:
--       since when, who. Where there is none the word is empty.

local value = redis.call('GET', KEYS[1])
if not value then
  return 0
end
--#include time.lua
local function text(number)
  return string.format('%.0f', number)
end

local told = {}
local waiting = 0
local line = redis.call('ZRANGE', KEYS[2], '0', '-1', 'WITHSCORES')
for i = 1, #line, 2 do
  local entry = redis.call('HGET', KEYS[3], line[i])
  local deadline, who = string.match(entry or '', '^(%d+)|[^|]*|(.*)$')
  -- Past its deadline a waiter is gone: the next offer passes it over.
  if deadline and tonumber(deadline) >= time then
    waiting = waiting + 1
    if waiting <= tonumber(ARGV[1]) then
      told[#told + 1] = text(tonumber(line[i + 1]))
      told[#told + 1] = who
    end
  end
end
local counter = KEYS[4] and redis.call('GET', KEYS[4]) or ''
local floor = KEYS[6] and redis.call('GET', KEYS[6]) or ''
return { value, text(redis.call('PTTL', KEYS[1])), text(time), counter, floor, text(waiting), unpack(told) }
