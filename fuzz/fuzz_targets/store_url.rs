//! Any text as the URL of a shared store: refused, or options that have an address and keep their password to themselves.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tollgate_store::{RedisOptions, Topology};

fuzz_target!(|text: &str| {
    let options = match RedisOptions::from_url(text) {
        Ok(options) => options,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    assert!(match &options.topology {
        Topology::Single(endpoint) => !endpoint.to_string().is_empty(),
        Topology::Sentinel { sentinels, primary, .. } =>
            !sentinels.is_empty() && !primary.is_empty(),
        Topology::Cluster { seeds } => !seeds.is_empty() && options.database == 0,
    });
    if let Some(password) = options.credentials.password.as_deref() {
        assert!(
            format!("{:?}", options.credentials).ends_with("password: Some(\"..\") }"),
            "{password}"
        );
    }
});
