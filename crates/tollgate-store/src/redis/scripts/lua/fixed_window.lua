-- Fixed window: a count in windows that are aligned to the epoch.
--
-- KEYS[i]  <dd: the window's first microsecond, units counted in it. Absent: nothing counted.
-- ARGV     cost, limit (-1 where nothing is allowed), window; with a debt the limit and the deepest debt together.
-- reply    the state as it was read; zeros where absent.

--@ arguments
$cost $limit $window
$most --? owing

--@ read
local $raw = call('GET', KEYS[$i]) or NOTHING_16
local $start, $count = unpack('<dd', $raw)
local $frame = now - now % $window
local $clamped
if $start < $frame then
  $start, $count = $frame, 0
elseif $start > $frame + $window then
  -- The next window stands still, since none reopens; further ahead, a clock was wrong.
  $start, $clamped = $frame, true
end
local $refused = $count + $cost > $limit --? !overdraw
local $refused = $count > $limit or $cost > 0 and $count == $limit --? overdraw

--@ take
$cost = min($cost, $most - $count) --? owing
if $cost > 0 then
  -- Every charge says when the key ends: one that lost its expiry would stay for ever.
  local ends = $start + $window --? !replay
  call('SET', KEYS[$i], pack('<dd', $start, $count + $cost), 'PXAT', (ends - ends % 1000) / 1000 + SPARE) --? !replay
  call('SET', KEYS[$i], pack('<dd', $start, $count + $cost), 'PX', string.format('%.0f', ($start + $window - now) / 1000 + SPARE)) --? replay
  $clamped = nil
end

--@ keep
call('SET', KEYS[$i], pack('<dd', $start, $count), 'PX', string.format('%.0f', ($start + $window - now) / 1000 + SPARE))
