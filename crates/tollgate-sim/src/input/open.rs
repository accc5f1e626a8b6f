//! Opens a file of requests, unpacked where its first bytes say that it is packed.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

/// How many bytes of the files, as they are on disk, were read.
#[derive(Clone, Debug, Default)]
pub struct Consumed(Arc<AtomicU64>);

impl Consumed {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Opens `path` (`-`: standard input) to be read as plain text; gzip and zstd are known by their first bytes, not by a name.
///
/// # Errors
/// Where the file cannot be opened or read.
pub fn open(path: &Path, consumed: &Consumed) -> io::Result<Box<dyn Read + Send>> {
    let raw: Box<dyn Read + Send> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    unpacked(Counted { reader: raw, consumed: consumed.clone() })
}

/// What `reader` gives, unpacked.
fn unpacked(mut reader: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let mut first = Vec::with_capacity(ZSTD.len());
    reader.by_ref().take(ZSTD.len() as u64).read_to_end(&mut first)?;
    let (gzip, zstd) = (first.starts_with(&GZIP), first == ZSTD);
    let whole = Cursor::new(first).chain(reader);
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(64 * 1024, whole)))
    } else if zstd {
        Box::new(zstd::stream::read::Decoder::new(whole)?)
    } else {
        Box::new(whole)
    })
}

/// Counts what is read.
struct Counted<R> {
    reader: R,
    consumed: Consumed,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        self.consumed.0.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).expect("memory takes everything");
        packed.finish().expect("memory takes everything")
    }

    fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        unpacked(Cursor::new(bytes))?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn packed_files_are_read_as_they_are() {
        let zstd = |text: &[u8]| zstd::encode_all(text, 1).expect("memory takes everything");
        assert_eq!(read(b"plain".to_vec()).ok(), Some(b"plain".to_vec()));
        assert_eq!(read(b"x".to_vec()).ok(), Some(b"x".to_vec()));
        assert_eq!(read(Vec::new()).ok(), Some(Vec::new()));
        assert_eq!(read(gzip(b"one\n")).ok(), Some(b"one\n".to_vec()));
        assert_eq!(read(zstd(b"one\n")).ok(), Some(b"one\n".to_vec()));
        let several = [gzip(b"one\n"), gzip(b"two\n")].concat();
        assert_eq!(
            read(several).ok(),
            Some(b"one\ntwo\n".to_vec()),
            "rotated logs are put behind each other"
        );
        let several = [zstd(b"one\n"), zstd(b"two\n")].concat();
        assert_eq!(read(several).ok(), Some(b"one\ntwo\n".to_vec()));
    }

    #[test]
    fn a_packed_file_that_was_cut_off_is_an_error() {
        let packed = gzip(&[b'x'; 10_000]);
        assert!(read(packed[..packed.len() - 9].to_vec()).is_err());
        let packed = zstd::encode_all(&[b'x'; 10_000][..], 1).expect("memory takes everything");
        assert!(read(packed[..packed.len() - 3].to_vec()).is_err());
    }
}
