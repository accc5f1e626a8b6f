//! The load: `wrk` for HTTP/1.1, `h2load` for HTTP/2, and what they say of a round.

use std::net::SocketAddr;
use std::process::Command;

use super::{LOAD_CORE, pinned};

/// Connections of wrk, each with one request in flight.
const CONNECTIONS: &str = "64";
/// Connections and streams of h2load: as many requests in flight.
const HTTP2: [&str; 4] = ["-c8", "-m8", "-t1", "--warm-up-time=0"];

/// Who asks, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// `wrk -t1 -c64` over `http`.
    Http,
    /// The same over `https`.
    Https,
    /// `h2load` with 64 requests in flight, HTTP/2 by prior knowledge.
    Http2,
}

/// What a round's load says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Told {
    /// Requests that were answered.
    pub(super) requests: f64,
    /// Of them, those with a status other than 2xx or 3xx.
    pub(super) refused: f64,
    /// 99 of 100 were answered within so many microseconds; h2load does not tell it.
    pub(super) p99: Option<f64>,
}

impl Load {
    /// Asks `address` for `path` during `seconds`.
    pub(super) fn run(self, address: SocketAddr, path: &str, seconds: u32) -> Result<Told, String> {
        let fields = ["x-user: ada", "x-tenant: studio"];
        let mut command = match self {
            Load::Http | Load::Https => {
                let mut wrk = pinned(LOAD_CORE, "wrk");
                wrk.args(["-t1", "-c", CONNECTIONS, "--latency"]).arg(format!("-d{seconds}s"));
                wrk
            }
            Load::Http2 => {
                let mut h2load = pinned(LOAD_CORE, "h2load");
                h2load.args(HTTP2).arg(format!("--duration={seconds}"));
                h2load
            }
        };
        for field in fields {
            command.args(["-H", field]);
        }
        let scheme = if self == Load::Https { "https" } else { "http" };
        let text = output(command.arg(format!("{scheme}://{address}{path}")))?;
        let told = if self == Load::Http2 { of_h2load(&text) } else { of_wrk(&text) };
        told.ok_or_else(|| format!("what the load says is not understood:\n{text}"))
    }
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{:?} does not start: {error}", command.get_program()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("{command:?} failed:\n{text}{said}"))
    }
}

/// Reads wrk's report. Errors of sockets make it useless.
fn of_wrk(text: &str) -> Option<Told> {
    if text.contains("Socket errors") {
        return None;
    }
    let line = |mark: &str| text.lines().find(|line| line.contains(mark));
    let requests = line(" requests in ")?.split_whitespace().next()?.parse().ok()?;
    let refused = match line("Non-2xx or 3xx responses:") {
        Some(line) => line.rsplit(' ').next()?.parse().ok()?,
        None => 0.0,
    };
    let p99 = micros(line(" 99% ")?.split_whitespace().nth(1)?)?;
    Some(Told { requests, refused, p99: Some(p99) })
}

/// Reads h2load's report.
fn of_h2load(text: &str) -> Option<Told> {
    let numbers = |mark: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(mark))?;
        let numbers = line.split(',').filter_map(|part| part.split_whitespace().next());
        numbers.map(|number| number.parse().ok()).collect::<Option<Vec<f64>>>()
    };
    // Total, started, done, succeeded, failed, errored, timed out.
    let requests = numbers("requests: ")?;
    let statuses = numbers("status codes: ")?;
    if requests.get(4..7)?.iter().any(|errors| *errors > 0.0) && statuses.get(2)? == &0.0 {
        return None;
    }
    Some(Told { requests: *requests.get(2)?, refused: statuses.get(2..4)?.iter().sum(), p99: None })
}

/// A span as wrk writes it, in microseconds.
fn micros(text: &str) -> Option<f64> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number: f64 = text.strip_suffix(unit)?.parse().ok()?;
    match unit {
        "us" => Some(number),
        "ms" => Some(number * 1e3),
        "s" => Some(number * 1e6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wrk_says() {
        let text = "Running 2s test @ http://127.0.0.1:1/\n  1 threads and 64 connections\n  Latency Distribution\n     \
                    50%  723.00us\n     99%    1.60ms\n  80304 requests in 2.00s, 10.57MB read\n";
        let told = Told { requests: 80_304.0, refused: 0.0, p99: Some(1_600.0) };
        assert_eq!(of_wrk(text), Some(told));
        let refused = format!("{text}  Non-2xx or 3xx responses: 80304\n");
        assert_eq!(of_wrk(&refused), Some(Told { refused: 80_304.0, ..told }));
        let broken = format!("{text}  Socket errors: connect 0, read 3, write 0, timeout 0\n");
        assert_eq!(of_wrk(&broken), None);
    }

    #[test]
    fn what_h2load_says() {
        let text = "finished in 2.00s, 100.00 req/s, 3KB/s\nrequests: 210 total, 264 started, 200 done, 200 succeeded, 0 \
                    failed, 0 errored, 0 timeout\nstatus codes: 200 2xx, 0 3xx, 0 4xx, 0 5xx\n";
        assert_eq!(of_h2load(text), Some(Told { requests: 200.0, refused: 0.0, p99: None }));
        assert_eq!(of_h2load(&text.replace("0 errored", "7 errored")), None);
        assert_eq!(of_h2load("nothing"), None);
    }
}
