-- A ticket that was decided before it came gives back what it holds, SKU by SKU, and only once
-- the version that decided it is here: before that, its units are not yet taken off.
local function unseen(ticket, skus, say)
  local found = false
  for _, line in ipairs(ticket.lines) do
    if not skus[line.sku] then
      say("MORE", line.sku)
      found = true
    end
  end
  return found
end

-- The versions that hot stock has not seen yet: until then their lines are kept.
local function gapsBefore(text, skus, say)
  local gaps = {}
  for name, decided in string.gmatch(text, "([^=,]+)=(%d+)") do
    local version = redis.call("HGET", skus[name].stock, "v")
    if version and tonumber(version) < tonumber(decided) then
      say("GAP", name, version)
      gaps[name] = true
    end
  end
  return gaps
end

local function dropSettled(text, skus, say)
  local id, answer, decided = string.match(text, "^(%S+) (.*) (%S+)$")
  local record = redis.call("HGET", TICKETS, id)
  local ticket = record and readTicket(record)
  if ticket and unseen(ticket, skus, say) then return end
  if answer ~= "%" then remember(answer, ticket, skus) end
  redis.call("HDEL", VOIDS, id)
  local gaps, holds = gapsBefore(decided, skus, say), false
  if not ticket then return end
  for n, line in ipairs(ticket.lines) do
    local sku = skus[line.sku]
    local isHere = redis.call("EXISTS", sku.stock) == 1
    if not isHere then
      say("LACKS", line.sku)
    elseif not gaps[line.sku] and letGo(id, ticket, line.sku, sku) > 0 then
      say("GAVE", line.sku)
    end
    holds = holds or (isHere and string.sub(ticket.held, n, n) == "1")
  end
  -- What it still holds is of SKUs that are not here: nothing is left of it.
  if not holds and string.find(ticket.held, "1", 1, true) then forgetTicket(id, ticket) end
end
