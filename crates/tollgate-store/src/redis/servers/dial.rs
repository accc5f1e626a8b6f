//! From an endpoint to an open, authenticated connection.

use std::fmt;
use std::io;
use std::time::Duration;

use redis::{Cmd, ServerError, Value};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::failure::Refusal;
use super::tls::Tls;
use crate::Trouble;
use crate::redis::{Credentials, Endpoint, RedisOptions, RedisOptionsError};

/// Looking up the name, connecting and logging in may take this together.
pub(super) const CONNECT_TIME: Duration = Duration::from_secs(1);

/// What we are called in the server's list of clients.
const CLIENT_NAME: &str = "tollgate";

/// A way to a server and back.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// How to introduce ourselves.
#[derive(Clone, Debug)]
pub(super) struct Login {
    pub(super) credentials: Credentials,
    pub(super) database: u32,
    /// Whether it must be a primary; sentinels are none.
    pub(super) primary: bool,
}

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum DialError {
    /// It does not take connections, or not in time.
    Unreachable(io::Error),
    /// It did not let us in.
    Refused(ServerError),
    /// It is a replica.
    Replica,
}

impl DialError {
    pub(super) fn trouble(&self) -> Trouble {
        match self {
            DialError::Unreachable(_) => Trouble::Disconnected,
            DialError::Replica => Trouble::ReadOnly,
            DialError::Refused(error) => match Refusal::of(error) {
                Refusal::Trouble(trouble) => trouble,
                _ => Trouble::Unexpected,
            },
        }
    }
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DialError::Unreachable(error) => error.fmt(f),
            DialError::Refused(error) => {
                write!(f, "{} {}", error.code(), error.details().unwrap_or_default())
            }
            DialError::Replica => f.write_str("it is a replica"),
        }
    }
}

impl From<io::Error> for DialError {
    fn from(error: io::Error) -> DialError {
        DialError::Unreachable(error)
    }
}

/// Opens connections, each as the options say.
#[derive(Debug)]
pub(super) struct Dialer {
    credentials: Credentials,
    database: u32,
    tls: Option<Tls>,
}

impl Dialer {
    /// # Errors
    /// Where a file that TLS needs cannot be used.
    pub(super) fn new(options: &RedisOptions) -> Result<Dialer, RedisOptionsError> {
        let tls = options.tls.as_ref().map(Tls::new).transpose()?;
        Ok(Dialer { credentials: options.credentials.clone(), database: options.database, tls })
    }

    /// How to introduce ourselves to the servers that count.
    pub(super) fn login(&self, primary: bool) -> Login {
        Login { credentials: self.credentials.clone(), database: self.database, primary }
    }

    /// Connects and logs in, within [`CONNECT_TIME`].
    pub(super) async fn dial(
        &self,
        endpoint: &Endpoint,
        login: &Login,
    ) -> Result<Box<dyn Stream>, DialError> {
        let opened = async {
            let mut stream = self.connect(endpoint).await?;
            introduce(&mut stream, login).await?;
            Ok(stream)
        };
        match tokio::time::timeout(CONNECT_TIME, opened).await {
            Ok(opened) => opened,
            Err(_) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("it did not take the connection and let us in within {CONNECT_TIME:?}"),
            )
            .into()),
        }
    }

    async fn connect(&self, endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
        match endpoint {
            Endpoint::Unix(path) => Ok(Box::new(UnixStream::connect(path).await?)),
            Endpoint::Tcp { host, port } => {
                let stream = TcpStream::connect((&**host, *port)).await?;
                tune(&stream)?;
                match &self.tls {
                    None => Ok(Box::new(stream)),
                    Some(tls) => Ok(Box::new(tls.wrap(host, stream).await?)),
                }
            }
        }
    }
}

/// A peer that vanished is noticed though nothing is sent, and what is sent is not waited with.
fn tune(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(10))
        .with_interval(Duration::from_secs(3))
        .with_retries(3);
    socket.set_tcp_keepalive(&keepalive)?;
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    socket.set_tcp_user_timeout(Some(Duration::from_secs(10)))?;
    Ok(())
}

/// Logs in, picks the database, and asks whether it is a primary.
async fn introduce(stream: &mut Box<dyn Stream>, login: &Login) -> Result<(), DialError> {
    let mut commands = Vec::new();
    if let Some(password) = &login.credentials.password {
        let mut auth = redis::cmd("AUTH");
        auth.arg(login.credentials.user.as_deref()).arg(password);
        commands.push((auth, Check::Accepted));
    }
    if login.database != 0 {
        let mut select = redis::cmd("SELECT");
        select.arg(login.database);
        commands.push((select, Check::Accepted));
    }
    let mut name = redis::cmd("CLIENT");
    name.arg("SETNAME").arg(CLIENT_NAME);
    commands.push((name, Check::LetIn));
    if login.primary {
        commands.push((redis::cmd("ROLE"), Check::Primary));
    }
    let replies = exchange(stream, commands.iter().map(|(command, _)| command)).await?;
    commands.iter().zip(replies).try_for_each(|((_, check), reply)| check.of(reply))
}

/// Sends commands at once and reads as many replies.
pub(super) async fn exchange(
    stream: &mut Box<dyn Stream>,
    commands: impl ExactSizeIterator<Item = &Cmd>,
) -> io::Result<Vec<Value>> {
    let mut packed = Vec::new();
    let count = commands.len();
    for command in commands {
        command.write_packed_command(&mut packed);
    }
    stream.write_all(&packed).await?;
    stream.flush().await?;
    let mut decoder = Default::default();
    let mut replies = Vec::with_capacity(count);
    for _ in 0..count {
        let reply = redis::parse_redis_value_async(&mut decoder, stream).await;
        replies.push(reply.map_err(io::Error::other)?);
    }
    Ok(replies)
}

/// What a reply of the introduction must be.
#[derive(Clone, Copy, Debug)]
enum Check {
    /// No error.
    Accepted,
    /// Nothing that means that we are not logged in. Access lists may deny the command itself.
    LetIn,
    /// As `LetIn`, and not the role of a replica.
    Primary,
}

impl Check {
    fn of(self, reply: Value) -> Result<(), DialError> {
        match (self, reply) {
            (Check::Accepted, Value::ServerError(error)) => Err(DialError::Refused(error)),
            (_, Value::ServerError(error)) if error.code() == "NOAUTH" => {
                Err(DialError::Refused(error))
            }
            (Check::Primary, Value::Array(role)) if is_replica(role.first()) => {
                Err(DialError::Replica)
            }
            _ => Ok(()),
        }
    }
}

fn is_replica(role: Option<&Value>) -> bool {
    matches!(role, Some(Value::BulkString(name)) if name == b"slave")
}
