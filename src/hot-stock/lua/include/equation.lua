-- The one writer of `a` (available) and `o` (the overlay's total) of a SKU's stock:
--   a = the ledger's available at version v - o
local function hold(stock, units, tickets)
  redis.call("HINCRBY", stock, "a", integer(-units))
  redis.call("HINCRBY", stock, "o", integer(units))
  redis.call("HINCRBY", stock, "n", integer(tickets))
end

local function setLevel(stock, level)
  redis.call("HSET", stock, "v", level.version, "h", level.hash, "a", level.available, "o", "0",
    "n", "0", "s", level.sale, "x", level.stopped, "r", level.revision, "p", "0")
end

-- Of a SKU that is ahead of the ledger: nothing in flight, stopped until a person has looked.
local function stopAhead(stock)
  redis.call("HINCRBY", stock, "a", redis.call("HGET", stock, "o"))
  redis.call("HSET", stock, "o", "0", "x", "1", "p", "0")
end

-- For many steps of one call: read once, moved here, written once.
local function readLevel(sku)
  local seen = redis.call("HMGET", sku.stock, "v", "h", "a", "o", "s")
  sku.isHere = seen[1] and true
  sku.version, sku.hash, sku.sale = tonumber(seen[1] or nil), seen[2], seen[5]
  sku.available, sku.overlay = tonumber(seen[3] or nil), tonumber(seen[4] or nil)
end

local function giveBack(sku, units)
  sku.available, sku.overlay, sku.moved = sku.available + units, sku.overlay - units, true
end

local function advance(sku, delta, version, hash)
  sku.available, sku.version, sku.hash = sku.available + delta, version, hash
  sku.moved = true
end

local function writeLevel(sku)
  redis.call("HSET", sku.stock, "v", integer(sku.version), "h", sku.hash,
    "a", integer(sku.available), "o", integer(sku.overlay))
end
