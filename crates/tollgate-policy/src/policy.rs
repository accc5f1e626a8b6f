//! A policy that was read, checked and compiled.

use std::fmt;

use arc_swap::ArcSwap;
use tollgate_store::Definition;

use crate::bodies::Bodies;
use crate::cost::Cost;
use crate::identity::{self, Credential, Identity};
use crate::limit::CompiledLimit;
use crate::lookups::{Lookups, Reading, Uses};
use crate::route::Router;
use crate::settings::Settings;
use crate::{ClientAddress, Name};

/// A compiled policy: shared by all threads and immutable, but for the files of its tables and token keys, which
/// [`Policy::refresh`] reads again.
#[derive(Debug)]
pub struct Policy {
    settings: Settings,
    definitions: Vec<Definition>,
    uses: Uses,
    pub(crate) router: Router,
    pub(crate) costs: Vec<Cost>,
    pub(crate) identities: Vec<Identity>,
    pub(crate) credentials: Vec<Credential>,
    pub(crate) limits: Vec<CompiledLimit>,
    pub(crate) bodies: Bodies,
    pub(crate) lookups: ArcSwap<Lookups>,
}

/// Why settings are no policy: everything that is wrong with them, in one go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// At least one.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What is wrong, and what would be right.
    pub text: String,
}

/// What a problem concerns, by its place in the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A table.
    Table(usize),
    /// An identity.
    Identity(usize),
    /// A limit.
    Limit(usize),
    /// A route.
    Route(usize),
}

impl Policy {
    /// Compiles `settings`, and reads the files of their tables and token keys.
    ///
    /// # Errors
    /// [`CompileError`] with all that is wrong.
    pub fn compile(settings: Settings) -> Result<Policy, CompileError> {
        let mut problems = Vec::new();
        let mut report = |place, text| problems.push(Problem { place, text });
        let compiled =
            identity::compile(&settings, &mut |place, text| report(Place::Identity(place), text));
        let lookups = Lookups::load(&compiled.uses, &mut |reading, text| match reading {
            Reading::Table(place) => report(Place::Table(place), text),
            Reading::Token(places) => {
                places.iter().for_each(|place| report(Place::Identity(*place), text.clone()))
            }
        });
        let mut definitions = Vec::new();
        let limits = compile_limits(&settings, &mut definitions, &mut report);
        let router =
            Router::new(&settings.routes, &mut |place, text| report(Place::Route(place), text));
        let costs = compile_costs(&settings, &mut report);
        check_routes(&settings, &mut report);
        if !problems.is_empty() {
            return Err(CompileError { problems });
        }
        Ok(Policy {
            bodies: Bodies::new(&settings.routes, &limits, &compiled.identities),
            definitions,
            uses: compiled.uses,
            router,
            costs,
            identities: compiled.identities,
            credentials: compiled.credentials,
            limits,
            lookups: ArcSwap::from_pointee(lookups),
            settings,
        })
    }

    /// What it was compiled from.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How the client's address is found.
    #[must_use]
    pub fn client_address(&self) -> &ClientAddress {
        &self.settings.client_address
    }

    /// What a store must know of it: one definition a limit and class, unlimited classes left out.
    #[must_use]
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The name of the limit at `place`.
    #[must_use]
    pub fn limit_name(&self, place: usize) -> Option<Name> {
        self.limits.get(place).map(|limit| limit.name)
    }

    /// The name of a limit's class, as the policy writes it; `None` without `by`.
    #[must_use]
    pub fn class_name(&self, limit: usize, class: usize) -> Option<&str> {
        self.settings.limits.get(limit)?.classes.get(class)?.name.as_deref()
    }

    /// How tokens are verified.
    pub(crate) fn tokens(&self) -> &[crate::lookups::TokenUse] {
        &self.uses.tokens
    }

    /// Reads again the files of tables and token keys that changed since they were read; requests that are being decided
    /// go on with what they began with. Answers whether any changed.
    ///
    /// # Errors
    /// What could not be read, each named. It stays as it was, and is said once for each change of its file.
    pub fn refresh(&self) -> Result<bool, Vec<String>> {
        let mut problems = Vec::new();
        let now = self.lookups.load();
        let next = now.refreshed(&self.uses, &mut |text| problems.push(text));
        let changed = next.is_some();
        if let Some(next) = next {
            self.lookups.store(std::sync::Arc::new(next));
        }
        if problems.is_empty() { Ok(changed) } else { Err(problems) }
    }
}

type Report<'a> = dyn FnMut(Place, String) + 'a;

fn compile_limits(
    settings: &Settings,
    definitions: &mut Vec<Definition>,
    report: &mut Report<'_>,
) -> Vec<CompiledLimit> {
    let mut limits = Vec::with_capacity(settings.limits.len());
    for (place, limit) in settings.limits.iter().enumerate() {
        let mut problem = |text| report(Place::Limit(place), text);
        if settings.limits[..place].iter().any(|other| other.name == limit.name) {
            problem(format!("another limit is called {} as well", limit.name));
        }
        limits.push(CompiledLimit::new(settings, limit, definitions, &mut problem));
    }
    limits
}

fn compile_costs(settings: &Settings, report: &mut Report<'_>) -> Vec<Cost> {
    let mut costs = Vec::with_capacity(settings.routes.len());
    for (place, route) in settings.routes.iter().enumerate() {
        costs.push(Cost::new(&route.cost).unwrap_or_else(|text| {
            report(Place::Route(place), text);
            Cost::Fixed(1)
        }));
    }
    costs
}

fn check_routes(settings: &Settings, report: &mut Report<'_>) {
    for (place, route) in settings.routes.iter().enumerate() {
        for (position, limit) in route.limits.iter().enumerate() {
            let Some(known) = settings.limits.get(*limit) else {
                report(Place::Route(place), format!("it lists limit {limit}, which is not there"));
                continue;
            };
            if route.limits[..position].contains(limit) {
                report(Place::Route(place), format!("it lists the limit {} twice", known.name));
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Table(place) => write!(f, "table {place}"),
            Place::Identity(place) => write!(f, "identity {place}"),
            Place::Limit(place) => write!(f, "limit {place}"),
            Place::Route(place) => write!(f, "route {place}"),
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, problem) in self.problems.iter().enumerate() {
            let comma = if count == 0 { "" } else { "; " };
            write!(f, "{comma}{}: {}", problem.place, problem.text)?;
        }
        Ok(())
    }
}

impl std::error::Error for CompileError {}
