//! Any bytes as the head of a connection: they are read to the same end in whatever pieces they come, nothing that follows
//! a header is taken with it, and what a header says stands in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tollgate_http::proxy_protocol::{Malformed, Origin, Reader};

fuzz_target!(|data: &[u8]| {
    let Some((&size, bytes)) = data.split_first() else { return };
    let whole = read(bytes, bytes.len().max(1));
    assert_eq!(whole, read(bytes, usize::from(size).max(1)), "pieces do not matter");
    let Ok((origin, taken)) = whole else { return };
    let header = &bytes[..taken];
    if origin.is_none() {
        assert_eq!(taken, bytes.len(), "a header that goes on takes all");
        return;
    }
    assert!(taken >= 15, "no header is shorter");
    assert_eq!(read(header, taken), Ok((origin, taken)), "what follows does not matter");
    assert!(matches!(read(&header[..taken - 1], 1), Ok((None, _))), "its last byte is needed");
    if let (Some(Origin::Client { source, destination }), b'P') = (origin, header[0]) {
        let text = String::from_utf8_lossy(header);
        let ports = format!(" {} {}\r\n", source.port(), destination.port());
        assert!(text.ends_with(&ports), "{text:?} has no {ports:?}");
    }
});

fn read(bytes: &[u8], size: usize) -> Result<(Option<Origin>, usize), Malformed> {
    let mut reader = Reader::default();
    let mut taken = 0;
    while taken < bytes.len() {
        let end = (taken + size).min(bytes.len());
        let progress = reader.read(&bytes[taken..end])?;
        taken += progress.taken;
        if progress.origin.is_some() {
            return Ok((progress.origin, taken));
        }
    }
    Ok((None, taken))
}
