#!lua flags=allow-oom
-- Reads all that the reconciler compares of some SKUs of a lane, in one step.
--
-- KEYS      lane, then the SKUs
-- ARGV[1]   policies at most
-- ARGV[2]   ids looked at for the oldest ticket of a SKU, at most
-- ARGV[3]   number of SKUs, then their names
-- Replies   NOT_PRIMARY
--           OK, replication id, epoch or %, 1 open, now in ms, outbox length, its oldest or %,
--           tickets, voids; then SKU sku version hash available overlay oldest stopped revision
--           sale, and SALE sale revision
--@include lane
--@include skus
--@include equation
--@include tickets
--@include outbox
--@include health
local replication = replicationId()
if not replication then return { "NOT_PRIMARY" } end
local epoch, isOpen = "%", "0"
local isSound = sound()
if isSound then
  local lane = redis.call("HMGET", LANE, "epoch", "waiting")
  epoch, isOpen = lane[1] or "%", lane[1] and not lane[2] and "1" or "0"
end
if epoch == "%" then
  local length = isSound and integer(redis.call("XLEN", OUTBOX)) or "0"
  return { "OK", replication, "%", "0", now(), length, "%", "0", "0" }
end
local tickets, voids = redis.call("HLEN", TICKETS), redis.call("HLEN", VOIDS)
local reply = { "OK", replication, epoch, isOpen, now(), integer(redis.call("XLEN", OUTBOX)),
  oldestAt(), integer(tickets), integer(voids) }
for name, sku in pairs((skusFrom(3))) do
  local stock = redis.call("HMGET", sku.stock, "v", "h", "a", "o", "x", "r", "s", "p")
  if stock[1] then
    local oldest = oldestTicket(sku, stock[4], tonumber(stock[8]), tonumber(ARGV[2]))
    reply[#reply + 1] = table.concat({ "SKU", name, stock[1], stock[2], stock[3], stock[4],
      oldest, stock[5], stock[6], stock[7] }, " ")
  end
end
local policies = redis.call("HSCAN", POLICIES, "0", "COUNT", ARGV[1])[2]
for n = 1, #policies, 2 do
  reply[#reply + 1] = "SALE " .. policies[n] .. " " .. string.match(policies[n + 1], "^%d+")
end
return reply
