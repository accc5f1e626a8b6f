//! The two messages of `grpc.health.v1.Health/Check`, written and read by hand: one string out, one number back.

use bytes::{BufMut, Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TE};

/// The method's path.
pub(super) const CHECK: &str = "/grpc.health.v1.Health/Check";

/// The trailer with a call's outcome; `0` is success.
pub(super) const STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// What a gRPC request says of itself.
pub(super) fn headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
    headers
}

/// `HealthCheckRequest { string service = 1 }`, after its length.
pub(super) fn question(service: &str) -> Bytes {
    let mut message = BytesMut::new();
    if !service.is_empty() {
        message.put_u8(0x0a);
        put_varint(&mut message, service.len() as u64);
        message.put_slice(service.as_bytes());
    }
    let mut framed = BytesMut::with_capacity(message.len() + 5);
    framed.put_u8(0);
    framed.put_u32(message.len() as u32);
    framed.put_slice(&message);
    framed.freeze()
}

/// Whether `HealthCheckResponse { ServingStatus status = 1 }`, after its length, is SERVING; else what it is.
pub(super) fn answer(framed: &[u8]) -> Result<(), String> {
    let unreadable = || "its health message cannot be read".to_owned();
    let message = match framed {
        [0, a, b, c, d, message @ ..]
            if message.len() as u64 == u64::from(u32::from_be_bytes([*a, *b, *c, *d])) =>
        {
            message
        }
        _ => return Err(unreadable()),
    };
    match status(message).ok_or_else(unreadable)? {
        1 => Ok(()),
        0 => Err("it says UNKNOWN".to_owned()),
        2 => Err("it says NOT_SERVING".to_owned()),
        3 => Err("it says SERVICE_UNKNOWN".to_owned()),
        other => Err(format!("it says {other}")),
    }
}

/// Field 1 of a message, the last one where it is there more than once; fields that nobody knows are passed over.
fn status(mut message: &[u8]) -> Option<u64> {
    let mut status = 0;
    while !message.is_empty() {
        let key = take_varint(&mut message)?;
        match (key >> 3, key & 7) {
            (1, 0) => status = take_varint(&mut message)?,
            (_, 0) => drop(take_varint(&mut message)?),
            (_, 1) => message = message.get(8..)?,
            (_, 2) => {
                let length = usize::try_from(take_varint(&mut message)?).ok()?;
                message = message.get(length..)?;
            }
            (_, 5) => message = message.get(4..)?,
            _ => return None,
        }
    }
    Some(status)
}

fn put_varint(into: &mut BytesMut, mut number: u64) {
    while number >= 0x80 {
        into.put_u8((number as u8) | 0x80);
        number >>= 7;
    }
    into.put_u8(number as u8);
}

fn take_varint(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions() {
        assert_eq!(question("")[..], [0, 0, 0, 0, 0]);
        assert_eq!(question("a.B")[..], *b"\0\0\0\0\x05\x0a\x03a.B");
        let long = question(&"x".repeat(200));
        assert_eq!(long[..8], [0, 0, 0, 0, 203, 0x0a, 0xc8, 0x01]);
    }

    #[test]
    fn answers() {
        assert_eq!(answer(&[0, 0, 0, 0, 2, 8, 1]), Ok(()));
        for (bytes, words) in [
            (&[0, 0, 0, 0, 0][..], "UNKNOWN"),
            (&[0, 0, 0, 0, 2, 8, 2], "NOT_SERVING"),
            (&[0, 0, 0, 0, 2, 8, 3], "SERVICE_UNKNOWN"),
            (&[0, 0, 0, 0, 2, 8, 9], "9"),
            (&[0, 0, 0, 0, 3, 8, 1], "cannot be read"),
            (&[1, 0, 0, 0, 2, 8, 1], "cannot be read"),
            (&[0, 0, 0, 0, 1, 8], "cannot be read"),
            (&[0, 0, 0, 0, 3, 0x12, 0x7f, 0], "cannot be read"),
            (&[], "cannot be read"),
        ] {
            let wrong = answer(bytes).expect_err("not well");
            assert!(wrong.contains(words), "{bytes:?}: {wrong}");
        }
    }

    #[test]
    fn fields_of_a_later_version_are_passed_over() {
        let message =
            [0x12, 2, 8, 2, 0x19, 0, 0, 0, 0, 0, 0, 0, 0, 0x25, 0, 0, 0, 0, 0x30, 1, 8, 1];
        let framed = [&[0, 0, 0, 0, message.len() as u8][..], &message].concat();
        assert_eq!(answer(&framed), Ok(()));
    }

    #[test]
    fn no_bytes_break_it() {
        for length in 0..4_000_u32 {
            let bytes: Vec<u8> = (0..length % 40)
                .map(|at| super::super::members::scatter((length * 41 + at) as usize) as u8)
                .collect();
            let framed = [&[0, 0, 0, 0, bytes.len() as u8][..], &bytes].concat();
            let _ = answer(&framed);
        }
    }
}
