-- A load in steps: each is for a lane that waits, closed, for this epoch, and for the load that
-- began last. ARGV[3] is the load's name, so one that another has overtaken changes nothing.
local function loadRefused()
  local closed = closedTo("waiting")
  if closed then return closed end
  if redis.call("HGET", LANE, "load") ~= ARGV[3] then return { "CLOSED", "rebuilding" } end
  return nil
end
