//! One server: calls, its script cache, its end and its return.

use std::time::Duration;

use redis::Value;
use tokio::runtime::Builder;

use super::harness::{Program, Server, until};
use crate::Trouble;
use crate::redis::RedisOptions;
use crate::redis::key::KeyName;
use crate::redis::script::Script;
use crate::redis::servers::{Deadline, Servers};

/// Waits for what must come.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().build().expect("a runtime").block_on(future)
}

fn long() -> Deadline {
    Deadline::within(Duration::from_secs(10))
}

fn connected(options: &RedisOptions) -> Servers {
    let servers = Servers::start(options).expect("options");
    block_on(servers.ready(long())).expect("a connection");
    servers
}

fn counter() -> Script {
    Script::new("return redis.call('INCRBY', KEYS[1], ARGV[1])")
}

fn count(servers: &Servers, deadline: Deadline, by: &str) -> Result<Value, Trouble> {
    let key = KeyName::new(*b"counter");
    let slot = servers.slot(&key);
    block_on(servers.call(deadline, slot, &counter(), &[key], &[by.as_bytes()]))
}

#[test]
fn red_11_a_script_that_the_server_forgot_is_sent_once_and_runs_once() {
    for program in Program::all() {
        let server = Server::start(&program);
        let servers = connected(&RedisOptions::from_url(&server.url()).expect("a URL"));
        assert_eq!(count(&servers, long(), "5"), Ok(Value::Int(5)));
        assert_eq!(count(&servers, long(), "5"), Ok(Value::Int(10)));
        assert_eq!(servers.observed().scripts_sent, 1);
        let _: Value = server.run(&["SCRIPT", "FLUSH"]);
        assert_eq!(count(&servers, long(), "5"), Ok(Value::Int(15)));
        assert_eq!(servers.observed().scripts_sent, 2);
    }
}

#[test]
fn a_server_that_was_killed_is_found_again_with_an_empty_script_cache() {
    let Some(program) = Program::redis() else { return };
    let mut server = Server::start(&program);
    let servers = connected(&RedisOptions::from_url(&server.url()).expect("a URL"));
    assert_eq!(count(&servers, long(), "1"), Ok(Value::Int(1)));
    server.kill();
    until("the loss is noticed", || servers.observed().connections == 0);
    assert_eq!(count(&servers, long(), "1"), Err(Trouble::Disconnected));
    server.revive();
    block_on(servers.ready(long())).expect("it is found again");
    assert_eq!(count(&servers, long(), "1"), Ok(Value::Int(1)));
    assert_eq!(servers.observed().in_flight, 0);
}

#[test]
fn no_call_waits_for_a_connection() {
    let Some(program) = Program::redis() else { return };
    let mut server = Server::start(&program);
    server.kill();
    let servers =
        Servers::start(&RedisOptions::from_url(&server.url()).expect("a URL")).expect("options");
    assert_eq!(count(&servers, long(), "1"), Err(Trouble::Disconnected));
}
