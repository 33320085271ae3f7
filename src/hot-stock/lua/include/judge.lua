-- Refusals in their order of precedence; nil admits.
local function windowRefusal(policy, at)
  if policy.state == "draft" then return "SALE_NOT_OPEN" end
  if policy.state ~= "closed" and policy.opens and at < policy.opens then return "SALE_NOT_OPEN" end
  if policy.state == "paused" then return "SALE_PAUSED" end
  if policy.state == "closed" then return "SALE_ENDED" end
  if policy.closes and at >= policy.closes then return "SALE_ENDED" end
  return nil
end

local function firstLine(ticket, skus, matches)
  for _, line in ipairs(ticket.lines) do
    if matches(line, skus[line.sku]) then return line.sku end
  end
  return nil
end

local function refuseUnits(ticket, skus, limit)
  local found = firstLine(ticket, skus, function(_, sku) return sku.stopped end)
  if found then return "SALE_PAUSED " .. found end
  found = firstLine(ticket, skus, function(_, sku) return sku.available <= 0 end)
  if found then return "SOLD_OUT " .. found end
  found = limit and firstLine(ticket, skus, function(line, sku)
    return sku.sale == ticket.sale and sku.units[ticket.buyer] + line.units > limit
  end)
  if found then return "LIMIT_EXCEEDED " .. found end
  found = firstLine(ticket, skus, function(line, sku) return sku.available < line.units end)
  return found and "SOLD_OUT " .. found
end

local function refuse(ticket, skus, policy, at)
  local function absent(_, sku) return not sku.available end
  if ticket.kind == "r" then
    if not policy then return "MISSING sale" end
    local stranger = firstLine(ticket, skus, function(line)
      return not string.find(policy.skus, "," .. line.sku .. ",", 1, true)
    end)
    if stranger then return "SKU_NOT_FOUND " .. stranger end
  end
  local missing = firstLine(ticket, skus, absent)
  if missing then return "MISSING sku " .. missing end
  if ticket.kind == "t" then
    local short = firstLine(ticket, skus, function(line, sku) return sku.available < line.units end)
    return short and "NOT_ENOUGH " .. short
  end
  local refusal = ticket.kind == "r" and windowRefusal(policy, at)
  return refusal or refuseUnits(ticket, skus, policy and policy.limit)
end
