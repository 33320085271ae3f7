#!lua flags=no-writes
-- What is left of SKUs and how many ids were seen of each.
--
-- KEYS      lane, then the SKUs
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   number of SKUs, then their names
-- Replies   CLOSED why; OK, then sku, available, ids seen of each that is here
--@include lane
--@include skus
local closed = closedTo("open")
if closed then return closed end
local tombstones = redis.call("SCARD", TOMBSTONES)
local reply = { "OK" }
for name, sku in pairs((skusFrom(3))) do
  local stock = redis.call("HMGET", sku.stock, "a", "n")
  if stock[1] then
    local seen = integer(stock[2] + tombstones)
    reply[#reply + 1], reply[#reply + 2], reply[#reply + 3] = name, stock[1], seen
  end
end
return reply
