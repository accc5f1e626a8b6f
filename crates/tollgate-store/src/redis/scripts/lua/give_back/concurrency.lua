-- Gives back slots of a decision, or adds to them, if they are still held.
--
-- KEYS[1]  the sorted set as concurrency.lua writes it
-- ARGV[1]  <ddddd: units given back (below zero: added), the most units of all slots together, the moment of the charge, ttl,
--          now (-1: the server's; 0: also slots that have ended are given back)
-- ARGV[2]  the decision's ticket

local call, pack, unpack, format, min = redis.call, struct.pack, struct.unpack, string.format, math.min
local back, most, at, ttl, now = unpack('<ddddd', ARGV[1])
local score = call('ZSCORE', KEYS[1], 'held')
if not score then
  return
end
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
local held = -1 - score
local moment = format('%.0f', now)
local ended = call('ZRANGEBYSCORE', KEYS[1], 0, moment)
for _, member in ipairs(ended) do
  held = held - unpack('<d', member)
end

local function find(first, last)
  local members = call('ZRANGEBYSCORE', KEYS[1], first, last)
  for _, member in ipairs(members) do
    if string.sub(member, 9) == ARGV[2] then
      return member
    end
  end
end

-- Has all slots end one ttl from now, if not before, where some end so late that a clock was wrong.
local function cut()
  local last = call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
  if now > 0 and held > 0 and last - now > 2 * ttl then
    local latest = format('%.0f', now + ttl)
    for _, late in ipairs(call('ZRANGEBYSCORE', KEYS[1], '(' .. latest, '+inf')) do
      call('ZADD', KEYS[1], latest, late)
    end
  end
end

-- Slots usually end one ttl after their charge.
if back < 0 then
  cut()
end
local usual = format('%.0f', at + ttl)
local member = at + ttl > now and find(usual, usual) or find('(' .. moment, '+inf')
if not member then
  return
end
local units = unpack('<d', member)
local left = units - min(back, units)
if back < 0 then
  left = units + math.max(0, min(-back, most - held))
end
if left == units then
  return
end
cut()
held = held + left - units
if held == 0 then
  call('DEL', KEYS[1])
  return
end
local ends = call('ZSCORE', KEYS[1], member)
call('ZREM', KEYS[1], member)
if left > 0 then
  call('ZADD', KEYS[1], ends, pack('<d', left) .. ARGV[2])
end
if #ended > 0 then
  call('ZREMRANGEBYSCORE', KEYS[1], 0, moment)
end
call('ZADD', KEYS[1], format('%.0f', -1 - held), 'held')
