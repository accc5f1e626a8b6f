//! A Redis of its own: its processor time a decision and its bytes a key, against a minimal token bucket on a hash, and
//! what leases spare it.
//!
//! What the store sends is recorded first. Then both are asked by the same plain client over one connection, alone (one in
//! flight) and sixteen in a write, slice by slice in turn.

mod client;
mod leased;
mod ours;
mod peer;
mod recorder;
mod server;

use crate::keys::{Order, uniform};
use crate::table::{Measured, Target};
use client::Client;
use ours::{Ours, Shape};
use server::Server;

/// Keys of each limit, unless it says otherwise.
const KEYS: usize = 100_000;
/// Decisions that are recorded and asked for over and over.
const RECORDED: usize = 48_000;
/// Decisions in flight where nothing is measured.
const MANY: usize = 250;
/// Slices of each side.
const SLICES: usize = 96;
/// Decisions of a slice.
const CALLS: usize = 1_600;

/// Every row of it; none where no server is installed.
pub fn run(name: &str) -> Vec<Measured> {
    let Some(server) = Server::start() else {
        eprintln!("skipped: redis-server is not installed; scripts/setup.sh installs it");
        return Vec::new();
    };
    let all = Order::of((0..KEYS as u32).collect());
    let mut rows = vec![
        bytes(name, "a bucket", &server, &all, Shape::Bucket),
        bytes(name, "a sliding window", &server, &all, Shape::Window),
    ];
    let order = uniform(KEYS, RECORDED, 11);
    Client::new(server.address()).ask(&peer::calls(&server, &all, KEYS), 0, KEYS, 16);
    let theirs = peer::calls(&server, &order, RECORDED);
    for (what, shape, most) in [
        ("one limit", Shape::Bucket, 0.95),
        ("one window", Shape::Window, 0.95),
        ("a refusal", Shape::Refusing, 0.6),
        ("users, tenants, everybody", Shape::Layers, 1.4),
        ("three times 100,000 keys", Shape::Three, 1.75),
    ] {
        let ours = Ours::new(&server, shape);
        ours.decide(&all, KEYS, MANY);
        let mine = ours.record(&order, RECORDED);
        for (depth, way) in [(1, "alone"), (16, "16 at a time")] {
            let name = format!("{name}: {what}, {way}");
            rows.push(contest(name, Target::Ratio(most), depth, &server, [&mine, &theirs]));
        }
    }
    rows.extend(leased::run(name, &server));
    rows
}

/// The server's microseconds a decision of both.
fn contest(
    name: String,
    target: Target,
    depth: usize,
    server: &Server,
    calls: [&[Vec<u8>]; 2],
) -> Measured {
    let mut client = Client::new(server.address());
    let mut times = [Vec::new(), Vec::new()];
    for slice in 0..SLICES {
        for side in [slice % 2, 1 - slice % 2] {
            let begun = server.cpu_micros();
            client.ask(calls[side], slice * CALLS, CALLS, depth);
            times[side].push((server.cpu_micros() - begun) / CALLS as f64);
        }
    }
    let [ours, peer] = times.map(undisturbed);
    Measured { name, ours, peer, unit: "us", target, disturbed: false }
}

/// The server's bytes for each of 100,000 keys of both.
fn bytes(name: &str, what: &str, server: &Server, all: &Order, shape: Shape) -> Measured {
    let each = |fill: &dyn Fn()| {
        server.flush();
        let empty = server.used_memory();
        fill();
        (server.used_memory() - empty) / KEYS as f64
    };
    let store = Ours::new(server, shape);
    let ours = each(&|| store.decide(all, KEYS, MANY));
    let calls = peer::calls(server, all, KEYS);
    let peer = each(&|| Client::new(server.address()).ask(&calls, 0, KEYS, 32));
    server.flush();
    let name = format!("{name}: bytes a key, {what}");
    Measured { name, ours, peer, unit: "B", target: Target::Ratio(1.0), disturbed: false }
}

/// The time that three in four slices exceed: other programs take the processor and empty its caches in the rest.
fn undisturbed(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 4]
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
