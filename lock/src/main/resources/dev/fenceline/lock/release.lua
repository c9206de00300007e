-- Invariant: only the holder releases; sent twice, late, or for a grant that never came, it changes nothing for others.
--
-- Release and cancel in one: the holder leaves lock and queue, and a lock that is free then goes to the first who waits.
-- KEYS and the first two ARGV are those of token.lua.
-- ARGV  3 for how many more ms the lock stays taken, if it does
-- Reply 1 released, 0 absent: a number where INFO was not asked; or the number, time, incarnation

local me = ARGV[1]
local keep = ARGV[3]
local value = redis.call('GET', KEYS[1])
--#include ending.lua
