//! What the gateway's own unit tests share.

use tollgate_core::Micros;
use tollgate_policy::settings::GatewaySettings;

/// Limits of time and size that no test meets by chance.
pub(crate) fn settings() -> GatewaySettings {
    let minute = Micros::from_secs(60);
    GatewaySettings {
        header_timeout: minute,
        body_timeout: minute,
        idle_timeout: minute,
        connect_timeout: minute,
        first_byte_timeout: minute,
        drain_timeout: minute,
        max_header_bytes: 64 * 1024,
        max_headers: 100,
        max_body_bytes: None,
        max_response_bytes: None,
        max_identity_body: 64 * 1024,
        max_connections: 1_000,
        max_connections_per_address: None,
        max_waiting: 1_000,
        max_idle_per_server: 8,
        ..GatewaySettings::default()
    }
}
