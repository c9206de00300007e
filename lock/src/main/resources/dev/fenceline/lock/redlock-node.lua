-- Invariant: a node that forgot something says so by its mark, and from then on stands above all that it can have granted.
--
-- Included after time.lua by the scripts of Redlock's nodes. Common to them:
-- KEYS  1 the node's hash: `boot`, and a counter for each bucket. One key, so that nothing of it is lost alone
-- ARGV  1 what the client knows: `1|run_id|master_replid|checked|seen|S|K|delay`, as in token.lua; delay in microseconds
--
-- `boot` is `1|run_id|master_replid|born|base`. A node without it, or with that of another incarnation, is reborn: what it had
-- granted may be gone, wholly or in its last steps. All of it was at most TIME + S; `base` is above that, and stands for every
-- counter. K is there for a node that was replaced by its replica, against Redlock's rules. `born` begins the delay in which
-- nothing is granted. INFO is asked as seldom as by token.lua, for the same reasons.

local run_id, master_replid, checked, tolerance, skew, delay =
  string.match(ARGV[1], '^1|(%x*)|(%x*)|(%d+)|%d+|(%d+)|(%d+)|(%d+)$')
checked, tolerance, skew, delay = tonumber(checked), tonumber(tolerance), tonumber(skew), tonumber(delay)

local function text(number)
  return string.format('%.0f', number) -- tostring and .. write 1.764e+15
end

local incarnation = ''
local stamp = '1|' .. run_id .. '|' .. master_replid .. '|'
local boot = redis.call('HGET', KEYS[1], 'boot')

if not boot or string.sub(boot, 1, #stamp) ~= stamp or time < checked or time > checked + 1000000 then
  incarnation = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '|'
      .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
  stamp = '1|' .. incarnation .. '|'
  if not boot or string.sub(boot, 1, #stamp) ~= stamp then
    local before = boot and tonumber(string.match(boot, '(%d+)$')) or 0
    boot = stamp .. text(time) .. '|' .. text(math.max(before, time + tolerance + skew))
    redis.call('HSET', KEYS[1], 'boot', boot)
  end
end

local born, base = string.match(boot, '(%d+)|(%d+)$')
local rest = math.max(0, tonumber(born) + delay - time) -- how long nothing is granted here
base = tonumber(base)
