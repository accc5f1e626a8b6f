//! The README's "Two gateways, one Redis, one policy", command by command over real sockets.

#[path = "../../tollgate-store/tests/servers/mod.rs"]
mod servers;
mod web;

use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use servers::{Program, until};
use web::{get, spare, status, upstream};

/// The three commands, as the README shows them.
fn commands() -> Vec<String> {
    let readme = std::fs::read_to_string(folder().join("README.md")).expect("the README");
    let section = readme.split("## Two gateways, one Redis, one policy").nth(1).expect("it");
    let block = section.split("```").nth(1).expect("commands");
    block.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The README's addresses, and what stands for them here.
struct Stage {
    redis: SocketAddr,
    gateways: [SocketAddr; 2],
    admins: [SocketAddr; 2],
    upstream: SocketAddr,
    server: PathBuf,
}

impl Stage {
    fn new(program: Program) -> Stage {
        let [gateways, admins] = [(); 2].map(|()| [spare(), spare()]);
        Stage { redis: spare(), gateways, admins, upstream: upstream(), server: program.path }
    }

    /// Runs one of the README's commands with this stage's addresses and programs.
    fn run(&self, command: &str) -> Running {
        let tollgate = env!("CARGO_BIN_EXE_tollgate");
        let command = command
            .replace(
                "redis-server --port 6379",
                &format!("{} --port {}", self.server.display(), self.redis.port()),
            )
            .replace(" tollgate ", &format!(" {tollgate} "))
            .replace("127.0.0.1:8081", &self.gateways[0].to_string())
            .replace("127.0.0.1:8082", &self.gateways[1].to_string())
            .replace("127.0.0.1:9101", &self.admins[0].to_string())
            .replace("127.0.0.1:9102", &self.admins[1].to_string());
        let child = Command::new("sh")
            .args(["-c", &format!("exec env {command}")])
            .current_dir(folder())
            .env("TOLLGATE_REDIS", format!("redis://{}", self.redis))
            .env("TOLLGATE_UPSTREAM", self.upstream.to_string())
            .env_remove("TOLLGATE_MODE")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Running(child.expect("the command starts"))
    }

    /// The status of a GET through one of the gateways.
    fn status(&self, gateway: usize) -> u16 {
        get(self.gateways[gateway], "/basket").map_or(0, |answer| status(&answer))
    }

    /// A number of a gateway's metrics page.
    fn metric(&self, gateway: usize, name: &str) -> Option<f64> {
        let page = get(self.admins[gateway], "/metrics")?;
        let line = page
            .lines()
            .find(|line| line.strip_prefix(name).is_some_and(|r| r.starts_with(' ')))?;
        line.rsplit(' ').next()?.parse().ok()
    }
}

#[test]
fn the_readmes_three_commands_count_together() {
    let Some(program) = Program::redis() else { return };
    let stage = Stage::new(program);
    let [redis, one, other] = commands().try_into().expect("three commands");
    let server = stage.run(&redis);
    until("redis listens", || TcpStream::connect(stage.redis).is_ok());
    let _gateways = [stage.run(&one), stage.run(&other)];
    for gateway in 0..2 {
        until("a gateway is ready", || {
            get(stage.admins[gateway], "/readyz").is_some_and(|answer| status(&answer) == 200)
        });
    }
    until("each knows of the other", || {
        (0..2).all(|gateway| stage.metric(gateway, "tollgate_store_live_nodes") == Some(2.0))
    });
    let answers: Vec<u16> = (0..40).map(|request| stage.status(request % 2)).collect();
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 30, "{answers:?}");
    assert_eq!(answers.iter().filter(|status| **status == 429).count(), 10, "{answers:?}");
    assert!(answers[..30].iter().all(|status| *status == 200), "{answers:?}");

    // Whoever was refused stays so, and nobody is answered 500.
    drop(server);
    let after: Vec<u16> = (0..20).map(|request| stage.status(request % 2)).collect();
    assert!(after.iter().all(|status| [200, 429].contains(status)), "{after:?}");
    assert!(after.iter().filter(|status| **status == 200).count() <= 2, "{after:?}");
    until("both say that the store is away", || {
        (0..2).all(|gateway| {
            stage.status(gateway);
            stage.metric(gateway, "tollgate_store_degraded") == Some(1.0)
        })
    });
    let ready = get(stage.admins[0], "/readyz").expect("an answer");
    assert!(status(&ready) == 200 && ready.contains("degraded"), "{ready}");
    let _server = stage.run(&redis);
    until("both say that it is back", || {
        (0..2).all(|gateway| {
            stage.status(gateway);
            stage.metric(gateway, "tollgate_store_degraded") == Some(0.0)
        })
    });
}
