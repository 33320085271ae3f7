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

local function versionsOf(text)
  local versions = {}
  for sku, version in string.gmatch(text, "([^=,]+)=(%d+)") do versions[sku] = tonumber(version) end
  return versions
end

local function dropSettled(text, skus, say)
  local id, answer, decided = string.match(text, "^(%S+) (.*) (%S+)$")
  local record = redis.call("HGET", TICKETS, id)
  local ticket = record and readTicket(record)
  if ticket and unseen(ticket, skus, say) then return end
  if answer ~= "%" then remember(answer, ticket, skus) end
  redis.call("HDEL", VOIDS, id)
  if not ticket then return end
  local versions, holds = versionsOf(decided), false
  for n, line in ipairs(ticket.lines) do
    local sku = skus[line.sku]
    local version = redis.call("HGET", sku.stock, "v")
    if not version then
      say("LACKS", line.sku)
    elseif tonumber(version) < (versions[line.sku] or 0) then
      say("GAP", line.sku, version)
    elseif letGo(id, ticket, line.sku, sku) > 0 then
      say("GAVE", line.sku)
    end
    holds = holds or (version and string.sub(ticket.held, n, n) == "1")
  end
  -- What it still holds is of SKUs that are not here: nothing is left of it.
  if not holds and string.find(ticket.held, "1", 1, true) then forgetTicket(id, ticket) end
end
