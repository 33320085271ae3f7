-- What an admitted ticket changes: first in the picture that the rest of its batch is judged by,
-- then, for all of the batch together, in the store.
local function takeUnits(ticket, skus)
  for _, line in ipairs(ticket.lines) do
    local sku = skus[line.sku]
    sku.available, sku.taken = sku.available - line.units, sku.taken + line.units
    sku.admitted[#sku.admitted + 1] = ticket.id
    local units = ticket.kind ~= "t" and sku.sale == ticket.sale and sku.units[ticket.buyer]
    if units then sku.units[ticket.buyer], sku.counted = units + line.units, true end
  end
end

local function writeSkus(skus)
  for _, sku in pairs(skus) do
    if #sku.admitted > 0 then
      hold(sku.stock, sku.taken, #sku.admitted)
      redis.call("RPUSH", sku.ids, unpack(sku.admitted))
    end
    if sku.counted then
      local pairsOf = {}
      for buyer, units in pairs(sku.units) do
        if units ~= 0 then
          pairsOf[#pairsOf + 1], pairsOf[#pairsOf + 2] = buyer, integer(units)
        end
      end
      redis.call("HSET", sku.buyers, unpack(pairsOf))
    end
  end
end

local function writeAdmitted(admitted, skus, at)
  local items, records, flights = {}, {}, {}
  for n, ticket in ipairs(admitted) do
    ticket.at = at
    items[n] = ticketItem(ticket.id, ticket)
    if ticket.kind ~= "t" then flights[ticket.sale] = (flights[ticket.sale] or 0) + 1 end
  end
  local before = appendAll(items, at)
  for n, ticket in ipairs(admitted) do
    local held = string.rep("1", #ticket.lines)
    records[2 * n - 1] = ticket.id
    records[2 * n] = integer(before + n) .. " 0 " .. held .. " " .. at .. " " .. ticket.content
  end
  redis.call("HSET", TICKETS, unpack(records))
  redis.call("HINCRBY", LANE, "tickets", integer(#admitted))
  for sale, more in pairs(flights) do redis.call("HINCRBY", FLIGHTS, sale, integer(more)) end
  writeSkus(skus)
end
