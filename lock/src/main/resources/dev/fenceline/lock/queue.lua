-- Invariant: whoever left the queue by an offer holds the lock, or nobody could tell him.
--
-- Included after token.lua. The queue is a sorted set of waiting holders, one for each client and lock; the score is when it
-- came. `waiters` tells of each: `deadline|channel|who`. The deadline is a heartbeat, renewed by polls: past it the waiter is
-- gone. Messages to a channel, hints all of them: `offer|holder` and `watch|holder|ms`, look again after so many ms.

local function waiter(holder)
  local entry = redis.call('HGET', KEYS[3], holder)
  if entry then
    local deadline, to, who = string.match(entry, '^(%d+)|([^|]*)|(.*)$')
    if deadline and tonumber(deadline) >= time then
      return to, who
    end
  end
end

-- Tells a waiter. In Cluster the count is of one node only, and says nothing.
local function publish(to, message)
  return redis.call('PUBLISH', to, message) > 0 or listeners == 'NOT_COUNTED'
end

local function watch(holder, millis)
  local to = waiter(holder)
  if to then
    redis.call('PUBLISH', to, 'watch|' .. holder .. '|' .. millis)
  end
end

-- The lock is offered to nobody, though it is free: they ask again, and the first need not wait for what it thinks is left of
-- our lease. Whoever calls knows already. Publishes only.
local function tell_of(refused, caller)
  local micros = (refused[1] == 'wait' or refused[1] == 'reborn') and tonumber(refused[2]) or 0
  for _, holder in ipairs(redis.call('ZRANGE', KEYS[2], 0, 1)) do
    if holder ~= caller then
      watch(holder, text(math.ceil(micros / 1000)))
      return
    end
  end
end

local function leave(holders)
  for from = 1, #holders, 1000 do -- Lua unpacks some thousands at most
    local to = math.min(from + 999, #holders)
    redis.call('ZREM', KEYS[2], unpack(holders, from, to))
    redis.call('HDEL', KEYS[3], unpack(holders, from, to))
  end
end

-- Gives the lock to the first in the queue who hears of it, for a time in which he has to accept. He can be paused, or gone by
-- the time the message is there, and so can the next: so the next three watch that time, each an eighth later than the one
-- before. Whoever finds that the one before did not come offers to him, again for that time, and then comes himself: two
-- that sleep cost a little more than twice the time, and not a lease. Call after `decide`. Publishes before it writes: a user
-- without the right to publish ends here, with nothing half done.
-- `ours` tells of holders of whoever calls: who ASKS is next himself when it is his turn, who LEAVES is passed over.
-- Returns the new value; or nothing where nobody hears, or where whoever calls is next himself.
local function offer(ours)
  local left = {}
  local first, chosen_who
  repeat
    local line = redis.call('ZRANGE', KEYS[2], #left, #left + 7)
    for _, holder in ipairs(line) do
      if ours[holder] == 'ASKS' then
        leave(left)
        return nil
      end
      left[#left + 1] = holder
      if not ours[holder] then
        local to, who = waiter(holder)
        if to and publish(to, 'offer|' .. holder) then
          first, chosen_who = holder, who
          break
        end
      end
    end
  until first or #line < 8
  if first then
    local millis = tonumber(acceptance)
    for i, holder in ipairs(redis.call('ZRANGE', KEYS[2], #left, #left + 2)) do
      if not ours[holder] then
        watch(holder, text(math.ceil(millis * (7 + i) / 8)))
      end
    end
  end
  leave(left)
  if first then
    return grant(first, chosen_who, acceptance)
  end
end
