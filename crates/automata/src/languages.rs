//! The store of hash-consed languages, with caches of operation results.
//!
//! The store never removes a language or a cached result. A search repeats the same few operations
//! often: once for each state of the rest of the program. Only the language of a single word is
//! built again each time. Concatenation, star and the operations by letter class are in
//! [`crate::compose`].

use crate::dfa::Dfa;
use crate::{Language, Letter, operations};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A store of regular languages. Each language is stored once and has one handle.
///
/// Arguments must be handles of this store. A handle of another store is a bug of the caller and
/// may cause a panic.
#[derive(Debug)]
pub struct Languages {
    dfas: Vec<Arc<Dfa>>,
    handles: FxHashMap<Arc<Dfa>, Language>,
    results: FxHashMap<Operation, Language>,
    decisions: FxHashMap<Predicate, bool>,
    last_values: FxHashMap<(Language, u32), Box<[i64]>>,
    removable_letters: FxHashMap<(Language, u32), Box<[Letter]>>,
    /// Numbers of the lists of classes that were arguments.
    class_lists: FxHashMap<Box<[u32]>, u32>,
    /// Bytes used by automata, lists and values of the tables. [`Self::bytes`] adds the tables.
    heap_bytes: u64,
}

/// An operation with its arguments: the key of a cached result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Operation {
    Append(Language, Letter),
    Union(Language, Language),
    Intersection(Language, Language),
    Quotient(Language, Letter),
    WithLast(Language, Letter),
    Without(Language, u32),
    RemoveFirst(Language, Letter, u32),
    RemoveLeading(Language, Letter, u32),
    Strip(Language, u32),
    Mark(Language, Letter, Option<u32>),
    Sorted(Language, u32),
    Concat(Language, Language),
    Project(Language, u32),
    LastOnly(Language, u32),
    Product(Language),
    Star(Language),
}

/// A predicate with its arguments: the key of a cached decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Predicate {
    Included(Language, Language),
    /// `(A, B)`: `B = A . w`, where `w` is the rest of the shortest word of `B` after that of `A`.
    Suffix(Language, Language),
    /// `(A, B)`: `B = w . A`, where `w` is the rest of the shortest word of `B` before that of `A`.
    Prefix(Language, Language),
}

impl Default for Languages {
    fn default() -> Self {
        Self::new()
    }
}

impl Languages {
    /// Returns a store with only [`Language::EMPTY`] and [`Language::EPSILON`].
    pub fn new() -> Self {
        let mut languages = Self {
            dfas: Vec::new(),
            handles: FxHashMap::default(),
            results: FxHashMap::default(),
            decisions: FxHashMap::default(),
            last_values: FxHashMap::default(),
            removable_letters: FxHashMap::default(),
            class_lists: FxHashMap::default(),
            heap_bytes: 0,
        };
        for accepting in [false, true] {
            languages.intern(Dfa::single(accepting));
        }
        languages
    }

    /// Returns the canonical DFA of a language.
    pub(crate) fn dfa(&self, language: Language) -> &Dfa {
        self.dfas.get(language.0 as usize).expect("a handle must belong to this store")
    }

    /// Returns the handle of the language of a canonical DFA.
    fn intern(&mut self, dfa: Dfa) -> Language {
        if let Some(known) = self.handles.get(&dfa) {
            return *known;
        }
        let new = Language(
            u32::try_from(self.dfas.len()).expect("a store must have fewer than 2^32 languages"),
        );
        self.heap_bytes += dfa.bytes();
        let dfa = Arc::new(dfa);
        self.dfas.push(Arc::clone(&dfa));
        self.handles.insert(dfa, new);
        new
    }

    /// Returns the result of an operation: from the cache, or from the canonical DFA that `build`
    /// returns.
    pub(crate) fn memoised(
        &mut self,
        operation: Operation,
        build: impl FnOnce(&Self) -> Dfa,
    ) -> Language {
        if let Some(known) = self.cached_result(operation) {
            return known;
        }
        let dfa = build(self);
        let language = self.intern(dfa);
        self.cache_result(operation, language);
        language
    }

    /// Returns the cached result of an operation, if any.
    pub(crate) fn cached_result(&self, operation: Operation) -> Option<Language> {
        self.results.get(&operation).copied()
    }

    /// Stores the result of an operation in the cache.
    pub(crate) fn cache_result(&mut self, operation: Operation, result: Language) {
        self.results.insert(operation, result);
    }

    /// Returns the value of a predicate: from the cache, or from `decide`.
    fn decide_memoised(
        &mut self,
        predicate: Predicate,
        decide: impl FnOnce(&Self) -> bool,
    ) -> bool {
        if let Some(known) = self.decisions.get(&predicate) {
            return *known;
        }
        let decision = decide(self);
        self.decisions.insert(predicate, decision);
        decision
    }

