//! Clients that speak HTTP/2: a proper one, and one that sends the frames that it is told to.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body::{Body, Frame};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use super::{PATIENCE, Reply};

/// A body that a test sends.
pub(crate) type Sent = BoxBody<Bytes, Infallible>;

/// No body.
pub(crate) fn nothing() -> Sent {
    Empty::new().boxed()
}

/// A whole body.
pub(crate) fn whole(bytes: impl Into<Bytes>) -> Sent {
    Full::new(bytes.into()).boxed()
}

/// A body in pieces, with `trailers`.
pub(crate) fn pieces(pieces: &[&'static str], trailers: HeaderMap) -> Sent {
    let data = pieces.iter().map(|piece| Frame::data(Bytes::from(*piece)));
    Listed(data.chain([Frame::trailers(trailers)]).collect()).boxed()
}

/// A body whose first piece comes and whose end does not.
pub(crate) fn unfinished(piece: &'static str) -> Sent {
    Unfinished(Some(Bytes::from(piece))).boxed()
}

/// A body of certain frames.
struct Listed(VecDeque<Frame<Bytes>>);

impl Body for Listed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(Ok))
    }
}

struct Unfinished(Option<Bytes>);

impl Body for Unfinished {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.0.take() {
            Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            None => Poll::Pending,
        }
    }
}

/// A connection of a proper client.
pub(crate) struct H2 {
    runtime: Runtime,
    sender: SendRequest<Sent>,
}

/// What a request came to: its answer, or why there is none.
pub(crate) type Outcome = Result<Reply, hyper::Error>;

impl H2 {
    /// A connection in the clear, by prior knowledge.
    #[track_caller]
    pub(crate) fn open(address: SocketAddr) -> H2 {
        H2::over(async move {
            let stream =
                tokio::net::TcpStream::connect(address).await.expect("it takes connections");
            stream.set_nodelay(true).expect("no delay");
            stream
        })
    }

    /// A connection over whatever `connecting` comes to.
    #[track_caller]
    pub(crate) fn over<S>(connecting: impl Future<Output = S>) -> H2
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let sender = runtime.block_on(async {
            let stream = TokioIo::new(connecting.await);
            let shaking = handshake(TokioExecutor::new(), stream);
            let (sender, connection) = shaking.await.expect("HTTP/2");
            tokio::spawn(connection);
            sender
        });
        H2 { runtime, sender }
    }

    /// Sends `request` without waiting for its answer.
    pub(crate) fn start(&mut self, request: Request<Sent>) -> JoinHandle<Outcome> {
        let answered = self.sender.send_request(request);
        self.runtime.spawn(async { collect(answered.await?).await })
    }

    /// The answer to a request that was started.
    #[track_caller]
    pub(crate) fn finish(&self, started: JoinHandle<Outcome>) -> Outcome {
        let patient = async { tokio::time::timeout(PATIENCE, started).await };
        self.runtime.block_on(patient).expect("an answer in time").expect("no panic")
    }

    /// Sends `request` and reads the answer.
    #[track_caller]
    pub(crate) fn send(&mut self, request: Request<Sent>) -> Outcome {
        let started = self.start(request);
        self.finish(started)
    }

    /// Asks for `path`.
    #[track_caller]
    pub(crate) fn get(&mut self, path: &str) -> Reply {
        self.send(get(path)).expect("an answer")
    }

    /// Whether the connection takes no more requests.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

/// A request for `path`.
pub(crate) fn get(path: &str) -> Request<Sent> {
    Request::get(format!("http://test{path}")).body(nothing()).expect("a request")
}

async fn collect(response: http::Response<hyper::body::Incoming>) -> Outcome {
    let (parts, body) = response.into_parts();
    let collected = body.collect().await?;
    let text = |map: &HeaderMap| -> Vec<(String, String)> {
        let pair = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
            (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        map.iter().map(pair).collect()
    };
    Ok(Reply {
        version: format!("{:?}", parts.version),
        status: parts.status.as_u16(),
        headers: text(&parts.headers),
        trailers: collected.trailers().map(text).unwrap_or_default(),
        body: collected.to_bytes().to_vec(),
    })
}

/// Kinds of frames.
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
    pub(crate) const CONTINUATION: u8 = 9;
}

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// A connection whose frames are the test's own.
pub(crate) struct Frames {
    stream: TcpStream,
}

/// A frame that came.
#[derive(Debug)]
pub(crate) struct Came {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Came {
    /// The error code of a GOAWAY or RST_STREAM.
    pub(crate) fn code(&self) -> u32 {
        let at = if self.kind == kind::GOAWAY { 4 } else { 0 };
        let bytes = self.payload.get(at..at + 4).expect("a code");
        u32::from_be_bytes(bytes.try_into().expect("four bytes"))
    }
}

impl Frames {
    /// Begins with `settings`.
    #[track_caller]
    pub(crate) fn open(address: SocketAddr, settings: &[(u16, u32)]) -> Frames {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).expect("it takes connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        stream.set_write_timeout(Some(PATIENCE)).expect("a time-out");
        stream.set_nodelay(true).expect("no delay");
        let mut frames = Frames { stream };
        let mut payload = Vec::new();
        for (name, value) in settings {
            payload.extend(name.to_be_bytes());
            payload.extend(value.to_be_bytes());
        }
        frames.bytes(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").expect("it is taken");
        frames.send(kind::SETTINGS, 0, 0, &payload);
        frames
    }

    fn bytes(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a frame; an error is that the connection has ended.
    pub(crate) fn try_send(
        &mut self,
        kind: u8,
        flags: u8,
        stream: u32,
        payload: &[u8],
    ) -> std::io::Result<()> {
        let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
        bytes.extend([kind, flags]);
        bytes.extend(stream.to_be_bytes());
        bytes.extend(payload);
        self.bytes(&bytes)
    }

    #[track_caller]
    pub(crate) fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.try_send(kind, flags, stream, payload).expect("it is taken");
    }

    /// Asks for `path` on `stream`, with further `fields`.
    #[track_caller]
    pub(crate) fn get(&mut self, stream: u32, path: &str, fields: &[(&str, &str)]) {
        let block = block("GET", path, fields);
        self.send(kind::HEADERS, END_STREAM | END_HEADERS, stream, &block);
    }

    /// The next frame; none where the connection has ended.
    pub(crate) fn next(&mut self) -> Option<Came> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some(Came { kind: head[3], flags: head[4], stream, payload })
    }

    /// The next frame of `kind`.
    #[track_caller]
    pub(crate) fn await_frame(&mut self, kind: u8) -> Came {
        loop {
            let came = self.next().expect("the connection goes on");
            if came.kind == kind {
                return came;
            }
        }
    }

    /// Reads to the end; the error code of the last GOAWAY, where one came.
    pub(crate) fn end(&mut self) -> Option<u32> {
        let mut code = None;
        while let Some(came) = self.next() {
            if came.kind == kind::GOAWAY {
                code = Some(came.code());
            }
        }
        code
    }
}

/// The fields of a request, spelt out.
pub(crate) fn block(method: &str, path: &str, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    let text = |text: &str, block: &mut Vec<u8>| {
        block.push(u8::try_from(text.len()).expect("short"));
        block.extend(text.as_bytes());
    };
    // Names by their place in the static table (RFC 7541, A), values as they are.
    block.push(2);
    text(method, &mut block);
    block.push(0x86);
    block.push(4);
    text(path, &mut block);
    block.push(1);
    text("test", &mut block);
    for (name, value) in fields {
        block.push(0);
        text(name, &mut block);
        text(value, &mut block);
    }
    block
}
