//! Symbolic store buffers: the set of possible contents of a buffer, as a regular language.
//!
//! Source: \[LW10\] section 3 for TSO, with the corrected load rule. Direction: exact. A state
//! represents all combinations of one word from each thread's language. A step leads to the image
//! of all represented states that can take the step.
//!
//! The pending stores of a thread are a word of letters (location, value), oldest first. A store
//! appends a letter. A load keeps the words whose last letter of the location has the value read
//! and, if memory holds this value, the words without a letter of the location. A full fence keeps
//! the empty word. A commit removes a letter from the front.
//!
//! PSO, our extension: also one word for each thread, but the order between letters of different
//! locations is irrelevant. A commit removes the first letter of its location, wherever it is.
//! Rejected: one language for each location. A cycle that stores to two locations stores equally
//! often to both; a product of languages cannot express this, so it would not be exact. Words of
//! small finite languages are sorted, so that equivalent languages are equal.
//!
//! Fences that are not full leave *markers* in the word: no commit passes [`STORE_STORE`], and no
//! load passes [`STORE_LOAD`]. A marker at the front of a word is removed.
//!
//! - [`content`]: one content (a word), and the effect of operations on it.

pub mod content;

use crate::bits::{Field, Reader, Writer};
use crate::buffered::{Committed, Discipline, LoadTarget, Store};
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use fencepost_automata::{Language, Languages, Letter};
use fencepost_ir::{FenceKinds, Loc, StoreBuffers, ThreadId, Value};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The class of the marker that a store-store fence leaves.
pub const STORE_STORE: u32 = u32::MAX;
/// The class of the marker that a store-load fence leaves.
pub const STORE_LOAD: u32 = u32::MAX - 1;
/// The classes of all markers.
pub const MARKERS: [u32; 2] = [STORE_STORE, STORE_LOAD];

/// The largest number of words whose rearrangements are looked up in a language.
const MAX_REARRANGED_WORDS: u64 = 16;
/// The largest length of such a word. A search for rearrangements may take long for a long word.
const MAX_REARRANGED_LENGTH: usize = 12;

const LANGUAGE_ID: Field = Field::new(0, (u32::MAX >> 1) as u64);

/// Returns the letter of a store.
pub fn letter(loc: Loc, value: Value) -> Letter {
    Letter { class: loc.0, value }
}

/// Returns the marker of a class.
pub fn marker(class: u32) -> Letter {
    Letter { class, value: 0 }
}

/// Returns the location of a letter, or `None` for a marker.
pub fn location(letter: Letter) -> Option<Loc> {
    (!MARKERS.contains(&letter.class)).then_some(Loc(letter.class))
}

/// The store-buffer discipline of symbolic store buffers.
#[derive(Debug)]
pub struct Symbolic {
    /// The grouping of entries into queues.
    pub grouping: StoreBuffers,
    /// The active mutation.
    pub mutated: Mutated,
    /// All languages computed so far. A search has one thread, so the lock is never contended.
    languages: Mutex<Languages>,
    /// By two languages: whether the first contains the words of the second in any order.
    rearrangements: Mutex<FxHashMap<(Language, Language), bool>>,
}

impl Symbolic {
    /// Returns a discipline without any languages.
    pub fn new(grouping: StoreBuffers, mutated: Mutated) -> Self {
        Symbolic {
            grouping,
            mutated,
            languages: Mutex::default(),
            rearrangements: Mutex::default(),
        }
    }

    /// Returns the store of languages.
    pub fn languages(&self) -> MutexGuard<'_, Languages> {
        self.languages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces a thread's contents by the result of an operation. Returns false if no content
    /// remains.
    fn restrict(
        &self,
        q: &mut [Language],
        t: ThreadId,
        operation: impl FnOnce(&mut Languages, Language) -> Language,
    ) -> bool {
        let mut languages = self.languages();
        let contents = q[t.index()];
        let remaining = operation(&mut languages, contents);
        q[t.index()] = self.normal_form_after(&mut languages, contents, remaining);
        remaining != Language::EMPTY
    }

    /// Returns the normal form of `after`, which an operation on one location computed from
    /// `before`. If `before` has product form, then so has `after`, unless it has markers.
    fn normal_form_after(
        &self,
        languages: &mut Languages,
        before: Language,
        after: Language,
    ) -> Language {
        match self.is_product(languages, before) && !self.has_markers(languages, after) {
            true => languages.product_form(after),
            false => self.normal_form(languages, after),
        }
    }

    /// Returns the contents after appending any word of `adds`.
    pub fn append_words(
        &self,
        languages: &mut Languages,
        contents: Language,
        adds: Language,
    ) -> Language {
        let longer = languages.concat(contents, adds);
        let sorted = self.normal_form(languages, adds);
        match self.is_product(languages, sorted) {
            true => self.normal_form_after(languages, contents, longer),
            false => self.normal_form(languages, longer),
        }
    }

