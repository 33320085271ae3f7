#!lua
-- Drops SKUs that the ledger does not have in this lane.
--
-- KEYS      lane, then the SKUs
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   name of the load
-- Replies   CLOSED why; OK
--@include lane
--@include load
local refused = loadRefused()
if refused then return refused end
if #KEYS > 9 then redis.call("UNLINK", unpack(KEYS, 10)) end
return { "OK" }
