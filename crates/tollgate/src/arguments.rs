//! The command line: parsed once into values that cannot be wrong.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, Args, Parser, Subcommand, ValueEnum};
use tollgate_policy::Mode;
use tollgate_sim::format::Format;

/// Layered rate limiting with exact arithmetic: a gateway, and the same engine to try policies on.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, propagate_version = true, subcommand_required = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the gateway that a policy describes.
    Serve(Serve),
    /// Check a policy: every error with its place, or warnings and a summary of its limits.
    Validate {
        /// The policy file.
        policy: PathBuf,
    },
    /// Decide recorded requests by a policy, in the trace's own time.
    Replay(Replay),
    /// Run the tests of a policy, from its `tests:` section or the file `NAME.tests.yaml` beside it.
    Test {
        /// The policy file.
        policy: PathBuf,
    },
    /// Print the JSON Schema of policy files.
    Schema,
    /// See it work: a small service, the gateway before it with a layered policy, traffic, and a live table.
    Demo {
        /// End after so many seconds instead of at Ctrl-C.
        #[arg(long, value_name = "N")]
        seconds: Option<u64>,
    },
}

/// `tollgate serve`.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The policy file; read again on SIGHUP and when it changes.
    pub(crate) policy: PathBuf,
    /// Whether decisions have effect; goes before the policy's own `mode`.
    #[arg(long, env = "TOLLGATE_MODE", value_parser = ModeParser)]
    pub(crate) mode: Option<ModeChoice>,
    /// Where to listen; goes before the policy's own `listen`.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where to serve metrics and health; goes before the policy's own `admin`.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) admin: Option<SocketAddr>,
    /// Listen also where a gateway that is still running does (of the same user). Once this one serves, stop the other: it passes
    /// on what has not reached it yet, finishes the rest and ends.
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Threads that serve; one a core unless said otherwise.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) workers: Option<NonZeroUsize>,
}

/// `tollgate replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The policy file.
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: PathBuf,
    /// Recorded requests; several files are merged by time. `-` is standard input. gzip and zstd are read as they are.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) requests: Vec<PathBuf>,
    /// Where decisions go, one JSON object a line; `-` is standard output. Without it only the summary is printed.
    #[arg(long, value_name = "FILE")]
    pub(crate) decisions: Option<PathBuf>,
    /// The form of the recorded requests.
    #[arg(long, value_enum, default_value_t = FormatName::Jsonl)]
    pub(crate) format: FormatName,
    /// Pass over bad lines and count them, instead of stopping at the first.
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Count through the scripts of a Redis or Valkey server instead of in memory, with the trace's clock: the decisions are
    /// the same. Its keys have a prefix of their own and expire by themselves.
    #[arg(long, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// Whether decisions have effect; goes before the policy's own `mode`. In shadow mode what enforce decides is reported.
    #[arg(long, env = "TOLLGATE_MODE", value_parser = ModeParser)]
    pub(crate) mode: Option<ModeChoice>,
}

/// [`Mode`] as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Decisions have effect.
    Enforce,
    /// Decisions are made, charged and reported, and everything passes at once.
    Shadow,
    /// No decision is made.
    Off,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Mode {
        match name {
            ModeName::Enforce => Mode::Enforce,
            ModeName::Shadow => Mode::Shadow,
            ModeName::Off => Mode::Off,
        }
    }
}

/// A mode, or none where the environment's variable is there and empty, which is as if it were not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModeChoice(pub(crate) Option<ModeName>);

/// Reads a [`ModeChoice`].
#[derive(Clone, Copy, Debug)]
struct ModeParser;

impl TypedValueParser for ModeParser {
    type Value = ModeChoice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<ModeChoice, clap::Error> {
        let named = EnumValueParser::<ModeName>::new().parse_ref(command, argument, value)?;
        Ok(ModeChoice(Some(named)))
    }

    fn parse_ref_(
        &self,
        command: &clap::Command,
        argument: Option<&Arg>,
        value: &OsStr,
        source: ValueSource,
    ) -> Result<ModeChoice, clap::Error> {
        if source == ValueSource::EnvVariable && value.is_empty() {
            return Ok(ModeChoice(None));
        }
        self.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(ModeName::value_variants().iter().filter_map(ModeName::to_possible_value)))
    }
}

/// [`Format`] as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    /// One JSON object a line, as the documentation of `replay` says.
    Jsonl,
    /// nginx's or Apache's combined access log.
    Nginx,
    /// Envoy's access log in JSON.
    Envoy,
    /// Comma-separated values; the first line names the columns.
    Csv,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Format {
        match name {
            FormatName::Jsonl => Format::Jsonl,
            FormatName::Nginx => Format::Nginx,
            FormatName::Envoy => Format::Envoy,
            FormatName::Csv => Format::Csv,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn several_files_of_requests_keep_their_order() {
        let line =
            ["tollgate", "replay", "--policy", "p", "--requests", "a", "--requests", "b", "c"];
        let Command::Replay(replay) = Arguments::parse_from(line).command else { panic!("replay") };
        assert_eq!(replay.requests, ["a", "b", "c"].map(PathBuf::from));
    }
}
