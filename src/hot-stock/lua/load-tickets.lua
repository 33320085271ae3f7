#!lua
-- Holds the undecided tickets again, overlay and outbox together, and drops the others.
--
-- KEYS      lane, then the SKUs of all lines
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   name of the load
-- ARGV[4]   number of SKUs, then their names
-- ARGV[n]   K id of one to keep, D id of one that is decided
-- Replies   CLOSED why; OK, kept, dropped
--@include lane
--@include skus
--@include equation
--@include tickets
--@include outbox
--@include load
local refused = loadRefused()
if refused then return refused end
local skus, from = skusFrom(4)
local at, kept, dropped = now(), 0, 0
local function isWhole(ticket)
  for _, line in ipairs(ticket.lines) do
    if redis.call("EXISTS", skus[line.sku].stock) == 0 then return false end
  end
  return true
end
local function keep(id, ticket)
  for _, line in ipairs(ticket.lines) do
    local sku = skus[line.sku]
    hold(sku.stock, line.units, 1)
    redis.call("RPUSH", sku.ids, id)
    if ticket.kind ~= "t" then addUnits(sku, ticket.sale, ticket.buyer, line.units) end
  end
  if ticket.kind ~= "t" then redis.call("HINCRBY", FLIGHTS, ticket.sale, "1") end
  ticket.held = string.rep("1", #ticket.lines)
  if not stands(ticket.seq) then ticket.seq = append(ticketItem(id, ticket), at) end
  writeTicket(id, ticket)
end
for n = from, #ARGV do
  local kind, id = string.match(ARGV[n], "^(%u) (%S+)$")
  local record = redis.call("HGET", TICKETS, id)
  local ticket = record and readTicket(record)
  if kind == "K" and ticket and isWhole(ticket) then
    keep(id, ticket)
    kept = kept + 1
  elseif redis.call("HDEL", TICKETS, id) == 1 then
    dropped = dropped + 1
  end
end
return { "OK", integer(kept), integer(dropped) }
