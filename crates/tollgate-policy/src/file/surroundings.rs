//! What a policy file may ask of the world around it: environment names, files beside it, and the moment of loading.

use std::fmt;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tollgate_core::Timestamp;

/// Largest secret that `{ file: PATH }` reads, in bytes.
const MAX_SECRET_BYTES: u64 = 64 << 10;

type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Where a policy file is read. Nothing but this is asked, so that a test or a replay decides what the file sees.
pub struct Surroundings {
    environment: Environment,
    base: PathBuf,
    loaded_at: Option<Timestamp>,
    serving: bool,
}

impl Surroundings {
    /// No environment; relative files are looked up in `base`.
    #[must_use]
    pub fn new(base: impl Into<PathBuf>) -> Surroundings {
        Surroundings {
            environment: Box::new(|_| None),
            base: base.into(),
            loaded_at: None,
            serving: false,
        }
    }

    /// The process's environment; relative files are looked up in `base` (the policy file's directory).
    #[must_use]
    pub fn of_process(base: impl Into<PathBuf>) -> Surroundings {
        Surroundings::new(base).with_environment(|name| std::env::var(name).ok())
    }

    /// Environment names are looked up by `look_up`.
    #[must_use]
    pub fn with_environment(
        mut self,
        look_up: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Surroundings {
        self.environment = Box::new(look_up);
        self
    }

    /// When the policy is loaded: buckets with `initial: empty` are empty then. Without it they count from the epoch,
    /// so full by now, until `Settings::set_loaded_at`.
    #[must_use]
    pub fn loaded_at(mut self, at: Timestamp) -> Surroundings {
        self.loaded_at = Some(at);
        self
    }

    /// The policy is about to run here, with the store that it names: what the store needs and this machine lacks (a
    /// secret in the environment, a file of authorities) is an error. Otherwise it is a warning, for a policy is checked and
    /// tested where the secrets of its store are not.
    #[must_use]
    pub fn serving(mut self) -> Surroundings {
        self.serving = true;
        self
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.serving
    }

    pub(crate) fn environment(&self, name: &str) -> Option<String> {
        (self.environment)(name)
    }

    pub(crate) fn moment(&self) -> Timestamp {
        self.loaded_at.unwrap_or(Timestamp::EPOCH)
    }

    /// The path of a file that the policy names.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.base.join(file)
    }

    /// A secret's bytes, without the line break that editors put at the end.
    pub(crate) fn secret(&self, file: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(file)?.take(MAX_SECRET_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_SECRET_BYTES {
            return Err(io::Error::other(format!("larger than {MAX_SECRET_BYTES} bytes")));
        }
        while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
            bytes.pop();
        }
        Ok(bytes)
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("base", &self.base)
            .field("loaded_at", &self.loaded_at)
            .finish_non_exhaustive()
    }
}
