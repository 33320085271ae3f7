-- The outbox: a stream whose ids are the numbers that the lane gives out.
local function append(item, at)
  local seq = integer(redis.call("HINCRBY", LANE, "seq", "1"))
  redis.call("XADD", OUTBOX, seq .. "-0", "i", item, "t", at)
  return seq
end

local function stands(seq)
  return #redis.call("XRANGE", OUTBOX, seq .. "-0", seq .. "-0") > 0
end

local function ticketItem(id, ticket)
  return "T " .. id .. " " .. ticket.at .. " " .. ticket.content
end

local function oldestAt()
  local head = redis.call("XRANGE", OUTBOX, "-", "+", "COUNT", "1")
  return head[1] and head[1][2][4] or "%"
end
