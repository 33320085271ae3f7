#!lua
-- Marks the lane with an epoch, which closes it, and puts the barrier behind what it holds.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   the barrier, an item
-- Replies   CLOSED why; OK
--@include lane
--@include outbox
local types = { "hash", "stream", "hash", "hash", "hash", "hash", "hash", "set", "set" }
if replicationId() ~= ARGV[2] then return { "CLOSED", "incarnation" } end
local isHash = redis.call("TYPE", LANE).ok == "hash"
local lane = isHash and redis.call("HMGET", LANE, "epoch", "waiting", "seq") or {}
local known, epoch = tonumber(lane[1] or 0), tonumber(ARGV[1])
if lane[1] and known > epoch then return { "CLOSED", "epoch" } end
if lane[1] and known == epoch and not lane[2] then return { "CLOSED", "open" } end

-- Nothing below may refuse. What was edited by hand has lost its type, or will be lost in time.
for n = 1, 9 do
  local type = redis.call("TYPE", KEYS[n]).ok
  if type ~= "none" and type ~= types[n] then redis.call("DEL", KEYS[n]) end
  redis.call("PERSIST", KEYS[n])
end
local last = "0"
if redis.call("EXISTS", OUTBOX) == 1 then
  local stream = redis.call("XINFO", "STREAM", OUTBOX)
  for n = 1, #stream, 2 do
    if stream[n] == "last-generated-id" then last = string.match(stream[n + 1], "^%d+") end
  end
end
if tonumber(last) > tonumber(lane[3] or 0) then redis.call("HSET", LANE, "seq", last) end
redis.call("HSET", LANE, "epoch", ARGV[1], "waiting", "1")
redis.call("HDEL", LANE, "load")
append(ARGV[3], now())
return { "OK" }
