//! `tollgate serve`: the gateway that a policy describes.

use tollgate_server::Options;

use crate::arguments::Serve;
use crate::logging;
use crate::outcome::Failure;

/// Serves until SIGTERM or SIGINT.
pub(crate) fn run(arguments: &Serve) -> Result<(), Failure> {
    let _logging = logging::start().map_err(Failure::Wrong)?;
    let options = Options {
        mode: arguments.mode.and_then(|mode| mode.0).map(Into::into),
        listen: arguments.listen,
        admin: arguments.admin,
        workers: arguments.workers,
        take_over: arguments.take_over,
    };
    tollgate_server::serve(&arguments.policy, &options).map_err(Failure::wrong)
}
