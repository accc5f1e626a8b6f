//! Keys are remembered as 128 bits of a hash with a random seed; their text is never kept.

use std::hash::{BuildHasher, Hash, Hasher};

mod lanes;

use lanes::Secrets;

/// What is remembered of a key: 64 bits that say where it lives, and 64 independent ones that say that it is it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct KeyHash {
    /// Where it lives.
    pub(crate) index: u64,
    /// That it is it. Never 0 (an empty place) in a stored key.
    pub(crate) fingerprint: u64,
}

impl KeyHash {
    /// The one bucket that newcomers share where a limit remembers as many keys as it may. No key has this hash.
    pub(crate) const OVERFLOW: KeyHash = KeyHash { index: 0, fingerprint: 1 };

    #[inline]
    fn of([index, fingerprint]: [u64; 2]) -> KeyHash {
        // 0 and 1 are taken: no place, and the overflow bucket.
        let fingerprint = if fingerprint < 2 { fingerprint + 2 } else { fingerprint };
        KeyHash { index, fingerprint }
    }

    /// How many bits of the index are kept with a key, beside its shard.
    pub(crate) const INDEX_BITS: u32 = 21;

    /// The bits of the index that are kept.
    #[inline]
    pub(crate) const fn index_bits(self) -> u32 {
        (self.index & ((1 << KeyHash::INDEX_BITS) - 1)) as u32
    }

    /// The shard, of `shards`: by the upper bits of the index, which are not among those that are kept.
    #[inline]
    pub(crate) const fn shard(self, shards: usize) -> usize {
        ((self.index as u128 * shards as u128) >> 64) as usize
    }

    /// What is kept of a key within its shard.
    pub(crate) const fn stored(self) -> u128 {
        ((self.index_bits() as u128) << 64) | self.fingerprint as u128
    }

    /// As one number.
    pub(crate) const fn to_u128(self) -> u128 {
        ((self.index as u128) << 64) | self.fingerprint as u128
    }

    /// Back from [`KeyHash::to_u128`].
    pub(crate) const fn from_u128(bits: u128) -> KeyHash {
        KeyHash { index: (bits >> 64) as u64, fingerprint: bits as u64 }
    }
}

/// Makes the hashes of keys, with secrets of its own.
#[derive(Clone, Debug)]
pub(crate) struct KeyHasher(Secrets);

impl KeyHasher {
    /// Secrets from the system's randomness.
    pub(crate) fn new() -> KeyHasher {
        KeyHasher(Secrets::new())
    }

    /// The hasher that told [`KeyHasher::seeds`].
    pub(super) fn from_seeds(seeds: [u64; 6]) -> KeyHasher {
        KeyHasher(Secrets::from_words(seeds))
    }

    /// What its hashes are seeded with. Who knows it can choose keys that collide.
    pub(super) fn seeds(&self) -> [u64; 6] {
        self.0.words()
    }

    /// The hash of a text that is always the same: tells whether seeds of another program mean the same hashes.
    pub(super) fn witness(&self) -> u128 {
        self.hash_bytes(b"the same key, hashed by the same seeds").to_u128()
    }

    /// The hash of a key of any kind; another one than [`KeyHasher::hash_bytes`]'s.
    #[inline]
    pub(crate) fn hash_value<K: Hash + ?Sized>(&self, key: &K) -> KeyHash {
        let mut lanes = self.0.begin();
        key.hash(&mut lanes);
        KeyHash::of(lanes.end())
    }

    /// The hash of a key that is bytes and nothing else.
    #[inline]
    pub(crate) fn hash_bytes(&self, key: &[u8]) -> KeyHash {
        let mut lanes = self.0.begin();
        lanes.write(key);
        KeyHash::of(lanes.end())
    }
}

/// The hasher of maps whose keys are hashes already.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only u128 keys are hashed with it; any others still land somewhere definite.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, bits: u128) {
        // The fingerprint: the index's upper bits chose the shard already.
        self.0 = bits as u64;
    }
}

impl BuildHasher for Hashed {
    type Hasher = Hashed;

    fn build_hasher(&self) -> Hashed {
        Hashed(0)
    }
}
