-- Sliding log: every admission of the last window, oldest first.
--
-- KEYS[i]  list: an entry for each admission, <ddd its moment, its units and the sum of all units up to it, then 8 bytes its
--          ticket. Moments never fall and sums always rise, so that places are found by halving. Absent: nothing counted.
-- ARGV     cost, limit (-1 where nothing is allowed), window; where refusals are counted the most units that it holds.
-- reply    <dd four times: the moment of an entry, and the units of those that still count up to it. Of the first that still
--          counts; of the first that is not pushed out by what is charged to refusals; of the one that has to end before the
--          cost is admitted (the last, where no wait is told); of the last. Zeros: nothing counted.

--@ arguments
$cost $limit $window
$bound --? owing

--@ functions
-- The entry at `place`: its moment, its units, the sum of all units up to it.
local function entry(key, place)
  return unpack('<ddd', call('LINDEX', key, place))
end

-- The first place from `low` on, before `size`, whose moment (which = 1) or sum (which = 3) is at least `least`; else `size`.
local function seek(key, low, size, which, least)
  local high = size
  local middle = low
  while low < high do
    if ({ entry(key, middle) })[which] >= least then
      high = middle
    else
      low = middle + 1
    end
    middle = floor((low + high) / 2)
  end
  return low
end

-- The entry by which `units` are reached, counted from the sum `base`.
local function reach(key, low, size, base, units)
  local at, _, sum = entry(key, min(seek(key, low, size, 3, base + units), size - 1))
  return pack('<dd', at, sum - base)
end

-- Has all entries that are ahead of now count from now.
local function bring_back(key, low, size)
  for place = seek(key, low, size, 1, now + 1), size - 1 do
    local raw = call('LINDEX', key, place)
    call('LSET', key, place, pack('<d', now) .. sub(raw, 9))
  end
end

-- Drops the oldest units, up to the sum `sum`.
local function push_out(key, sum)
  local size = call('LLEN', key)
  local place = seek(key, 0, size, 3, sum + 1)
  call('LTRIM', key, place, -1)
  if place < size then
    local raw = call('LINDEX', key, 0)
    local at, units, upto = unpack('<ddd', raw)
    call('LSET', key, 0, pack('<ddd', at, min(units, upto - sum), upto) .. sub(raw, 25))
  end
end

--@ read
local $size, $gone, $held, $newest, $sum, $base = call('LLEN', KEYS[$i]), 0, 0, 0, 0, 0
local $raw = rep('\0', 64)
local $clamped
if $size > 0 then
  local at, units, _
  $newest, _, $sum = entry(KEYS[$i], -1)
  -- Where the newest is ahead of now, by a window at most, time stands still at it; further ahead, a clock was wrong.
  $clamped = $newest - now > $window
  $gone = seek(KEYS[$i], 0, $size, 1, ($clamped and now or max(now, $newest)) - $window + 1)
  if $gone < $size then
    at, units, $base = entry(KEYS[$i], $gone)
    $base = $base - units
    $held = $sum - $base
    local wanted, last = $held + $cost - $limit, pack('<dd', $newest, $held)
    wanted = wanted + min($cost, $bound) --? owing
    local cut = 0 --? !owing
    local cut = max(0, $held + min($cost, $bound) - max($bound, $held)) --? owing
    local stays = pack('<dd', at, units)
    local ends = wanted > cut and wanted <= $held and reach(KEYS[$i], $gone, $size, $base, wanted) or last
    $raw = stays .. stays .. ends .. last --? !owing
    $raw = stays .. reach(KEYS[$i], $gone, $size, $base, cut + 1) .. ends .. last --? owing
  end
end
local $refused = $held + $cost > $limit

--@ take
$cost = min($cost, $bound) --? owing
if $cost > 0 then
  if $clamped then
    bring_back(KEYS[$i], $gone, $size)
    $newest, $clamped = now, nil
  end
  if $gone > 0 then
    call('LTRIM', KEYS[$i], $gone, -1)
  end
  local cut = $held + $cost - max($bound, $held) --? owing
  if cut > 0 then push_out(KEYS[$i], $base + cut) end --? owing
  local at = max(now, $newest)
  call('RPUSH', KEYS[$i], pack('<ddd', at, $cost, $sum + $cost) .. TICKET)
  call('PEXPIRE', KEYS[$i], at == now and ARGV[$t] or string.format('%.0f', (at + $window - now) / 1000 + SPARE))
end

--@ keep
bring_back(KEYS[$i], $gone, $size)
call('PEXPIRE', KEYS[$i], ARGV[$t])
