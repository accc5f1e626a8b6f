//! `store:`, where counts live: in this process, or in a store that nodes share.

use std::path::PathBuf;

use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tollgate_core::Micros;

use super::collections::{OneOrMany, Short};
use super::memory::{LongStoreForm, memory};
use super::node::Node;
use super::scalars::text_of;
use super::secrets::{Absent, SecretForm, look_up};
use super::shape::{At, Shape, into_schema, record};
use super::sink::Sink;
use crate::settings::{
    Secret, SharedStoreSettings, StoreLogin, StoreSettings, StoreTls, StoreTopology, StoreUrl,
};

/// `memory`, or a store that is written out.
pub(crate) type StoreForm = Short<MemoryWord, LongStoreForm>;

/// The word `memory`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryWord;

record! {
    /// A store that nodes share: Redis 6.2 or newer, or Valkey. Exactly one of `url` and `urls`.
    SharedForm, "a shared store" {
        /// The server: `redis://host:6379`, `rediss://` with TLS, `unix:///path/to/socket`.
        optional url: String,
        /// Some nodes of a cluster (with `cluster: true`), or the sentinels (with `sentinel`).
        optional urls: OneOrMany<String>,
        /// The servers are a cluster.
        optional cluster: bool,
        /// The servers are sentinels: the name of the primary that they watch.
        optional sentinel: Short<String, SentinelForm>,
        /// Names of keys are hashed with it, so that a leaked dump names nobody. The same on all nodes.
        optional secret: SecretForm,
        /// Sets apart policies that use the same servers: `default` unless said otherwise. The same on all nodes.
        optional namespace: String,
        /// How long a decision waits for the store, 1ms to 10s; 20ms unless said otherwise.
        optional budget: Micros,
        /// The ACL user; `default` unless said otherwise.
        optional user: SecretForm,
        /// The password.
        optional password: SecretForm,
        /// The database's number, where it is not in the URL.
        optional database: u64,
        /// How a `rediss://` server proves who it is.
        optional tls: TlsForm,
    }
}

record! {
    /// Sentinels.
    SentinelForm, "`sentinel`" {
        /// The name of the primary that they watch.
        required master: String,
        /// The sentinels' own ACL user.
        optional user: SecretForm,
        /// The sentinels' own password.
        optional password: SecretForm,
    }
}

record! {
    /// How a server proves who it is.
    TlsForm, "a store's `tls`" {
        /// A PEM file of authorities to trust in place of the system's; beside the policy unless absolute.
        optional ca: String,
        /// A PEM file with our own certificate, for a server that asks for one; with `key`.
        optional certificate: String,
        /// A PEM file with the certificate's private key.
        optional key: String,
        /// Whoever answers is believed. For trying out.
        optional insecure: bool,
    }
}

impl Shape for MemoryWord {
    fn decode(node: &Node, sink: &mut Sink<'_>) -> Option<MemoryWord> {
        let text = text_of(node, "a store", sink)?;
        if text == "memory" {
            return Some(MemoryWord);
        }
        // It may be a URL with a password in it.
        sink.hide(node.span);
        let help = "write `memory`, `{ memory: { snapshot: counts.snapshot } }`, or `{ url: redis://host:6379 }` for a store that \
                    nodes share";
        sink.error(node.span, "this is no store".to_owned(), help.to_owned());
        None
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        into_schema(json!({ "const": "memory" }))
    }
}

/// How long a decision waits, unless it is said, and the bounds.
const BUDGET: Micros = Micros::new(20_000);
const SHORTEST: Micros = Micros::new(1_000);
const LONGEST: Micros = Micros::from_secs(10);

/// The namespace, unless it is said, and the longest.
const NAMESPACE: &str = "default";
const LONGEST_NAMESPACE: usize = 64;

/// Highest number of a database.
const HIGHEST_DATABASE: u64 = 65_535;

/// Where the policy's counts live.
pub(crate) fn store(form: Option<&At<StoreForm>>, sink: &mut Sink<'_>) -> StoreSettings {
    match form {
        Some(At { value: Short::Long(LongStoreForm::Shared(shared)), name, span }) => {
            let form = At { value: &**shared, name: *name, span: *span };
            StoreSettings::Shared(Box::new(meaning(&form, sink)))
        }
        Some(At { value: Short::Long(LongStoreForm::Memory(form)), .. }) => memory(form, sink),
        _ => StoreSettings::default(),
    }
}

