-- Sliding window of several cells: the newest cells whole, and the one before them by the share that is still inside.
--
-- KEYS[i]  <d: the newest cell's index since the epoch; then <d each: units of the cells that can still count, oldest
--          first, one more than the window has cells. Absent: nothing counted.
-- ARGV     cost, limit (-1 where nothing is allowed), a cell's length, the number of cells; with a debt the limit and the
--          deepest debt together.
-- reply    the state as it was read; zeros where absent.

--@ arguments
$cost $limit $cell $cells
$most --? owing

--@ read
local $raw = call('GET', KEYS[$i]) or rep('\0', 8 * $cells + 16)
local $index = unpack('<d', $raw)
local $counts = sub($raw, 9)
local $current = (now - now % $cell) / $cell
local $clamped
if $index < $current then
  local passed = min($current - $index, $cells + 1)
  $index, $counts = $current, sub($counts, 8 * passed + 1) .. rep('\0', 8 * passed)
elseif ($index - $cells) * $cell > now then
  -- Further ahead than a window: a clock was wrong.
  $index, $clamped = $current, true
end
local $units = { unpack('<' .. rep('d', $cells + 1), $counts) }
local $whole = 0
for cell = 2, $cells + 1 do
  $whole = $whole + $units[cell]
end
-- How much of the oldest cell is still inside; all of it where a clock stepped back before the newest.
local $inside = min(($index + 1) * $cell - now, $cell)
local $refused = $units[1] * $inside > ($limit - $whole - $cost) * $cell --? !overdraw !wide
local $refused = compare($units[1], $inside, $limit - $whole - $cost, $cell) > 0 --? !overdraw wide
local $short = $units[1] * $inside - ($limit - $whole) * $cell --? overdraw !wide
local $short = compare($units[1], $inside, $limit - $whole, $cell) --? overdraw wide
local $refused = $short > 0 or $cost > 0 and $short == 0 --? overdraw

--@ take
$cost = min($cost, $most - $whole - share($units[1], $inside, $cell)) --? owing
if $cost > 0 then
  $counts = sub($counts, 1, 8 * $cells) .. pack('<d', $units[$cells + 1] + $cost)
  -- Every charge says when the key ends: one that lost its expiry would stay for ever.
  local ends = ($index + $cells + 1) * $cell --? !replay
  call('SET', KEYS[$i], pack('<d', $index) .. $counts, 'PXAT', (ends - ends % 1000) / 1000 + SPARE) --? !replay
  call('SET', KEYS[$i], pack('<d', $index) .. $counts, 'PX', string.format('%.0f', (($index + $cells + 1) * $cell - now) / 1000 + SPARE)) --? replay
  $clamped = nil
end

--@ keep
call('SET', KEYS[$i], pack('<d', $index) .. $counts, 'PX', string.format('%.0f', (($index + $cells + 1) * $cell - now) / 1000 + SPARE))
