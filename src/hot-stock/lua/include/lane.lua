-- The keys of a lane, the same in every script, and the fence that stands before everything.
--
-- KEYS[1]      hash    lane: epoch, seq (the last given out), waiting, load, tickets (in flight)
-- KEYS[2]      stream  outbox: <seq>-0 -> i (item), t (ms)
-- KEYS[3]      hash    tickets: id -> seq resends held admittedAt content
-- KEYS[4]      hash    answers: id -> state fingerprint sale skus
-- KEYS[5]      hash    policies: sale -> revision state opensAt closesAt limit skus
-- KEYS[6]      hash    flights: sale -> tickets in flight
-- KEYS[7]      hash    voids: id -> seq
-- KEYS[8]      set     tombstones: ids whose cart nobody saw
-- KEYS[9]      set     registered: every SKU that the lane ever had
-- KEYS[7+3n]   hash    stock of SKU n: v h a o n s x r p
-- KEYS[8+3n]   hash    buyers of SKU n, if its sale has a limit: buyer -> units
-- KEYS[9+3n]   list    ids of SKU n, in flight or decided
--
-- Words that are null are "%", which no encoded word can be. Numbers travel as decimal words.
local LANE, OUTBOX, TICKETS, ANSWERS, POLICIES, FLIGHTS, VOIDS, TOMBSTONES, REGISTERED =
  unpack(KEYS, 1, 9)

local function integer(number)
  return string.format("%.0f", number)
end

local function now()
  local time = redis.call("TIME")
  return time[1] .. string.format("%03d", math.floor(time[2] / 1000))
end

-- The replication id changes with every promotion; false on anything but a primary.
local function replicationId()
  local info = redis.call("INFO", "replication")
  return string.find(info, "role:master", 1, true) and string.match(info, "master_replid:(%x+)")
end

-- ARGV[1] epoch, ARGV[2] replication id; `wanted` is "open", "waiting" or "any".
local function closedTo(wanted)
  if replicationId() ~= ARGV[2] then return { "CLOSED", "incarnation" } end
  local lane = redis.call("HMGET", LANE, "epoch", "waiting")
  if lane[1] ~= ARGV[1] then return { "CLOSED", "epoch" } end
  if wanted == "open" and lane[2] then return { "CLOSED", "rebuilding" } end
  if wanted == "waiting" and not lane[2] then return { "CLOSED", "open" } end
  return nil
end
