-- A ticket's record.
--   record:  seq resends held admittedAt content
--   content: kind fingerprint sale buyer sku=units,... rest
-- `held` has a 1 for each line that still holds its units.
local function readLines(text)
  local only, units = string.match(text, "^([^=,]+)=(%d+)$")
  if only then return { { sku = only, units = tonumber(units) } } end
  local lines = {}
  for sku, each in string.gmatch(text, "([^=,]+)=(%d+)") do
    lines[#lines + 1] = { sku = sku, units = tonumber(each) }
  end
  return lines
end

local function readContent(content)
  local kind, fingerprint, sale, buyer, lines =
    string.match(content, "^(%S+) (%S+) (%S+) (%S+) (%S+)")
  return { kind = kind, fingerprint = fingerprint, sale = sale, buyer = buyer,
    lines = readLines(lines), content = content }
end

-- Its content is a long string, and seldom asked for.
local function readTicket(record)
  local seq, resends, held, at, kind, fingerprint, sale, buyer, lines =
    string.match(record, "^(%d+) (%d+) (%d+) (%d+) (%S+) (%S+) (%S+) (%S+) (%S+)")
  return { seq = seq, resends = resends, held = held, at = at, record = record, kind = kind,
    fingerprint = fingerprint, sale = sale, buyer = buyer, lines = readLines(lines) }
end

local function contentOf(ticket)
  return ticket.content or string.match(ticket.record, "^%d+ %d+ %d+ %d+ (.*)$")
end

local function writeTicket(id, ticket)
  local head = ticket.seq .. " " .. ticket.resends .. " " .. ticket.held .. " " .. ticket.at
  redis.call("HSET", TICKETS, id, head .. " " .. contentOf(ticket))
end

-- A buyer's units count only in the sale that the SKU is in now.
local function addUnits(sku, sale, buyer, units)
  if units == 0 or buyer == "%" or sale == "%" then return end
  if redis.call("HGET", sku.stock, "s") ~= sale then return end
  local sum = redis.call("HINCRBY", sku.buyers, buyer, integer(units))
  if sum == 0 then redis.call("HDEL", sku.buyers, buyer) end
end
