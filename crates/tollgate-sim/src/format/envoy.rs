//! Envoy's access log in JSON, with the names that Envoy's and Istio's documentation use.
//!
//! Names are the operator's choice, so several spellings of each are known. Besides, a field named `header.<name>`, or one
//! that begins with `x-` or `x_`, is that header; others have no influence. `-` is Envoy's word for nothing.

use super::json::Json;
use super::{BadLine, moment, number};
use crate::Record;

/// Reads lines of Envoy's JSON log.
#[derive(Debug, Default)]
pub struct EnvoyLines {
    scratch: String,
    target: String,
}

/// What a field of the log says.
enum Meaning<'a> {
    StartTime,
    Peer,
    Method,
    Path,
    Host,
    Status,
    Milliseconds,
    Header(&'a str),
    Nothing,
}

impl EnvoyLines {
    /// Reads one line into `record`.
    ///
    /// # Errors
    /// [`BadLine`], with what is wrong and what would be right.
    pub fn read(&mut self, line: &str, record: &mut Record) -> Result<(), BadLine> {
        record.clear();
        self.target.clear();
        let mut timed = false;
        let mut json = Json::new(line);
        json.object(|json, name| {
            let meaning = meaning(name);
            timed |= matches!(meaning, Meaning::StartTime);
            self.field(json, &meaning, record).map_err(|error| error.of(name))
        })?;
        json.end()?;
        if !self.target.is_empty() {
            record.set_target(&self.target);
        }
        if timed {
            Ok(())
        } else {
            Err(BadLine::new("`start_time` is missing; log %START_TIME% under that name"))
        }
    }

    fn field(
        &mut self,
        json: &mut Json<'_>,
        meaning: &Meaning<'_>,
        record: &mut Record,
    ) -> Result<(), BadLine> {
        if matches!(meaning, Meaning::Nothing) {
            return json.skip();
        }
        let needed = matches!(meaning, Meaning::StartTime);
        if !needed && json.null() {
            return Ok(());
        }
        // The JSON formatter keeps numbers where it can and writes strings where it cannot.
        let text = match json.peek() {
            Some(b'"') => json.string(&mut self.scratch)?,
            _ => json.number()?,
        };
        if text == "-" && !needed {
            return Ok(());
        }
        match meaning {
            Meaning::StartTime => {
                record.time = moment::moment(text).map_err(|why| BadLine::of_value(text, &why))?
            }
            Meaning::Peer => record.peer = Some(super::address(without_port(text))?),
            Meaning::Method => record.set_method(text),
            Meaning::Path => text.clone_into(&mut self.target),
            Meaning::Host => record.add_header("host", text),
            Meaning::Status => record.status = super::status(text)?,
            Meaning::Milliseconds => record.duration = milliseconds(text)?,
            Meaning::Header(name) => record.add_header(&name.replace('_', "-"), text),
            Meaning::Nothing => {}
        }
        Ok(())
    }
}

fn meaning(name: &str) -> Meaning<'_> {
    match name {
        "start_time" | "timestamp" | "time" => Meaning::StartTime,
        "downstream_remote_address" | "downstream_direct_remote_address" => Meaning::Peer,
        "downstream_remote_address_without_port"
        | "downstream_direct_remote_address_without_port" => Meaning::Peer,
        "method" | ":method" | "request_method" => Meaning::Method,
        "path" | ":path" | "request_path" | "x-envoy-original-path" | "x_envoy_original_path" => {
            Meaning::Path
        }
        "authority" | ":authority" | "host" => Meaning::Host,
        "response_code" | "status" => Meaning::Status,
        "duration" => Meaning::Milliseconds,
        "user_agent" | "user-agent" => Meaning::Header("user-agent"),
        "authorization" | "cookie" | "referer" => Meaning::Header(name),
        _ => match name.strip_prefix("header.") {
            Some(header) => Meaning::Header(header),
            None if name.starts_with("x-") || name.starts_with("x_") => Meaning::Header(name),
            None => Meaning::Nothing,
        },
    }
}

/// `203.0.113.9:4711` and `[2001:db8::1]:4711` are an address and a port; a bare IPv6 address is itself.
fn without_port(text: &str) -> &str {
    if let Some(inner) = text.strip_prefix('[') {
        return inner.split_once(']').map_or(inner, |(address, _)| address);
    }
    match text.split_once(':') {
        Some((address, port)) if !port.contains(':') => address,
        _ => text,
    }
}

/// `%DURATION%`: whole milliseconds, or with decimals of them.
fn milliseconds(text: &str) -> Result<tollgate_core::Micros, BadLine> {
    let shifted = if text.contains(['e', 'E']) { text.to_owned() } else { format!("{text}e-3") };
    number::seconds(&shifted).map_err(|why| BadLine::of_value(text, &why))
}
