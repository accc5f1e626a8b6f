-- A bucket of which units are on lease. Beside its state it keeps two generations of leases, and its capacity is smaller by
-- what is out, so that leases and a refilled bucket never meet in one instant. What is out when its generation ends was
-- spent at the latest then.
--
-- Moments and spans are two numbers: whole microseconds, and ticks of 1/n microsecond below n, as in bucket.lua.
--
-- KEYS[1]  the state as bucket.lua writes it; with units out on lease <ddI4ddddd: the moment when it is full, its part, the
--          tag of leased buckets, the end of the newer generation, what the older has out and what the newer, as time.
-- ARGV[1]  <d each: now (-1: the server's), milliseconds that keys last beyond their state; tag, tag of leased buckets, n,
--          the capacity, the capacity with the deepest debt, the moment that a new key begins with; how long a generation
--          is; what one of those who wait takes, and how many wait; a unit; what has to be left for a unit to be lent, how
--          many are wanted; 1 to forget the key; what is given back of an earlier charge, and its moment;
--          then of each report the end of its generation, what is told of, what of it comes back
-- reply    <d now; `a`; <d each: for how many of those who wait was taken, units lent, the end of their generation, how long
--          that is off, 1 if anything is out; the state as an exact charge reads it. Or `f`, place and state where its tag
--          is foreign; nothing is changed then.

local call, pack, unpack, floor, max = redis.call, struct.pack, struct.unpack, math.floor, math.max
local now, spare, tag, lent_tag, ticks, capacity, capacity_part, ceiling, ceiling_part, fresh, fresh_part, generation, cost, cost_part, times, unit, unit_part, share, share_part, want, forget, back, back_part, charged =
  unpack('<dddddddddddddddddddddddd', ARGV[1])
local REPORTS = 193
if now < 0 then
  local time = call('TIME')
  now = time[1] * 1000000 + time[2]
end

local function add(whole, part, more, more_part)
  whole, part = whole + more, part + more_part
  if part >= ticks then
    return whole + 1, part - ticks
  end
  return whole, part
end

local function subtract(whole, part, less, less_part)
  whole, part = whole - less, part - less_part
  if part < 0 then
    return whole - 1, part + ticks
  end
  return whole, part
end

local function exceeds(whole, part, other, other_part)
  return whole > other or whole == other and part > other_part
end

-- The largest count up to `most` of which `step` times fit into `room`.
local function fits(most, step, step_part, room, room_part)
  if room < 0 then
    return 0
  end
  local steps, size = {}, 1
  while size <= most and not exceeds(step, step_part, room, room_part) do
    steps[#steps + 1] = { size, step, step_part }
    size = size * 2
    step, step_part = add(step, step_part, step, step_part)
  end
  local count, sum, sum_part = 0, 0, 0
  for place = #steps, 1, -1 do
    local size, step, step_part = steps[place][1], steps[place][2], steps[place][3]
    local next, next_part = add(sum, sum_part, step, step_part)
    if count + size <= most and not exceeds(next, next_part, room, room_part) then
      count, sum, sum_part = count + size, next, next_part
    end
  end
  return count
end

-- `count` times `step`.
local function product(count, step, step_part)
  local sum, sum_part = 0, 0
  while count > 0 do
    if count % 2 == 1 then
      sum, sum_part = add(sum, sum_part, step, step_part)
    end
    count = floor(count / 2)
    step, step_part = add(step, step_part, step, step_part)
  end
  return sum, sum_part
end

local raw = call('GET', KEYS[1])
local full, part, last, older, older_part, newer, newer_part = fresh, fresh_part, 0, 0, 0, 0, 0
if raw then
  local stamp
  full, part, stamp = unpack('<ddI4', raw)
  if stamp == lent_tag then
    last, older, older_part, newer, newer_part = unpack('<ddddd', raw, 21)
  elseif stamp ~= tag then
    return pack('<d', now) .. 'f' .. pack('<I2', 1) .. raw
  end
end

-- The bucket is full no earlier than what is out takes, from `at`.
local function hold_back(at, out, out_part)
  if out + out_part > 0 and exceeds(at + out, out_part, full, part) then
    full, part = at + out, out_part
  end
end

if last - generation <= now then
  hold_back(last - generation, add(older, older_part, newer, newer_part))
  older, older_part = 0, 0
end
if last <= now then
  hold_back(last, newer, newer_part)
  newer, newer_part = 0, 0
end
hold_back(now, add(older, older_part, newer, newer_part))
if now > full then
  full, part = now, 0
elseif exceeds(full - now, part, ceiling, ceiling_part) then
  -- Further ahead than capacity and debt allow: a clock was wrong.
  full, part = now + ceiling, ceiling_part
end

local changed = false
for place = REPORTS, #ARGV[1], 40 do
  local term, told, told_part, unspent, unspent_part = unpack('<ddddd', ARGV[1], place)
  local known = true
  if term == last and not exceeds(told, told_part, newer, newer_part) then
    newer, newer_part = subtract(newer, newer_part, told, told_part)
  elseif term == last - generation and not exceeds(told, told_part, older, older_part) then
    older, older_part = subtract(older, older_part, told, told_part)
  else
    -- It has ended, and what came of it was counted as spent.
    known = false
  end
  if known then
    changed = true
    full, part = subtract(full, part, unspent, unspent_part)
    if full < now then
      full, part = now, 0
    end
  end
end

if forget == 1 then
  changed = true
  full, part = fresh, fresh_part
  if full < now then
    full, part = now, 0
  end
  hold_back(now, add(older, older_part, newer, newer_part))
end

if back + back_part > 0 then
  if exceeds(back, back_part, full - now, part) then
    back, back_part = full - now, part
  end
  back = back - max(0, now - charged)
  if back >= 0 and back + back_part > 0 then
    changed = true
    full, part = subtract(full, part, back, back_part)
    hold_back(now, add(older, older_part, newer, newer_part))
  end
end

local taken = 0
if times > 0 then
  taken = fits(times, cost, cost_part, subtract(capacity, capacity_part, full - now, part))
  full, part = add(full, part, product(taken, cost, cost_part))
end
local lent = 0
local term = (floor(now / generation) + 2) * generation
local ends = term
if want > 0 then
  lent = fits(want, share, share_part, subtract(capacity, capacity_part, full - now, part))
end
if lent > 0 then
  if last < term then
    if last == term - generation then
      older, older_part = newer, newer_part
    end
    last, newer, newer_part = term, 0, 0
  end
  -- Where a clock stepped back, what is lent now ends earlier than the generation it is counted in.
  term = last
  local units, units_part = product(lent, unit, unit_part)
  newer, newer_part = add(newer, newer_part, units, units_part)
  full, part = add(full, part, units, units_part)
end

local out = older + older_part + newer + newer_part > 0
local state = pack('<ddI4', full, part, tag)
if changed or taken > 0 or lent > 0 then
  local kept, kept_part = full, part
  if out then
    hold_back(last - generation, add(older, older_part, newer, newer_part))
    hold_back(last, newer, newer_part)
    local lasting = string.format('%.0f', (full - now) / 1000 + spare)
    call('SET', KEYS[1], pack('<ddI4ddddd', kept, kept_part, lent_tag, last, older, older_part, newer, newer_part), 'PX', lasting)
  elseif full > now or part > 0 then
    call('SET', KEYS[1], state, 'PX', string.format('%.0f', (full - now) / 1000 + spare))
  else
    call('DEL', KEYS[1])
  end
end
return pack('<d', now) .. 'a' .. pack('<ddddd', taken, lent, term, ends - now, out and 1 or 0) .. state
