-- Units of buyers: counted only in the sale that the SKU is in now, and if that has a limit.
local function isLimited(sale)
  local policy = redis.call("HGET", POLICIES, sale)
  return not policy or string.match(policy, "^%S+ %S+ %S+ %S+ (%S+)") ~= "%"
end

local function readCounting(skus)
  local limited = {}
  for _, sku in pairs(skus) do
    local sale = sku.sale
    if sale and limited[sale] == nil then limited[sale] = isLimited(sale) end
    sku.counts = limited[sale]
  end
end

local function countUnits(sku, sale, buyer, units)
  if units == 0 or buyer == "%" or sale == "%" or sku.sale ~= sale or not sku.counts then return end
  sku.units[buyer] = (sku.units[buyer] or 0) + units
end

local function writeUnits(sku)
  for buyer, units in pairs(sku.units) do
    if units ~= 0 and redis.call("HINCRBY", sku.buyers, buyer, integer(units)) == 0 then
      redis.call("HDEL", sku.buyers, buyer)
    end
  end
end
