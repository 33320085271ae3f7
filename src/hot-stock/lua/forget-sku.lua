#!lua flags=allow-oom
-- Forgets a SKU, so that a rebuild loads it anew; that the lane had it stays known.
--
-- KEYS      lane, the SKU
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- Replies   CLOSED why; OK
--@include lane
local closed = closedTo("any")
if closed then return closed end
redis.call("UNLINK", KEYS[10], KEYS[11], KEYS[12])
return { "OK" }
