-- The one writer of `a` (available) and `o` (the overlay's total) of a SKU's stock:
--   a = the ledger's available at version v - o
local function hold(stock, units, tickets)
  redis.call("HINCRBY", stock, "a", integer(-units))
  redis.call("HINCRBY", stock, "o", integer(units))
  redis.call("HINCRBY", stock, "n", integer(tickets))
end

local function giveBack(stock, units)
  redis.call("HINCRBY", stock, "a", integer(units))
  redis.call("HINCRBY", stock, "o", integer(-units))
end

local function advance(stock, delta, version, hash)
  redis.call("HINCRBY", stock, "a", delta)
  redis.call("HSET", stock, "v", version, "h", hash)
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
