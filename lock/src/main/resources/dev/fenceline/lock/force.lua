-- Invariant: what was looked at is what is released; a lock with another value by now stays as it is.
--
-- Ends the lock of somebody else, who is not asked, with all that his own release would do to those who wait.
-- KEYS and the second of ARGV are those of token.lua.
-- ARGV  1 the value that was seen. It names the grant: its holder, or for a lock that is kept the time of the grant
-- Reply that of release.lua where the lock was released; else a word: changed, free

local value = redis.call('GET', KEYS[1])
if value ~= ARGV[1] then
  return { value and 'changed' or 'free' }
end
local me = string.sub(value, 1, 32)
local keep
--#include ending.lua
