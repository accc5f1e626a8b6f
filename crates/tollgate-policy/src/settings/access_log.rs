//! The access log: what of a request becomes a line, where the line goes, and which requests have one.

use std::path::PathBuf;

use super::Secret;

/// `access_log:` of the policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLogSettings {
    /// Where lines go.
    pub to: LogTarget,
    /// How a line looks.
    pub format: LogFormat,
    /// Whether `path` has the query with it.
    pub query: bool,
    /// How many of the requests of each outcome have a line.
    pub sample: LogSample,
    /// What keys are hashed with; `None`: with a secret that every start makes anew.
    pub secret: Option<Secret>,
}

/// Where lines go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// Standard output.
    Stdout,
    /// Standard error, where the program's own log goes too.
    Stderr,
    /// A file that is appended to. A relative path was joined to the policy file's directory.
    File(PathBuf),
}

/// How a line looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// A JSON object with these members.
    Json(Vec<LogField>),
    /// Text with fields in it.
    Template(Vec<LogPart>),
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogPart {
    /// As it is.
    Text(String),
    /// The value of a field.
    Field(LogField),
}

/// How many of the requests of each outcome have a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSample {
    /// Of those that passed.
    pub admitted: Share,
    /// Of those that this gateway refused: by a limit, or because they were no sound requests.
    pub refused: Share,
    /// Of those whose answer has a status of 500 and above, or never came.
    pub errors: Share,
}

/// A share in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(pub u32);

impl Share {
    /// All of them.
    pub const ALL: Share = Share(1_000_000);
}

/// Declares the fields, each with its name.
macro_rules! fields {
    ($($(#[doc = $doc:literal])* $field:ident = $name:literal,)*) => {
        /// What of a request a line can hold.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum LogField {
            $($(#[doc = $doc])* $field,)*
        }

        impl LogField {
            /// Every field, in the order of a line without a choice of them.
            pub const ALL: [LogField; [$($name),*].len()] = [$(LogField::$field),*];

            /// What it is called.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(LogField::$field => $name,)*
                }
            }
        }
    };
}

fields! {
    /// When the request's head was there, RFC 3339 in UTC with microseconds.
    Time = "time",
    /// The request's id.
    RequestId = "request_id",
    /// The trace that it belongs to.
    TraceId = "trace_id",
    /// The client's address, as `client_address` finds it.
    Client = "client",
    /// The address of the connection: the socket's peer, or what the PROXY protocol says.
    Peer = "peer",
    /// The method.
    Method = "method",
    /// The host that the request names.
    Host = "host",
    /// The path as it came, without its query unless `query: true`.
    Path = "path",
    /// The version of HTTP, such as `HTTP/1.1`.
    Protocol = "protocol",
    /// `User-Agent`.
    UserAgent = "user_agent",
    /// The answer's status; nothing where the client left before it.
    Status = "status",
    /// Bytes of the answer's body that were handed over.
    BytesSent = "bytes_sent",
    /// `admit`, `delay` or `refuse`; nothing where nothing was decided.
    Decision = "decision",
    /// What would have been decided in enforce mode.
    Judged = "judged",
    /// The route's place in `routes`, from 0.
    Route = "route",
    /// The limit that decides: the refusing one, else the one with the least remaining share.
    Limit = "limit",
    /// The class that chose its parameters.
    Class = "class",
    /// Its key: a hash that tells keys apart and not what they are.
    Key = "key",
    /// What remains of it.
    Remaining = "remaining",
    /// After which time the request would pass, in microseconds; nothing for never and for what passed.
    RetryAfter = "retry_after_us",
    /// How long it was made to wait, in microseconds.
    Wait = "wait_us",
    /// The upstream that it went to.
    Upstream = "upstream",
    /// The address of the server that answered, or that was asked last.
    Server = "server",
    /// How many servers were asked.
    Tries = "tries",
    /// From its departure to the head of the upstream's answer, in microseconds.
    FirstByte = "first_byte_us",
    /// From its head to the end of its answer, in microseconds.
    Duration = "duration_us",
}