    /// Returns the number of a list of classes.
    fn intern_classes(&mut self, classes: &[u32]) -> u32 {
        if let Some(known) = self.class_lists.get(classes) {
            return *known;
        }
        let new = u32::try_from(self.class_lists.len())
            .expect("a store must have fewer than 2^32 lists of classes");
        self.heap_bytes += size_of_val(classes) as u64;
        self.class_lists.insert(classes.into(), new);
        new
    }

    /// Returns the language of one word.
    pub fn word(&mut self, word: &[Letter]) -> Language {
        self.intern(operations::word(word))
    }

    /// Returns `L . a`: appends a letter to each word.
    pub fn append(&mut self, l: Language, letter: Letter) -> Language {
        self.memoised(Operation::Append(l, letter), |store| {
            operations::append(store.dfa(l), letter)
        })
    }

    /// Returns the union.
    pub fn union(&mut self, a: Language, b: Language) -> Language {
        match (a.min(b), a.max(b)) {
            (Language::EMPTY, other) => other,
            (a, b) if a == b => a,
            (a, b) => self.memoised(Operation::Union(a, b), |store| {
                operations::union(store.dfa(a), store.dfa(b))
            }),
        }
    }

    /// Returns the intersection. The load rule of \[LW10\] intersects buffer contents with the
    /// languages L1 and L2. [`Self::with_last_letter`] and [`Self::without_class`] build these
    /// intersections directly.
    pub fn intersection(&mut self, a: Language, b: Language) -> Language {
        match (a.min(b), a.max(b)) {
            (Language::EMPTY, _) => Language::EMPTY,
            (a, b) if a == b => a,
            (a, b) => self.memoised(Operation::Intersection(a, b), |store| {
                operations::intersection(store.dfa(a), store.dfa(b))
            }),
        }
    }

    /// Returns the left quotient by a letter: `w` for each word `a w`.
    pub fn left_quotient(&mut self, l: Language, letter: Letter) -> Language {
        match self.dfa(l).step(0, letter) {
            None => Language::EMPTY,
            Some(0) => l,
            // The result is minimal: its states are a subset of the states of `l`.
            Some(state) => {
                self.memoised(Operation::Quotient(l, letter), |store| store.dfa(l).rooted_at(state))
            }
        }
    }

    /// Returns whether `a` is a subset of `b`.
    pub fn is_included(&mut self, a: Language, b: Language) -> bool {
        if a == b || a == Language::EMPTY {
            return true;
        }
        if b == Language::EMPTY {
            return false;
        }
        self.decide_memoised(Predicate::Included(a, b), |store| {
            operations::is_included(store.dfa(a), store.dfa(b))
        })
    }

    /// Returns the possible values of the last letter of a class, sorted. Words without a letter of
    /// the class do not contribute.
    pub fn last_values(&mut self, l: Language, class: u32) -> Vec<i64> {
        if let Some(known) = self.last_values.get(&(l, class)) {
            return known.to_vec();
        }
        let last_values = self.dfa(l).last_values(class);
        self.heap_bytes += size_of_val(&*last_values) as u64;
        self.last_values.insert((l, class), last_values.clone().into());
        last_values
    }

    /// Returns the words whose last letter of `letter.class` is `letter`: L1 of \[LW10\].
    ///
    /// DIVERGENCE: as printed, the condition in the paper excludes the wrong letters after
    /// `letter`.
    pub fn with_last_letter(&mut self, l: Language, letter: Letter) -> Language {
        self.memoised(Operation::WithLast(l, letter), |store| {
            operations::with_last(store.dfa(l), letter)
        })
    }

    /// Returns the words without letters of a class: L2 of \[LW10\].
    pub fn without_class(&mut self, l: Language, class: u32) -> Language {
        self.memoised(Operation::Without(l, class), |store| {
            operations::without(store.dfa(l), class)
        })
    }

    /// Returns `u v` for each word `u a v` where `a` is `letter` and `u` has no letter of the class
    /// of `a` or of the class `barrier`.
    pub fn remove_first(&mut self, l: Language, letter: Letter, barrier: u32) -> Language {
        self.memoised(Operation::RemoveFirst(l, letter, barrier), |store| {
            operations::remove_first(store.dfa(l), letter, barrier)
        })
    }

    /// Returns the results of any number of [`Self::remove_first`], including none.
    pub fn remove_leading(&mut self, l: Language, letter: Letter, barrier: u32) -> Language {
        self.memoised(Operation::RemoveLeading(l, letter, barrier), |store| {
            operations::remove_leading(store.dfa(l), letter, barrier)
        })
    }

