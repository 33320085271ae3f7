#!lua
-- Brings buyers' counts, policies and answers of some SKUs.
--
-- KEYS      lane, then the SKUs
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   name of the load
-- ARGV[4]   number of SKUs, then their names
-- ARGV[n]   B sku buyer units, P sale policy or A answer, of each
-- Replies   CLOSED why; OK
--@include lane
--@include skus
--@include equation
--@include tickets
--@include load
local refused = loadRefused()
if refused then return refused end
local skus, from = skusFrom(4)
for _, sku in pairs(skus) do
  sku.sale = redis.call("HGET", sku.stock, "s")
  sku.answered = {}
end
local decided = {}
for n = from, #ARGV do
  local kind, text = string.match(ARGV[n], "^(%u) (.*)$")
  if kind == "B" then
    local name, buyer, units = string.match(text, "^(%S+) (%S+) (%S+)$")
    local sku = skus[name]
    if sku.sale then addUnits(sku, sku.sale, buyer, tonumber(units)) end
  elseif kind == "P" then
    redis.call("HSET", POLICIES, string.match(text, "^(%S+) (.*)$"))
  else
    -- As `remember` does it one by one; here there are a hundred thousand.
    local id, record, names = string.match(text, "^(%S+) (%S+ %S+ %S+ (%S+))$")
    decided[#decided + 1] = id
    if redis.call("HSETNX", ANSWERS, id, record) == 1 then
      if names == "%" then redis.call("SADD", TOMBSTONES, id) end
      for name in string.gmatch(names, "[^,]+") do
        local sku = skus[name]
        if sku and sku.sale then sku.answered[#sku.answered + 1] = id end
      end
    end
  end
end
if #decided > 0 then redis.call("HDEL", VOIDS, unpack(decided)) end
for _, sku in pairs(skus) do
  if #sku.answered > 0 then redis.call("RPUSH", sku.ids, unpack(sku.answered)) end
end
return { "OK" }
