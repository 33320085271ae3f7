-- One entry of the ledger: only the next version, and only on top of the hash it was made on.
local function standing(name, entry, sku, say)
  local stock = redis.call("HMGET", sku.stock, "v", "h")
  if not stock[1] then return say("LACKS", name) end
  local version, wanted = tonumber(stock[1]), tonumber(entry.version)
  if wanted <= version then
    if wanted == version and entry.hash ~= stock[2] then say("FORK", name, stock[1]) end
    return false
  end
  if wanted > version + 1 then return say("GAP", name, stock[1]) end
  if entry.previous ~= stock[2] then return say("FORK", name, stock[1]) end
  return true
end

-- Gives back what its ticket held (nothing, if it was lost; something else, if a retry had other
-- content) and takes what the entry says.
local function projectEntry(text, skus, say)
  local name, version, previous, hash, delta, id, sale, buyer, units, answer = string.match(text,
    "^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$")
  local sku = skus[name]
  local entry = { version = version, previous = previous, hash = hash }
  if not standing(name, entry, sku, say) then return end
  local before = tonumber(redis.call("HGET", sku.stock, "a"))
  local record = id ~= "%" and redis.call("HGET", TICKETS, id)
  local ticket = record and readTicket(record)
  addUnits(sku, sale, buyer, tonumber(units))
  if ticket then letGo(id, ticket, name, sku) end
  advance(sku.stock, delta, version, hash)
  if answer ~= "%" then remember(answer, ticket, skus) end
  say("APPLIED", name)
  if tonumber(redis.call("HGET", sku.stock, "a")) > before then say("GAVE", name) end
end
