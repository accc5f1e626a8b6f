//! Clients of every kind, each of which knows what it has to get.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::ledger::Ledger;
use crate::service::{bytes, whole};
use crate::stage::Stage;

/// Between the requests of one client: the machine has other things to do, too.
const PAUSE: Duration = Duration::from_millis(2);

/// How many requests are on their way at once over one HTTP/2 connection.
const STREAMS: usize = 16;

/// One kind of request, and what has to come of it.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    /// Over how many requests a connection is kept.
    kept_for: usize,
    make: fn(usize) -> Asked,
}

/// A request and its answer.
struct Asked {
    request: Request<Full<Bytes>>,
    expected: Bytes,
    /// It may be refused, too.
    limited: bool,
}

const KINDS: [Kind; 6] = [
    Kind { name: "kept", kept_for: usize::MAX, make: target },
    Kind { name: "fresh", kept_for: 1, make: target },
    Kind { name: "upload", kept_for: 20, make: upload },
    Kind { name: "download", kept_for: 20, make: download },
    Kind { name: "limited", kept_for: 50, make: limited },
    Kind { name: "slots", kept_for: 10, make: slot },
];

fn asked(method: Method, path: String, body: Vec<u8>) -> Asked {
    let expected = match method {
        Method::POST => body.clone(),
        _ => path.clone().into_bytes(),
    };
    let request = Request::builder().method(method).uri(path).header("host", "shop.example");
    let request = request.body(Full::from(body)).expect("a request");
    Asked { request, expected: expected.into(), limited: false }
}

fn target(number: usize) -> Asked {
    asked(Method::GET, format!("/item/{number}?of={}", number * 7), Vec::new())
}

fn upload(number: usize) -> Asked {
    asked(Method::POST, "/basket".to_owned(), bytes(250_000 + number % 100))
}

fn download(number: usize) -> Asked {
    let length = 700_000 + number % 100;
    let expected = bytes(length).into();
    Asked { expected, ..asked(Method::GET, format!("/bytes/{length}"), Vec::new()) }
}

fn limited(number: usize) -> Asked {
    with(target(number), "x-user", "greedy")
}

fn slot(number: usize) -> Asked {
    with(target(number), "x-slot", "one")
}

fn with(mut asked: Asked, name: &'static str, value: &'static str) -> Asked {
    asked.request.headers_mut().insert(name, http::HeaderValue::from_static(value));
    Asked { limited: true, ..asked }
}

/// Sets them all going, two of each kind, until the ledger says that it is over.
pub(crate) fn start(stage: &Stage, ledger: &Arc<Ledger>) -> Vec<JoinHandle<()>> {
    let plain = stage.plain;
    let mut clients = Vec::new();
    for kind in KINDS.into_iter().chain(KINDS) {
        let ledger = Arc::clone(ledger);
        clients.push(tokio::spawn(async move { repeat(kind, plain, &ledger).await }));
    }
    let of_leaver = Arc::clone(ledger);
    clients.push(tokio::spawn(async move { leave(plain, &of_leaver).await }));
    let (secure, connector) = (stage.secure, stage.certificates.connector());
    for _ in 0..2 {
        let (ledger, connector) = (Arc::clone(ledger), connector.clone());
        clients.push(tokio::spawn(async move {
            while !ledger.is_over() {
                if let Err(error) = multiplex(secure, &connector, &ledger).await {
                    ledger.lost("http/2", error.to_string());
                }
            }
        }));
    }
    clients
}

/// Asks again and again, over connections that are kept for so many requests.
async fn repeat(kind: Kind, gateway: SocketAddr, ledger: &Ledger) {
    let mut number = 0;
    while !ledger.is_over() {
        let Ok(mut sender) = connect(gateway).await else {
            ledger.wrong(kind.name, "the gateway takes no connection".to_owned());
            continue;
        };
        for _ in 0..kind.kept_for {
            if ledger.is_over() {
                return;
            }
            number += 1;
            let asked = (kind.make)(number);
            let answer = async { whole(sender.send_request(asked.request).await?).await }.await;
            let broken = answer.is_err();
            note(kind.name, answer, &asked.expected, asked.limited, ledger);
            if broken || sender.ready().await.is_err() {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn note(
    client: &'static str,
    answer: Result<(StatusCode, Bytes), hyper::Error>,
    expected: &Bytes,
    limited: bool,
    ledger: &Ledger,
) {
    let counts = client == "limited";
    match answer {
        Ok((StatusCode::OK, body)) if body == expected => {
            ledger.right(client);
            if counts {
                ledger.count();
            }
        }
        Ok((StatusCode::TOO_MANY_REQUESTS, _)) if limited => ledger.right(client),
        Ok((status @ (StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT), _)) => {
            ledger.lost(client, status.to_string());
            if counts {
                ledger.count();
            }
        }
        Ok((status, body)) => {
            let (got, wanted) = (body.len(), expected.len());
            ledger.wrong(client, format!("{status}, {got} bytes for {wanted}"));
        }
        // Whether the limit took it is not known: the gateway may have answered 200 before the service died.
        Err(error) => ledger.lost(client, error.to_string()),
    }
}

async fn connect(
    gateway: SocketAddr,
) -> Result<http1::SendRequest<Full<Bytes>>, Box<dyn std::error::Error>> {
    let stream = TcpStream::connect(gateway).await?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Begins large answers, and goes away in the midst of them; some hold the slot meanwhile.
async fn leave(gateway: SocketAddr, ledger: &Ledger) {
    let mut number = 0;
    while !ledger.is_over() {
        number += 1;
        let mut asked = asked(Method::GET, "/bytes/3000000".to_owned(), Vec::new());
        if number % 3 == 0 {
            asked = with(asked, "x-slot", "one");
        }
        let Ok(mut sender) = connect(gateway).await else { continue };
        if let Ok(response) = sender.send_request(asked.request).await
            && let Some(Ok(_)) = response.into_body().frame().await
        {
            ledger.right("leaver");
        }
        tokio::time::sleep(20 * PAUSE).await;
    }
}

/// Many requests at once over one HTTP/2 connection with TLS, and another connection every two hundred requests.
async fn multiplex(
    gateway: SocketAddr,
    connector: &tokio_rustls::TlsConnector,
    ledger: &Arc<Ledger>,
) -> Result<(), Box<dyn std::error::Error>> {
    let stream = TcpStream::connect(gateway).await?;
    let name = tokio_rustls::rustls::pki_types::ServerName::try_from("localhost")?;
    let stream = connector.connect(name, stream).await?;
    let presented = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
    ledger.presented(presented.ok_or("no certificate")?);
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let streams: Vec<_> = (0..STREAMS)
        .map(|stream| {
            let (mut sender, ledger) = (sender.clone(), Arc::clone(ledger));
            tokio::spawn(async move {
                for number in 0..200 / STREAMS {
                    let path = format!("https://shop.example/stream/{stream}/{number}");
                    let expected = Bytes::from(format!("/stream/{stream}/{number}"));
                    let request = Request::get(path).body(Full::<Bytes>::default());
                    let request = request.expect("a request");
                    let answer = async { whole(sender.send_request(request).await?).await }.await;
                    note("http/2", answer, &expected, false, &ledger);
                    tokio::time::sleep(PAUSE).await;
                }
            })
        })
        .collect();
    for stream in streams {
        stream.await?;
    }
    drop(sender);
    connection.await??;
    Ok(())
}
