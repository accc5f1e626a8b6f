//! What this crate's tests share: policies from text, requests by hand.

use std::net::IpAddr;

use tollgate_core::Timestamp;
use tollgate_store::MemoryStore;

use crate::file::{Surroundings, read};
use crate::settings::Settings;
use crate::{Charges, Decision, Engine, Facts, Headers, Mode, Policy, Rejection, Ruling};

/// Where the tests' clocks start: 2026-01-01T00:00:00Z.
pub(crate) const START: u64 = 1_767_225_600_000_000;

/// `seconds` after [`START`].
pub(crate) fn at(seconds: u64) -> Timestamp {
    Timestamp::from_micros(START + seconds * 1_000_000)
}

/// What the policy file `yaml` says.
pub(crate) fn settings(yaml: &str) -> Settings {
    settings_in(yaml, ".")
}

/// The same, with files in `folder`.
pub(crate) fn settings_in(yaml: &str, folder: impl Into<std::path::PathBuf>) -> Settings {
    match read("policy.yaml", yaml, &Surroundings::new(folder)) {
        Ok(read) => read.settings,
        Err(report) => panic!("{report}"),
    }
}

/// The policy of `yaml`.
pub(crate) fn policy(yaml: &str) -> Policy {
    Policy::compile(settings(yaml)).expect("a policy that compiles")
}

/// An engine with the policy of `yaml`, loaded at [`START`].
pub(crate) fn engine(yaml: &str) -> Engine<MemoryStore> {
    Engine::new(policy(yaml), MemoryStore::default(), Mode::Enforce, at(0))
}

/// A charge's limit, class and key.
pub(crate) type Charged = (String, Option<String>, Vec<u8>);

/// A request by hand.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) host: Option<&'static str>,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<String>,
    pub(crate) client: Option<IpAddr>,
    pub(crate) trusted: bool,
    pub(crate) cost: Option<u64>,
}

impl Request {
    /// A GET of `path` from 203.0.113.9, who is nobody's proxy.
    pub(crate) fn get(path: &str) -> Request {
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (path, None),
        };
        Request {
            method: "GET",
            host: None,
            path: path.to_owned(),
            query,
            headers: Vec::new(),
            body: None,
            client: Some(IpAddr::from([203, 0, 113, 9])),
            trusted: false,
            cost: None,
        }
    }

    pub(crate) fn method(self, method: &'static str) -> Request {
        Request { method, ..self }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(self, body: &str) -> Request {
        Request { body: Some(body.to_owned()), ..self }
    }

    pub(crate) fn client(self, address: &str) -> Request {
        Request { client: Some(address.parse().expect("an address")), ..self }
    }

    pub(crate) fn nobody(self) -> Request {
        Request { client: None, ..self }
    }

    pub(crate) fn trusted(self) -> Request {
        Request { trusted: true, ..self }
    }

    pub(crate) fn cost(self, cost: u64) -> Request {
        Request { cost: Some(cost), ..self }
    }

    /// Runs `run` on its facts.
    pub(crate) fn facts<T>(&self, run: impl FnOnce(&Facts<'_>) -> T) -> T {
        let pairs: Vec<_> = self.headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        run(&Facts {
            authority: self.host,
            query: self.query.as_deref(),
            body: self.body.as_deref().map(str::as_bytes),
            client: self.client,
            trusted: self.trusted,
            cost: self.cost,
            ..Facts::new(self.method, &self.path, Headers::Pairs(&pairs))
        })
    }

    /// Its charges by `policy` at `now`: the limit's name, the class and the key of each.
    pub(crate) fn charges_at(
        &self,
        policy: &Policy,
        now: Timestamp,
    ) -> Result<Vec<Charged>, Rejection> {
        let mut charges = Charges::default();
        self.facts(|facts| policy.charges(facts, now, |subject| subject.class, &mut charges))?;
        let show = |(planned, key): (&crate::Planned, &[u8])| {
            let name = policy.limit_name(planned.limit).expect("a limit").to_string();
            let class = policy.class_name(planned.limit, planned.class).map(str::to_owned);
            (name, class, key.to_vec())
        };
        Ok(charges.iter().map(show).collect())
    }

    /// The key of its only charge.
    pub(crate) fn key(&self, policy: &Policy) -> Vec<u8> {
        let mut charges = self.charges_at(policy, at(0)).expect("charges");
        assert_eq!(charges.len(), 1, "{charges:?}");
        charges.remove(0).2
    }

    /// The decision on it at `now`.
    pub(crate) fn decide_at(&self, engine: &Engine<MemoryStore>, now: Timestamp) -> Decision {
        match self.rule_at(engine, now) {
            Ruling::Decided(decision) => decision,
            Ruling::Rejected(rejection) => panic!("{rejection:?}"),
        }
    }

    /// What comes of it at `now`.
    pub(crate) fn rule_at(&self, engine: &Engine<MemoryStore>, now: Timestamp) -> Ruling {
        let decide =
            |facts: &Facts<'_>| engine.decide_now(facts, now, None, &mut Charges::default());
        self.facts(decide).expect("an answer")
    }

    /// Whether it passes, `seconds` after the start.
    pub(crate) fn passes(&self, engine: &Engine<MemoryStore>, seconds: u64) -> bool {
        let verdict = self.decide_at(engine, at(seconds)).verdict;
        !matches!(verdict, crate::Verdict::Refuse(_))
    }
}
