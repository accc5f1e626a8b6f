-- A fixed window or a quota of which units are on lease. What is lent is counted in the current window or period, and ends
-- with it; what comes back is taken from it, if it is still the current one.
--
-- KEYS[1]  the state as fixed_window.lua and quota.lua write it
-- KEYS[2]  <ddd: the first microsecond of a window, units out on lease in it, that of the next window
-- ARGV[1]  <d each: now (-1: the server's), milliseconds that keys last beyond their state; limit, window (0: a quota), a
--          quota's period's first microsecond and that of the next; what one of those who wait takes, and how many wait;
--          how many units are wanted, of what remains at most one part in so many; then of each report its window's first
--          microsecond, units that come back, units that were spent
-- reply    <d now; `a`; <d each: for how many of those who wait was taken, units lent, their window's first microsecond, how
--          long its end is off, 1 if anything is out; the state after that. Or `p` where a quota's period is not the one
--          around now; nothing is changed then.

local call, pack, unpack, floor, max, min = redis.call, struct.pack, struct.unpack, math.floor, math.max, math.min
local now, spare, limit, window, from, to, cost, times, want, parts = unpack('<dddddddddd', ARGV[1])
local REPORTS = 81
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end
if window > 0 then
  from = now - now % window
  to = from + window
elseif now < from or now >= to then
  return pack('<d', now) .. 'p'
end

local function read(key)
  return unpack('<dd', call('GET', key) or '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0')
end

local start, count = read(KEYS[1])
local term, out = read(KEYS[2])
if term ~= from then
  out = 0
end
if start < from then
  start, count = from, 0
elseif start > to then
  -- Further ahead than the next window: a clock was wrong.
  start = from
end

local before, out_before = count, out
for place = REPORTS, #ARGV[1], 24 do
  local lent_in, unspent, spent = unpack('<ddd', ARGV[1], place)
  if lent_in >= start then
    count = max(0, count - unspent)
  end
  if lent_in == from then
    out = max(0, out - unspent - spent)
  end
end

local taken, lent = 0, 0
if times > 0 then
  taken = min(times, max(0, floor((limit - count) / cost)))
  count = count + taken * cost
end
if want > 0 then
  lent = min(want, max(0, floor((limit - count) / parts)))
  count, out = count + lent, out + lent
end

local function write(key, units, state, lasting)
  if units > 0 then
    call('SET', key, state, 'PX', string.format('%.0f', lasting / 1000 + spare))
  else
    call('DEL', key)
  end
end

if count ~= before then
  local lasting = start == from and to - now or start + 1.2 * (to - from) - now
  write(KEYS[1], count, pack('<dd', start, count), lasting)
end
if out ~= out_before then
  write(KEYS[2], out, pack('<ddd', from, out, to), to - now)
end
return pack('<d', now) .. 'a' .. pack('<ddddd', taken, lent, from, to - now, out > 0 and 1 or 0) .. pack('<dd', start, count)
