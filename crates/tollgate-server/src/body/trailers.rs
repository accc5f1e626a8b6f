//! Trailers on their way through. What says how a message is framed, routed or authenticated must not stand in them (RFC 9110,
//! 6.5.1): a reader that merges them into the header would believe it too late, and whoever wrote it.

use bytes::Bytes;
use http::header::{self, HeaderName};
use http_body::Frame;

/// Fields that are dropped. Over HTTP/1.1 hyper drops most of them, over HTTP/2 none.
const NEVER: [HeaderName; 24] = [
    header::AUTHORIZATION,
    header::CACHE_CONTROL,
    header::CONNECTION,
    header::CONTENT_ENCODING,
    header::CONTENT_LENGTH,
    header::CONTENT_RANGE,
    header::CONTENT_TYPE,
    header::COOKIE,
    header::EXPECT,
    header::FORWARDED,
    header::HOST,
    header::MAX_FORWARDS,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::SET_COOKIE,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
];

/// `frame`, if it has trailers without those that must not be there.
pub(super) fn sound(mut frame: Frame<Bytes>) -> Frame<Bytes> {
    if let Some(trailers) = frame.trailers_mut() {
        for name in &NEVER {
            trailers.remove(name);
        }
    }
    frame
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::HeaderValue;

    use super::*;

    #[test]
    fn only_what_may_come_late_stays() {
        let mut trailers = HeaderMap::new();
        for name in NEVER {
            trailers.append(name, HeaderValue::from_static("x"));
        }
        trailers.append("grpc-status", HeaderValue::from_static("0"));
        trailers.append("grpc-status", HeaderValue::from_static("1"));
        let left = sound(Frame::trailers(trailers)).into_trailers().expect("trailers");
        assert_eq!(left.keys().collect::<Vec<_>>(), ["grpc-status"]);
        assert_eq!(left.len(), 2);
    }

    #[test]
    fn data_is_left_alone() {
        let data = sound(Frame::data(Bytes::from_static(b"x"))).into_data();
        assert_eq!(data.expect("data"), "x");
    }
}
