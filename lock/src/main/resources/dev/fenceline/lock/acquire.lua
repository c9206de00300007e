-- Invariant: a token leaves here only after the key that covers it was written, and it is above every token this lock had.
--
-- KEYS  lock, and for a fenced lock also: counter, boot, floor (one hash slot)
-- ARGV  holder, lease in ms, who holds; for a fenced lock also: incarnation, checked, seen, S, K, floor
--       Times are microseconds of this server's clock. The client says: at `checked` INFO named this incarnation on this
--       connection, and at `seen` for the first time.
-- Reply granted, token, time [, incarnation]        held, value, PTTL
--       wait, how long, counter, time [, incarnation]
--       floor, mark, time [, incarnation]           exhausted, counter, time [, incarnation]
--       The incarnation is there when INFO was asked, and renews what the client knows.
--
-- Why no interleaving repeats a token or hands out a lower one. Issued so far: t <= TIME + S at that moment, and the counter
-- says at least t, as long as the counter survives. It can be lost, wholly or in its last steps, only with an event that
-- shows here:
--   FLUSHALL                      the boot key is gone too. TIME + S + K is above all that was issued: jump there.
--   restart without the data      the same; with old data (RDB, AOF everysec) run_id differs from the boot key's: jump.
--   promotion of a replica        its data may lag, run_id was never the boot key's, or master_replid is new: jump.
--   A->B->A, nothing issued on B  A's run_id is back in the boot key, but each promotion draws a new master_replid: jump.
-- K is the skew between the clocks of two masters. In a new incarnation nothing is issued by the old one any more, so
-- `seen` + S + K does for TIME + S + K, and the wait of K is over when the client has known it for K. `seen` counts only if
-- INFO agrees: a packet may have been made for another incarnation.
-- Without INFO the boot key must equal what the client checked on this connection within the last second of *server*
-- time, so that a packet that was late, or a clock that was set back, asks INFO again. A connection does not move to
-- another process, and within one process only a promotion changes the incarnation: a master that was demoted and promoted
-- again within that second, with a counter rolled back meanwhile, is what this window leaves open.
-- Counter, boot key, lock, in this order: a script that dies in the middle is not rolled back, and leaves a gap, no repeat.
-- A floor lies in a key of its own lock. In the shared counter one poisoned mark would stop the whole bucket.

local function text(number)
  return string.format('%.0f', number) -- tostring and .. write 1.764e+15
end

local clock = redis.call('TIME')
local time = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local stored = redis.call('MGET', unpack(KEYS))

local value = stored[1]
if value then
  if string.sub(value, 1, 32) == ARGV[1] then
    -- Our reply was lost, or our command came twice: the same grant once more.
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    return { 'granted', string.match(value, '^%x+|(%d+)|'), text(time) }
  end
  return { 'held', value, text(redis.call('PTTL', KEYS[1])) }
end

local token = 0
local incarnation

if #KEYS > 1 then
  local counter, boot = tonumber(stored[2]), stored[3]
  local checked, seen = tonumber(ARGV[5]), tonumber(ARGV[6])
  local tolerance, skew = tonumber(ARGV[7]), tonumber(ARGV[8])
  local stamp = '1|' .. ARGV[4] .. '|'

  if not counter or not boot or string.sub(boot, 1, #stamp) ~= stamp
      or time < checked or time > checked + 1000000 then
    incarnation = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '|'
        .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
    if incarnation ~= ARGV[4] then
      seen = time
    end
    stamp = '1|' .. incarnation .. '|'
    local jump
    if not counter or not boot then
      jump = time + tolerance + skew
    elseif string.sub(boot, 1, #stamp) ~= stamp then
      jump = seen + tolerance + skew
    end
    if jump then
      counter = math.max(counter or 0, jump)
      redis.call('SET', KEYS[2], text(counter))
      redis.call('SET', KEYS[3], stamp .. text(time))
    end
  end

  local mark = math.max(tonumber(ARGV[9]), tonumber(stored[4]) or 0)
  token = math.max(counter + 1, time)
  local above = mark >= token
  if above then
    if mark - time > 86400000000 then
      return { 'floor', text(mark), text(time), incarnation }
    end
    token = mark + 1
  end
  if token >= 9007199254740992 then
    return { 'exhausted', text(counter), text(time), incarnation }
  end
  if above then
    -- Kept until the clock is S past it: by then the normal token is above it, also after a step back of S.
    redis.call('SET', KEYS[4], text(token), 'PX', text(math.ceil((token - time + tolerance) / 1000)))
  elseif token > time + tolerance then
    return { 'wait', text(token - time - tolerance), text(counter), text(time), incarnation }
  else
    redis.call('SET', KEYS[2], text(token))
  end
end

redis.call('SET', KEYS[1], ARGV[1] .. '|' .. text(token) .. '|' .. text(time) .. '|' .. ARGV[3], 'PX', ARGV[2])
return { 'granted', text(token), text(time), incarnation }
