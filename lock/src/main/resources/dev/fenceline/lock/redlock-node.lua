-- Invariant: a node that forgot something says so by its mark, and from then on stands above all that it can have granted.
--
-- Included after time.lua by the scripts of Redlock's nodes. Common to them:
-- KEYS  1 the node's hash: `boot`, and a counter for each bucket. One key, so that nothing of it is lost alone
-- ARGV  1 what the client knows: `1|run_id|master_replid|checked|seen|S|K`, as in token.lua, 2 delay in microseconds,
--       3 field of the counter
--
-- `boot` is `1|run_id|master_replid|born|base`. A node without it, or with that of another incarnation, is reborn: what it had
-- granted may be gone, wholly or in its last steps. All of it was at most TIME + S; `base` is above that, and stands for every
-- counter. K is there for a node that was replaced by its replica, against Redlock's rules. `born` begins the delay in which
-- nothing is granted. INFO is asked as seldom as by token.lua, for the same reasons.

local function text(number)
  return string.format('%.0f', number) -- tostring and .. write 1.764e+15
end

local known = ARGV[1]
local delay = tonumber(ARGV[2])
local stored = redis.call('HMGET', KEYS[1], 'boot', ARGV[3])
local boot = stored[1]
local incarnation = ''

-- The offsets are those of a known incarnation; of another one they cut something that equals no boot key.
local checked = tonumber(string.sub(known, 85, 100))
if not boot or string.sub(boot, 1, 84) ~= string.sub(known, 1, 84)
    or not checked or time < checked or time > checked + 1000000 then
  incarnation = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '|'
      .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
  local stamp = '1|' .. incarnation .. '|'
  if not boot or string.sub(boot, 1, 84) ~= stamp then
    local tolerance, skew = string.match(known, '|(%d+)|(%d+)$')
    local before = boot and tonumber(string.match(boot, '(%d+)$')) or 0
    boot = stamp .. text(time) .. '|' .. text(math.max(before, time + tonumber(tolerance) + tonumber(skew)))
    redis.call('HSET', KEYS[1], 'boot', boot)
  end
end

local born, base = string.match(string.sub(boot, 85), '^(%d+)|(%d+)$')
local rest = math.max(0, tonumber(born) + delay - time) -- how long nothing is granted here
base = tonumber(base)
