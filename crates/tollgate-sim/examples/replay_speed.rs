//! How many log lines a second a replay decides on one core, with three limits and everything included: reading,
//! parsing, deciding, writing decisions. `cargo run --release -p tollgate-sim --example replay_speed [LINES [ROUNDS]]`
//! prints one line a round, and the best. The time is the clock's and, where the system tells it, also the thread's own on
//! a processor, which leaves out what other programs take.
//!
//! The policy is that of `examples/llm-platform.yaml`, with its three plans read from headers: a user's minute, his
//! tenant's bucket, and the pace of all. The trace is what such a platform logs: 2,000 requests a second at irregular
//! times, by 100,000 users of 1,000 tenants, some users far more often than others (Zipf's law). It is the same in every
//! run, and lies in the system's cache when it is read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tollgate_policy::Policy;
use tollgate_policy::file::{self, Surroundings};
use tollgate_sim::format::Format;
use tollgate_sim::input::{Consumed, Merge, OnBadLine, Source};
use tollgate_sim::replay::{Conditions, replay};
use tollgate_store::Stopwatch;

const POLICY: &str = "
identity:
  user: { header: x-user-id, from: anyone }
  tenant: { header: x-tenant, from: anyone }
  plan: { header: x-plan, from: anyone, default: free }
limits:
  per-user:
    key: [user]
    by: plan
    sliding_window:
      free: { limit: 30, window: 1m }
      paid: { limit: 300, window: 1m }
      enterprise: { limit: 3000, window: 1m }
  per-tenant:
    key: [tenant]
    by: plan
    token_bucket:
      free: { rate: 50/s, burst: 100 }
      paid: { rate: 500/s, burst: 1500 }
      enterprise: { rate: 2000/s, burst: 8000 }
  cluster: { key: [], leaky_bucket: { rate: 8000/s, burst: 200, max_wait: 25ms } }
routes:
  - { match: { path: /healthz }, limits: [] }
  - { match: { path: /v1/**, method: [POST] }, limits: [per-user, per-tenant, cluster] }
";

const USERS: usize = 100_000;
const TENANTS: usize = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let lines = arguments.next().map_or(Ok(1_000_000), |lines| lines.parse())?;
    let rounds = arguments.next().map_or(Ok(5), |rounds| rounds.parse())?;
    let folder = tempfile::tempdir()?;
    let (requests, decisions) =
        (folder.path().join("requests.jsonl"), folder.path().join("decisions.jsonl"));
    write_trace(&requests, lines)?;
    let a_second = |nanos: u64| u128::from(lines) * 1_000_000_000 / u128::from(nanos.max(1));
    let (mut best, mut best_own) = (0, None);
    for _ in 0..rounds {
        let (watch, own) = (Stopwatch::start(), processor_time());
        let passed = run(&requests, &decisions)?;
        let speed = a_second(watch.nanos());
        let own = own.zip(processor_time()).map(|(start, end)| a_second(end - start));
        println!("{}, {passed} of {lines} passed", report(speed, own));
        best = best.max(speed);
        best_own = best_own.max(own);
    }
    println!("best: {}", report(best, best_own));
    Ok(())
}

fn report(speed: u128, own: Option<u128>) -> String {
    let own = own.map_or(String::new(), |own| format!(", {own} a second of processor time"));
    format!("{speed} lines/s{own}")
}

/// Nanoseconds that this thread ran on a processor, where the system tells (Linux).
fn processor_time() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// One replay of `requests`; how many passed.
fn run(requests: &Path, decisions: &Path) -> Result<u64, Box<dyn std::error::Error>> {
    let policy = Policy::compile(file::read("policy", POLICY, &Surroundings::new("."))?.settings)?;
    let source = Source::open(requests, Format::Jsonl, OnBadLine::Stop, &Consumed::default())?;
    let mut out = File::create(decisions)?;
    let summary = replay(
        policy,
        Conditions::default(),
        &mut Merge::new(vec![source]),
        Some(&mut out),
        &mut || {},
    )?;
    Ok(summary.admitted + summary.delayed)
}

fn write_trace(path: &Path, lines: u64) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let shares = shares();
    let mut micros = 1_767_225_600_000_000;
    for _ in 0..lines {
        micros += random.below(1_000);
        let at = random.below(1 << 53) as f64 / (1_u64 << 53) as f64 * shares[USERS - 1];
        let user = shares.partition_point(|share| *share < at).min(USERS - 1);
        let tenant = user % TENANTS;
        // Who asks most, pays most.
        let plan = match user {
            0..1_000 => "enterprise",
            1_000..10_000 => "paid",
            _ => "free",
        };
        writeln!(
            out,
            "{{\"time\": {}.{:06}, \"ip\": \"203.0.113.{}\", \"method\": \"POST\", \"path\": \"/v1/chat/completions\", \
             \"headers\": {{\"x-user-id\": \"user-{user}\", \"x-tenant\": \"tenant-{tenant}\", \"x-plan\": \"{plan}\"}}, \
             \"status\": 200, \"duration\": 0.25}}",
            micros / 1_000_000,
            micros % 1_000_000,
            user % 250,
        )?;
    }
    out.flush()
}

/// By Zipf's law with exponent 1: the sums of the shares of the users up to each.
fn shares() -> Vec<f64> {
    let mut sum = 0.0;
    let share = |rank: usize| {
        sum += 1.0 / rank as f64;
        sum
    };
    (1..=USERS).map(share).collect()
}

/// xorshift64 (Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
