-- Invariant: whoever is new to a node learns its clock and its process before asking it for a lock.
--
-- KEYS and ARGV are those of redlock-node.lua. Reply time, incarnation, how long nothing is granted yet, in microseconds

--#include time.lua
--#include redlock-node.lua

return { time, incarnation, rest }
