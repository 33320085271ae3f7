-- A ticket that was decided before it came gives back what it holds, SKU by SKU, and only once
-- the version that decided it is here: before that, its units are not yet taken off.
local function readSettled(text)
  local id, answer, decided = string.match(text, "^(%S+) (.*) (%S+)$")
  return { id = id, answer = readAnswer(answer), decided = decided }
end

local function unseen(ticket, skus, say)
  local found = false
  for _, line in ipairs(ticket.lines) do
    if not skus[line.sku] then
      say("MORE", { name = line.sku })
      found = true
    end
  end
  return found
end

-- The versions that hot stock has not seen yet: until then their lines are kept.
local function gapsBefore(text, skus, say)
  local gaps = {}
  for name, version in string.gmatch(text, "([^=,]+)=(%d+)") do
    local sku = skus[name]
    if sku.isHere and sku.version < tonumber(version) then
      say("GAP", sku, integer(sku.version))
      gaps[name] = true
    end
  end
  return gaps
end

local function dropSettled(settled, skus, say)
  local id = settled.id
  local ticket = held[id]
  if ticket and unseen(ticket, skus, say) then return end
  remember(settled.answer, ticket, skus)
  decided[#decided + 1] = id
  local gaps, holds = gapsBefore(settled.decided, skus, say), false
  if not ticket then return end
  for n, line in ipairs(ticket.lines) do
    local sku = skus[line.sku]
    if not sku.isHere then
      say("LACKS", sku)
    elseif not gaps[line.sku] and letGo(id, sku) > 0 then
      say("GAVE", sku)
    end
    holds = holds or (sku.isHere and string.sub(ticket.held, n, n) == "1")
  end
  -- What it still holds is of SKUs that are not here: nothing is left of it.
  if not holds and string.find(ticket.held, "1", 1, true) then forgetTicket(id) end
end
