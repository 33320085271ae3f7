-- Reads all that a batch of tickets is judged by, with one command per kind of record.
-- Each SKU gets what the judge changes: available, units of buyers, and what is to be written.
local function readSkus(skus)
  for _, sku in pairs(skus) do
    local seen = redis.call("HMGET", sku.stock, "a", "s", "x")
    sku.available, sku.sale, sku.stopped = tonumber(seen[1] or nil), seen[2], seen[3] == "1"
    sku.taken, sku.admitted, sku.names, sku.units = 0, {}, {}, {}
  end
end

local function readTickets(from)
  local tickets, ids, sales = {}, {}, {}
  for n = from, #ARGV, 2 do
    local ticket = readContent(ARGV[n + 1])
    ticket.id = ARGV[n]
    tickets[#tickets + 1], ids[#ids + 1] = ticket, ticket.id
    sales[ticket.sale] = false
  end
  return tickets, ids, sales
end

local function readPolicies(sales)
  for sale in pairs(sales) do
    local text = sale ~= "%" and redis.call("HGET", POLICIES, sale)
    if text then
      local _, state, opens, closes, limit, names =
        string.match(text, "^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$")
      sales[sale] = { state = state, opens = tonumber(opens), closes = tonumber(closes),
        limit = tonumber(limit), skus = "," .. names .. ",", sells = {} }
    end
  end
end

-- Of the buyers whose units count.
local function readUnits(tickets, skus, sales)
  for _, ticket in ipairs(tickets) do
    local policy = sales[ticket.sale]
    local counts = ticket.kind ~= "t" and (not policy or policy.limit)
    for _, line in ipairs(counts and ticket.lines or {}) do
      local sku = skus[line.sku]
      if sku.sale == ticket.sale and not sku.units[ticket.buyer] then
        sku.names[#sku.names + 1], sku.units[ticket.buyer] = ticket.buyer, 0
      end
    end
  end
  for _, sku in pairs(skus) do
    if #sku.names > 0 then
      for n, units in ipairs(redis.call("HMGET", sku.buyers, unpack(sku.names))) do
        sku.units[sku.names[n]] = tonumber(units or 0)
      end
    end
  end
end
