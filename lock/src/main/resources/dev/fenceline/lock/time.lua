-- Invariant: one look at the server's clock, in microseconds, for all that a script decides.
local clock = redis.call('TIME')
local time = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
