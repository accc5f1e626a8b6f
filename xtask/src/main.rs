//! The project's own tasks: `cargo xtask check`, `bench`, `fuzz`, `loom`, `beside-nginx`.

mod bench;
mod check;
mod fuzz;
mod gateway;
mod loom;
mod run;
#[cfg(test)]
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <task>

  check                      everything that must hold: format, lints, tidy rules, every test, docs
  bench [row]                the speed table, each row against its named peer in the same run
  bench gateway [row]        the gateway against nginx; --rounds N, --seconds N, --ours FILE (a build
                             that is there), --peer FILE (another build in nginx's place)
  beside-nginx [seconds]     the gateway and nginx on mutated requests; 60 seconds unless said otherwise
  fuzz [target] [seconds]    one fuzz target, or all of them; 60 seconds each unless said otherwise
  loom                       the memory table's lines, in every order in which two threads can meet
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["check"] => check::check(),
        ["bench", "gateway", words @ ..] => gateway::bench(words),
        ["bench", rows @ ..] => bench::bench(rows),
        ["loom"] => loom::loom(),
        ["beside-nginx"] => fuzz::beside_nginx(fuzz::DEFAULT_SECONDS),
        ["beside-nginx", seconds] => match seconds.parse() {
            Ok(seconds) => fuzz::beside_nginx(seconds),
            Err(_) => Err(format!(
                "'{seconds}' is no number of seconds; for example: cargo xtask beside-nginx 600"
            )),
        },
        ["fuzz"] => fuzz::fuzz(None, fuzz::DEFAULT_SECONDS),
        ["fuzz", target] => fuzz::fuzz(Some(target), fuzz::DEFAULT_SECONDS),
        ["fuzz", target, seconds] => match seconds.parse() {
            Ok(seconds) => fuzz::fuzz(Some(target), seconds),
            Err(_) => Err(format!(
                "'{seconds}' is no number of seconds; for example: cargo xtask fuzz {target} 600"
            )),
        },
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("xtask: {problem}");
            ExitCode::FAILURE
        }
    }
}
