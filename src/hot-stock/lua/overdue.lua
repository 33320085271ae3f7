#!lua
-- A page of the tickets that left the outbox before a marker and are still here. Voids that did
-- are given up with the first page: they may be asked for again.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   seq of the marker
-- ARGV[4]   cursor, 0 at first
-- ARGV[5]   tickets, about
-- Replies   CLOSED why; OK, cursor, 0 at last, then id, record of each ticket
--@include lane
--@include outbox
local closed = closedTo("open")
if closed then return closed end
local marker = tonumber(ARGV[3])
local function left(seq) return tonumber(seq) < marker and not stands(seq) end
if ARGV[4] == "0" then
  local voids = redis.call("HSCAN", VOIDS, "0", "COUNT", ARGV[5])[2]
  for n = 1, #voids, 2 do
    if left(voids[n + 1]) then redis.call("HDEL", VOIDS, voids[n]) end
  end
end
local page = redis.call("HSCAN", TICKETS, ARGV[4], "COUNT", ARGV[5])
local reply = { "OK", page[1] }
for n = 1, #page[2], 2 do
  if left(string.match(page[2][n + 1], "^%d+")) then
    reply[#reply + 1], reply[#reply + 2] = page[2][n], page[2][n + 1]
  end
end
return reply
