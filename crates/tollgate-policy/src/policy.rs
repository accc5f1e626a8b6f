//! A policy that was read, checked and compiled.

use crate::ClientAddress;

/// A compiled policy: immutable, shared by all threads.
#[derive(Debug)]
pub struct Policy {
    client_address: ClientAddress,
}

/// A policy that may run, and what the validator warns of.
#[derive(Debug)]
pub struct Loaded {
    /// The policy.
    pub policy: Policy,
    /// Traps, each located.
    pub warnings: Vec<String>,
}

impl Policy {
    /// How the client's address is found.
    #[must_use]
    pub fn client_address(&self) -> &ClientAddress {
        &self.client_address
    }
}
