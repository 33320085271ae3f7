#!lua
-- The end of a load: the lane is open.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   name of the load
-- ARGV[4]   voids looked at, about
-- Replies   CLOSED why; OK
--@include lane
--@include outbox
--@include load
local refused = loadRefused()
if refused then return refused end
-- One that left the outbox before the barrier is decided, or lost: it may be asked for again.
local voids = redis.call("HSCAN", VOIDS, "0", "COUNT", ARGV[4])[2]
for n = 1, #voids, 2 do
  if not stands(voids[n + 1]) then redis.call("HDEL", VOIDS, voids[n]) end
end
redis.call("HSET", LANE, "tickets", integer(redis.call("HLEN", TICKETS)))
redis.call("HDEL", LANE, "waiting", "load")
return { "OK" }
