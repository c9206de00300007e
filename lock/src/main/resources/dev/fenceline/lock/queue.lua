-- Invariant: whoever left the queue by an offer holds the lock, or nobody could tell him.
--
-- Included after token.lua. The queue is a sorted set of waiting holders, one for each client and lock; the score is when it
-- came. `waiters` tells of each: `deadline|channel|who`. The deadline is a heartbeat, renewed by polls: past it the waiter is
-- gone. Messages to a channel, hints all of them: `offer|holder` and `watch|holder|ms`, look again after so many ms.

local function waiter(holder)
  local entry = redis.call('HGET', KEYS[3], holder)
  if entry then
    local deadline, channel, who = string.match(entry, '^(%d+)|([^|]*)|(.*)$')
    if deadline and tonumber(deadline) >= time then
      return channel, who
    end
  end
end

-- Tells a waiter. In Cluster the count is of one node only, and says nothing.
local function publish(channel, message)
  return redis.call('PUBLISH', channel, message) > 0 or ARGV[3] == 'NOT_COUNTED'
end

local function watch(holder, millis)
  local channel = waiter(holder)
  if channel then
    redis.call('PUBLISH', channel, 'watch|' .. holder .. '|' .. millis)
  end
end

local function leave(holders)
  for from = 1, #holders, 1000 do -- Lua unpacks some thousands at most
    local to = math.min(from + 999, #holders)
    redis.call('ZREM', KEYS[2], unpack(holders, from, to))
    redis.call('HDEL', KEYS[3], unpack(holders, from, to))
  end
end

-- Gives the lock to the first in the queue who hears of it, for a time in which he has to accept, and has the next one watch
-- that time: a waiter can be paused, or gone by the time the message is there. Call after `decide`. Publishes before it
-- writes: a user without the right to publish ends here, with nothing half done. Returns the new value; or nothing where
-- nobody hears, or where whoever calls is next himself.
local function offer()
  local left = {}
  local first, chosen_who
  repeat
    local line = redis.call('ZRANGE', KEYS[2], #left, #left + 7)
    for _, holder in ipairs(line) do
      if holder == ARGV[1] then
        leave(left)
        return nil
      end
      local channel, who = waiter(holder)
      left[#left + 1] = holder
      if channel and publish(channel, 'offer|' .. holder) then
        first, chosen_who = holder, who
        break
      end
    end
  until first or #line < 8
  if first then
    local second = redis.call('ZRANGE', KEYS[2], #left, #left)[1]
    if second then
      watch(second, ARGV[2])
    end
  end
  leave(left)
  if first then
    return grant(first, chosen_who, ARGV[2])
  end
end
