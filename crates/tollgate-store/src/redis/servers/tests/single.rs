//! One server: its script cache, its end and its return, its socket file.

use super::calls::{add_soon, add_surely, connected, counted, options, ready};
use super::harness::{Program, Server, until};
use crate::Trouble;
use crate::redis::servers::Servers;

#[test]
fn red_11_a_script_that_the_server_forgot_is_sent_once_and_runs_once() {
    for program in Program::all() {
        let server = Server::start(&program);
        let servers = connected(&options(&server.url()));
        assert_eq!((add_surely(&servers, "k"), add_surely(&servers, "k")), (1, 2));
        assert_eq!(servers.observed().scripts_sent, 1);
        let _: String = server.run(&["SCRIPT", "FLUSH"]);
        assert_eq!((add_surely(&servers, "k"), add_surely(&servers, "k")), (3, 4));
        assert_eq!(servers.observed().scripts_sent, 2);
    }
}

#[test]
fn a_killed_server_is_found_again_with_an_empty_script_cache() {
    let Some(program) = Program::redis() else { return };
    let mut server = Server::start(&program);
    let servers = connected(&options(&server.url()));
    assert_eq!(add_surely(&servers, "k"), 1);
    server.kill();
    until("the loss is noticed", || servers.observed().connections == 0);
    assert_eq!(add_soon(&servers, "k"), Err(Trouble::Disconnected));
    server.revive();
    ready(&servers);
    assert_eq!(add_surely(&servers, "k"), 1);
    until("nothing waits", || servers.observed().in_flight == 0);
    assert_eq!(counted(&server, "k"), 1);
}

#[test]
fn no_call_waits_for_a_connection() {
    let Some(program) = Program::redis() else { return };
    let mut server = Server::start(&program);
    server.kill();
    let servers = Servers::start(&options(&server.url())).expect("options");
    assert_eq!(add_soon(&servers, "k"), Err(Trouble::Disconnected));
}

#[test]
fn a_socket_file_is_a_server_too() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let url = format!("unix://{}?database=3", server.socket().display());
    let servers = connected(&options(&url));
    assert_eq!(add_surely(&servers, "k"), 1);
    assert_eq!(counted(&server, "k"), 0);
    let keys: String = server.run(&["INFO", "keyspace"]);
    assert!(keys.contains("db3:keys=1"), "{keys}");
}

#[test]
fn dropped_servers_leave_no_connection() {
    let Some(program) = Program::redis() else { return };
    let server = Server::start(&program);
    let servers = connected(&options(&server.url()));
    until("both connections are there", || servers.observed().connections == 2);
    let clients = || server.run::<String>(&["CLIENT", "LIST"]).matches("name=tollgate").count();
    assert_eq!(clients(), 2);
    drop(servers);
    until("the connections are gone", || clients() == 0);
}
