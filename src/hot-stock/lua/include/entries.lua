-- Does it still hold units of this SKU?
local function isHeld(id, name)
  local record = id ~= "%" and redis.call("HGET", TICKETS, id)
  if not record then return false end
  local ticket = readTicket(record)
  for n, line in ipairs(ticket.lines) do
    if line.sku == name then return string.sub(ticket.held, n, n) == "1" end
  end
  return false
end

-- The ledger went back, so it seems: nothing more is sold until a person has looked.
local function fork(name, stock, version, say)
  redis.call("HSET", stock, "x", "1")
  say("FORK", name, version)
end

-- One entry of the ledger: only the next version, and only on top of the hash it was made on. One
-- that is here already has the hash of its version, and has taken its ticket along. Only a ticket
-- that leaves an answer behind cannot be held again: a taking is, when it is repeated.
local function standing(name, entry, sku, say)
  local stock = redis.call("HMGET", sku.stock, "v", "h")
  if not stock[1] then return say("LACKS", name) end
  local version, wanted = tonumber(stock[1]), tonumber(entry.version)
  local strange = false
  if wanted == version then
    strange = entry.hash ~= stock[2]
  elseif wanted < version then
    strange = entry.answer ~= "%" and isHeld(entry.id, name)
  elseif wanted > version + 1 then
    return say("GAP", name, stock[1])
  elseif entry.previous == stock[2] then
    return true
  else
    strange = true
  end
  return strange and fork(name, sku.stock, stock[1], say)
end

-- Gives back what its ticket held (nothing, if it was lost; something else, if a retry had other
-- content) and takes what the entry says.
local function projectEntry(text, skus, say)
  local name, version, previous, hash, delta, id, sale, buyer, units, answer = string.match(text,
    "^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$")
  local sku = skus[name]
  local entry =
    { version = version, previous = previous, hash = hash, id = id, answer = answer }
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
