//! The policy file, from disk to a compiled policy.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tollgate_core::Timestamp;
use tollgate_policy::Policy;
use tollgate_policy::file::{self, MAX_FILE_BYTES, Surroundings};
use tollgate_policy::settings::{JwtKeys, Settings, Source, TableRows};

use crate::{ServeError, upstream};

/// A policy file.
#[derive(Clone, Debug)]
pub(crate) struct PolicyFile {
    path: PathBuf,
}

impl PolicyFile {
    pub(crate) fn new(path: &Path) -> PolicyFile {
        PolicyFile { path: path.to_owned() }
    }

    /// Its text.
    ///
    /// # Errors
    /// [`ServeError::Unreadable`], also where it is larger than any policy.
    pub(crate) fn text(&self) -> Result<String, ServeError> {
        self.read().map_err(|error| ServeError::Unreadable { path: self.path.clone(), error })
    }

    fn read(&self) -> io::Result<String> {
        let most = MAX_FILE_BYTES as u64;
        let mut text = String::new();
        File::open(&self.path)?.take(most + 1).read_to_string(&mut text)?;
        if text.len() as u64 > most {
            let message = format!("it is larger than {most} bytes, so it is no policy");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        Ok(text)
    }

    /// The policy that `text`, its content at `now`, says. Warnings are logged.
    ///
    /// # Errors
    /// [`ServeError::Policy`] with every mistake, [`ServeError::UpstreamTls`] where files that it names are no certificates.
    pub(crate) fn compile(&self, text: &str, now: Timestamp) -> Result<Policy, ServeError> {
        let name = self.path.display().to_string();
        let surroundings = Surroundings::of_process(self.folder()).loaded_at(now).serving();
        let read = file::read(&name, text, &surroundings).map_err(ServeError::Policy)?;
        if !read.warnings.is_empty() {
            tracing::warn!("the policy has traps:\n{}", read.warnings.render());
        }
        let policy = read.compile().map_err(ServeError::Policy)?;
        match upstream::unusable(policy.settings()) {
            wrong if wrong.is_empty() => Ok(policy),
            wrong => Err(ServeError::UpstreamTls(wrong)),
        }
    }

    /// Relative files of the policy stand beside it.
    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }

    /// The files that `settings` was made from or looks things up in: its own first.
    pub(crate) fn sources(&self, settings: &Settings) -> Vec<PathBuf> {
        let tables = settings.tables.iter().filter_map(|table| match &table.rows {
            TableRows::File(path) => Some(path),
            TableRows::Inline(_) => None,
        });
        let sources = settings.identities.iter().flat_map(|identity| &identity.sources);
        let keys = sources.filter_map(|source| match source {
            Source::Jwt { keys: JwtKeys::Pem { file, .. } | JwtKeys::Jwks { file }, .. } => {
                Some(file)
            }
            _ => None,
        });
        let tls = settings.listeners.iter().filter_map(|listener| listener.tls.as_ref());
        let certificates = tls.flat_map(|tls| {
            let pairs = tls.certificates.iter().flat_map(|pair| [&pair.certificate, &pair.key]);
            pairs.chain(tls.clients.as_ref().map(|clients| &clients.authorities))
        });
        let own = std::iter::once(&self.path);
        own.chain(tables).chain(keys).chain(certificates).cloned().collect()
    }
}
