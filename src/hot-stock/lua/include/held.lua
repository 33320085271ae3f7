-- The tickets that a batch of news is about, read once; what becomes of them is written once.
local held, changed, gone, flights = {}, {}, {}, {}

local function readHeld(ids)
  if #ids == 0 then return end
  for n, record in ipairs(redis.call("HMGET", TICKETS, unpack(ids))) do
    held[ids[n]] = record and readTicket(record) or nil
  end
end

local function forgetTicket(id)
  local ticket = held[id]
  held[id], changed[id], gone[#gone + 1] = nil, nil, id
  if ticket.kind ~= "t" then flights[ticket.sale] = (flights[ticket.sale] or 0) + 1 end
end

-- Gives back what the ticket still holds of one SKU; forgets it with its last line.
local function letGo(id, sku)
  local ticket = held[id]
  for n, line in ipairs(ticket and ticket.lines or {}) do
    if line.sku == sku.name and string.sub(ticket.held, n, n) == "1" then
      giveBack(sku, line.units)
      if ticket.kind ~= "t" then countUnits(sku, ticket.sale, ticket.buyer, -line.units) end
      ticket.held = string.sub(ticket.held, 1, n - 1) .. "0" .. string.sub(ticket.held, n + 1)
      if string.find(ticket.held, "1", 1, true) then changed[id] = ticket else forgetTicket(id) end
      return line.units
    end
  end
  return 0
end

local function writeHeld()
  for id, ticket in pairs(changed) do writeTicket(id, ticket) end
  if #gone == 0 then return end
  redis.call("HDEL", TICKETS, unpack(gone))
  redis.call("HINCRBY", LANE, "tickets", integer(-#gone))
  for sale, count in pairs(flights) do
    if redis.call("HINCRBY", FLIGHTS, sale, integer(-count)) == 0 then
      redis.call("HDEL", FLIGHTS, sale)
    end
  end
end
