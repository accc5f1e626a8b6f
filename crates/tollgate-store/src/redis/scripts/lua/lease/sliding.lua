-- A sliding window of which units are on lease. What is lent is counted in the current cell, and ends with it; what comes
-- back is taken from the cell it was lent in, if that still counts.
--
-- KEYS[1]  the state as sliding_cells.lua writes it; of one cell, as sliding_window.lua does, which is the same
-- KEYS[2]  <ddd: the first microsecond of a cell, units out on lease in it, that of the next cell
-- ARGV[1]  <d each: now (-1: the server's), milliseconds that keys last beyond their state; limit, a cell's length, the
--          number of cells; what one of those who wait takes, and how many wait; how many units are wanted, of what remains
--          at most one part in so many; then of each report its cell's first microsecond, units that come back, units that were
--          spent
-- reply    as count.lua's, with a cell for a window

local spread = unpack
local call, pack, unpack, floor, max, min = redis.call, struct.pack, struct.unpack, math.floor, math.max, math.min
local now, spare, limit, cell, cells, cost, times, want, parts = unpack('<ddddddddd', ARGV[1])
local REPORTS = 73
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

local current = (now - now % cell) / cell
local raw = call('GET', KEYS[1]) or string.rep('\0', 8 * cells + 16)
local units = { unpack('<' .. string.rep('d', cells + 2), raw) }
local index = table.remove(units, 1)
units[cells + 2] = nil
if index < current then
  for _ = 1, min(current - index, cells + 1) do
    table.remove(units, 1)
    units[cells + 1] = 0
  end
  index = current
elseif (index - cells) * cell > now then
  -- Further ahead than a window: a clock was wrong.
  index = current
end
local term, out = unpack('<dd', call('GET', KEYS[2]) or '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0')
if term ~= current * cell then
  out = 0
end

local changed, out_before = false, out
for place = REPORTS, #ARGV[1], 24 do
  local lent_in, unspent, spent = unpack('<ddd', ARGV[1], place)
  local at = cells + 1 - (index - lent_in / cell)
  if units[at] and unspent > 0 then
    changed, units[at] = true, max(0, units[at] - unspent)
  end
  if lent_in == current * cell then
    out = max(0, out - unspent - spent)
  end
end

local whole = 0
for place = 2, cells + 1 do
  whole = whole + units[place]
end
local inside = min((index + 1) * cell - now, cell)
local room = limit - whole - share(units[1], inside, cell)
local taken, lent = 0, 0
if times > 0 then
  taken = min(times, max(0, floor(room / cost)))
end
room = room - taken * cost
if want > 0 then
  lent = min(want, max(0, floor(room / parts)))
  out = out + lent
end
units[cells + 1] = units[cells + 1] + taken * cost + lent

local state = pack('<' .. string.rep('d', cells + 2), index, spread(units))
if changed or taken > 0 or lent > 0 then
  if whole + units[1] + units[cells + 1] > 0 then
    call('SET', KEYS[1], state, 'PX', string.format('%.0f', ((index + cells + 1) * cell - now) / 1000 + spare))
  else
    call('DEL', KEYS[1])
  end
end
local ends = (current + 1) * cell - now
if out ~= out_before then
  if out > 0 then
    call('SET', KEYS[2], pack('<ddd', current * cell, out, now + ends), 'PX', string.format('%.0f', ends / 1000 + spare))
  else
    call('DEL', KEYS[2])
  end
end
return pack('<d', now) .. 'a' .. pack('<ddddd', taken, lent, current * cell, ends, out > 0 and 1 or 0) .. state
