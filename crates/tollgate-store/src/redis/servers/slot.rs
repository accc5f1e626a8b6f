//! Which of a cluster's 16,384 slots a name belongs to.

/// Slots of a cluster.
pub(super) const SLOTS: u16 = 16_384;

/// The slot of a name: CRC-16/XMODEM of its hash tag, or of the whole name where it has none.
pub(crate) fn slot_of(name: &[u8]) -> u16 {
    crc16(hash_tag(name).unwrap_or(name)) % SLOTS
}

/// What stands between the first `{` and the next `}`, unless that is nothing.
fn hash_tag(name: &[u8]) -> Option<&[u8]> {
    let open = name.iter().position(|byte| *byte == b'{')?;
    let rest = name.get(open + 1..)?;
    let close = rest.iter().position(|byte| *byte == b'}')?;
    rest.get(..close).filter(|tag| !tag.is_empty())
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ (u16::from(*byte) << 8), |sum: u16, _| {
            if sum & 0x8000 == 0 { sum << 1 } else { (sum << 1) ^ 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn red_07_slots_are_those_that_the_servers_compute() {
        for (name, slot) in [
            ("123456789", 12_739),
            ("foo", 12_182),
            ("rl:user:42:tat", 6_696),
            ("rl:user:42:meta", 2_720),
            ("rl:{user:42}:tat", 15_880),
            ("rl:{user:42}:meta", 15_880),
            ("rl:{}:a", 10_963),
            ("rl:{}:b", 6_832),
        ] {
            assert_eq!(slot_of(name.as_bytes()), slot, "{name}");
        }
    }
}
