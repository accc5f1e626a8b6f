//! `listen:` and `listeners:`, where the gateway listens and what is spoken there.

use std::net::SocketAddr;
use std::sync::Arc;

use ipnet::IpNet;

use super::client_address::Network;
use super::collections::{AtLeastOne, Named};
use super::diagnostic::Span;
use super::listener_tls::{ListenerTlsForm, tls_of};
use super::names::Known;
use super::policy_file::PolicyFile;
use super::shape::record;
use super::sink::Sink;
use super::upstreams::socket;
use crate::settings::{ListenAt, Listener};

/// Longest path of a Unix socket, in bytes: what every system takes.
const LONGEST_PATH: usize = 103;

record! {
    /// A listener.
    ListenerForm, "a listener" {
        /// An address and a port such as `127.0.0.1:8080`, `unix:/run/tollgate.sock` for a Unix socket, or `systemd:NAME` for a
        /// socket that the process was started with.
        required listen: String,
        /// Networks of balancers whose connections begin with a PROXY protocol header (version 1 or 2), and must. The address in it
        /// takes the place of the socket's peer. Others speak without one.
        optional proxy_protocol: AtLeastOne<Network>,
        /// TLS; without it plain HTTP is spoken.
        optional tls: ListenerTlsForm,
        /// Whether HTTP/2 is spoken besides HTTP/1.1, which is so unless said otherwise: by ALPN over TLS, by prior knowledge in the
        /// clear.
        optional http2: bool,
    }
}

/// The listeners; one called `default` where `listen` is said alone.
pub(crate) fn listeners(file: &PolicyFile, sink: &mut Sink<'_>) -> Vec<Listener> {
    if let (Some(_), Some(both)) = (file.written.place("listen"), file.written.place("listeners")) {
        let help = "name one more in `listeners` in place of `listen`";
        sink.error(both, "`listen` and `listeners` go not together".to_owned(), help.to_owned());
    }
    refuse_without_upstreams(file, sink);
    if let Some(listen) = &file.listen {
        let at = place(&listen.value, listen.span, sink);
        return at.map(|at| Listener::new(Listener::DEFAULT, at)).into_iter().collect();
    }
    let Some(section) = &file.listeners else { return Vec::new() };
    let named = section.value.as_slice();
    if named.is_empty() {
        let help = "add `NAME: { listen: 127.0.0.1:8080 }`, or leave `listeners` out";
        sink.error(section.name, "no listener is named".to_owned(), help.to_owned());
    }
    let made: Vec<Listener> = named.iter().filter_map(|one| listener(one, sink)).collect();
    refuse_doubles(&made, named, sink);
    made
}

fn listener(named: &Named<ListenerForm>, sink: &mut Sink<'_>) -> Option<Listener> {
    let form = &named.value.as_ref()?.value;
    let listen = form.listen.as_ref()?;
    let tls = form.tls.as_ref().and_then(|tls| tls_of(tls, sink));
    let at = place(&listen.value, listen.span, sink)?;
    let proxy_protocol = proxy_protocol(form, &at, sink);
    let http2 = form.http2.as_ref().is_none_or(|http2| http2.value);
    Some(Listener { tls, http2, proxy_protocol, ..Listener::new(named.name.as_str(), at) })
}

fn proxy_protocol(form: &ListenerForm, at: &ListenAt, sink: &mut Sink<'_>) -> Arc<[IpNet]> {
    let Some(networks) = &form.proxy_protocol else { return Arc::default() };
    if matches!(at, ListenAt::Unix(_)) {
        let message = "whoever connects to a Unix socket has no address".to_owned();
        let help = "leave `proxy_protocol` out, or listen on an address and a port";
        sink.error(networks.name, message, help.to_owned());
    }
    networks.value.0.iter().map(|network| network.value.0).collect()
}

fn refuse_without_upstreams(file: &PolicyFile, sink: &mut Sink<'_>) {
    let written = file.written.among(&["listen", "listeners"]);
    if let (Some((field, at)), None) = (written.first(), file.written.place("upstreams")) {
        let message = "a gateway without upstreams has nowhere to send requests".to_owned();
        let help = format!("add `upstreams:`, or leave `{field}` out: the other doors need none");
        sink.error(*at, message, help);
    }
}

/// What a listener listens on.
fn place(text: &str, at: Span, sink: &mut Sink<'_>) -> Option<ListenAt> {
    if let Some(path) = text.strip_prefix("unix:") {
        return unix(path, at, sink);
    }
    if let Some(name) = text.strip_prefix("systemd:") {
        return systemd(name, at, sink);
    }
    socket(text, at, sink).map(ListenAt::Tcp)
}

fn unix(path: &str, at: Span, sink: &mut Sink<'_>) -> Option<ListenAt> {
    if path.is_empty() || path.contains('\0') {
        let help = "write `unix:/run/tollgate.sock`";
        sink.error(at, "a Unix socket needs a path".to_owned(), help.to_owned());
        return None;
    }
    let path = sink.surroundings.path(path);
    if path.as_os_str().len() > LONGEST_PATH {
        let message = format!("the path of a Unix socket has at most {LONGEST_PATH} bytes");
        sink.error(at, message, "choose a shorter one".to_owned());
    }
    Some(ListenAt::Unix(path))
}

/// systemd's own rule for names (sd_listen_fds_with_names).
fn systemd(name: &str, at: Span, sink: &mut Sink<'_>) -> Option<ListenAt> {
    let fine = |byte: u8| byte.is_ascii_graphic() && byte != b':';
    if name.is_empty() || name.len() > 255 || !name.bytes().all(fine) {
        let help = "write the `FileDescriptorName=` of the socket unit, such as `systemd:https`";
        sink.error(at, format!("`{name}` is no name of a socket"), help.to_owned());
        return None;
    }
    Some(ListenAt::Systemd(name.to_owned()))
}

/// Two that listen in one place: the second could not.
fn refuse_doubles(made: &[Listener], named: &[Named<ListenerForm>], sink: &mut Sink<'_>) {
    for (place, one) in made.iter().enumerate() {
        let any = matches!(&one.at, ListenAt::Tcp(address) if address.port() == 0);
        let Some(first) = made.iter().take(place).find(|other| other.at == one.at && !any) else {
            continue;
        };
        let span = |named: &&Named<ListenerForm>| *named.name == *one.name;
        let at = named.iter().find(span).map_or_else(Span::default, |named| named.name_span);
        let message = format!("`{}` listens on {} already", first.name, one.at);
        sink.error(at, message, "give it a place of its own".to_owned());
    }
}

/// The names that routes may use.
pub(crate) fn names(file: &PolicyFile, sink: &mut Sink<'_>) -> Known {
    if file.listeners.is_none() && file.listen.is_some() {
        return Known::new("listener", "listen", vec![Listener::DEFAULT.to_owned()]);
    }
    Known::of("listener", "listeners", file.listeners.as_ref(), sink)
}

/// Whether one of `listeners` listens at `address`.
pub(crate) fn taken(listeners: &[Listener], address: SocketAddr) -> bool {
    address.port() != 0 && listeners.iter().any(|one| one.at == ListenAt::Tcp(address))
}
