//! Small sets of numbers, as bits.

/// A set of numbers below a limit given when it was made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Set {
    words: Vec<u64>,
}

impl Set {
    /// The empty set of numbers below `limit`.
    pub fn below(limit: usize) -> Self {
        Set { words: vec![0; limit.div_ceil(64)] }
    }

    /// The set of these numbers, all below `limit`.
    pub fn of(limit: usize, members: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Set::below(limit);
        members.into_iter().for_each(|member| set.insert(member));
        set
    }

    /// Adds a number.
    pub fn insert(&mut self, member: usize) {
        self.words[member / 64] |= 1 << (member % 64);
    }

    /// Takes a number out.
    pub fn remove(&mut self, member: usize) {
        self.words[member / 64] &= !(1 << (member % 64));
    }

    /// Whether a number is in it.
    pub fn contains(&self, member: usize) -> bool {
        self.words[member / 64] >> (member % 64) & 1 == 1
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// How many numbers are in it.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether all of its members are in `other`.
    pub fn is_subset(&self, other: &Set) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Whether some number is in both.
    pub fn meets(&self, other: &Set) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Adds the members of `other`.
    pub fn union_with(&mut self, other: &Set) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a |= b;
        }
    }

    /// Takes the members of `other` out.
    pub fn subtract(&mut self, other: &Set) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= !b;
        }
    }

    /// The numbers in it, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }
}
