//! Keys of 24 bytes, and orders in which they are asked for.

/// A key, held in place.
pub type Key = [u8; 24];

/// The `number`th key.
pub fn key(number: usize) -> Key {
    let mut key = *b"customer-000000000000000";
    let mut rest = number;
    for digit in key.iter_mut().skip(9).rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    key
}

/// Numbers of keys, over and over.
pub struct Order(Vec<u32>);

impl Order {
    /// These numbers.
    pub fn of(numbers: Vec<u32>) -> Order {
        Order(numbers)
    }

    /// The one at `place`.
    pub fn at(&self, place: usize) -> usize {
        self.0[place % self.0.len()] as usize
    }
}

/// A small generator of random numbers (xorshift), the same in every run.
pub struct Random(u64);

impl Random {
    /// Begins at `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// `length` of `count` keys' numbers, each as likely.
pub fn uniform(count: usize, length: usize, seed: u64) -> Order {
    let mut random = Random::new(seed);
    let pick = |_| ((u128::from(random.next()) * count as u128) >> 64) as u32;
    Order((0..length).map(pick).collect())
}

/// `length` of `count` keys' numbers by Zipf's law with exponent 1; which number is how popular is random.
pub fn zipf(count: usize, length: usize, seed: u64) -> Order {
    let mut random = Random::new(seed);
    let mut sums = Vec::with_capacity(count);
    let mut sum = 0.0;
    for rank in 1..=count {
        sum += 1.0 / rank as f64;
        sums.push(sum);
    }
    let pick = |random: &mut Random| {
        let at = random.next() as f64 / u64::MAX as f64 * sum;
        let rank = sums.partition_point(|sum| *sum < at).min(count - 1);
        // A permutation that scatters neighbouring ranks.
        (rank as u64 * 0x9e37_79b1 % count as u64) as u32
    };
    Order((0..length).map(|_| pick(&mut random)).collect())
}
