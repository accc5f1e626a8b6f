//! `cargo xtask bench gateway`: the gateway against nginx, each on the same one core in turn, the load on another.
//!
//! What is compared is the processor time that a proxy takes for a request, by the system's own count, which says the same
//! whether or not the load fills the core.

mod contest;
mod idle;
mod load;
mod processor;
mod rows;
mod scene;
mod server;
mod table;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::run::{cargo, root, run};
use rows::{IDLE, ROWS};
use server::{Program, Server};
use table::Table;

/// The proxies run here, one at a time.
const PROXY_CORE: usize = 0;
/// The load, and the service behind the proxies.
const LOAD_CORE: usize = 1;

/// The programs that it takes, and where they come from.
const NEEDED: [(&str, &str); 4] = [
    ("taskset", "apt-get install util-linux"),
    ("nginx", "apt-get install nginx-light"),
    ("wrk", "apt-get install wrk"),
    ("h2load", "apt-get install nghttp2-client"),
];

/// How long a row is measured.
#[derive(Clone, Copy, Debug)]
struct Plan {
    rounds: usize,
    seconds: u32,
}

/// Who is measured.
struct Programs {
    ours: Program,
    peer: Program,
}

/// What the command line says.
struct Asked<'a> {
    /// Words of the rows' names; none: all rows.
    rows: Vec<&'a str>,
    plan: Plan,
    /// A build that is there already; else the gateway is built.
    ours: Option<PathBuf>,
    /// Another build of the gateway, in nginx's place.
    peer: Option<PathBuf>,
}

/// Measures the rows that `words` choose. Options among them: `--rounds N`, `--seconds N`, `--ours FILE`, `--peer FILE`.
pub(crate) fn bench(words: &[&str]) -> Result<(), String> {
    let asked = Asked::read(words)?;
    missing()?;
    let ours = asked.ours.map_or_else(build, Ok)?;
    let peer = asked.peer.map_or(Program::Nginx, Program::Tollgate);
    let name = if peer == Program::Nginx { "nginx" } else { "peer" };
    let programs = Programs { ours: Program::Tollgate(ours), peer };
    let service = Server::service()?;
    let wanted =
        |name: &str| asked.rows.is_empty() || asked.rows.iter().any(|word| name.contains(word));
    let mut table = Table::begin(name);
    for row in ROWS.iter().filter(|row| wanted(row.name)) {
        table.add(row.name, row.measure(&programs, &service, asked.plan));
    }
    for row in IDLE.into_iter().filter(|row| wanted(row.0)) {
        table.add(row.0, rows::idle(row, &programs, &service));
    }
    table.end()
}

impl<'a> Asked<'a> {
    fn read(words: &[&'a str]) -> Result<Asked<'a>, String> {
        let plan = Plan { rounds: 6, seconds: 2 };
        let mut asked = Asked { rows: Vec::new(), plan, ours: None, peer: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let missing = format!("{word} needs a value; for example: --rounds 9 --seconds 3");
                words.next().copied().ok_or(missing)
            };
            match *word {
                "--rounds" => asked.plan.rounds = number(value()?)?,
                "--seconds" => asked.plan.seconds = number(value()?)?,
                "--ours" => asked.ours = Some(PathBuf::from(value()?)),
                "--peer" => asked.peer = Some(PathBuf::from(value()?)),
                option if option.starts_with('-') => {
                    return Err(format!(
                        "there is no option {option}; there are: --rounds N, --seconds N, --ours FILE, --peer FILE"
                    ));
                }
                row => asked.rows.push(row),
            }
        }
        Ok(asked)
    }
}

fn number<N: std::str::FromStr + PartialOrd + From<u8>>(text: &str) -> Result<N, String> {
    let above_zero = text.parse().ok().filter(|number| *number >= N::from(1));
    above_zero.ok_or_else(|| format!("'{text}' is no whole number from 1 on"))
}

/// Names all that is missing at once.
fn missing() -> Result<(), String> {
    let absent = |program: &&(&str, &str)| {
        let started =
            Command::new(program.0).arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status();
        started.is_err()
    };
    let mut lines: Vec<String> = NEEDED
        .iter()
        .filter(absent)
        .map(|(program, source)| format!("{program} is not there: {source}"))
        .collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 2 {
        lines
            .push("two processor cores are needed: one for the proxy, one for the load".to_owned());
    }
    if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
}

/// `program`, to run on `core`.
fn pinned(core: usize, program: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &core.to_string(), program]);
    command
}

/// Builds the gateway as it is released; answers with its path.
fn build() -> Result<PathBuf, String> {
    let build = ["build", "--release", "--package", "tollgate", "--bin", "tollgate"];
    run("the gateway, as released", cargo().args(build))?;
    let target = std::env::var_os("CARGO_TARGET_DIR");
    Ok(target.map_or_else(|| root().join("target"), PathBuf::from).join("release/tollgate"))
}
