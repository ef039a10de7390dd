//! The random numbers of the tests: SplitMix64.
//!
//! A seed gives the same numbers on every machine and in every version.

/// A deterministic sequence of random numbers.
///
/// ```
/// use fencepost_testkit::Random;
///
/// let (mut one, mut other) = (Random::new(7), Random::new(7));
/// assert!((0..100).all(|_| one.below(10) == other.below(10)));
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Draws a number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Draws a number from `lo..=hi`.
    pub fn within(&mut self, lo: usize, hi: usize) -> usize {
        lo + self.below(hi - lo + 1)
    }

    /// Draws `true` with a probability of `chance` percent.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    /// Draws one of the texts.
    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}
