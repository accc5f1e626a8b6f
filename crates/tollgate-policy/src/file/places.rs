//! Where the tables, identities, limits and routes of the settings are written: for what is found wrong after reading.

use super::collections::Named;
use super::diagnostic::Span;
use super::policy_file::PolicyFile;
use super::shape::At;
use crate::Place;

/// Places by section, in the order of the settings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    tables: Vec<Span>,
    identities: Vec<Span>,
    limits: Vec<Span>,
    routes: Vec<Span>,
}

impl Places {
    /// The places of a file's sections.
    pub(crate) fn of_file(file: &PolicyFile) -> Places {
        let routes = file.routes.as_ref().map_or(&[][..], |routes| routes.value.as_slice());
        Places {
            tables: names(file.tables.as_ref()),
            identities: names(file.identity.as_ref()),
            limits: names(file.limits.as_ref()),
            routes: routes.iter().map(|route| route.span).collect(),
        }
    }

    /// Where something is written; the file's start where it is not.
    pub(crate) fn of(&self, place: Place) -> Span {
        let (section, at) = match place {
            Place::Table(at) => (&self.tables, at),
            Place::Identity(at) => (&self.identities, at),
            Place::Limit(at) => (&self.limits, at),
            Place::Route(at) => (&self.routes, at),
        };
        section.get(at).copied().unwrap_or_default()
    }
}

fn names<T>(section: Option<&At<Vec<Named<T>>>>) -> Vec<Span> {
    let named = section.map_or(&[][..], |section| section.value.as_slice());
    named.iter().map(|one| one.name_span).collect()
}
