//! nginx's (and Apache's) combined access log.
//!
//! `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`,
//! and, where they follow as in nginx's own `main` format, `"$http_x_forwarded_for"` and `$request_time`.
//!
//! nginx writes a line when a request ends, and its time is taken for the request's. The user name is handed on as the
//! HTTP basic authentication that it came from, without its password. 499 (the client went away) is no answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{BadLine, moment, number};
use crate::Record;

/// Reads lines of the combined log.
#[derive(Debug, Default)]
pub struct NginxLines {
    decoded: Vec<u8>,
    text: String,
}

impl NginxLines {
    /// Reads one line into `record`.
    ///
    /// # Errors
    /// [`BadLine`], with what is wrong and what would be right.
    pub fn read(&mut self, line: &str, record: &mut Record) -> Result<(), BadLine> {
        record.clear();
        let mut rest = line.trim_end();
        let address = word(&mut rest, "the client's address")?;
        // nginx says `unix:` of a client that came by a socket without addresses.
        record.peer = if address == "unix:" { None } else { Some(super::address(address)?) };
        word(&mut rest, "`-`")?;
        let user = rest.split_once(" [").ok_or_else(|| missing("a time in brackets"))?.0;
        rest = &rest[user.len() + 1..];
        let time = between(&mut rest, '[', ']', "a time in brackets")?;
        record.time = moment::time_local(time).map_err(|why| BadLine::of_value(time, &why))?;
        let request = quoted(&mut rest, "the request line in quotes")?;
        self.request(request, record)?;
        record.status = Some(super::status(word(&mut rest, "the status")?)?)
            .flatten()
            .filter(|status| *status != 499);
        word(&mut rest, "the number of bytes sent")?;
        self.user(user, record);
        self.agents(rest, record)
    }

    /// `GET /path HTTP/1.1`. What came without TLS to a TLS port, and the like, is no request.
    fn request(&mut self, request: &str, record: &mut Record) -> Result<(), BadLine> {
        let no_request =
            || BadLine::of_value(request, &"is no request line, such as `GET / HTTP/1.1`");
        let (method, target) = request.split_once(' ').ok_or_else(no_request)?;
        let target = match target.rsplit_once(' ') {
            Some((target, version)) if version.starts_with("HTTP/") => target,
            _ => target,
        };
        if method.is_empty()
            || target.is_empty()
            || !method.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        {
            return Err(no_request());
        }
        record.set_method(method);
        self.unescape(target);
        self.text.clear();
        for byte in &self.decoded {
            // A request's target is ASCII; what was not is written as a client should have.
            match byte {
                0x21..=0x7e => self.text.push(char::from(*byte)),
                _ => self.text.push_str(&format!("%{byte:02X}")),
            }
        }
        record.set_target(&self.text);
        Ok(())
    }

    fn user(&mut self, user: &str, record: &mut Record) {
        if user == "-" {
            return;
        }
        self.unescape(user);
        self.decoded.push(b':');
        self.text.clear();
        self.text.push_str("Basic ");
        STANDARD.encode_string(&self.decoded, &mut self.text);
        record.add_header("authorization", &self.text);
    }

    /// What may follow the size: referrer, agent, addresses, time taken.
    fn agents(&mut self, mut rest: &str, record: &mut Record) -> Result<(), BadLine> {
        for name in ["referer", "user-agent", "x-forwarded-for"] {
            rest = rest.trim_start();
            if !rest.starts_with('"') {
                break;
            }
            let value = quoted(&mut rest, name)?;
            if value != "-" {
                self.unescape(value);
                record.add_header(name, &String::from_utf8_lossy(&self.decoded));
            }
        }
        let taken = rest.split_whitespace().find(|word| !word.starts_with('"')).unwrap_or_default();
        // `$request_time` has milliseconds; numbers without are sizes.
        if taken.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 3) {
            record.duration =
                number::seconds(taken).map_err(|why| BadLine::of_value(taken, &why))?;
        }
        Ok(())
    }

    /// Undoes `\x22`, `\"` and `\\`, into `decoded`.
    fn unescape(&mut self, text: &str) {
        self.decoded.clear();
        let mut rest = text.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            let (decoded, after) = match (byte, after) {
                (b'\\', [b'x', high, low, after @ ..]) => {
                    match (hexadecimal(*high), hexadecimal(*low)) {
                        (Some(high), Some(low)) => (high * 16 + low, after),
                        _ => (b'\\', &rest[1..]),
                    }
                }
                (b'\\', [escaped @ (b'"' | b'\\'), after @ ..]) => (*escaped, after),
                _ => (*byte, after),
            };
            self.decoded.push(decoded);
            rest = after;
        }
    }
}

fn hexadecimal(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn missing(what: &str) -> BadLine {
    BadLine::new(format!(
        "{what} is missing; the combined log has: address - user [time] \"request\" status bytes \"referrer\" \"agent\""
    ))
}

/// Takes what stands before the next space.
fn word<'a>(rest: &mut &'a str, what: &str) -> Result<&'a str, BadLine> {
    let text = rest.trim_start_matches(' ');
    let (word, after) = text.split_once(' ').unwrap_or((text, ""));
    if word.is_empty() {
        return Err(missing(what));
    }
    *rest = after;
    Ok(word)
}

fn between<'a>(
    rest: &mut &'a str,
    open: char,
    close: char,
    what: &str,
) -> Result<&'a str, BadLine> {
    let inner = rest.trim_start_matches(' ').strip_prefix(open);
    let (inside, after) =
        inner.and_then(|inner| inner.split_once(close)).ok_or_else(|| missing(what))?;
    *rest = after;
    Ok(inside)
}

/// Takes a quoted text, its escapes untouched.
fn quoted<'a>(rest: &mut &'a str, what: &str) -> Result<&'a str, BadLine> {
    let inner = rest.trim_start_matches(' ').strip_prefix('"').ok_or_else(|| missing(what))?;
    let mut escaped = false;
    let end = inner.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    let end = end.ok_or_else(|| missing(what))?;
    *rest = &inner[end + 1..];
    Ok(&inner[..end])
}
