//! Life under a service manager such as systemd: sockets that it opened ([`Inherited`]), and what it is told
//! ([`Supervisor`]).

mod inherited;
mod notify;

pub(crate) use inherited::{Inherited, InheritedSocket};
pub(crate) use notify::Supervisor;
