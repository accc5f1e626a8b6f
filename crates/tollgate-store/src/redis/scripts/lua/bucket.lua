-- Token bucket and leaky bucket: one number, the moment when the bucket is full again.
--
-- With a rate of n/P units per microsecond in lowest terms that moment, and every span here, is whole microseconds and a
-- part: ticks of 1/n microsecond, fewer than n. Both stay below 2^53, so that doubles add and compare them exactly.
--
-- KEYS[i]  <ddI4: the moment's microseconds, its part, the tag of the parameters that wrote it. Absent: as new. With units on
--          lease it is longer and under another tag; the script that is `leased` goes by it, see lease/bucket.lua.
-- ARGV     what the cost takes, with an overdraw the ticks that it asks for beyond nothing, the capacity, the capacity with
--          the deepest debt, n, the tag, the longest wait if there is one, the moment that a new key begins with if that is
--          not full. Spans and moments are two numbers each.
-- reply    the state as it was read; zeros where absent. A foreign tag ends the call, with nothing changed.

--@ arguments
$step $step_part
$least --? overdraw
$capacity $capacity_part $ceiling $ceiling_part $ticks $tag
$longest $longest_part --? bounded
$fresh $fresh_part --? empty

--@ functions
-- The later of two moments.
local function later(full, part, other, other_part, ticks)
  if other_part >= ticks then
    other, other_part = other + 1, other_part - ticks
  end
  if other > full or other == full and other_part > part then
    return other, other_part
  end
  return full, part
end

-- When a bucket is full of which units are on lease, as an exact charge reads it: no earlier than what is out takes. And what
-- is kept behind that while anything is out.
local function held_back(raw, full, part, now, ticks)
  local last, older, older_part, newer, newer_part = unpack('<ddddd', raw, 21)
  if last - GENERATION <= now then
    full, part = later(full, part, last - GENERATION + older + newer, older_part + newer_part, ticks)
    older, older_part = 0, 0
  end
  if last <= now then
    full, part = later(full, part, last + newer, newer_part, ticks)
    newer, newer_part = 0, 0
  end
  full, part = later(full, part, now + older + newer, older_part + newer_part, ticks)
  return full, part, last > now and sub(raw, 17) or nil
end

--@ read
local $raw = call('GET', KEYS[$i]) or NOTHING_20
local $full, $part, $stamp = unpack('<ddI4', $raw)
local $clamped
local $leases --? leased
if $stamp ~= $tag then
  if $stamp == ($tag + 2147483648) % 4294967296 then --? leased
    $full, $part, $leases = held_back($raw, $full, $part, now, $ticks) --? leased
    $raw = pack('<ddI4', $full, $part, $tag) --? leased
    $stamp = $tag --? leased
  end --? leased
  if $stamp ~= 0 then --? !leased
  if $stamp ~= 0 and $stamp ~= $tag then --? leased
    return pack('<d', now) .. 'f' .. pack('<I2', $i) .. $raw
  end
  $full, $part = $fresh, $fresh_part --? empty !leased
  if $stamp == 0 then $full, $part = $fresh, $fresh_part end --? empty leased
end
local $missing = $full - now
if $missing < 0 then
  $missing, $part = 0, 0
elseif $missing >= $ceiling and ($missing > $ceiling or $part > $ceiling_part) then
  -- Further ahead than capacity and debt allow: a clock was wrong.
  $missing, $part, $clamped = $ceiling, $ceiling_part, true
end
local $after, $rest = $missing + $step, $part + $step_part
if $rest >= $ticks then
  $after, $rest = $after + 1, $rest - $ticks
end
local $refused = $after > $capacity or $after == $capacity and $rest > $capacity_part --? !overdraw
local $refused = $missing > $capacity or $missing == $capacity and $part + $least > $capacity_part --? overdraw
$refused = $refused or $missing > $longest or $missing == $longest and $part > $longest_part --? bounded

--@ wait
if not $refused then
  delay = max(delay, $missing + ($part > 0 and 1 or 0))
end

--@ take
if $step + $step_part > 0 then
  if $after > $ceiling or $after == $ceiling and $rest > $ceiling_part then --? owing
    $after, $rest = $ceiling, $ceiling_part --? owing
  end --? owing
  if $leases then --? leased
    call('SET', KEYS[$i], pack('<dd', now + $after, $rest) .. $leases, 'PX', string.format('%.0f', ARGV[$t] + 2 * GENERATION / 1000)) --? leased
  else --? leased
  call('SET', KEYS[$i], pack('<ddI4', now + $after, $rest, $tag), 'PX', ARGV[$t])
  end --? leased
  $clamped = nil
end

--@ keep
if $leases then --? leased
  call('SET', KEYS[$i], pack('<dd', now + $missing, $part) .. $leases, 'PX', string.format('%.0f', $missing / 1000 + 2 * GENERATION / 1000 + SPARE)) --? leased
else --? leased
call('SET', KEYS[$i], pack('<ddI4', now + $missing, $part, $tag), 'PX', string.format('%.0f', $missing / 1000 + SPARE))
end --? leased
