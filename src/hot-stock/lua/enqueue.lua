#!lua
-- Appends an item to the outbox, behind every ticket that stands in it.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   the item
-- ARGV[4]   id that a void gives up, else %
-- ARGV[5]   1 when the void carries its ticket, so that one in flight does not refuse it
-- Replies   CLOSED why; OK queued; OK known
--@include lane
--@include outbox
local closed = closedTo("open")
if closed then return closed end
local id = ARGV[4]
if id ~= "%" then
  if redis.call("HEXISTS", ANSWERS, id) == 1 then return { "OK", "known" } end
  if ARGV[5] ~= "1" and redis.call("HEXISTS", TICKETS, id) == 1 then return { "OK", "known" } end
  if redis.call("HEXISTS", VOIDS, id) == 1 then return { "OK", "queued" } end
end

-- Nothing below may refuse.
local seq = append(ARGV[3], now())
if id ~= "%" then redis.call("HSET", VOIDS, id, seq) end
return { "OK", "queued" }