    /// Returns whether a language is known to have product form: it contains all combinations of
    /// per-location contents (PSO only).
    pub fn is_product(&self, languages: &mut Languages, language: Language) -> bool {
        self.grouping == StoreBuffers::Pso
            && !self.has_markers(languages, language)
            && languages.product_form(language) == language
    }

    fn has_markers(&self, languages: &mut Languages, language: Language) -> bool {
        MARKERS.iter().any(|class| languages.without_class(language, *class) != language)
    }

    /// Returns whether the contents of one state include those of another. `false` is always sound.
    /// With `rearranged`, the words of a small language are also looked up in other orders.
    pub fn covers(&self, big: &[Language], small: &[Language], rearranged: bool) -> bool {
        let mut languages = self.languages();
        big.iter().zip(small).all(|(big, small)| {
            languages.is_included(*small, *big)
                || self.is_product(&mut languages, *big) && {
                    let product = languages.product_form(*small);
                    languages.is_included(product, *big)
                }
                || rearranged && self.contains_rearrangements(&mut languages, *big, *small)
        })
    }

    /// Returns whether a language contains each of a few words, possibly with its letters in another
    /// order (PSO only).
    fn contains_rearrangements(
        &self,
        languages: &mut Languages,
        big: Language,
        small: Language,
    ) -> bool {
        if self.grouping == StoreBuffers::Tso {
            return false;
        }
        // The projections are computed once for each language.
        for class in languages.classes(small) {
            let [few, many] = [small, big].map(|l| languages.project(l, class));
            if !languages.is_included(few, many) {
                return false;
            }
        }
        if let Some(known) = self.rearrangements().get(&(big, small)) {
            return *known;
        }
        let words = languages.words_if_at_most(small, MAX_REARRANGED_WORDS);
        let contains = words.is_some_and(|words| {
            words.iter().all(|word| {
                word.len() <= MAX_REARRANGED_LENGTH
                    && self.find_equivalent(languages, big, word).is_some()
            })
        });
        self.rearrangements().insert((big, small), contains);
        contains
    }

    fn rearrangements(&self) -> MutexGuard<'_, FxHashMap<(Language, Language), bool>> {
        self.rearrangements.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the normal form of a language.
    pub fn normal_form(&self, languages: &mut Languages, language: Language) -> Language {
        if self.grouping == StoreBuffers::Tso {
            return language;
        }
        let sorted = languages.sort_by_class(language, &MARKERS);
        if self.has_markers(languages, sorted) {
            return sorted;
        }
        // The projections of a language in product form determine the language.
        let product = languages.product_form(sorted);
        if languages.is_included(product, sorted) { product } else { sorted }
    }

    /// Returns the letters that can be committed next.
    pub fn committable_letters(
        &self,
        languages: &mut Languages,
        language: Language,
    ) -> Vec<Letter> {
        match self.grouping {
            StoreBuffers::Tso => languages.first_letters(language),
            StoreBuffers::Pso => {
                let mut letters = languages.removable_letters(language, STORE_STORE);
                letters.retain(|letter| location(*letter).is_some());
                letters
            }
        }
    }

    /// Returns the contents after committing a letter: the rest of the words in which the letter
    /// can be committed.
    fn remove_committed(
        &self,
        languages: &mut Languages,
        language: Language,
        oldest: Letter,
    ) -> Language {
        let rest = match self.grouping {
            StoreBuffers::Tso => languages.left_quotient(language, oldest),
            StoreBuffers::Pso => languages.remove_first(language, oldest, STORE_STORE),
        };
        let stripped = languages.strip_leading(rest, &MARKERS);
        // Loads wait for all stores before the last marker, so earlier markers are redundant.
        languages.keep_last_of_class(stripped, STORE_LOAD)
    }

    /// Returns the contents after committing a letter any number of times in a row, including none.
    /// Contents with markers are returned unchanged.
    pub fn commit_repeatedly(
        &self,
        languages: &mut Languages,
        contents: Language,
        oldest: Letter,
    ) -> Language {
        if self.has_markers(languages, contents) {
            return contents;
        }
        match self.grouping {
            StoreBuffers::Tso => {
                let (mut all, mut rest) = (contents, contents);
                loop {
                    rest = languages.left_quotient(rest, oldest);
                    let more = languages.union(all, rest);
                    if more == all {
                        return all;
                    }
                    all = more;
                }
            }
            StoreBuffers::Pso => {
                let shorter = languages.remove_leading(contents, oldest, STORE_STORE);
                self.normal_form_after(languages, contents, shorter)
            }
        }
    }

    /// Returns the values that a load may read, in ascending order.
    fn load_values(
        &self,
        languages: &mut Languages,
        language: Language,
        target: LoadTarget,
    ) -> Vec<Value> {
        let free = languages.without_class(language, STORE_LOAD);
        let class = target.loc.0;
        let mut values = languages.last_values(free, class);
        if languages.without_class(free, class) != Language::EMPTY
            && !values.contains(&target.memory_value)
        {
            values.push(target.memory_value);
            values.sort_unstable();
        }
        values
    }
}

impl Discipline for Symbolic {
    type Queues = Vec<Language>;

