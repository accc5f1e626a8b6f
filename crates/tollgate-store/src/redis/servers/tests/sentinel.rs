//! Sentinels: the primary is found, and followed through fail-overs.

use std::sync::Arc;

use super::calls::{Load, add_surely, connected, counted, options, ready};
use super::harness::{Program, Sentinels, until};
use crate::Trouble;

#[test]
fn a_new_primary_is_followed() {
    let Some(program) = Program::redis() else { return };
    let mut sentinels = Sentinels::start(&program);
    let servers = Arc::new(connected(&options(&sentinels.url())));

    // The old primary lives on as a replica: red-15 with sentinels.
    let load = Load::start(&servers, 4, &["a"]);
    until("calls are answered", || counted(&sentinels.servers[0], "a") > 20);
    sentinels.fail_over();
    until("the replica is the primary", || sentinels.primary() == 1);
    let before = counted(&sentinels.servers[1], "a");
    until("it is asked", || counted(&sentinels.servers[1], "a") > before + 20);
    let tally = load.stop("fail-over by hand");
    tally.assert_within_budget();
    // What the old one did not hand over is lost; nothing is counted twice.
    let most = tally.answered["a"] + tally.unknown.get("a").copied().unwrap_or_default();
    assert!(counted(&sentinels.servers[1], "a") <= most);

    // The old primary is back as a replica, and the new one dies.
    until("the old primary follows", || {
        // The sentinels end its connections once.
        let info = sentinels.servers[0].try_run::<String>(&["INFO"]);
        info.is_ok_and(|info| info.contains("master_link_status:up"))
    });
    let load = Load::start(&servers, 4, &["b"]);
    until("calls are answered", || counted(&sentinels.servers[1], "b") > 20);
    sentinels.servers[1].kill();
    until("the other is the primary", || sentinels.primary() == 0);
    ready(&servers);
    let before = counted(&sentinels.servers[0], "b");
    until("it is asked", || counted(&sentinels.servers[0], "b") > before + 20);
    let tally = load.stop("fail-over after kill -9");
    tally.assert_within_budget();
    assert!(tally.troubles.contains_key(&Trouble::Disconnected), "{tally:?}");
    sentinels.servers[0].assert_every_key_expires();
}

#[test]
fn a_dead_sentinel_is_passed_over() {
    let Some(program) = Program::redis() else { return };
    let mut sentinels = Sentinels::start(&program);
    sentinels.sentinels[0].kill();
    let servers = connected(&options(&sentinels.url()));
    assert_eq!(add_surely(&servers, "k"), 1);
}
