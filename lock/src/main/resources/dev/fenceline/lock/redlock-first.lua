-- Invariant: a node that has a mark keeps it; only one that never had any is told that it is new.
--
-- KEYS  1 node
-- ARGV  1 MARK, or LOOK to change nothing
-- Reply `new` or `used`, and run_id|master_replid of the process

local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '|'
    .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
if redis.call('HGET', KEYS[1], 'boot') then
  return { 'used', run_id }
end
if ARGV[1] == 'MARK' then
  redis.call('HSET', KEYS[1], 'boot', '1|' .. run_id .. '|0|0')
end
return { 'new', run_id }
