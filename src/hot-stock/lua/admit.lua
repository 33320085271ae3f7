#!lua
-- Admits a batch, each ticket on its own: replay, refusals in order, then deduct and remember.
--
-- KEYS      lane, then the SKUs of all lines
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   tickets that the lane may hold in flight
-- ARGV[4]   number of SKUs, then their names
-- ARGV[n]   id, content of each ticket
-- Replies   CLOSED why
--           OK, now in ms, then for each ticket ADMITTED, REPLAYED state, MISSING sale,
--           MISSING sku, BUSY, KEY_REUSED, SKU_NOT_FOUND, SALE_NOT_OPEN, SALE_PAUSED,
--           SALE_ENDED, SOLD_OUT, LIMIT_EXCEEDED or NOT_ENOUGH, its sku behind it
--@include lane
--@include skus
--@include equation
--@include tickets
--@include outbox
--@include batch
--@include judge
--@include take
local closed = closedTo("open")
if closed then return closed end
local at = now()
local skus, from = skusFrom(4)
readSkus(skus)
local tickets, ids, sales = readTickets(from)
readPolicies(sales)
readUnits(tickets, skus, sales)
local answers = redis.call("HMGET", ANSWERS, unpack(ids))
local held = redis.call("HMGET", TICKETS, unpack(ids))
local room = tonumber(ARGV[3]) - redis.call("HLEN", TICKETS)
local admitted, byId, replies = {}, {}, { "OK", at }

local function replayed(n, ticket)
  if answers[n] then
    local state, fingerprint = string.match(answers[n], "^(%S+) (%S+)")
    if fingerprint ~= "%" and fingerprint ~= ticket.fingerprint then return "KEY_REUSED" end
    return "REPLAYED " .. state
  end
  local known = byId[ticket.id] or held[n] and readTicket(held[n])
  if not known then return nil end
  return known.fingerprint == ticket.fingerprint and "REPLAYED pending" or "KEY_REUSED"
end

for n, ticket in ipairs(tickets) do
  local word = replayed(n, ticket) or refuse(ticket, skus, sales[ticket.sale], tonumber(at))
    or #admitted >= room and "BUSY"
  if not word then
    admitted[#admitted + 1], byId[ticket.id] = ticket, ticket
    takeUnits(ticket, skus)
  end
  replies[n + 2] = word or "ADMITTED"
end

-- Nothing below may refuse.
if #admitted > 0 then writeAdmitted(admitted, skus, at) end
return replies
