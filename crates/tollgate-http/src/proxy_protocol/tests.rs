//! Headers as balancers write them, whole, in pieces, and wrong.

use proptest::prelude::*;

use super::*;

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

fn v2(command: u8, family: u8, body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).expect("a short body").to_be_bytes();
    [SIGNATURE, &[command, family], &length, body].concat()
}

fn client(source: &str, destination: &str) -> Origin {
    let address = |text: &str| text.parse().expect("an address");
    Origin::Client { source: address(source), destination: address(destination) }
}

/// Reads `bytes` whole: what the header says and how long it is.
fn read(bytes: &[u8]) -> Result<(Option<Origin>, usize), Malformed> {
    Reader::default().read(bytes).map(|progress| (progress.origin, progress.taken))
}

/// Reads `bytes` in pieces of `size`.
fn in_pieces(bytes: &[u8], size: usize) -> Result<(Option<Origin>, usize), Malformed> {
    let mut reader = Reader::default();
    let mut taken = 0;
    while taken < bytes.len() {
        let end = (taken + size).min(bytes.len());
        let progress = reader.read(&bytes[taken..end])?;
        taken += progress.taken;
        if progress.origin.is_some() {
            return Ok((progress.origin, taken));
        }
        assert_eq!(taken, end, "a header that goes on takes all that is there");
    }
    Ok((None, taken))
}

fn whole(bytes: &[u8], origin: Origin) {
    let followed = [bytes, b"GET / HTTP/1.1\r\n\r\n"].concat();
    assert_eq!(read(&followed), Ok((Some(origin), bytes.len())));
    for size in [1, 2, 7, 16, 100] {
        assert_eq!(in_pieces(&followed, size), Ok((Some(origin), bytes.len())), "by {size}");
    }
}

#[test]
fn addr_11_a_balancers_own_question_has_the_sockets_addresses() {
    whole(&v2(0x20, 0x00, &[]), Origin::Socket);
}

#[test]
fn addr_13_a_header_ends_where_its_length_says() {
    whole(&v2(0x20, 0x11, &[7; 84]), Origin::Socket);
    let addresses = [203, 0, 113, 9, 10, 0, 0, 1, 0xd4, 0x31, 0x01, 0xbb];
    whole(&v2(0x21, 0x11, &addresses), client("203.0.113.9:54321", "10.0.0.1:443"));
    let with_fields = [&addresses[..], &[0x04, 0, 3, 1, 2, 3]].concat();
    whole(&v2(0x21, 0x11, &with_fields), client("203.0.113.9:54321", "10.0.0.1:443"));
}

#[test]
fn the_longest_header_is_passed_over() {
    let mut body = vec![0; usize::from(u16::MAX)];
    body[..12].copy_from_slice(&[198, 51, 100, 1, 10, 0, 0, 1, 0, 80, 0, 81]);
    whole(&v2(0x21, 0x12, &body), client("198.51.100.1:80", "10.0.0.1:81"));
}

#[test]
fn other_families_of_version_2() {
    let mut six = [0; 36];
    (six[0], six[1], six[15], six[31]) = (0x20, 0x01, 9, 1);
    six[32..].copy_from_slice(&[0, 80, 1, 187]);
    whole(&v2(0x21, 0x21, &six), client("[2001::9]:80", "[::1]:443"));
    whole(&v2(0x21, 0x31, &[1; 216]), Origin::Socket);
    whole(&v2(0x21, 0x00, &[1; 5]), Origin::Socket);
}

#[test]
fn lines_of_version_1() {
    whole(
        b"PROXY TCP4 203.0.113.9 10.0.0.1 54321 443\r\n",
        client("203.0.113.9:54321", "10.0.0.1:443"),
    );
    whole(b"PROXY TCP6 2001:db8::9 ::1 0 65535\r\n", client("[2001:db8::9]:0", "[::1]:65535"));
    whole(b"PROXY UNKNOWN\r\n", Origin::Socket);
    let longest = [&b"PROXY UNKNOWN ffff:f...f:ffff "[..], &[b'f'; 107 - 30 - 2], b"\r\n"].concat();
    assert_eq!(longest.len(), 107);
    whole(&longest, Origin::Socket);
}

#[test]
fn what_is_no_line_of_version_1() {
    for line in [
        "PROXY TCP4 203.0.113.9 10.0.0.1 54321 443\n",
        "PROXY TCP4 203.0.113.9 10.0.0.1 54321 443\r \n",
        "PROXY TCP4  203.0.113.9 10.0.0.1 54321 443\r\n",
        "PROXY TCP4 203.0.113.9 10.0.0.1 54321 443 \r\n",
        "PROXY TCP4 203.0.113.09 10.0.0.1 54321 443\r\n",
        "PROXY TCP4 203.0.113.9 10.0.0.1 054321 443\r\n",
        "PROXY TCP4 203.0.113.9 10.0.0.1 +54321 443\r\n",
        "PROXY TCP4 203.0.113.9 10.0.0.1 65536 443\r\n",
        "PROXY TCP4 203.0.113.9 10.0.0.1 54321\r\n",
        "PROXY TCP4 2001:db8::9 ::1 1 2\r\n",
        "PROXY TCP6 203.0.113.9 10.0.0.1 1 2\r\n",
        "PROXY TCP4 203.0.113.9 10.0.0.1 1 2 3\r\n",
        "PROXY UDP4 203.0.113.9 10.0.0.1 1 2\r\n",
        "PROXY UNKNOWNS\r\n",
        "PROXY \r\n",
    ] {
        assert_eq!(read(line.as_bytes()), Err(Malformed::Line), "{line:?}");
    }
    let long = [b"PROXY UNKNOWN ".to_vec(), vec![b'x'; 200]].concat();
    assert_eq!(read(&long), Err(Malformed::TooLong));
}

#[test]
fn what_is_no_header_is_known_at_its_first_wrong_byte() {
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], b"PROXX", b"\x16\x03\x01", b"\r\n\r\nX", b"PRI * HT"]
    {
        assert_eq!(read(bytes), Err(Malformed::NoHeader), "{bytes:?}");
    }
    assert_eq!(read(b"PROX"), Ok((None, 4)));
    assert_eq!(read(&SIGNATURE[..11]), Ok((None, 11)));
}

#[test]
fn kinds_that_do_not_exist() {
    for (command, family) in [(0x11, 0x11), (0x22, 0x11), (0x31, 0x11), (0x21, 0x10), (0x21, 0x41)]
    {
        assert_eq!(read(&v2(command, family, &[0; 216])), Err(Malformed::Kind));
    }
    assert_eq!(read(&v2(0x21, 0x11, &[0; 11])), Err(Malformed::TooShort));
    assert_eq!(read(&v2(0x21, 0x21, &[0; 35])), Err(Malformed::TooShort));
}

proptest! {
    #[test]
    fn pieces_do_not_matter(
        head in prop_oneof![Just(b"PROXY ".to_vec()), Just(SIGNATURE.to_vec()), Just(Vec::new())],
        rest in prop::collection::vec(any::<u8>(), 0..300),
        size in 1_usize..40,
    ) {
        let bytes = [head, rest].concat();
        prop_assert_eq!(read(&bytes), in_pieces(&bytes, size));
    }
}
