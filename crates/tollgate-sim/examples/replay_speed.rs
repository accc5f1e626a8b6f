//! How many log lines a second a replay decides on one core, with three limits and everything included: reading,
//! parsing, deciding, writing decisions. `cargo run --release -p tollgate-sim --example replay_speed [LINES [ROUNDS]]`
//! prints one line a round, and the best.

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
limits:
  per-user: { key: [user], sliding_window: { limit: 30, window: 1m } }
  per-tenant: { key: [tenant], token_bucket: { rate: 50/s, burst: 100 } }
  cluster: { key: [], leaky_bucket: { rate: 8000/s, burst: 200 } }
routes:
  - { match: { path: /healthz }, limits: [] }
  - { match: { path: /v1/**, method: [POST] }, limits: [per-user, per-tenant, cluster] }
";

const USERS: u64 = 100_000;
const TENANTS: u64 = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let lines = arguments.next().map_or(Ok(1_000_000), |lines| lines.parse())?;
    let rounds = arguments.next().map_or(Ok(3), |rounds| rounds.parse())?;
    let folder = tempfile::tempdir()?;
    let (requests, decisions) =
        (folder.path().join("requests.jsonl"), folder.path().join("decisions.jsonl"));
    write_trace(&requests, lines)?;
    let mut best = 0;
    for _ in 0..rounds {
        let watch = Stopwatch::start();
        let admitted = run(&requests, &decisions)?;
        let speed = u64::try_from(u128::from(lines) * 1_000_000_000 / u128::from(watch.nanos()))?;
        println!("{speed} lines/s ({admitted} of {lines} admitted)");
        best = best.max(speed);
    }
    println!("best: {best} lines/s");
    Ok(())
}

/// One replay of `requests`; how many were admitted.
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

/// A trace of 10,000 requests a second by 100,000 users of 1,000 tenants, some users more often than others.
fn write_trace(path: &Path, lines: u64) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for line in 0..lines {
        // xorshift64 (Marsaglia 2003).
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let user = (random % USERS).min((random >> 32) % USERS);
        let micros = 1_767_225_600_000_000 + line * 100;
        writeln!(
            out,
            "{{\"time\": {}.{:06}, \"ip\": \"203.0.113.{}\", \"method\": \"POST\", \"path\": \"/v1/chat/completions\", \
             \"headers\": {{\"x-user-id\": \"user-{user}\", \"x-tenant\": \"tenant-{}\"}}, \"status\": 200, \"duration\": 0.25}}",
            micros / 1_000_000,
            micros % 1_000_000,
            user % 250,
            user % TENANTS,
        )?;
    }
    out.flush()
}
