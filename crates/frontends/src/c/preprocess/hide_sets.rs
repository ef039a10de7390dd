//! Hide sets: for each token, the macros whose expansion it comes from.
//!
//! A macro does not replace a token that has the macro in its hide set, so expansion ends. This is
//! the algorithm that Dave Prosser wrote for the C standard. Equal sets are stored once, so that a
//! token only has a number.

use std::collections::HashMap;

use crate::c::spellings::Symbol;

/// The number of a set in [`HideSets`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct HideSet(u32);

impl HideSet {
    /// The empty set.
    pub const EMPTY: HideSet = HideSet(0);
}

/// All hide sets of a translation unit.
#[derive(Clone, Debug)]
pub struct HideSets {
    /// The sets, each sorted. The first is empty.
    sets: Vec<Vec<Symbol>>,
    numbers: HashMap<Vec<Symbol>, HideSet>,
    unions: HashMap<(HideSet, HideSet), HideSet>,
    additions: HashMap<(HideSet, Symbol), HideSet>,
}

impl Default for HideSets {
    fn default() -> Self {
        let numbers = HashMap::from([(Vec::new(), HideSet::EMPTY)]);
        HideSets {
            sets: vec![Vec::new()],
            numbers,
            unions: HashMap::new(),
            additions: HashMap::new(),
        }
    }
}

impl HideSets {
    fn get(&self, set: HideSet) -> &[Symbol] {
        self.sets.get(set.0 as usize).map_or(&[], Vec::as_slice)
    }

    fn intern(&mut self, sorted: Vec<Symbol>) -> HideSet {
        if let Some(known) = self.numbers.get(&sorted) {
            return *known;
        }
        let set = HideSet(self.sets.len() as u32);
        self.sets.push(sorted.clone());
        self.numbers.insert(sorted, set);
        set
    }

    /// Returns whether a set contains a macro.
    pub fn contains(&self, set: HideSet, name: Symbol) -> bool {
        self.get(set).binary_search(&name).is_ok()
    }

    /// Adds a macro to a set.
    pub fn with(&mut self, set: HideSet, name: Symbol) -> HideSet {
        if let Some(known) = self.additions.get(&(set, name)) {
            return *known;
        }
        let mut sorted = self.get(set).to_vec();
        if let Err(at) = sorted.binary_search(&name) {
            sorted.insert(at, name);
        }
        let result = self.intern(sorted);
        self.additions.insert((set, name), result);
        result
    }

    /// Returns the union of two sets.
    pub fn union(&mut self, a: HideSet, b: HideSet) -> HideSet {
        if a == b || b == HideSet::EMPTY {
            return a;
        }
        if a == HideSet::EMPTY {
            return b;
        }
        if let Some(known) = self.unions.get(&(a, b)) {
            return *known;
        }
        let mut sorted = [self.get(a), self.get(b)].concat();
        sorted.sort_unstable();
        sorted.dedup();
        let union = self.intern(sorted);
        self.unions.insert((a, b), union);
        union
    }

    /// Returns the intersection of two sets.
    pub fn intersection(&mut self, a: HideSet, b: HideSet) -> HideSet {
        if a == b {
            return a;
        }
        let mut sorted = self.get(a).to_vec();
        sorted.retain(|name| self.get(b).binary_search(name).is_ok());
        self.intern(sorted)
    }
}
