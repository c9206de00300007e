-- Invariant: a token leaves a script only after the key that covers it was written, and it is above every token its lock had.
--
-- Included after time.lua by the scripts that grant or offer. Common to them:
-- KEYS  1 lock, 2 queue, 3 waiters, and for a fenced lock also: 4 counter, 5 boot, 6 floor (one hash slot)
-- ARGV  1 holder, 2 what the client knows: `1|run_id|master_replid|checked|seen|acceptance|listeners|S|K|delay|channel`.
--       At `checked` INFO named this incarnation on this connection, and at `seen` for the first time; 0 where it cannot
--       know. acceptance: how many ms there are to accept an offer; listeners: whose PUBLISH counts; delay: after a restart;
--       channel: to queue with, nothing for whoever does not wait. Times are microseconds of this server's clock.
--
-- Why no interleaving repeats a token or hands out a lower one. Issued so far: t <= TIME + S at that moment, and the counter
-- says at least t, as long as the counter survives. It can be lost, wholly or in its last steps, only with an event that
-- shows here:
--   FLUSHALL                      the boot key is gone too. TIME + S + K is above all that was issued: jump there.
--   restart without the data      the same; with old data (RDB, AOF everysec) run_id differs from the boot key's: jump.
--   promotion of a replica        its data may lag, run_id was never the boot key's, or master_replid is new: jump.
--   A->B->A, nothing issued on B  A's run_id is back in the boot key, but each promotion draws a new master_replid: jump.
--   a slot that moved, and back   `seen` is 0 in Cluster, so the jump is from TIME: what B issued meanwhile is below it.
-- K is the skew between the clocks of two masters. In a new incarnation nothing is issued by the old one any more, so
-- `seen` + S + K does for TIME + S + K, and the wait of K is over when the client has known it for K. `seen` counts only if
-- INFO agrees: a packet may have been made for another incarnation.
-- Without INFO the boot key must equal what the client checked on this connection within the last second of *server*
-- time, so that a packet that was late, or a clock that was set back, asks INFO again. A connection does not move to
-- another process, and within one process only a promotion changes the incarnation: a master that was demoted and promoted
-- again within that second, with a counter rolled back meanwhile, is what this window leaves open.
-- Counter, boot key, lock, in this order: a script that dies in the middle is not rolled back, and leaves a gap, no repeat.
-- A floor lies in a key of its own lock. In the shared counter one poisoned mark would stop the whole bucket.

local run_id, master_replid, checked, seen, acceptance, listeners, tolerance, skew, delay, channel =
  string.match(ARGV[2], '^1|(%x*)|(%x*)|(%d+)|(%d+)|(%d+)|([%u_]+)|(%d+)|(%d+)|(%d+)|(.*)$')
checked, seen, tolerance, skew, delay =
  tonumber(checked), tonumber(seen), tonumber(tolerance), tonumber(skew), tonumber(delay)

local token = 0
local incarnation
local jumped, boot_value, above

local function text(number)
  return string.format('%.0f', number) -- tostring and .. write 1.764e+15
end

-- Until the clock is S past the mark: by then the normal token is above it, also after a step back of S.
local function keep_floor(mark)
  local rest = math.ceil((mark - time + tolerance) / 1000)
  if rest > 0 then
    redis.call('SET', KEYS[6], text(mark), 'PX', text(rest))
  end
end

-- A jump is written also where nothing is granted: else whoever waits for it would wait again.
local function write_jump()
  if jumped then
    redis.call('SET', KEYS[4], text(jumped))
    redis.call('SET', KEYS[5], boot_value)
  end
end

-- Decides the next token, above `mark`, and writes nothing: whoever is refused calls `write_jump` once he has told those who
-- wait. Returns nothing, or the reply that refuses it:
--   wait, how long, counter, time [, incarnation]     reborn, how long, time [, incarnation]
--   floor, mark, time [, incarnation]                 exhausted, counter, time [, incarnation]
-- The incarnation is there when INFO was asked, and renews what the client knows.
local function decide(counter, boot, mark)
  counter = tonumber(counter)
  local stamp = '1|' .. run_id .. '|' .. master_replid .. '|'

  if not counter or not boot or string.sub(boot, 1, #stamp) ~= stamp
      or time < checked or time > checked + 1000000 then
    incarnation = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') .. '|'
        .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
    if incarnation ~= run_id .. '|' .. master_replid or seen == 0 then
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
      -- Born now if all data is gone, which no incarnation shows; else when the client first saw this incarnation.
      local born = counter and boot and seen or time
      counter = math.max(counter or 0, jump)
      jumped = counter
      boot = stamp .. text(born)
      boot_value = boot
    end
  end

  if delay > 0 then
    local rest = tonumber(string.match(boot, '(%d+)$')) + delay - time
    if rest > 0 then
      return { 'reborn', text(rest), text(time), incarnation }
    end
  end

  token = math.max(counter + 1, time)
  above = mark >= token
  if above then
    if mark - time > 86400000000 then
      return { 'floor', text(mark), text(time), incarnation }
    end
    token = mark + 1
  end
  if token >= 9007199254740992 then
    return { 'exhausted', text(counter), text(time), incarnation }
  end
  if not above and token > time + tolerance then
    return { 'wait', text(token - time - tolerance), text(counter), text(time), incarnation }
  end
end

-- Writes what was decided, the counter first and the lock last. Nothing was written before: `publish` came first.
local function grant(holder, who, millis)
  if #KEYS > 3 then
    if above then
      write_jump()
      keep_floor(token)
    else
      redis.call('SET', KEYS[4], text(token))
      if jumped then
        redis.call('SET', KEYS[5], boot_value)
      end
    end
  end
  local value = holder .. '|' .. text(token) .. '|' .. text(time) .. '|' .. who
  redis.call('SET', KEYS[1], value, 'PX', millis)
  return value
end
