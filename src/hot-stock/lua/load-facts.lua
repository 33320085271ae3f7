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
--@include answers
--@include load
local refused = loadRefused()
if refused then return refused end
local skus, from = skusFrom(4)
for n = from, #ARGV do
  local kind, text = string.match(ARGV[n], "^(%u) (.*)$")
  if kind == "B" then
    local name, buyer, units = string.match(text, "^(%S+) (%S+) (%S+)$")
    local sale = redis.call("HGET", skus[name].stock, "s")
    if sale then addUnits(skus[name], sale, buyer, tonumber(units)) end
  elseif kind == "P" then
    redis.call("HSET", POLICIES, string.match(text, "^(%S+) (.*)$"))
  else
    remember(text, nil, skus)
  end
end
return { "OK" }
