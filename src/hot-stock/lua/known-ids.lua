#!lua flags=no-writes
-- A page of the ids that are known for a SKU, in flight or decided. What is left and how many
-- were seen is read with each page: of the first page it is older than all ids that follow.
--
-- KEYS      lane, the SKU
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   index in the list, 0 at first
-- ARGV[4]   ids looked at, at most
-- Replies   CLOSED why; OK, available or %, ids seen, 1 when this is the last page, then ids
--@include lane
local closed = closedTo("open")
if closed then return closed end
local stock = redis.call("HMGET", KEYS[10], "a", "n")
if not stock[1] then return { "OK", "%", "0", "1" } end
local tombstones = redis.call("SCARD", TOMBSTONES)
local from, limit = tonumber(ARGV[3]), tonumber(ARGV[4])
local ids = redis.call("LRANGE", KEYS[12], integer(from), integer(from + limit - 1))
local reply = { "OK", stock[1], integer(stock[2] + tombstones), #ids < limit and "1" or "0" }
for _, id in ipairs(ids) do
  if redis.call("HEXISTS", TICKETS, id) == 1 or redis.call("HEXISTS", ANSWERS, id) == 1 then
    reply[#reply + 1] = id
  end
end
if from == 0 and tombstones > 0 then
  for _, id in ipairs(redis.call("SRANDMEMBER", TOMBSTONES, ARGV[4])) do
    reply[#reply + 1] = id
  end
end
return reply
