-- A bucket that holds nothing or never fills: it refuses everything.
--
-- KEYS[i]  not touched
-- ARGV     none
-- reply    nothing

--@ arguments

--@ read
local $raw, $refused, $clamped = '', true, nil

--@ take

--@ keep
