//! Inputs, and how the gateway takes each beside nginx.

/// How the gateway stands to nginx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Than {
    /// The same requests are accepted, and the same is passed on.
    Same,
    /// It passes on fewer.
    Stricter,
    /// It passes on more.
    Looser,
    /// It passes on as many, and others.
    Otherwise,
}

/// One input.
pub(crate) struct Seed {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
    pub(crate) than: Than,
    /// Why it is not the same; empty where it is.
    pub(crate) why: &'static str,
}

const fn same(name: &'static str, bytes: &'static [u8]) -> Seed {
    Seed { name, bytes, than: Than::Same, why: "" }
}

const fn differs(name: &'static str, than: Than, why: &'static str, bytes: &'static [u8]) -> Seed {
    Seed { name, bytes, than, why }
}

pub(crate) const SEEDS: &[Seed] = &[
    same("a request", b"GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nX-A: 1\r\nx-b:  2 \r\n\r\n"),
    same("two at once", b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("HEAD", b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("a body of known length", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"),
    same("an empty body", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"),
    same("chunks", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    same("chunks, in other cases", b"POST / HTTP/1.1\r\nHOST: a\r\ntransfer-ENCODING: CHUNKED\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n"),
    same("chunks with extensions", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b;c\r\nhello\r\n0\r\n\r\n"),
    same("chunks with trailers", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-T: 1\r\n\r\n"),
    same("chunk sizes with zeros", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0005\r\nhello\r\n000\r\n\r\n"),
    same("a chunk that is longer than it says", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n"),
    same("a chunk without a size", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\n"),
    same("a negative chunk", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"),
    same("a chunk size in 0x", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"),
    same("a chunk size too large", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\nhello\r\n0\r\n\r\n"),
    same("two lengths", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
    same("a list of lengths", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 6\r\n\r\nhello"),
    same("a length with a sign", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\nhello"),
    same("a negative length", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\nhello"),
    same("a length in 0x", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x5\r\n\r\nhello"),
    same("an empty length", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\nhello"),
    same("a length that is too large", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nhello"),
    same("a coding that is not known", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nhello"),
    same("chunked and another", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    same("chunked twice", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    same("a coding that looks like chunked", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    same("a coding behind a vertical tab", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"),
    same("white space before a colon", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
    same("no host", b"GET / HTTP/1.1\r\nX-A: 1\r\n\r\n"),
    same("two hosts", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"),
    same("a host with a path", b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    same("a folded field", b"GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\n 2\r\n\r\n"),
    differs("a field without a colon", Than::Stricter, "a field has a colon (RFC 9112, 5)", b"GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n"),
    same("a NUL in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\x002\r\n\r\n"),
    same("a NUL in a path", b"GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("a whole URI", b"GET http://b.example/x HTTP/1.1\r\nHost: b.example\r\n\r\n"),
    same("dot segments", b"GET /a/./b/../c HTTP/1.1\r\nHost: a\r\n\r\n"),
    differs("above the root", Than::Looser, "dot segments stop at the root (RFC 3986, 5.2.4), before any route is matched", b"GET /../../x HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("a broken escape", b"GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("lines that end in LF", b"GET / HTTP/1.1\nHost: a\n\n"),
    same("empty lines before it", b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"),
    differs("HTTP/1.2", Than::Stricter, "there is no such version, and nobody sends it", b"GET / HTTP/1.2\r\nHost: a\r\n\r\n"),
    same("HTTP/2.0", b"GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
    same("no version", b"GET /\r\n\r\n"),
    differs("lower case", Than::Looser, "methods are case-sensitive tokens; this is one of its own (RFC 9110, 9.1)", b"get / HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("CONNECT", b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"),
    differs("TRACE", Than::Looser, "a method like others: the policy says by route which are wanted", b"TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"),
    differs("OPTIONS *", Than::Looser, "it asks for the server as a whole (RFC 9110, 9.3.7)", b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("a method of its own", b"PURGE / HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("fields of the connection", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nTE: gzip\r\n\r\n"),
    same("expects to continue", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello"),
    same("nonsense", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    same("HTTP/1.0", b"GET / HTTP/1.0\r\nHost: a\r\n\r\n"),
    same("HTTP/1.0 with chunks", b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
    differs("a length and chunks", Than::Looser, "RFC 9112, 6.3: the chunks hold, the length is dropped, the connection ends; hyper does not show it", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    differs("a length said twice", Than::Looser, "RFC 9110, 8.6: the same length said twice may count once", b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"),
    same("a CR in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r2\r\n\r\n"),
    differs("chunks whose lines end in LF", Than::Stricter, "only CRLF ends a chunk (RFC 9112, 7.1)", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n"),
    differs("an extension that ends in LF", Than::Stricter, "only CRLF ends a chunk's line: a reader for whom LF does not sees another body", b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nhello\r\n0\r\n\r\n"),
    differs("a slash in an escape", Than::Stricter, "readers differ in whether it is a slash", b"GET /a%2Fb HTTP/1.1\r\nHost: a\r\n\r\n"),
    differs("a backslash", Than::Stricter, "readers differ in whether it is a slash", b"GET /a\\b HTTP/1.1\r\nHost: a\r\n\r\n"),
    differs("a fragment", Than::Otherwise, "a fragment is no part of a target (RFC 9112, 3.2): it is dropped before a route is matched", b"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("a byte beyond ASCII in a path", b"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n"),
    same("a byte beyond ASCII in a value", b"GET / HTTP/1.1\r\nHost: a\r\nX-A: \xc3\xa9\r\n\r\n"),
    differs("an absolute form for another host", Than::Otherwise, "RFC 9112, 3.2.2: the target names the host", b"GET http://b.example/x HTTP/1.1\r\nHost: a\r\n\r\n"),
    differs("many spaces", Than::Stricter, "one space parts the words of a request line (RFC 9112, 3)", b"GET  /  HTTP/1.1\r\nHost: a\r\n\r\n"),
    differs("Connection names a field", Than::Otherwise, "RFC 9110, 7.6.1: what Connection names goes no further", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close, X-A\r\nX-A: 1\r\n\r\n"),
    differs("an empty host", Than::Looser, "RFC 9112, 3.2: a Host field may be empty", b"GET / HTTP/1.1\r\nHost:\r\n\r\n"),
    same("a user in the target", b"GET http://u@b.example/x HTTP/1.1\r\nHost: b.example\r\n\r\n"),
];
