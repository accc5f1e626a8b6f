//! A real nginx as the service behind the gateway.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::until;

/// An nginx of one test, until it is dropped.
pub(crate) struct Nginx {
    pub(crate) address: SocketAddr,
    program: PathBuf,
    folder: TempDir,
    child: Option<Child>,
}

impl Nginx {
    /// An nginx with one server that has `server` as its block's content. `None` where nginx is not installed: the test is
    /// skipped, unless it runs where `CI=true`.
    pub(crate) fn start(server: &str) -> Option<Nginx> {
        Nginx::listening("", server)
    }

    /// The same, whose `listen` has further words.
    pub(crate) fn listening(words: &str, server: &str) -> Option<Nginx> {
        let Some(program) = program() else {
            let message = "skipped: nginx is not installed; scripts/setup.sh installs it";
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
            eprintln!("{message}");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let address = free_address();
        let mut nginx = Nginx { address, program, folder, child: None };
        nginx.write_configuration(words, server);
        nginx.revive();
        Some(nginx)
    }

    /// Its folder; `html` in it is served where the server's block says `root html;`.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends it, as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Stops it in its tracks: it answers nothing, and its connections stay.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let child = self.child.as_ref().expect("it runs");
        kill_process(Pid::from_child(child), signal).expect("a signal");
    }

    /// Starts it (again), on the same port.
    pub(crate) fn revive(&mut self) {
        let child = Command::new(&self.program)
            .arg("-p")
            .arg(self.folder.path())
            .args(["-c", "nginx.conf", "-e", "stderr"])
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx starts");
        self.child = Some(child);
        until("nginx takes connections", || TcpStream::connect(self.address).is_ok());
    }

    fn write_configuration(&self, words: &str, server: &str) {
        std::fs::create_dir_all(self.folder().join("html")).expect("a folder");
        let address = self.address;
        let text = format!(
            "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log stderr crit;\n\
             events {{ worker_connections 256; }}\n\
             http {{\n access_log off;\n client_body_temp_path body;\n proxy_temp_path proxy;\n \
             fastcgi_temp_path fastcgi;\n uwsgi_temp_path uwsgi;\n scgi_temp_path scgi;\n \
             server {{\n listen {address} {words};\n {server}\n }}\n}}\n"
        );
        std::fs::write(self.folder().join("nginx.conf"), text).expect("a configuration");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        self.kill();
    }
}

fn program() -> Option<PathBuf> {
    ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"]
        .iter()
        .map(PathBuf::from)
        .find(|path| path.exists())
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address")
}