fn meaning(form: &At<&SharedForm>, sink: &mut Sink<'_>) -> SharedStoreSettings {
    let shared = form.value;
    let mut absent = Vec::new();
    let topology = topology(shared, sink);
    let urls = urls(form, &topology, sink);
    let mut fetch = |secret: &Option<At<SecretForm>>, sink: &mut Sink<'_>| {
        fetch(secret.as_ref()?, &mut absent, sink)
    };
    let secret = fetch(&shared.secret, sink);
    let (user, password) = (fetch(&shared.user, sink), fetch(&shared.password, sink));
    let login = login((&shared.user, user), password, sink);
    let sentinel_login = match &shared.sentinel {
        Some(At { value: Short::Long(sentinel), .. }) => {
            let (user, password) = (fetch(&sentinel.user, sink), fetch(&sentinel.password, sink));
            self::login((&sentinel.user, user), password, sink)
        }
        _ => StoreLogin::default(),
    };
    if shared.written.place("secret").is_none() {
        let message = "names of keys are hashed with the default secret, which everybody knows";
        let help =
            "add `secret: { env: TOLLGATE_SECRET }`, lest a leaked dump tell who was counted";
        sink.warn(form.name, message.to_owned(), help);
    }
    let made = SharedStoreSettings {
        database: database(shared, &topology, sink),
        tls: tls(shared, &mut absent, sink),
        namespace: namespace(shared.namespace.as_ref(), sink),
        budget: budget(shared.budget.as_ref(), sink),
        urls,
        topology,
        secret,
        login,
        sentinel_login,
        absent,
    };
    check(shared, &made, sink);
    made
}

fn topology(form: &SharedForm, sink: &mut Sink<'_>) -> StoreTopology {
    let cluster = form.cluster.as_ref().filter(|cluster| cluster.value);
    let master = match form.sentinel.as_ref().map(|sentinel| (&sentinel.value, sentinel.span)) {
        None => None,
        Some((Short::Short(master), at)) => Some((master.clone(), at)),
        Some((Short::Long(long), _)) => {
            long.master.as_ref().map(|master| (master.value.clone(), master.span))
        }
    };
    if let (Some(cluster), Some(_)) = (cluster, &form.sentinel) {
        let help = "a cluster fails over by itself: leave `sentinel` out";
        let message = "`cluster` and `sentinel` go not together".to_owned();
        sink.error(cluster.name, message, help.to_owned());
    }
    match master {
        Some((master, at)) => {
            if master.is_empty() {
                let help = "name the primary as `sentinel monitor` does, such as `mymaster`";
                sink.error(at, "a primary without a name".to_owned(), help.to_owned());
            }
            StoreTopology::Sentinel { master }
        }
        None if cluster.is_some() => StoreTopology::Cluster,
        None => StoreTopology::Single,
    }
}

/// The servers' URLs, each hidden where it holds a password.
fn urls(form: &At<&SharedForm>, topology: &StoreTopology, sink: &mut Sink<'_>) -> Vec<StoreUrl> {
    let At { value: shared, name, .. } = form;
    let written = shared.written.among(&["url", "urls"]);
    if written.len() != 1 {
        let at = written.last().map_or(*name, |(_, at)| *at);
        if !(written.is_empty() && shared.written.strangers()) {
            let help = "write `url: redis://host:6379`, or a list as `urls`";
            let message = "a shared store has a `url`, or several `urls`".to_owned();
            sink.error(at, message, help.to_owned());
        }
    }
    let mut urls = Vec::new();
    let list = shared.urls.iter().flat_map(|urls| &urls.value.0);
    for url in shared.url.iter().chain(list) {
        if url.value.contains('@') {
            sink.hide(url.span);
        }
        urls.push(StoreUrl::new(url.value.clone()));
    }
    match &shared.urls {
        Some(list) if list.value.0.is_empty() => {
            let help = "name at least one, such as `redis://10.0.0.1:6379`";
            sink.error(list.span, "a store without servers".to_owned(), help.to_owned());
        }
        Some(list) if list.value.0.len() > 1 && *topology == StoreTopology::Single => {
            let help = "add `cluster: true`, or `sentinel: mymaster`; one server has one `url`";
            let message = "several servers, and nothing says what they are together".to_owned();
            sink.error(list.name, message, help.to_owned());
        }
        _ => {}
    }
    urls
}

/// Says of each URL what is wrong with it, and of all together what does not go together.
#[cfg(feature = "redis")]
fn check(form: &SharedForm, made: &SharedStoreSettings, sink: &mut Sink<'_>) {
    let list = form.urls.iter().flat_map(|urls| &urls.value.0);
    let mut fine = true;
    for url in form.url.iter().chain(list) {
        if let Err(wrong) = made.server(&url.value) {
            sink.error(url.span, wrong.to_string(), None);
            fine = false;
        }
    }
    let [(_, at)] = form.written.among(&["url", "urls"])[..] else { return };
    // What is absent was said where it belongs.
    let present = SharedStoreSettings { absent: Vec::new(), ..made.clone() };
    match present.redis_options() {
        // Several servers of which nothing says what they are: that was said.
        _ if !fine || (made.topology == StoreTopology::Single && made.urls.len() != 1) => {}
        Err(wrong) => sink.error(at, wrong.to_string(), None),
        Ok(options) => {
            if let (Some(tls), None) = (&form.tls, options.tls) {
                let help = "write `rediss://` for a server that is spoken to through TLS";
                sink.error(tls.name, "`tls` goes with `rediss://`".to_owned(), help.to_owned());
            }
        }
    }
}

