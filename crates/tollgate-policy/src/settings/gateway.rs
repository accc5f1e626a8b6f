//! `gateway:`, as the gateway reads it.

use tollgate_core::Micros;

/// Time and size limits of the gateway; every one has a default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewaySettings {
    /// From a connection's (or the last answer's) end to the last byte of the next header.
    pub header_timeout: Micros,
    /// Longest silence within a body, either way.
    pub body_timeout: Micros,
    /// Longest silence between requests on a kept connection.
    pub idle_timeout: Micros,
    /// To connect to an upstream server.
    pub connect_timeout: Micros,
    /// From the request's last byte to the answer's first.
    pub first_byte_timeout: Micros,
    /// How long connections may finish after SIGTERM.
    pub drain_timeout: Micros,
    /// Largest header, in bytes.
    pub max_header_bytes: usize,
    /// Most header fields.
    pub max_headers: usize,
    /// Largest request body, in bytes; `None` is unlimited. A route may say otherwise.
    pub max_body_bytes: Option<u64>,
    /// Largest body of an answer, in bytes; `None` is unlimited. A route may say otherwise.
    pub max_response_bytes: Option<u64>,
    /// Longest body in which an identity is looked for, in bytes; a longer one says nothing of who sends it.
    pub max_identity_body: usize,
    /// Most connections in.
    pub max_connections: usize,
    /// Most connections in from one address, cut to its prefix; `None` is unlimited.
    pub max_connections_per_address: Option<usize>,
    /// Most requests that wait for their delay.
    pub max_waiting: usize,
    /// Idle connections kept to each upstream server.
    pub max_idle_per_server: usize,
    /// Most requests side by side on one HTTP/2 connection.
    pub max_streams: usize,
    /// Most streams that an HTTP/2 client may reset beyond as many as it lets finish; a tenth comes back each second.
    pub max_resets: usize,
    /// Most HTTP/2 frames that carry nothing beyond those that go with requests and bodies; a tenth comes back each second.
    pub max_control_frames: usize,
}
