#!lua
-- Appends a marker that carries its own number.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- Replies   CLOSED why; OK seq
--@include lane
--@include outbox
local closed = closedTo("open")
if closed then return closed end
local seq = integer((redis.call("HGET", LANE, "seq") or 0) + 1)
return { "OK", append("M " .. seq, now()) }
