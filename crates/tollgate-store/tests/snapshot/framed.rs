//! A snapshot taken apart into its frames and put together again, whatever is in them: a second spelling of the format.

/// Magic and version.
const HEAD: usize = 12;

/// The kind and content of each frame.
pub(crate) fn frames(file: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut rest = &file[HEAD..];
    let mut frames = Vec::new();
    while let Some((kind, after)) = rest.split_first() {
        let (length, after) = after.split_first_chunk::<4>().expect("a length");
        let (content, after) = after.split_at(u32::from_le_bytes(*length) as usize);
        frames.push((*kind, content.to_vec()));
        rest = &after[8..];
    }
    frames
}

/// The file of those frames, with lengths and sums that are right.
pub(crate) fn framed(frames: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut file = b"TOLLG\r\n\0\x01\0\0\0".to_vec();
    let mut sum = Sum(u64::MAX);
    sum.add(&file);
    for (kind, content) in frames {
        let begun = file.len();
        file.push(*kind);
        file.extend((content.len() as u32).to_le_bytes());
        file.extend(content);
        sum.add(&file[begun..]);
        let told = (!sum.0).to_le_bytes();
        file.extend(told);
        sum.add(&told);
    }
    file
}

/// CRC-64/XZ, a bit at a time.
struct Sum(u64);

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 ^= u64::from(*byte);
            for _ in 0..8 {
                self.0 = (self.0 >> 1) ^ if self.0 & 1 == 1 { 0xc96c_5795_d787_0f42 } else { 0 };
            }
        }
    }
}
