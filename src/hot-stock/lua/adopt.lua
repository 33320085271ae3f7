#!lua
-- Takes a SKU that this lane has never had.
--
-- KEYS      lane, the SKU
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   sku
-- ARGV[4]   version
-- ARGV[5]   hash
-- ARGV[6]   available, units
-- ARGV[7]   sale or %
-- ARGV[8]   1 stopped, 0 not
-- ARGV[9]   revision of the status
-- Replies   CLOSED why; OK adopted; OK known; OK lost
--@include lane
--@include equation
local closed = closedTo("open")
if closed then return closed end
if redis.call("EXISTS", KEYS[10]) == 1 then
  -- Asked for because it is not on the list: the list is what was lost.
  redis.call("SADD", REGISTERED, ARGV[3])
  return { "OK", "known" }
end
if redis.call("SISMEMBER", REGISTERED, ARGV[3]) == 1 then return { "OK", "lost" } end

-- Nothing below may refuse.
redis.call("SADD", REGISTERED, ARGV[3])
redis.call("UNLINK", KEYS[11], KEYS[12])
setLevel(KEYS[10], { version = ARGV[4], hash = ARGV[5], available = ARGV[6], sale = ARGV[7],
  stopped = ARGV[8], revision = ARGV[9] })
return { "OK", "adopted" }
