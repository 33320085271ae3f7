#!lua
-- Begins a load: what the ledger will say anew is forgotten. Levels and tickets are kept.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   name of the load
-- Replies   CLOSED why; OK
--@include lane
local closed = closedTo("waiting")
if closed then return closed end
redis.call("HSET", LANE, "load", ARGV[3])
redis.call("UNLINK", ANSWERS, POLICIES, TOMBSTONES, FLIGHTS)
return { "OK" }
