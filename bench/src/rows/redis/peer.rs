//! The peer: a minimal token bucket on a hash of two fields, with an end, by the server's clock.

use redis::Script;

use super::server::Server;
use crate::keys::{Order, key};

const BUCKET: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local state = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local rate, burst, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local tokens, at = tonumber(state[1]) or burst, tonumber(state[2]) or now
tokens = math.min(burst, tokens + (now - at) * rate)
local allowed = tokens >= cost
if allowed then tokens = tokens - cost end
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now)
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return { allowed and 1 or 0, tokens }
";

/// Its calls for the keys of `order`, `count` of them. Names are as long as ours.
pub fn calls(server: &Server, order: &Order, count: usize) -> Vec<Vec<u8>> {
    let sha1 = Script::new(BUCKET).load(&mut server.connect()).expect("the script");
    let call = |place| {
        let name = [b"pr", &key(order.at(place))[..]].concat();
        let mut call = redis::cmd("EVALSHA");
        call.arg(&sha1).arg(1).arg(name);
        call.arg("0.001").arg(1_000_000).arg(1).arg(1_000_000_000);
        call.get_packed_command()
    };
    (0..count).map(call).collect()
}