    /// Returns the letters outside the class `barrier`, sorted, for which [`Self::remove_first`] is
    /// not empty. Such a letter is the first of its class in some word, with no letter of the class
    /// `barrier` before it.
    pub fn removable_letters(&mut self, l: Language, barrier: u32) -> Vec<Letter> {
        if let Some(known) = self.removable_letters.get(&(l, barrier)) {
            return known.to_vec();
        }
        let removable = self.dfa(l).removable_letters(barrier);
        self.heap_bytes += size_of_val(&*removable) as u64;
        self.removable_letters.insert((l, barrier), removable.clone().into());
        removable
    }

    /// Removes from each word its leading letters of the given classes.
    pub fn strip_leading(&mut self, l: Language, classes: &[u32]) -> Language {
        let list = self.intern_classes(classes);
        self.memoised(Operation::Strip(l, list), |store| operations::strip(store.dfa(l), classes))
    }

    /// Appends a marker to each word that needs one. A word needs no marker if, without its letters
    /// of the class `ignoring`, it is empty or ends with the marker.
    pub fn append_marker(
        &mut self,
        l: Language,
        marker: Letter,
        ignoring: Option<u32>,
    ) -> Language {
        self.memoised(Operation::Mark(l, marker, ignoring), |store| {
            operations::mark(store.dfa(l), marker, ignoring)
        })
    }

    /// Returns the word `w` with `B = A . w`, if there is one of at most `longest` letters. The
    /// word is unique unless both languages are empty; then the result is the empty word.
    pub fn find_suffix(&mut self, a: Language, b: Language, longest: usize) -> Option<Vec<Letter>> {
        if a == b {
            return Some(Vec::new());
        }
        // The least shortest word of `A . w` is the least shortest word of `A` followed by `w`.
        let (head, whole) = (self.shortest_word(a)?, self.shortest_word(b)?);
        let word = whole.strip_prefix(&*head)?;
        if word.is_empty() || word.len() > longest {
            return None;
        }
        self.decide_memoised(Predicate::Suffix(a, b), |store| {
            operations::concat(store.dfa(a), &operations::word(word)) == *store.dfa(b)
        })
        .then(|| word.to_vec())
    }

    /// Returns the word `w` with `B = w . A`, if there is one of at most `longest` letters. The
    /// word is unique unless both languages are empty; then the result is the empty word.
    pub fn find_prefix(&mut self, a: Language, b: Language, longest: usize) -> Option<Vec<Letter>> {
        if a == b {
            return Some(Vec::new());
        }
        let (tail, whole) = (self.shortest_word(a)?, self.shortest_word(b)?);
        let word = whole.strip_suffix(&*tail)?;
        if word.is_empty() || word.len() > longest {
            return None;
        }
        self.decide_memoised(Predicate::Prefix(a, b), |store| {
            operations::concat(&operations::word(word), store.dfa(a)) == *store.dfa(b)
        })
        .then(|| word.to_vec())
    }

    /// Sorts the letters of each word by class, if the language has at most 64 words. Any other
    /// language is returned unchanged. The sort is stable. Letters of the classes `markers` keep
    /// their positions, and other letters do not cross them.
    pub fn sort_by_class(&mut self, l: Language, markers: &[u32]) -> Language {
        let list = self.intern_classes(markers);
        self.memoised(Operation::Sorted(l, list), |store| {
            let dfa = store.dfa(l);
            let Some(mut words) = dfa.words_if_at_most(64) else { return dfa.clone() };
            for word in &mut words {
                let is_marker = |letter: &Letter| markers.contains(&letter.class);
                for part in word.split_mut(is_marker) {
                    part.sort_by_key(|letter| letter.class);
                }
            }
            operations::words(&words)
        })
    }

    /// Returns the number of languages.
    #[expect(clippy::len_without_is_empty, reason = "a store is never empty")]
    pub fn len(&self) -> usize {
        self.dfas.len()
    }

    /// Returns the approximate memory use of the store in bytes, including tables. It never
    /// decreases.
    pub fn bytes(&self) -> u64 {
        fn table<K, V>(table: &FxHashMap<K, V>) -> u64 {
            // One control byte per slot; the maximum load factor is 7/8.
            let slots = table.capacity() as u64 * 8 / 7;
            slots * (size_of::<(K, V)>() as u64 + 1)
        }
        let vector = self.dfas.capacity() * size_of::<Arc<Dfa>>();
        self.heap_bytes
            + vector as u64
            + table(&self.handles)
            + table(&self.results)
            + table(&self.decisions)
            + table(&self.last_values)
            + table(&self.removable_letters)
            + table(&self.class_lists)
    }
}
