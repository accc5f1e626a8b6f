//! `tollgate replay`: recorded requests, decided by a policy in the trace's own time.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tollgate_policy::Mode;
use tollgate_sim::ReplayError;
use tollgate_sim::input::{Consumed, Merge, OnBadLine, Source};
use tollgate_sim::replay::{Conditions, Counts};

use super::{load, replay_store};
use crate::arguments::Replay;
use crate::outcome::{Failure, note};
use crate::progress::Progress;

/// Runs the replay, and says on standard error what came of it.
pub(crate) fn run(arguments: &Replay) -> Result<(), Failure> {
    let read = load::read(&arguments.policy)?;
    let policy = load::compile(&arguments.policy, &read)?;
    let mode = arguments.mode.and_then(|mode| mode.0).map_or(read.settings.mode, Mode::from);
    let counts = match &arguments.store {
        Some(url) => replay_store::open(url, &policy)?,
        None => Counts::Memory,
    };
    let consumed = Consumed::default();
    let mut requests = Merge::new(sources(arguments, &consumed)?);
    let decisions = arguments.decisions.as_deref();
    let mut decisions = decisions.map(|path| create(path, arguments)).transpose()?;
    let progress = Progress::through(arguments.requests.iter().map(PathBuf::as_path));
    let summary = tollgate_sim::replay::replay(
        policy,
        Conditions { mode, counts },
        &mut requests,
        decisions.as_mut().map(|out| &mut **out as &mut dyn Write),
        &mut || progress.at(consumed.bytes()),
    );
    drop(progress);
    note(&summary.map_err(failure)?.to_string());
    Ok(())
}

fn sources(arguments: &Replay, consumed: &Consumed) -> Result<Vec<Source>, Failure> {
    let on_bad_line = if arguments.skip_bad { OnBadLine::Skip } else { OnBadLine::Stop };
    let open = |path: &PathBuf| Source::open(path, arguments.format.into(), on_bad_line, consumed);
    arguments.requests.iter().map(|path| open(path).map_err(failure)).collect()
}

/// Opens where decisions go; never on top of an input.
fn create(path: &Path, arguments: &Replay) -> Result<Box<dyn Write>, Failure> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdout()));
    }
    let wrong =
        |what: &dyn std::fmt::Display| Failure::wrong(format!("{}: {what}", path.display()));
    let output = path.canonicalize().ok().filter(|output| output.is_file());
    let mut inputs = arguments.requests.iter().chain([&arguments.policy]);
    let same = |input: &PathBuf| input.canonicalize().ok() == output;
    if output.is_some() && inputs.any(same) {
        return Err(wrong(&"decisions would overwrite an input; name another file"));
    }
    match File::create(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(wrong(&format!("cannot be written: {error}"))),
    }
}

fn failure(error: ReplayError) -> Failure {
    match error {
        ReplayError::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            Failure::ReaderGone
        }
        other => Failure::wrong(other),
    }
}
