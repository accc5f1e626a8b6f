-- Sliding window of one cell: the current window whole, and the one before by the share of it that is still inside.
--
-- KEYS[i]  <ddd: the window's index since the epoch, units of the one before, units of this one. Absent: nothing counted.
-- ARGV     cost, limit (-1 where nothing is allowed), window; with a debt the limit and the deepest debt together.
-- reply    the state as it was read; zeros where absent.

--@ arguments
$cost $limit $cell
$most --? owing

--@ read
local $raw = call('GET', KEYS[$i]) or NOTHING_24
local $index, $before, $count = unpack('<ddd', $raw)
local $current = (now - now % $cell) / $cell
local $clamped
if $index < $current then
  if $index + 1 == $current then
    $before, $count = $count, 0
  else
    $before, $count = 0, 0
  end
  $index = $current
elseif $index * $cell - now > $cell then
  -- Further ahead than a window: a clock was wrong.
  $index, $clamped = $current, true
end
-- How much of the window before is still inside; all of it where a clock stepped back before this one.
local $inside = ($index + 1) * $cell - now
if $inside > $cell then
  $inside = $cell
end
local $refused = $before * $inside > ($limit - $count - $cost) * $cell --? !overdraw !wide
local $refused = compare($before, $inside, $limit - $count - $cost, $cell) > 0 --? !overdraw wide
local $short = $before * $inside - ($limit - $count) * $cell --? overdraw !wide
local $short = compare($before, $inside, $limit - $count, $cell) --? overdraw wide
local $refused = $short > 0 or $cost > 0 and $short == 0 --? overdraw

--@ take
$cost = min($cost, $most - $count - share($before, $inside, $cell)) --? owing
if $cost > 0 then
  -- Every charge says when the key ends: one that lost its expiry would stay for ever.
  local ends = ($index + 2) * $cell --? !replay
  call('SET', KEYS[$i], pack('<ddd', $index, $before, $count + $cost), 'PXAT', (ends - ends % 1000) / 1000 + SPARE) --? !replay
  call('SET', KEYS[$i], pack('<ddd', $index, $before, $count + $cost), 'PX', string.format('%.0f', (($index + 2) * $cell - now) / 1000 + SPARE)) --? replay
  $clamped = nil
end

--@ keep
call('SET', KEYS[$i], pack('<ddd', $index, $before, $count), 'PX', string.format('%.0f', (($index + 2) * $cell - now) / 1000 + SPARE))
