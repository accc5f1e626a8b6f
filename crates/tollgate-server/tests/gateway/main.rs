//! The gateway over real sockets.

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../../../tollgate-store/tests/servers/mod.rs"]
mod servers;

mod access_log;
mod bodies;
mod bytes_on_the_wire;
mod correlation;
mod crowds;
mod early_hints;
mod forwarding;
mod grpc;
mod http2;
mod http2_through;
mod identity;
mod idle_keys;
mod listeners;
mod login;
mod passing;
mod policies;
mod proxy_protocol;
mod queueing;
mod real_clients;
mod reloading;
mod resting;
mod right_http;
mod semantics;
mod sharing;
mod sizes;
mod stopping;
mod time_and_size;
mod tls;
mod upgrades;
mod upstream_bounds;
mod upstream_death;
mod upstream_health;
mod upstream_http2;
mod upstream_retries;
mod upstream_sockets;
mod upstream_tls;
mod upstreams;
mod who_asks;
