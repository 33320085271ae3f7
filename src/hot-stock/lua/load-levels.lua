#!lua
-- Sets balance and version of some SKUs together, never lowers a version.
--
-- KEYS      lane, then the SKUs
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   name of the load
-- ARGV[4]   number of SKUs, then their names
-- ARGV[n]   sku version hash available sale stopped revision of each
-- Replies   CLOSED why; OK, then sku, hot version of each of which the ledger went back
--@include lane
--@include skus
--@include equation
--@include load
local refused = loadRefused()
if refused then return refused end
local skus, from = skusFrom(4)
local reply = { "OK" }
for n = from, #ARGV do
  local level = {}
  local name
  name, level.version, level.hash, level.available, level.sale, level.stopped, level.revision =
    string.match(ARGV[n], "^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$")
  local sku = skus[name]
  redis.call("SADD", REGISTERED, name)
  redis.call("UNLINK", sku.buyers, sku.ids)
  local isStock = redis.call("TYPE", sku.stock).ok == "hash"
  local known = isStock and redis.call("HMGET", sku.stock, "v", "h") or {}
  local ahead = known[1] and tonumber(known[1]) > tonumber(level.version)
  local other = known[1] == level.version and known[2] ~= level.hash
  if ahead or other then
    -- Never repaired: it keeps its version, closed, until a person has looked.
    stopAhead(sku.stock)
    redis.call("PERSIST", sku.stock)
    reply[#reply + 1], reply[#reply + 2] = name, known[1]
  else
    redis.call("UNLINK", sku.stock)
    setLevel(sku.stock, level)
  end
end
return reply
