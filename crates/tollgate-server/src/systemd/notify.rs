//! What a service manager is told: systemd's notification protocol, which is a datagram of lines to a socket of its own.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use tollgate_store::monotonic_micros;

/// The service manager that started this process, where one did and wants to be told.
#[derive(Debug, Default)]
pub(crate) struct Supervisor {
    socket: Option<(UnixDatagram, SocketAddr)>,
    /// It wants a sign of life within this time.
    watchdog: Option<Duration>,
}

impl Supervisor {
    /// The one that the environment names.
    pub(crate) fn of_process() -> Supervisor {
        let ask = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        Supervisor::new(ask, std::process::id())
    }

    /// The one that the process `pid` is told of by `ask`.
    fn new(ask: impl Fn(&str) -> Option<OsString>, pid: u32) -> Supervisor {
        let Some(path) = ask("NOTIFY_SOCKET") else { return Supervisor::default() };
        let number = |name| ask(name).and_then(|value| value.to_str()?.parse::<u64>().ok());
        // A watchdog may be meant for another process, which passed its environment on.
        let mine = ask("WATCHDOG_PID").is_none() || number("WATCHDOG_PID") == Some(pid.into());
        let watchdog = number("WATCHDOG_USEC").filter(|micros| mine && *micros > 0);
        match socket(&path) {
            Ok(socket) => {
                Supervisor { socket: Some(socket), watchdog: watchdog.map(Duration::from_micros) }
            }
            Err(error) => {
                tracing::warn!(%error, "the service manager cannot be told anything: NOTIFY_SOCKET is no socket");
                Supervisor::default()
            }
        }
    }

    /// Connections are taken.
    pub(crate) fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nSTATUS={status}"));
    }

    /// The policy is being read again; [`Supervisor::ready`] ends it.
    pub(crate) fn reloading(&self) {
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_micros()));
    }

    /// No more connections are taken.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=draining");
    }

    /// How often it wants a sign of life, with time to spare.
    pub(crate) fn pulse(&self) -> Option<Duration> {
        self.watchdog.map(|longest| longest / 3)
    }

    /// A sign of life.
    pub(crate) fn alive(&self) {
        self.tell("WATCHDOG=1");
    }

    fn tell(&self, lines: &str) {
        let Some((socket, address)) = &self.socket else { return };
        // It does not wait: a manager that does not read is no reason to stand still.
        if let Err(error) = socket.send_to_addr(lines.as_bytes(), address) {
            tracing::debug!(%error, "the service manager was not told");
        }
    }
}

fn socket(path: &OsString) -> io::Result<(UnixDatagram, SocketAddr)> {
    let address = match path.as_bytes() {
        [b'@', name @ ..] => abstract_name(name)?,
        _ => SocketAddr::from_pathname(path)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    Ok((socket, address))
}

#[cfg(target_os = "linux")]
fn abstract_name(name: &[u8]) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    SocketAddr::from_abstract_name(name)
}

#[cfg(not(target_os = "linux"))]
fn abstract_name(_: &[u8]) -> io::Result<SocketAddr> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 256];
        let length = socket.recv(&mut buffer).expect("something is told");
        String::from_utf8(buffer[..length].to_vec()).expect("text")
    }

    fn supervised(socket: &str, more: &[(&str, &str)]) -> Supervisor {
        let ask = |name: &str| match name {
            "NOTIFY_SOCKET" => Some(OsString::from(socket)),
            _ => more.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()),
        };
        Supervisor::new(ask, 7)
    }

    #[test]
    fn a_manager_is_told_by_path_and_by_abstract_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notify");
        let by_path = UnixDatagram::bind(&path).expect("a socket");
        let supervisor = supervised(path.to_str().expect("text"), &[]);
        supervisor.ready("serving");
        assert_eq!(told(&by_path), "READY=1\nSTATUS=serving");
        let name = format!("tollgate-notify-{}", std::process::id());
        let address = abstract_name(name.as_bytes()).expect("a name");
        let by_name = UnixDatagram::bind_addr(&address).expect("a socket");
        let supervisor = supervised(&format!("@{name}"), &[]);
        supervisor.reloading();
        let lines = told(&by_name);
        let micros = lines.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").expect("a moment");
        assert!(micros.parse::<u64>().is_ok_and(|micros| micros > 0), "{lines}");
        supervisor.stopping();
        assert!(told(&by_name).starts_with("STOPPING=1\n"));
    }

    #[test]
    fn a_watchdog_is_fed_where_it_is_this_processs() {
        let watchdog = [("WATCHDOG_USEC", "3000000"), ("WATCHDOG_PID", "7")];
        let name = format!("@tollgate-watchdog-{}", std::process::id());
        assert_eq!(supervised(&name, &watchdog).pulse(), Some(Duration::from_secs(1)));
        assert_eq!(supervised(&name, &watchdog[..1]).pulse(), Some(Duration::from_secs(1)));
        let other = [watchdog[0], ("WATCHDOG_PID", "8")];
        assert_eq!(supervised(&name, &other).pulse(), None);
        assert_eq!(supervised(&name, &[("WATCHDOG_USEC", "x")]).pulse(), None);
        assert_eq!(Supervisor::new(|_| None, 7).pulse(), None);
    }

    #[test]
    fn a_manager_that_is_not_there_stops_nobody() {
        supervised("/nowhere/at/all", &[]).ready("serving");
        supervised("not-absolute\0", &[]).ready("serving");
    }
}
