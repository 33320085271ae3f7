#!lua
-- Stops or resumes a SKU unless a later revision is known.
--
-- KEYS      lane, the SKU
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   1 stopped, 0 not
-- ARGV[4]   revision
-- Replies   CLOSED why; OK
--@include lane
local closed = closedTo("open")
if closed then return closed end
local stock = KEYS[10]
local known = redis.call("HGET", stock, "r")
if known and tonumber(known) < tonumber(ARGV[4]) then
  redis.call("HSET", stock, "x", ARGV[3], "r", ARGV[4])
end
return { "OK" }
