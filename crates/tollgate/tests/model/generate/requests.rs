//! What a request says, but for its time.

use super::Random;
use crate::model::policy::{Cost, Policy};
use crate::model::trace::{Decision, Request};

/// Two spellings of one, two of one network of 64 bits, and others.
const ADDRESSES: [&str; 7] = [
    "203.0.113.9",
    "203.0.113.9",
    "::ffff:203.0.113.9",
    "198.51.100.1",
    "2001:db8::1",
    "2001:DB8:0:0:ffff::2",
    "2001:db8:0:1::1",
];

/// A request to somewhere in the policy. `last` is the decision before it; `spans` are those of the policy's limits.
pub(crate) fn request(
    policy: &Policy,
    last: Option<&Decision>,
    spans: &[i64],
    random: &mut Random,
) -> Request {
    Request {
        time: 0,
        time_as_text: random.chance(10),
        path: path(policy, random),
        ip: random.chance(85).then(|| random.pick(&ADDRESSES).to_owned()),
        headers: headers(policy, random),
        cost: cost(last, random),
        status: random.chance(60).then(|| random.pick(&[200, 401, 403, 500])),
        duration: random.chance(70).then(|| duration(spans, random)),
    }
}

fn path(policy: &Policy, random: &mut Random) -> String {
    if random.chance(3) {
        return "/nowhere".to_owned();
    }
    let pattern =
        if random.chance(75) { "/a".to_owned() } else { random.pick(&policy.routes).path };
    match pattern.strip_suffix("/**") {
        Some(above) => format!("{above}{}", random.pick(&["", "/x", "/x/y"])),
        None => pattern,
    }
}

fn headers(policy: &Policy, random: &mut Random) -> Vec<(&'static str, String)> {
    let mut headers = Vec::new();
    let mut say = |name, chance, values: &[&str], random: &mut Random| {
        if random.chance(chance) {
            headers.push((name, random.pick(values).to_owned()));
        }
    };
    // A user who has an address for a name is not that address, and an empty name is none.
    say("x-user", 85, &["u1", "u1", "u1", "u2", "203.0.113.9", ""], random);
    say("x-tenant", 80, &["t1", "t1", "t2"], random);
    say("x-plan", 60, &["free", "paid", "paid", "enterprise", "no-such-plan", ""], random);
    if policy.routes.iter().any(|route| matches!(route.cost, Cost::Header { .. })) {
        say("x-cost", 70, &["0", "1", "2", "7", "60", "many", "-1"], random);
    }
    headers
}

/// Mostly small; sometimes just what remains, or one more.
fn cost(last: Option<&Decision>, random: &mut Random) -> Option<u64> {
    match random.within(0, 99) {
        0..=44 => None,
        45..=64 => Some(random.within(0, 2)),
        65..=86 => Some(random.within(0, 5)),
        87..=95 => {
            let reports = last.map_or(&[][..], |decision| &decision.limits);
            let remaining = if reports.is_empty() { 1 } else { random.pick(reports).remaining };
            Some(remaining + random.within(0, 1))
        }
        96..=98 => Some(random.within(6, 1_000)),
        _ => Some(random.within(1_000, 1_000_000_000_000)),
    }
}

fn duration(spans: &[i64], random: &mut Random) -> i64 {
    match random.within(0, 9) {
        0..=1 => 0,
        2 => 1,
        3..=6 => {
            let span = random_span(spans, random);
            random.signed(0, span.min(1 << 40))
        }
        _ => (random_span(spans, random).min(1 << 40) + random.signed(-1, 1)).max(0),
    }
}

fn random_span(spans: &[i64], random: &mut Random) -> i64 {
    random.pick(spans)
}
