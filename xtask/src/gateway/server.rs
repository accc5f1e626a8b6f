//! The servers of a measurement: started in a folder of their own on one core, ended when they are dropped.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::scene::{self, Scene};
use super::{LOAD_CORE, PROXY_CORE, pinned};

/// A server may take so long to take connections: so many times a hundredth of a second.
const PATIENCE: u32 = 1_000;

/// Bytes of the large body.
const LARGE: usize = 64 * 1024;

/// Who serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// The gateway, or another build of it.
    Tollgate(PathBuf),
    /// nginx.
    Nginx,
}

/// One that runs.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    child: Child,
    folder: TempDir,
}

impl Server {
    /// The service behind the proxies, on the load's core.
    pub(super) fn service() -> Result<Server, String> {
        let address = free_address()?;
        let folder = folder()?;
        write(&folder.path().join("large"), &[b'x'; LARGE])?;
        nginx(LOAD_CORE, &scene::service(address), address, folder)
    }

    /// `program` as a proxy before `upstream`.
    pub(super) fn proxy(
        program: &Program,
        scene: Scene,
        upstream: SocketAddr,
    ) -> Result<Server, String> {
        let address = free_address()?;
        let folder = folder()?;
        certify(folder.path())?;
        match program {
            Program::Nginx => {
                let text = scene.nginx(address, upstream, folder.path());
                nginx(PROXY_CORE, &text, address, folder)
            }
            Program::Tollgate(path) => {
                let policy = folder.path().join("policy.yaml");
                let text = scene.policy(address, upstream, folder.path());
                write(&policy, text.as_bytes())?;
                let arguments =
                    ["serve", &policy.to_string_lossy(), "--workers", "1"].map(str::to_owned);
                start(PROXY_CORE, &path.to_string_lossy(), &arguments, address, folder)
            }
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it takes connections.
    fn until_it_listens(mut self, program: &str) -> Result<Server, String> {
        for _ in 0..PATIENCE {
            if TcpStream::connect(self.address).is_ok() {
                return Ok(self);
            }
            if self.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let said = fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default();
        Err(format!("{program} takes no connections at {}; it said:\n{said}", self.address))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn nginx(core: usize, text: &str, address: SocketAddr, folder: TempDir) -> Result<Server, String> {
    let configuration = folder.path().join("nginx.conf");
    write(&configuration, text.as_bytes())?;
    let place = folder.path().to_string_lossy().into_owned();
    let arguments = ["-p", &place, "-c", "nginx.conf", "-e", "stderr"].map(str::to_owned);
    start(core, "nginx", &arguments, address, folder)
}

fn start(
    core: usize,
    program: &str,
    arguments: &[String],
    address: SocketAddr,
    folder: TempDir,
) -> Result<Server, String> {
    let path = folder.path().join("stderr");
    let stderr = File::create(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let child = pinned(core, program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|error| format!("taskset does not start: {error}"))?;
    Server { address, child, folder }.until_it_listens(program)
}

/// A certificate for 127.0.0.1 on the curve P-256, and its key.
fn certify(folder: &Path) -> Result<(), String> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])
        .map_err(|error| format!("no certificate can be made: {error}"))?;
    write(&folder.join("cert.pem"), made.cert.pem().as_bytes())?;
    write(&folder.join("key.pem"), made.signing_key.serialize_pem().as_bytes())
}

fn folder() -> Result<TempDir, String> {
    tempfile::tempdir().map_err(|error| format!("no folder can be made: {error}"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

fn free_address() -> Result<SocketAddr, String> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|error| format!("no free port: {error}"))
}
