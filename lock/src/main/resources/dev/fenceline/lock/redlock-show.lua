-- Invariant: shows what a node of Redlock knows of itself and of one lock, and changes nothing.
--
-- KEYS  1 node, 2 lock, and of a fenced lock 3 floor
-- ARGV  1 field of the counter
-- Reply `new`, `reborn` or `known`; time; since when nothing was granted at first, or 0; counter; floor, value and PTTL of the
--       lock, or nothing

--#include time.lua

local function text(number)
  return string.format('%.0f', number)
end

local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '|'
    .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
local stored = redis.call('HMGET', KEYS[1], 'boot', ARGV[1])
local boot = stored[1]
local word = boot and (string.sub(boot, 3, 83) == run_id and 'known' or 'reborn') or 'new'
local born, base = string.match(boot or '', '|(%d+)|(%d+)$')
local counter = math.max(tonumber(base or 0), tonumber(stored[2] or 0))
local floor = KEYS[3] and redis.call('GET', KEYS[3]) or ''
local value = redis.call('GET', KEYS[2])
return { word, text(time), born or '0', text(counter), floor, value or '', value and text(redis.call('PTTL', KEYS[2])) or '' }
