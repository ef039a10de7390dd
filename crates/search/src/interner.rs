//! Numbers for byte strings.
//!
//! A system that stores parts of its states only once gives each part a number.

use crate::ends::Ends;
use crate::table::Table;
use crate::visited::{MAX_BYTES, grow, hash};

/// A set of byte strings with consecutive numbers, in the order of their insertion.
#[derive(Debug)]
pub struct Interner {
    table: Table,
    bytes: Vec<u8>,
    ends: Ends,
    len: usize,
}

impl Default for Interner {
    fn default() -> Self {
        Interner { table: Table::new(), bytes: Vec::new(), ends: Ends::default(), len: 0 }
    }
}

impl Interner {
    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no strings.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of a string. Adds the string if it is new.
    ///
    /// # Panics
    /// Panics if all strings have 2^32 bytes. A search stops when the set [is full](Self::is_full).
    pub fn intern(&mut self, string: &[u8]) -> usize {
        let hash_of_string = hash(string);
        let slot = match self.table.find(hash_of_string, |number| self.get(number) == string) {
            Ok(slot) => return self.table.index(slot),
            Err(slot) => slot,
        };
        let number = self.len;
        self.table.set(slot, hash_of_string, number);
        grow(&mut self.bytes, string.len());
        self.bytes.extend_from_slice(string);
        assert!(self.bytes.len() <= u32::MAX as usize, "a search stops when the set is full");
        self.ends.push(self.bytes.len());
        self.len += 1;
        if self.table.exceeds_load_factor(self.len) {
            let strings = &self.bytes;
            let of = |number| (hash(&strings[self.ends.range(number)]), number);
            self.table.grow((0..self.len).map(of));
        }
        number
    }

    /// Returns a string by its number.
    #[inline]
    pub fn get(&self, number: usize) -> &[u8] {
        &self.bytes[self.ends.range(number)]
    }

    /// Returns whether few more strings fit: there is space for those of one round of a search.
    pub fn is_full(&self) -> bool {
        self.bytes.len() > MAX_BYTES
    }

    /// Returns the number of bytes of all strings, and what their numbers need. It does not depend on
    /// the order of insertion.
    pub fn bytes(&self) -> u64 {
        self.table.bytes() + (self.bytes.len() + 2 * self.len) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_has_one_number() {
        let mut interner = Interner::default();
        let string = |number: usize| (number as u32).to_le_bytes()[..1 + number % 4].to_vec();
        let mut expected: Vec<Vec<u8>> = Vec::new();
        for number in 0..5_000 {
            let string = string(number);
            let known = expected.iter().position(|other| *other == string);
            assert_eq!(interner.intern(&string), known.unwrap_or(expected.len()));
            if known.is_none() {
                expected.push(string);
            }
        }
        assert_eq!(interner.len(), expected.len());
        assert!((0..interner.len()).all(|number| interner.get(number) == expected[number]));
    }
}