    const LOADS_HAVE_ALTERNATIVES: bool = true;

    fn empty(&self, shape: &Shape<'_>) -> Vec<Language> {
        vec![Language::EPSILON; shape.threads.len()]
    }

    fn push(&self, _: &Shape<'_>, q: &mut Vec<Language>, t: ThreadId, store: Store) -> bool {
        let letter = letter(store.loc, store.value);
        self.restrict(q, t, |languages, language| languages.append(language, letter))
    }

    fn youngest_value(
        &self,
        _: &Shape<'_>,
        q: &mut Vec<Language>,
        t: ThreadId,
        target: LoadTarget,
        alternative: u32,
    ) -> Option<Value> {
        if self.mutated.is(Mutation::NoForwarding) {
            return None;
        }
        let mut read = None;
        self.restrict(q, t, |languages, language| {
            let values = self.load_values(languages, language, target);
            let Some(value) = values.get(alternative as usize) else { return language };
            read = Some(*value);
            let own = languages.with_last_letter(language, letter(target.loc, *value));
            if *value != target.memory_value {
                return own;
            }
            let none = languages.without_class(language, target.loc.0);
            languages.union(own, none)
        });
        read
    }

    fn alternatives(
        &self,
        _: &Shape<'_>,
        q: &Vec<Language>,
        t: ThreadId,
        target: LoadTarget,
    ) -> u32 {
        let values = self.load_values(&mut self.languages(), q[t.index()], target);
        (values.len() as u32).max(1)
    }

    fn may_load(&self, q: &mut Vec<Language>, t: ThreadId) -> bool {
        self.restrict(q, t, |languages, language| languages.without_class(language, STORE_LOAD))
    }

    fn may_update(&self, _: &Shape<'_>, q: &mut Vec<Language>, t: ThreadId, loc: Loc) -> bool {
        if self.mutated.is(Mutation::UpdateWithoutDrain) {
            return true;
        }
        match self.grouping {
            StoreBuffers::Tso => self.is_drained(q, t),
            StoreBuffers::Pso => self.restrict(q, t, |languages, language| {
                MARKERS
                    .into_iter()
                    .chain([loc.0])
                    .fold(language, |l, class| languages.without_class(l, class))
            }),
        }
    }

    fn has_no_pending_store_to(
        &self,
        shape: &Shape<'_>,
        q: &mut Vec<Language>,
        t: ThreadId,
        these: &dyn Fn(Loc) -> bool,
    ) -> bool {
        let stores = &shape.thread(t).stores;
        self.restrict(q, t, |languages, language| {
            let these = stores.iter().filter(|loc| these(**loc));
            these.fold(language, |language, loc| languages.without_class(language, loc.0))
        })
    }

    fn is_drained(&self, q: &mut Vec<Language>, t: ThreadId) -> bool {
        self.restrict(q, t, |languages, language| match languages.contains_empty_word(language) {
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
        self.restrict(q, t, |languages, mut language| {
            if kinds.contains(FenceKinds::STORE_STORE) && self.grouping == StoreBuffers::Pso {
                language = languages.append_marker(language, marker(STORE_STORE), Some(STORE_LOAD));
            }
            if kinds.contains(FenceKinds::STORE_LOAD) {
                language = languages.append_marker(language, marker(STORE_LOAD), None);
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

    fn for_each_pending(
        &self,
        shape: &Shape<'_>,
        q: &Vec<Language>,
        t: ThreadId,
        visit: &mut dyn FnMut(Loc),
    ) {
        let mut languages = self.languages();
        for loc in &shape.thread(t).stores {
            if languages.without_class(q[t.index()], loc.0) != q[t.index()] {
                visit(*loc);
            }
        }
    }

    fn enabled_commits(&self, q: &Vec<Language>, t: ThreadId, out: &mut Vec<u32>) {
        let letters = self.committable_letters(&mut self.languages(), q[t.index()]);
        out.extend(0..letters.len() as u32);
    }

    fn commit_location(&self, _: &Shape<'_>, q: &Vec<Language>, t: ThreadId, which: u32) -> Loc {
        let letters = self.committable_letters(&mut self.languages(), q[t.index()]);
        location(letters[which as usize]).expect("a marker is not committed")
    }

    fn commit(&self, _: &Shape<'_>, q: &mut Vec<Language>, t: ThreadId, which: u32) -> Committed {
        let oldest = self.committable_letters(&mut self.languages(), q[t.index()])[which as usize];
        self.restrict(q, t, |languages, language| {
            self.remove_committed(languages, language, oldest)
        });
        let loc = location(oldest).expect("a marker is not committed");
        Committed { loc, value: oldest.value, stays_pending: false }
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
        writer.put(LANGUAGE_ID, q[t.index()].number() as Value);
    }

    fn decode(&self, _: &Shape<'_>, reader: &mut Reader<'_>, q: &mut Vec<Language>, t: ThreadId) {
        q[t.index()] = Language::from_number(reader.get(LANGUAGE_ID) as u32);
    }
}