#[cfg(not(feature = "redis"))]
fn check(_: &SharedForm, _: &SharedStoreSettings, _: &mut Sink<'_>) {}

/// Fetches a secret of the store. One that is not here is an error only where the store is about to be used.
fn fetch(form: &At<SecretForm>, absent: &mut Vec<String>, sink: &mut Sink<'_>) -> Option<Secret> {
    match look_up(form, sink)? {
        Ok(secret) => Some(secret),
        Err(what) => {
            lack(what, absent, sink);
            None
        }
    }
}

fn lack(what: Absent, absent: &mut Vec<String>, sink: &mut Sink<'_>) {
    let Absent { at, message, help } = what;
    absent.push(message.clone());
    if sink.surroundings.is_serving() {
        sink.error(at, message, help);
    } else {
        sink.warn(at, message, &format!("{help}: no gateway serves this policy without it"));
    }
}

fn login(
    (form, user): (&Option<At<SecretForm>>, Option<Secret>),
    password: Option<Secret>,
    sink: &mut Sink<'_>,
) -> StoreLogin {
    let user = user.and_then(|Secret(bytes)| match String::from_utf8(bytes) {
        Ok(user) => Some(user),
        Err(_) => {
            let at = form.as_ref().map_or_else(Default::default, |form| form.span);
            sink.error(at, "the user's name is no UTF-8 text".to_owned(), None);
            None
        }
    });
    StoreLogin { user, password }
}

fn namespace(form: Option<&At<String>>, sink: &mut Sink<'_>) -> String {
    let Some(form) = form else { return NAMESPACE.to_owned() };
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let text = &form.value;
    if text.is_empty() || text.len() > LONGEST_NAMESPACE || !text.bytes().all(fine) {
        let help = format!(
            "write 1 to {LONGEST_NAMESPACE} letters, digits, `-`, `_` and `.`, such as `shop`"
        );
        sink.error(form.span, format!("`{text}` is no namespace"), help);
    }
    text.clone()
}

fn budget(form: Option<&At<Micros>>, sink: &mut Sink<'_>) -> Micros {
    let Some(form) = form else { return BUDGET };
    if !(SHORTEST..=LONGEST).contains(&form.value) {
        let help = "write a time between `1ms` and `10s`; while it runs, a request waits";
        sink.error(form.span, "no budget for a decision".to_owned(), help.to_owned());
    }
    form.value
}

fn database(form: &SharedForm, topology: &StoreTopology, sink: &mut Sink<'_>) -> Option<u32> {
    let said = form.database.as_ref()?;
    if *topology == StoreTopology::Cluster && said.value > 0 {
        let help = "leave it out, and use `namespace` to set policies apart";
        sink.error(said.span, "a cluster has database 0 only".to_owned(), help.to_owned());
    }
    if said.value > HIGHEST_DATABASE {
        let message = format!("{} is no database", said.value);
        sink.error(said.span, message, format!("write 0 to {HIGHEST_DATABASE}"));
    }
    u32::try_from(said.value).ok()
}

fn tls(form: &SharedForm, absent: &mut Vec<String>, sink: &mut Sink<'_>) -> StoreTls {
    let Some(form) = form.tls.as_ref() else { return StoreTls::default() };
    let TlsForm { ca, certificate, key, insecure, .. } = &form.value;
    if certificate.is_some() != key.is_some() {
        let message = "`certificate` and `key` go together".to_owned();
        sink.error(form.name, message, "name both files, or neither".to_owned());
    }
    if let Some(At { value: true, name, .. }) = insecure {
        let message = "whoever answers for the store is believed".to_owned();
        sink.warn(*name, message, "name its authority as `ca` in production");
    }
    let mut file = |file: &Option<At<String>>, sink: &mut Sink<'_>| {
        file.as_ref().map(|file| readable(file, absent, sink))
    };
    StoreTls {
        ca: file(ca, sink),
        certificate: file(certificate, sink),
        key: file(key, sink),
        insecure: insecure.as_ref().is_some_and(|insecure| insecure.value),
    }
}

/// The path of a file that has to be there where the store is used.
fn readable(file: &At<String>, absent: &mut Vec<String>, sink: &mut Sink<'_>) -> PathBuf {
    let path = sink.surroundings.path(&file.value);
    if let Err(wrong) = std::fs::File::open(&path) {
        let message = format!("`{}` cannot be read: {wrong}", file.value);
        let help = format!("it is looked up as {}", path.display());
        lack(Absent { at: file.span, message, help }, absent, sink);
    }
    path
}
