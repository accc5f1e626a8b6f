//! Users, passwords and databases.

use std::time::Duration;

use super::calls::{add_soon, add_surely, block_on, connected, options};
use super::harness::{Program, Server, until};
use crate::Trouble;
use crate::redis::RedisOptionsError;
use crate::redis::servers::{Deadline, Servers};

/// Why there is no connection.
fn refusal(url: &str) -> Trouble {
    let servers = Servers::start(&options(url)).expect("options");
    until("it was tried", || servers.observed().connect_failures > 0);
    add_soon(&servers, "k").expect_err("nobody is let in")
}

#[test]
fn users_of_the_access_list_log_in() {
    for program in Program::all() {
        let user = "gate on >p@ss ~tg* +@all -@admin -role -client";
        let words = ["--requirepass", "word", "--user"].into_iter().chain(user.split(' '));
        let server = Server::with(&program, &words.collect::<Vec<_>>());
        let at = server.address();
        let servers = connected(&options(&format!("redis://gate:p%40ss@{at}")));
        assert_eq!(add_surely(&servers, "tg1"), 1);
        assert_eq!(add_soon(&servers, "other"), Err(Trouble::Denied));
        let servers = connected(&options(&format!("redis://:word@{at}/2")));
        assert_eq!(add_surely(&servers, "k"), 1);

        assert_eq!(refusal(&format!("redis://gate:wrong@{at}")), Trouble::Denied);
        assert_eq!(refusal(&format!("redis://{at}")), Trouble::Denied);
    }
}

#[test]
fn a_database_that_is_not_there_is_no_connection() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let servers = Servers::start(&options(&format!("{}/99", server.url()))).expect("options");
    let soon = Deadline::within(Duration::from_millis(300));
    assert_eq!(block_on(servers.ready(soon)), Err(Trouble::Unexpected));
}

#[test]
fn a_cluster_has_no_databases() {
    let mut wrong = options("redis+cluster://127.0.0.1");
    wrong.database = 1;
    assert_eq!(
        Servers::start(&wrong).expect_err("a database"),
        RedisOptionsError::DatabaseOfCluster { database: 1 }
    );
}
