//! What comes in: handshakes, certificates, HTTP/2 connections that ended badly.

use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::{Adder, Metrics};

/// How a handshake ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handshake {
    /// TLS is spoken.
    Done,
    /// Client and gateway did not agree, or the client went away.
    Failed,
    /// It took too long.
    Slow,
    /// The client spoke plain HTTP.
    Plain,
}

/// What a client of HTTP/2 sent too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flood {
    /// Streams that it began and reset.
    Resets,
    /// Frames that carry nothing.
    ControlFrames,
}

impl EncodeLabelValue for Handshake {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
        let word = match self {
            Handshake::Done => "done",
            Handshake::Failed => "failed",
            Handshake::Slow => "slow",
            Handshake::Plain => "plain_http",
        };
        EncodeLabelValue::encode(&word, encoder)
    }
}

impl EncodeLabelValue for Flood {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> std::fmt::Result {
        let word = match self {
            Flood::Resets => "resets",
            Flood::ControlFrames => "control_frames",
        };
        EncodeLabelValue::encode(&word, encoder)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AtListener {
    listener: String,
    result: Handshake,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfFile {
    listener: String,
    file: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reload {
    listener: String,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: Flood,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Code {
    code: &'static str,
}

/// The error codes of HTTP/2 (RFC 9113, 7).
const CODES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

/// The series of what comes in.
#[derive(Debug, Default)]
pub(super) struct Families {
    handshakes: Family<AtListener, Counter>,
    expiries: Family<OfFile, Gauge<f64, AtomicU64>>,
    reloads: Family<Reload, Counter>,
    floods: Family<Kind, Counter>,
    goaways: Family<Code, Counter>,
    /// The certificates that have a series.
    known: Mutex<Vec<OfFile>>,
}

impl Families {
    pub(super) fn register(&self, registry: &mut Registry) {
        let mut add = Adder(registry);
        add.metric("tls_handshakes", "TLS handshakes, by listener and result", &self.handshakes);
        add.metric(
            "tls_certificate_expiry_timestamp_seconds",
            "When the certificate in use expires",
            &self.expiries,
        );
        add.metric(
            "tls_certificate_reloads",
            "Readings of certificate files: taken, or kept the ones before",
            &self.reloads,
        );
        add.metric(
            "http2_floods",
            "HTTP/2 connections ended because the client sent too much of a kind",
            &self.floods,
        );
        add.metric("http2_goaways", "HTTP/2 connections ended by us, by code", &self.goaways);
    }
}

impl Metrics {
    /// Records how a handshake at `listener` ended.
    pub(crate) fn shook(&self, listener: &str, result: Handshake) {
        let labels = AtListener { listener: listener.to_owned(), result };
        self.door.handshakes.get_or_create(&labels).inc();
    }

    /// Records what certificates `listener` shows now: the file of each, and when it expires in seconds since the epoch.
    pub(crate) fn certificates(&self, listener: &str, expiries: &[(String, u64)]) {
        let mut known = self.door.known.lock();
        known.retain(|of| {
            let stays = of.listener != listener;
            if !stays {
                self.door.expiries.remove(of);
            }
            stays
        });
        for (file, expires) in expiries {
            let of = OfFile { listener: listener.to_owned(), file: file.clone() };
            self.door.expiries.get_or_create(&of).set(*expires as f64);
            known.push(of);
        }
    }

    /// Records that certificate files were read again at `listener`: taken, or not.
    pub(crate) fn certificates_read(&self, listener: &str, taken: bool) {
        let result = if taken { "ok" } else { "error" };
        let labels = Reload { listener: listener.to_owned(), result };
        self.door.reloads.get_or_create(&labels).inc();
    }

    /// Records that a connection was ended because of a flood.
    pub(crate) fn flooded(&self, kind: Flood) {
        self.door.floods.get_or_create(&Kind { kind }).inc();
    }

    /// Records a GOAWAY that we sent.
    pub(crate) fn goaway(&self, code: u32) {
        let known = usize::try_from(code).ok().and_then(|code| CODES.get(code));
        self.door.goaways.get_or_create(&Code { code: known.unwrap_or(&"other") }).inc();
    }
}
