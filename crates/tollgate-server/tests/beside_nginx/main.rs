//! The gateway beside nginx: the same bytes to both, each in front of a service that records what reaches it. What they
//! accept and what they pass on is compared. Where they differ, the seed says so and why; a difference that is gone, or one
//! that nobody explained, is a failure.
//!
//! `cargo xtask beside-nginx 600` goes on with mutations of the seeds.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../../../tollgate-store/tests/servers/mod.rs"]
mod servers;

mod mutate;
mod proxies;
mod recorder;
mod seeds;

use std::time::{Duration, SystemTime};

use proxies::{Account, Proxies};
use seeds::{SEEDS, Seed, Than};

/// As many exchanges go on at once: most of their time is nginx's patience with those who never end.
const AT_ONCE: usize = 8;

#[test]
fn seeds_are_taken_as_nginx_takes_them_or_it_is_said_why() {
    let Some(proxies) = Proxies::start() else { return };
    let mut wrong = Vec::new();
    for seeds in SEEDS.chunks(AT_ONCE) {
        let inputs: Vec<Vec<u8>> = seeds.iter().map(|seed| seed.bytes.to_vec()).collect();
        for (seed, accounts) in seeds.iter().zip(proxies.ask_all(&inputs)) {
            wrong.extend(judge(seed, &accounts));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is wrong with a seed, if anything.
fn judge(seed: &Seed, (ours, theirs): &(Account, Account)) -> Option<String> {
    if let Some(problem) = ours.broken() {
        return Some(format!("{}: {problem}\nours: {ours:?}", seed.name));
    }
    let found = compare(ours, theirs);
    (found != seed.than).then(|| {
        let Seed { name, than, why, .. } = seed;
        format!(
            "{name}: said to be {than:?} ({why}), and is {found:?}\nours:   {ours:?}\ntheirs: {theirs:?}"
        )
    })
}

/// How ours stands to theirs.
fn compare(ours: &Account, theirs: &Account) -> Than {
    if ours.forwarded == theirs.forwarded {
        Than::Same
    } else if ours.forwarded.len() < theirs.forwarded.len() {
        Than::Stricter
    } else if ours.forwarded.len() > theirs.forwarded.len() {
        Than::Looser
    } else {
        Than::Otherwise
    }
}

/// How many rounds of mutations a usual run has; a longer one goes by time.
const ROUNDS: usize = 24;

/// Whatever comes, what the gateway passes on is well formed; and where neither refuses anything, both see the same requests
/// in the same bytes: else one could be hidden from the other.
#[test]
fn mutated_seeds_are_cut_into_requests_as_nginx_cuts_them() {
    let Some(proxies) = Proxies::start() else { return };
    let seconds = std::env::var("BESIDE_NGINX_SECONDS").ok().and_then(|text| text.parse().ok());
    let begun = SystemTime::now();
    let mut random = mutate::Random::new(match seconds {
        None => 0x7011_6a7e,
        Some(_) => begun.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs(),
    });
    eprintln!("seed {:#x}", random.state());
    let is_over = |round: usize| match seconds {
        None => round == ROUNDS,
        Some(seconds) => begun.elapsed().unwrap_or_default() > Duration::from_secs(seconds),
    };
    let mut round = 0;
    while !is_over(round) {
        round += 1;
        let inputs: Vec<Vec<u8>> = (0..AT_ONCE).map(|_| random.input(SEEDS)).collect();
        for (input, (ours, theirs)) in inputs.iter().zip(proxies.ask_all(&inputs)) {
            let text = String::from_utf8_lossy(input);
            let shown = || format!("of: {text:?}\nours:   {ours:?}\ntheirs: {theirs:?}");
            if let Some(problem) = ours.broken() {
                panic!("{problem}\n{}", shown());
            }
            let both = ours.refuses_nothing() && theirs.refuses_nothing();
            assert!(!both || ours.cut() == theirs.cut(), "cut in two ways\n{}", shown());
        }
    }
    eprintln!("{} inputs", round * AT_ONCE);
}
