//! CRC-64/XZ: tells a half or damaged file from a whole one.

/// The polynomial, its bits reversed.
const POLYNOMIAL: u64 = 0xc96c_5795_d787_0f42;

/// What a byte does to the sum, and what it does so many bytes before the end.
const TABLES: [[u64; 256]; 8] = tables();

const fn tables() -> [[u64; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            sum = (sum >> 1) ^ if sum & 1 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        tables[0][byte] = sum;
        byte += 1;
    }
    let mut at = 256;
    while at < 8 * 256 {
        let before = tables[at / 256 - 1][at % 256];
        tables[at / 256][at % 256] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
        at += 1;
    }
    tables
}

/// The sum of the bytes so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checksum(u64);

impl Checksum {
    /// Of no bytes.
    pub(super) const fn new() -> Checksum {
        Checksum(u64::MAX)
    }

    /// Adds `bytes`, eight at a time.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let (eights, rest) = bytes.as_chunks::<8>();
        for eight in eights {
            let mixed = (self.0 ^ u64::from_le_bytes(*eight)).to_le_bytes();
            let of = |at: usize| TABLES[7 - at][usize::from(mixed[at])];
            self.0 = of(0) ^ of(1) ^ of(2) ^ of(3) ^ of(4) ^ of(5) ^ of(6) ^ of(7);
        }
        for byte in rest {
            self.0 = (self.0 >> 8) ^ TABLES[0][usize::from(self.0 as u8 ^ byte)];
        }
    }

    /// The sum.
    pub(super) const fn value(self) -> u64 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_known_sum_however_the_bytes_come() {
        // The check value of the catalogue of CRCs.
        for split in 0..=9 {
            let mut sum = Checksum::new();
            let (first, second) = b"123456789".split_at(split);
            sum.add(first);
            sum.add(second);
            assert_eq!(sum.value(), 0x995d_c9bb_df19_39fa, "split at {split}");
        }
    }

    #[test]
    fn one_changed_bit_changes_it() {
        let bytes = [7_u8; 100];
        let sum = |bytes: &[u8]| {
            let mut sum = Checksum::new();
            sum.add(bytes);
            sum.value()
        };
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(sum(&changed), sum(&bytes), "bit {bit}");
        }
    }
}
