//! An open-addressing hash table from hashes to indices of states.
//!
//! A slot has four bytes: the index plus one in as few low bits as the table needs, and bits of the
//! hash in the others. A table of 2^16 slots compares 16 bits of the hash, one of 2^26 slots 6 bits,
//! so most slots of other states are skipped without a look at the states. A large table grows by a
//! half, so that 58 to 88 percent of its slots are in use. Rejected: slots of eight bytes with 32 bits
//! of the hash, and doubling large tables, which together used 9 to 18 bytes for each state.

/// A table with fewer slots is doubled, which takes less work and little memory.
const LARGE: usize = 1 << 16;

/// The table.
#[derive(Debug)]
pub(crate) struct Table {
    /// 0 is an empty slot.
    slots: Vec<u32>,
    /// The bits of a slot that contain an index.
    index_bits: u32,
}

impl Table {
    pub(crate) fn new() -> Self {
        Table::with_len(32)
    }

    fn with_len(len: usize) -> Self {
        Table { slots: vec![0; len], index_bits: len.next_power_of_two() as u32 - 1 }
    }

    /// Returns the number of allocated bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.slots.capacity() * 4) as u64
    }

    /// Returns the slot at which the search for a hash begins, from the low bits of the hash.
    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        ((u64::from(hash as u32) * self.slots.len() as u64) >> 32) as usize
    }

    /// Returns the bits of a hash that a slot contains, in their place.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        (hash >> 28) as u32 & !self.index_bits
    }

    /// Loads the slot of a hash into the cache.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) -> u64 {
        u64::from(self.slots[self.first_slot(hash)])
    }

    /// Returns the first slot with this hash whose index matches, or the empty slot for a new
    /// entry.
    #[inline]
    pub(crate) fn find(
        &self,
        hash: u64,
        mut is_match: impl FnMut(usize) -> bool,
    ) -> Result<usize, usize> {
        let tag = self.tag(hash);
        let mut slot = self.first_slot(hash);
        loop {
            let Some(entry) = self.slots.get(slot) else {
                slot = 0;
                continue;
            };
            if *entry == 0 {
                return Err(slot);
            }
            if *entry & !self.index_bits == tag && is_match(self.index_of(*entry)) {
                return Ok(slot);
            }
            slot += 1;
        }
    }

    #[inline]
    fn index_of(&self, entry: u32) -> usize {
        (entry & self.index_bits) as usize - 1
    }

    /// Returns the index in a slot that is not empty.
    #[inline]
    pub(crate) fn index(&self, slot: usize) -> usize {
        self.index_of(self.slots[slot])
    }

    /// Fills a slot. The index is below the number of slots minus one, because the table
    /// [grows](Self::exceeds_load_factor) before.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, hash: u64, index: usize) {
        debug_assert!(index + 1 < self.slots.len(), "an index fits into its bits");
        self.slots[slot] = self.tag(hash) | (index as u32 + 1);
    }

    /// Returns whether a table with this number of entries should grow (load factor above 7/8).
    #[inline]
    pub(crate) fn exceeds_load_factor(&self, entries: usize) -> bool {
        entries * 8 > self.slots.len() * 7
    }

    /// Enlarges the table. `entries` contains every hash and index of the table once.
    pub(crate) fn grow(&mut self, entries: impl Iterator<Item = (u64, usize)>) {
        let old = self.slots.len();
        let len = if old < LARGE { old * 2 } else { old + old / 2 };
        self.slots = Vec::new(); // free the old table before allocating the new one
        *self = Table::with_len(len);
        for (hash, index) in entries {
            let mut slot = self.first_slot(hash);
            while self.slots[slot] != 0 {
                slot = if slot + 1 == len { 0 } else { slot + 1 };
            }
            self.set(slot, hash, index);
        }
    }
}
