//! Symbolic store buffers: all the contents a buffer may have, as one regular language.
//!
//! Source: \[LW10\] section 3 for TSO, with the load rule as corrected. Direction: exact. A state stands for
//! every combination of a word of each thread's language, and a step leads to what the step leads to
//! from those that can take it.
//!
//! What is pending for a thread is a word, oldest first, of letters (location, value). A store appends a
//! letter; a load keeps the words in which the last letter of its location is what it reads; a fence keeps the
//! empty word; a commit takes a letter from the front.
//!
//! PSO, our extension: still one word for each thread, where the order between letters of different
//! locations means nothing. A commit takes the first letter of its location wherever it is. Rejected: a
//! language for each location, because a cycle that stores to two locations stores equally often to both,
//! and a product of languages cannot say so: it would not be exact. Words of small finite languages are
//! sorted, so that what is the same is equal.
//!
//! Fences that are not full leave *markers* in the word: [`STORE_STORE`], which no commit goes past, and
//! [`STORE_LOAD`], which no load does. A marker with nothing before it is gone.
//!
//! - [`content`]: one content, a word, and what operations do to it.

pub mod content;

use crate::bits::{Field, Reader, Writer};
use crate::buffered::{Committed, Discipline, Place, Store};
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use fencepost_automata::{Language, Languages, Letter};
use fencepost_ir::{FenceKinds, Loc, StoreBuffers, ThreadId, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The class of the marker that a store-store fence leaves.
pub const STORE_STORE: u32 = u32::MAX;
/// The class of the marker that a store-load fence leaves.
pub const STORE_LOAD: u32 = u32::MAX - 1;
/// Both.
pub const MARKERS: [u32; 2] = [STORE_STORE, STORE_LOAD];

const NUMBER: Field = Field::new(0, u32::MAX >> 1);

/// The letter of a store.
pub fn letter(loc: Loc, value: Value) -> Letter {
    Letter { class: loc.0, value }
}

/// The marker of a class.
pub fn marker(class: u32) -> Letter {
    Letter { class, value: 0 }
}

/// The location of a letter that is not a marker.
pub fn location(letter: Letter) -> Option<Loc> {
    (!MARKERS.contains(&letter.class)).then_some(Loc(letter.class))
}

/// The discipline of symbolic store buffers.
#[derive(Debug)]
pub struct Symbolic {
    /// Which entries share a queue.
    pub grouping: StoreBuffers,
    /// Deliberate errors.
    pub mutated: Mutated,
    /// All languages met so far. A search has one thread, so that the lock is free.
    languages: Mutex<Languages>,
}

impl Symbolic {
    /// Without any language yet.
    pub fn new(grouping: StoreBuffers, mutated: Mutated) -> Self {
        Symbolic { grouping, mutated, languages: Mutex::default() }
    }

    /// The languages, to ask about them.
    pub fn languages(&self) -> MutexGuard<'_, Languages> {
        self.languages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps of a thread's contents what an operation leaves. False when that is none.
    fn narrow(
        &self,
        q: &mut [Language],
        t: ThreadId,
        keep: impl FnOnce(&mut Languages, Language) -> Language,
    ) -> bool {
        let mut languages = self.languages();
        let contents = q[t.index()];
        let kept = keep(&mut languages, contents);
        q[t.index()] = self.after(&mut languages, contents, kept);
        kept != Language::EMPTY
    }

    /// The form in which a language is kept that an operation on one location made of another language: if
    /// that was a product, it is one.
    fn after(&self, languages: &mut Languages, before: Language, after: Language) -> Language {
        match self.is_product(languages, before) && !self.is_marked(languages, after) {
            true => languages.product(after),
            false => self.normal(languages, after),
        }
    }

    /// What contents become when a word, or any of several, is appended.
    pub fn appended(
        &self,
        languages: &mut Languages,
        contents: Language,
        adds: Language,
    ) -> Language {
        let longer = languages.concat(contents, adds);
        let sorted = self.normal(languages, adds);
        match self.is_product(languages, sorted) {
            true => self.after(languages, contents, longer),
            false => self.normal(languages, longer),
        }
    }

    /// Whether a language is known to be all combinations of contents for each location (PSO only).
    pub fn is_product(&self, languages: &mut Languages, language: Language) -> bool {
        self.grouping == StoreBuffers::Pso
            && !self.is_marked(languages, language)
            && languages.product(language) == language
    }

    fn is_marked(&self, languages: &mut Languages, language: Language) -> bool {
        MARKERS.iter().any(|class| languages.without(language, *class) != language)
    }

    /// Whether what one state has pending is among what another has. No is always right.
    pub fn covers(&self, big: &[Language], small: &[Language]) -> bool {
        let mut languages = self.languages();
        big.iter().zip(small).all(|(big, small)| {
            languages.is_included(*small, *big)
                || self.is_product(&mut languages, *big) && {
                    let product = languages.product(*small);
                    languages.is_included(product, *big)
                }
        })
    }

    /// The form in which a language is kept.
    pub fn normal(&self, languages: &mut Languages, language: Language) -> Language {
        if self.grouping == StoreBuffers::Tso {
            return language;
        }
        let sorted = languages.sorted(language, &MARKERS);
        if self.is_marked(languages, sorted) {
            return sorted;
        }
        // The projections of a language that has all their combinations say it all.
        let product = languages.product(sorted);
        if languages.is_included(product, sorted) { product } else { sorted }
    }

    /// The letters that can be committed next.
    pub fn oldest(&self, languages: &mut Languages, language: Language) -> Vec<Letter> {
        match self.grouping {
            StoreBuffers::Tso => languages.firsts(language),
            StoreBuffers::Pso => {
                let mut letters = languages.removable(language, STORE_STORE);
                letters.retain(|letter| location(*letter).is_some());
                letters
            }
        }
    }

    /// What is left of the words that begin with a letter.
    fn committed(&self, languages: &mut Languages, language: Language, oldest: Letter) -> Language {
        let rest = match self.grouping {
            StoreBuffers::Tso => languages.quotient(language, oldest),
            StoreBuffers::Pso => languages.remove_first(language, oldest, STORE_STORE),
        };
        let stripped = languages.strip(rest, &MARKERS);
        // Loads wait for all that is before the last marker.
        languages.last_only(stripped, STORE_LOAD)
    }

    /// The values that a load of the place may yield, in order.
    fn values(&self, languages: &mut Languages, language: Language, place: Place) -> Vec<Value> {
        let free = languages.without(language, STORE_LOAD);
        let class = place.loc.0;
        let mut values = languages.lasts(free, class);
        if languages.without(free, class) != Language::EMPTY && !values.contains(&place.memory) {
            values.push(place.memory);
            values.sort_unstable();
        }
        values
    }
}

impl Discipline for Symbolic {
    type Queues = Vec<Language>;

    const GUESSES: bool = true;

    fn empty(&self, shape: &Shape<'_>) -> Vec<Language> {
        vec![Language::EPSILON; shape.threads.len()]
    }

    fn push(&self, _: &Shape<'_>, q: &mut Vec<Language>, t: ThreadId, store: Store) -> bool {
        let letter = letter(store.loc, store.value);
        self.narrow(q, t, |languages, language| languages.append(language, letter))
    }

    fn youngest(
        &self,
        _: &Shape<'_>,
        q: &mut Vec<Language>,
        t: ThreadId,
        place: Place,
        way: u32,
    ) -> Option<Value> {
        if self.mutated.is(Mutation::NoForwarding) {
            return None;
        }
        let mut read = None;
        self.narrow(q, t, |languages, language| {
            let values = self.values(languages, language, place);
            let Some(value) = values.get(way as usize) else { return language };
            read = Some(*value);
            let own = languages.with_last(language, letter(place.loc, *value));
            if *value != place.memory {
                return own;
            }
            let none = languages.without(language, place.loc.0);
            languages.union(own, none)
        });
        read
    }

    fn ways(&self, _: &Shape<'_>, q: &Vec<Language>, t: ThreadId, place: Place) -> u32 {
        let values = self.values(&mut self.languages(), q[t.index()], place);
        (values.len() as u32).max(1)
    }

    fn may_load(&self, q: &mut Vec<Language>, t: ThreadId) -> bool {
        self.narrow(q, t, |languages, language| languages.without(language, STORE_LOAD))
    }

    fn may_update(&self, _: &Shape<'_>, q: &mut Vec<Language>, t: ThreadId, loc: Loc) -> bool {
        if self.mutated.is(Mutation::UpdateWithoutDrain) {
            return true;
        }
        match self.grouping {
            StoreBuffers::Tso => self.is_drained(q, t),
            StoreBuffers::Pso => self.narrow(q, t, |languages, language| {
                MARKERS
                    .into_iter()
                    .chain([loc.0])
                    .fold(language, |l, class| languages.without(l, class))
            }),
        }
    }

    fn is_clear_of(
        &self,
        shape: &Shape<'_>,
        q: &mut Vec<Language>,
        t: ThreadId,
        these: &dyn Fn(Loc) -> bool,
    ) -> bool {
        let stores = &shape.thread(t).stores;
        self.narrow(q, t, |languages, language| {
            let these = stores.iter().filter(|loc| these(**loc));
            these.fold(language, |language, loc| languages.without(language, loc.0))
        })
    }

    fn is_drained(&self, q: &mut Vec<Language>, t: ThreadId) -> bool {
        self.narrow(q, t, |languages, language| match languages.contains_empty(language) {
            true => Language::EPSILON,
            false => Language::EMPTY,
        })
    }

    fn fence(&self, q: &mut Vec<Language>, t: ThreadId, kinds: FenceKinds) -> bool {
        if self.mutated.is(Mutation::IgnoredFence) {
            return true;
        }
        if kinds == FenceKinds::FULL {
            return self.is_drained(q, t);
        }
        self.narrow(q, t, |languages, mut language| {
            if kinds.contains(FenceKinds::STORE_STORE) && self.grouping == StoreBuffers::Pso {
                language = languages.mark(language, marker(STORE_STORE), Some(STORE_LOAD));
            }
            if kinds.contains(FenceKinds::STORE_LOAD) {
                language = languages.mark(language, marker(STORE_LOAD), None);
            }
            language
        })
    }

    fn may_fence(&self, q: &Vec<Language>, t: ThreadId, kinds: FenceKinds) -> bool {
        kinds != FenceKinds::FULL || q[t.index()] == Language::EPSILON
    }

    fn is_empty(&self, q: &Vec<Language>, t: ThreadId) -> bool {
        q[t.index()] == Language::EPSILON
    }

    fn for_each(
        &self,
        shape: &Shape<'_>,
        q: &Vec<Language>,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc),
    ) {
        let mut languages = self.languages();
        for loc in &shape.thread(t).stores {
            if languages.without(q[t.index()], loc.0) != q[t.index()] {
                visit(*loc);
            }
        }
    }

    fn commits(&self, q: &Vec<Language>, t: ThreadId, out: &mut Vec<u32>) {
        let letters = self.oldest(&mut self.languages(), q[t.index()]);
        out.extend(0..letters.len() as u32);
    }

    fn commit_location(&self, _: &Shape<'_>, q: &Vec<Language>, t: ThreadId, which: u32) -> Loc {
        let letters = self.oldest(&mut self.languages(), q[t.index()]);
        location(letters[which as usize]).expect("a marker is not committed")
    }

    fn commit(&self, _: &Shape<'_>, q: &mut Vec<Language>, t: ThreadId, which: u32) -> Committed {
        let oldest = self.oldest(&mut self.languages(), q[t.index()])[which as usize];
        self.narrow(q, t, |languages, language| self.committed(languages, language, oldest));
        let loc = location(oldest).expect("a marker is not committed");
        Committed { loc, value: oldest.value, stays: false }
    }

    fn push_commutes(&self, _: &Shape<'_>, _: &Vec<Language>, _: ThreadId, _: Loc) -> bool {
        false
    }

    fn commit_commutes(&self, _: &Vec<Language>, _: ThreadId, _: u32) -> bool {
        false
    }

    fn copy_thread(&self, from: &Vec<Language>, to: &mut Vec<Language>, t: ThreadId) {
        to[t.index()] = from[t.index()];
    }

    fn encode(&self, _: &Shape<'_>, q: &Vec<Language>, t: ThreadId, writer: &mut Writer) {
        writer.put(NUMBER, q[t.index()].number() as Value);
    }

    fn decode(&self, _: &Shape<'_>, reader: &mut Reader<'_>, q: &mut Vec<Language>, t: ThreadId) {
        q[t.index()] = Language::from_number(reader.get(NUMBER) as u32);
    }
}
