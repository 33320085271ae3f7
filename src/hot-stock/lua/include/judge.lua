-- Refusals in their order of precedence; nil admits.
local function windowRefusal(policy, at)
  if policy.state == "draft" then return "SALE_NOT_OPEN" end
  if policy.state ~= "closed" and policy.opens and at < policy.opens then return "SALE_NOT_OPEN" end
  if policy.state == "paused" then return "SALE_PAUSED" end
  if policy.state == "closed" then return "SALE_ENDED" end
  if policy.closes and at >= policy.closes then return "SALE_ENDED" end
  return nil
end

-- Each kind of refusal names the first line that meets it.
local function refuseUnits(ticket, skus, limit)
  local stopped, empty, over, short
  for _, line in ipairs(ticket.lines) do
    local sku, name = skus[line.sku], line.sku
    if sku.stopped then stopped = stopped or name end
    if sku.available <= 0 then empty = empty or name end
    if sku.available < line.units then short = short or name end
    if limit and sku.sale == ticket.sale and sku.units[ticket.buyer] + line.units > limit then
      over = over or name
    end
  end
  return stopped and "SALE_PAUSED " .. stopped or empty and "SOLD_OUT " .. empty
    or over and "LIMIT_EXCEEDED " .. over or short and "SOLD_OUT " .. short
end

local function sells(policy, name)
  if policy.sells[name] == nil then
    policy.sells[name] = string.find(policy.skus, "," .. name .. ",", 1, true) and true or false
  end
  return policy.sells[name]
end

local function refuse(ticket, skus, policy, at)
  local isBuyers = ticket.kind == "r"
  if isBuyers and not policy then return "MISSING sale" end
  local stranger, missing, short
  for _, line in ipairs(ticket.lines) do
    local sku, name = skus[line.sku], line.sku
    if isBuyers and not sells(policy, name) then stranger = stranger or name end
    if not sku.available then missing = missing or name
    elseif sku.available < line.units then short = short or name end
  end
  if stranger then return "SKU_NOT_FOUND " .. stranger end
  if missing then return "MISSING sku " .. missing end
  if ticket.kind == "t" then return short and "NOT_ENOUGH " .. short end
  local refusal = isBuyers and windowRefusal(policy, at)
  return refusal or refuseUnits(ticket, skus, policy and policy.limit)
end
