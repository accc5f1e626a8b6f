//! Arbitrary bytes as the content of a snapshot whose frames and sums are right. A second spelling of the format, by its
//! description.

/// The file whose frames `data` says: for each a kind, two bytes of length, and the content. A head that is right and an end
/// that counts are put around them.
pub fn framed(data: &[u8]) -> Vec<u8> {
    let mut file = b"TOLLG\r\n\0\x01\0\0\0".to_vec();
    let head = head();
    put(&mut file, b'H', &head);
    let mut rest = data;
    let mut ended = false;
    while let Some((&[kind, low, high], after)) = rest.split_first_chunk::<3>() {
        let length = usize::from(u16::from_le_bytes([low, high])).min(after.len());
        let (content, after) = after.split_at(length);
        let kind = b"LKELK"[usize::from(kind) % 5];
        ended |= kind == b'E';
        put(&mut file, kind, content);
        rest = after;
    }
    if !ended {
        put(&mut file, b'E', &keys(data).to_le_bytes());
    }
    file
}

/// What a store writes that counts nothing begins with its head, whose content is this.
fn head() -> Vec<u8> {
    let mut empty = Vec::new();
    let store = tollgate_store::MemoryStore::default();
    store.snapshot(&mut empty, crate::snapshots::NOW, || {}).expect("memory takes everything");
    empty.get(17..17 + 72).map(<[u8]>::to_vec).unwrap_or_default()
}

/// The number of keys that the end tells: as the last byte says, for only small ones can be right.
fn keys(data: &[u8]) -> u64 {
    u64::from(data.last().copied().unwrap_or(0) % 8)
}

fn put(file: &mut Vec<u8>, kind: u8, content: &[u8]) {
    file.push(kind);
    file.extend((content.len() as u32).to_le_bytes());
    file.extend(content);
    let sum = sum(file);
    file.extend(sum.to_le_bytes());
}

/// CRC-64/XZ, a bit at a time.
fn sum(bytes: &[u8]) -> u64 {
    let mut sum = u64::MAX;
    for byte in bytes {
        sum ^= u64::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ if sum & 1 == 1 { 0xc96c_5795_d787_0f42 } else { 0 };
        }
    }
    !sum
}
