#!lua flags=allow-oom
-- Deletes from the outbox what the broker has confirmed.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[n]   seq of each item, as a stream id
-- Replies   CLOSED why; OK
--@include lane
local closed = closedTo("any")
if closed then return closed end
if #ARGV > 2 then redis.call("XDEL", OUTBOX, unpack(ARGV, 3)) end
return { "OK" }
