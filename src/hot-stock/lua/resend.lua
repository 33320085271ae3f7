#!lua
-- Appends overdue tickets to the outbox again; not one that is gone or already there.
--
-- KEYS      lane
-- ARGV[1]   epoch
-- ARGV[2]   replication id
-- ARGV[3]   seq of the marker
-- ARGV[n]   ids
-- Replies   CLOSED why; OK, then the ids that were sent again
--@include lane
--@include equation
--@include tickets
--@include outbox
local closed = closedTo("open")
if closed then return closed end
local at, reply = now(), { "OK" }
for n = 4, #ARGV do
  local record = redis.call("HGET", TICKETS, ARGV[n])
  local ticket = record and readTicket(record)
  if ticket and tonumber(ticket.seq) < tonumber(ARGV[3]) and not stands(ticket.seq) then
    ticket.seq = append(ticketItem(ARGV[n], ticket), at)
    ticket.resends = integer(ticket.resends + 1)
    writeTicket(ARGV[n], ticket)
    reply[#reply + 1] = ARGV[n]
  end
end
return reply
