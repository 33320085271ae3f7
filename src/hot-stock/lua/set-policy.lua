#!lua
-- Sets a sale's policy unless a later revision is known; its SKUs count buyers in this sale now.
--
-- KEYS      lane, then the SKUs of the sale
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   sale
-- ARGV[4]   policy: revision state opensAt closesAt limit skus
-- ARGV[5]   number of SKUs, then their names; 0 for a closed sale
-- Replies   CLOSED why; OK
--@include lane
--@include skus
local closed = closedTo("open")
if closed then return closed end
local known = redis.call("HGET", POLICIES, ARGV[3])
local function revision(policy) return tonumber(string.match(policy, "^%d+")) end
if known and revision(known) >= revision(ARGV[4]) then return { "OK" } end

-- Nothing below may refuse.
redis.call("HSET", POLICIES, ARGV[3], ARGV[4])
for _, sku in pairs((skusFrom(5))) do
  local sale = redis.call("HGET", sku.stock, "s")
  if sale and sale ~= ARGV[3] then
    redis.call("HSET", sku.stock, "s", ARGV[3])
    redis.call("UNLINK", sku.buyers)
  end
end
return { "OK" }
