-- Token bucket and leaky bucket: one number, the moment when the bucket is full again.
--
-- With a rate of n/P units per microsecond in lowest terms that moment, and every span here, is whole microseconds and a
-- part: ticks of 1/n microsecond, fewer than n. Both stay below 2^53, so that doubles add and compare them exactly.
--
-- KEYS[i]  <ddI4: the moment's microseconds, its part, the tag of the parameters that wrote it. Absent: as new.
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

--@ read
local $raw = call('GET', KEYS[$i]) or NOTHING_20
local $full, $part, $stamp = unpack('<ddI4', $raw)
local $clamped
if $stamp ~= $tag then
  if $stamp ~= 0 then
    return pack('<d', now) .. 'f' .. pack('<I2', $i) .. $raw
  end
  $full, $part = $fresh, $fresh_part --? empty
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
  call('SET', KEYS[$i], pack('<ddI4', now + $after, $rest, $tag), 'PX', ARGV[$t])
  $clamped = nil
end

--@ keep
call('SET', KEYS[$i], pack('<ddI4', now + $missing, $part, $tag), 'PX', format('%.0f', $missing / 1000 + SPARE))
