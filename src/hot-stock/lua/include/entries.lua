-- One entry of the ledger: only the next version, and only on top of the hash it was made on. One
-- that was made on the last entry of its SKU before it, in the same call, says so by "=".
local function readEntry(text, skus)
  local name, version, previous, hash, delta, id, sale, buyer, units, answer = string.match(text,
    "^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$")
  local sku = skus[name]
  if previous == "=" then previous = sku.told end
  sku.told = hash
  return { name = name, version = tonumber(version), previous = previous, hash = hash,
    delta = tonumber(delta), id = id, sale = sale, buyer = buyer, units = tonumber(units),
    answer = readAnswer(answer, id, sale, name) }
end

-- Does it still hold units of this SKU?
local function isHeld(id, name)
  local ticket = held[id]
  for n, line in ipairs(ticket and ticket.lines or {}) do
    if line.sku == name then return string.sub(ticket.held, n, n) == "1" end
  end
  return false
end

-- The ledger went back, so it seems: nothing more is sold until a person has looked.
local function fork(sku, say)
  redis.call("HSET", sku.stock, "x", "1")
  say("FORK", sku, integer(sku.version))
end

-- One that is here already has the hash of its version, and has taken its ticket along. Only a
-- ticket that leaves an answer behind cannot be held again: a taking is, when it is repeated.
local function standing(entry, sku, say)
  if not sku.isHere then return say("LACKS", sku) end
  local strange = false
  if entry.version == sku.version then
    strange = entry.hash ~= sku.hash
  elseif entry.version < sku.version then
    strange = entry.answer and isHeld(entry.id, entry.name)
  elseif entry.version > sku.version + 1 then
    return say("GAP", sku, integer(sku.version))
  elseif entry.previous == sku.hash then
    return true
  else
    strange = true
  end
  return strange and fork(sku, say)
end

-- Gives back what its ticket held (nothing, if it was lost; something else, if a retry had other
-- content) and takes what the entry says.
local function projectEntry(entry, skus, say)
  local sku = skus[entry.name]
  if not standing(entry, sku, say) then return end
  local before, ticket = sku.available, held[entry.id]
  countUnits(sku, entry.sale, entry.buyer, entry.units)
  letGo(entry.id, sku)
  advance(sku, entry.delta, entry.version, entry.hash)
  remember(entry.answer, ticket, skus)
  say("APPLIED", sku)
  if sku.available > before then say("GAVE", sku) end
end
