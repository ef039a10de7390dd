//! Bit sets of small numbers.

/// A set of numbers below a limit that is fixed at construction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Set {
    words: Vec<u64>,
}

impl Set {
    /// Returns the empty set of numbers below `limit`.
    pub fn empty(limit: usize) -> Self {
        Set { words: vec![0; limit.div_ceil(64)] }
    }

    /// Returns the set of `members`, which are all below `limit`.
    pub fn of(limit: usize, members: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Set::empty(limit);
        members.into_iter().for_each(|member| set.insert(member));
        set
    }

    /// Adds a number.
    pub fn insert(&mut self, member: usize) {
        self.words[member / 64] |= 1 << (member % 64);
    }

    /// Removes a number.
    pub fn remove(&mut self, member: usize) {
        self.words[member / 64] &= !(1 << (member % 64));
    }

    /// Returns whether a number is in the set.
    pub fn contains(&self, member: usize) -> bool {
        self.words[member / 64] >> (member % 64) & 1 == 1
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether all members are in `other`.
    pub fn is_subset(&self, other: &Set) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & !b == 0)
    }

    /// Returns whether some number is in both sets.
    pub fn intersects(&self, other: &Set) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// Adds the members of `other`.
    pub fn union_with(&mut self, other: &Set) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a |= b;
        }
    }

    /// Removes the members of `other`.
    pub fn subtract(&mut self, other: &Set) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a &= !b;
        }
    }

    /// Returns the number of bytes that the members take.
    pub fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    /// Iterates over the members, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }
}
