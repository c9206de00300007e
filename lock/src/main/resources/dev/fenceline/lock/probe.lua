-- Invariant: touches one key of our own space, which is gone afterwards, and changes no lock.
-- KEYS a key that nobody uses. ARGV a channel that nobody listens on.
-- Reply INFO server, INFO replication, INFO memory, then command and error for each command that failed.
local failed = {}
local function try(name, ...)
  local answer = redis.pcall(name, ...)
  if type(answer) == 'table' and answer.err then
    failed[#failed + 1] = string.lower(name)
    failed[#failed + 1] = answer.err
    return ''
  end
  return answer
end
local reply = { try('INFO', 'server'), try('INFO', 'replication'), try('INFO', 'memory') }
try('TIME')
try('SET', KEYS[1], 'probe', 'PX', '1000')
try('MGET', KEYS[1])
try('GET', KEYS[1])
try('PEXPIRE', KEYS[1], '1000')
try('PTTL', KEYS[1])
try('DEL', KEYS[1])
try('ZADD', KEYS[1], '1', 'probe')
try('ZSCORE', KEYS[1], 'probe')
try('ZRANGE', KEYS[1], '0', '0')
try('ZREM', KEYS[1], 'probe')
try('HSET', KEYS[1], 'probe', '1')
try('HGET', KEYS[1], 'probe')
try('HDEL', KEYS[1], 'probe')
try('PUBLISH', ARGV[1], 'probe')
try('DEL', KEYS[1])
for _, word in ipairs(failed) do
  reply[#reply + 1] = word
end
return reply
