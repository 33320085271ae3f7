-- A ticket's record, and the ways into and out of the overlay.
--   record:  seq resends held admittedAt content
--   content: kind fingerprint sale buyer sku=units,... rest
-- `held` has a 1 for each line that still holds its units.
local function readContent(content)
  local kind, fingerprint, sale, buyer, text =
    string.match(content, "^(%S+) (%S+) (%S+) (%S+) (%S+)")
  local lines = {}
  for sku, units in string.gmatch(text, "([^=,]+)=(%d+)") do
    lines[#lines + 1] = { sku = sku, units = tonumber(units) }
  end
  return { kind = kind, fingerprint = fingerprint, sale = sale, buyer = buyer, lines = lines }
end

local function readTicket(record)
  local seq, resends, held, at, content = string.match(record, "^(%d+) (%d+) (%d+) (%d+) (.*)$")
  local ticket = readContent(content)
  ticket.seq, ticket.resends, ticket.held, ticket.at = seq, resends, held, at
  ticket.content = content
  return ticket
end

local function writeTicket(id, ticket)
  local head = ticket.seq .. " " .. ticket.resends .. " " .. ticket.held .. " " .. ticket.at
  redis.call("HSET", TICKETS, id, head .. " " .. ticket.content)
end

-- A buyer's units count only in the sale that the SKU is in now.
local function addUnits(sku, sale, buyer, units)
  if units == 0 or buyer == "%" or sale == "%" then return end
  if redis.call("HGET", sku.stock, "s") ~= sale then return end
  local sum = redis.call("HINCRBY", sku.buyers, buyer, integer(units))
  if sum == 0 then redis.call("HDEL", sku.buyers, buyer) end
end

local function forgetTicket(id, ticket)
  redis.call("HDEL", TICKETS, id)
  redis.call("HINCRBY", LANE, "tickets", "-1")
  if ticket.kind == "t" then return end
  local left = redis.call("HINCRBY", FLIGHTS, ticket.sale, "-1")
  if left == 0 then redis.call("HDEL", FLIGHTS, ticket.sale) end
end

-- Gives back what the ticket still holds of one SKU; forgets it with its last line.
local function letGo(id, ticket, name, sku)
  for n, line in ipairs(ticket.lines) do
    if line.sku == name and string.sub(ticket.held, n, n) == "1" then
      giveBack(sku.stock, line.units)
      if ticket.kind ~= "t" then addUnits(sku, ticket.sale, ticket.buyer, -line.units) end
      ticket.held = string.sub(ticket.held, 1, n - 1) .. "0" .. string.sub(ticket.held, n + 1)
      if string.find(ticket.held, "1", 1, true) then writeTicket(id, ticket)
      else forgetTicket(id, ticket) end
      return line.units
    end
  end
  return 0
end
