//! The `tollgate` command.
//!
//! Exit status: 0 done, 1 the input was wrong or a test failed, 2 the command line was wrong.

mod arguments;
mod command;
mod demo;
mod logging;
mod outcome;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};
use outcome::Failure;

/// A request takes some forty allocations of a few sizes, and gives them back on the thread that took them: see docs/speed.md for
/// what the system's own allocator costs there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.end(),
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.command {
        Command::Serve(serve) => command::serve::run(serve),
        Command::Validate { policy } => command::validate::run(policy),
        Command::Replay(replay) => command::replay::run(replay),
        Command::Test { policy } => command::test::run(policy),
        Command::Schema => command::schema::run(),
        Command::Demo { seconds } => demo::run(*seconds),
    }
}
