-- Gives back slots of a decision, or adds to them, if they are still held.
--
-- KEYS[1]  the sorted set as concurrency.lua writes it
-- ARGV[1]  <dddd: units given back (below zero: added), the most units of all slots together, the moment at which the slots
--          usually end, now (-1: the server's)
-- ARGV[2]  the decision's ticket

local call, pack, unpack, format = redis.call, struct.pack, struct.unpack, string.format
local back, most, usual, now = unpack('<dddd', ARGV[1])
local score = call('ZSCORE', KEYS[1], 'held')
if not score then
  return
end
local held = -1 - score
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function find(members)
  for _, member in ipairs(members) do
    if string.sub(member, 9) == ARGV[2] then
      return member
    end
  end
end

for _, member in ipairs(call('ZRANGEBYSCORE', KEYS[1], 0, format('%.0f', now))) do
  held = held - unpack('<d', member)
  call('ZREM', KEYS[1], member)
end
local end_of_usual = format('%.0f', usual)
local member = find(call('ZRANGEBYSCORE', KEYS[1], end_of_usual, end_of_usual))
  or find(call('ZRANGEBYSCORE', KEYS[1], 0, '+inf'))
if member then
  local units = unpack('<d', member)
  local left = units - math.min(back, units)
  if back < 0 then
    left = units + math.max(0, math.min(-back, most - held))
  end
  if left ~= units then
    local ends = call('ZSCORE', KEYS[1], member)
    call('ZREM', KEYS[1], member)
    if left > 0 then
      call('ZADD', KEYS[1], ends, pack('<d', left) .. ARGV[2])
    end
    held = held + left - units
  end
end
if held > 0 then
  call('ZADD', KEYS[1], format('%.0f', -1 - held), 'held')
else
  call('DEL', KEYS[1])
end
