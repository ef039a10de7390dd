//! The store: each language once, and what was computed before.
//!
//! A language that was met is never forgotten, and neither is the result of an operation on languages:
//! a search asks for the same few again and again, once per state of the rest of the program. Only the language
//! of a word is built anew each time. What takes languages as wholes, one after another or class by class, is in
//! [`crate::compose`].

use crate::dfa::Dfa;
use crate::{Language, Letter, operations};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Regular languages, each kept once under its handle.
///
/// Handles must come from the same store; those of another one are a bug of the caller, and may panic.
#[derive(Debug)]
pub struct Languages {
    dfas: Vec<Arc<Dfa>>,
    numbers: FxHashMap<Arc<Dfa>, Language>,
    made: FxHashMap<Operation, Language>,
    answers: FxHashMap<Question, bool>,
    lasts: FxHashMap<(Language, u32), Box<[i32]>>,
    removable: FxHashMap<(Language, u32), Box<[Letter]>>,
    /// Lists of classes that were arguments, with their numbers.
    lists: FxHashMap<Box<[u32]>, u32>,
    /// What automata, lists and vectors in the tables take; the tables themselves are added when asked.
    held: u64,
}

/// An operation with its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Operation {
    Append(Language, Letter),
    Union(Language, Language),
    Intersection(Language, Language),
    Quotient(Language, Letter),
    WithLast(Language, Letter),
    Without(Language, u32),
    RemoveFirst(Language, Letter, u32),
    Strip(Language, u32),
    Mark(Language, Letter, Option<u32>),
    Sorted(Language, u32),
    Concat(Language, Language),
    Project(Language, u32),
    LastOnly(Language, u32),
    Product(Language),
    Star(Language),
}

/// A question with its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Question {
    Included(Language, Language),
    /// Whether the second is the first and then the rest of its shortest word.
    Suffix(Language, Language),
    /// Whether the second is the beginning of its shortest word and then the first.
    Prefix(Language, Language),
}

impl Default for Languages {
    fn default() -> Self {
        Self::new()
    }
}

impl Languages {
    /// A store with the languages that have handles of their own, and no other.
    pub fn new() -> Self {
        let mut languages = Self {
            dfas: Vec::new(),
            numbers: FxHashMap::default(),
            made: FxHashMap::default(),
            answers: FxHashMap::default(),
            lasts: FxHashMap::default(),
            removable: FxHashMap::default(),
            lists: FxHashMap::default(),
            held: 0,
        };
        for accepting in [false, true] {
            languages.intern(Dfa::single(accepting));
        }
        languages
    }

    /// The automaton of a language.
    pub(crate) fn dfa(&self, language: Language) -> &Dfa {
        self.dfas.get(language.0 as usize).expect("a handle belongs to the store that gave it")
    }

    /// The handle of an automaton's language. It must be in its unique form.
    fn intern(&mut self, dfa: Dfa) -> Language {
        if let Some(known) = self.numbers.get(&dfa) {
            return *known;
        }
        let new = Language(u32::try_from(self.dfas.len()).expect("fewer than 2^32 languages"));
        self.held += dfa.bytes();
        let dfa = Arc::new(dfa);
        self.dfas.push(Arc::clone(&dfa));
        self.numbers.insert(dfa, new);
        new
    }

    /// The result of an operation: the known one, or that of the automaton that `build` makes.
    pub(crate) fn make(
        &mut self,
        operation: Operation,
        build: impl FnOnce(&Self) -> Dfa,
    ) -> Language {
        if let Some(known) = self.known(operation) {
            return known;
        }
        let dfa = build(self);
        let language = self.intern(dfa);
        self.remember(operation, language);
        language
    }

    /// The result of an operation, if it is known.
    pub(crate) fn known(&self, operation: Operation) -> Option<Language> {
        self.made.get(&operation).copied()
    }

    /// Notes the result of an operation.
    pub(crate) fn remember(&mut self, operation: Operation, result: Language) {
        self.made.insert(operation, result);
    }

    /// The answer to a question: the known one, or what `decide` says.
    fn answer(&mut self, question: Question, decide: impl FnOnce(&Self) -> bool) -> bool {
        if let Some(known) = self.answers.get(&question) {
            return *known;
        }
        let answer = decide(self);
        self.answers.insert(question, answer);
        answer
    }

    /// The number of a list of classes.
    fn list(&mut self, classes: &[u32]) -> u32 {
        if let Some(known) = self.lists.get(classes) {
            return *known;
        }
        let new = u32::try_from(self.lists.len()).expect("fewer than 2^32 lists");
        self.held += size_of_val(classes) as u64;
        self.lists.insert(classes.into(), new);
        new
    }

    /// The language of one word.
    pub fn word(&mut self, word: &[Letter]) -> Language {
        self.intern(operations::word(word))
    }

    /// `L . a`: each word with a letter after it.
    pub fn append(&mut self, l: Language, letter: Letter) -> Language {
        self.make(Operation::Append(l, letter), |store| operations::append(store.dfa(l), letter))
    }

    /// The words of both and of either.
    pub fn union(&mut self, a: Language, b: Language) -> Language {
        match (a.min(b), a.max(b)) {
            (Language::EMPTY, other) => other,
            (a, b) if a == b => a,
            (a, b) => self.make(Operation::Union(a, b), |store| {
                operations::union(store.dfa(a), store.dfa(b))
            }),
        }
    }

    /// The words that both have. The load rule of \[LW10\] intersects contents with the languages L1 and L2;
    /// [`Self::with_last`] and [`Self::without`] are these intersections, built at once.
    pub fn intersection(&mut self, a: Language, b: Language) -> Language {
        match (a.min(b), a.max(b)) {
            (Language::EMPTY, _) => Language::EMPTY,
            (a, b) if a == b => a,
            (a, b) => self.make(Operation::Intersection(a, b), |store| {
                operations::intersection(store.dfa(a), store.dfa(b))
            }),
        }
    }

    /// The words that may follow a first letter: `w` for each `a w`.
    pub fn quotient(&mut self, l: Language, letter: Letter) -> Language {
        match self.dfa(l).step(0, letter) {
            None => Language::EMPTY,
            Some(0) => l,
            // Still minimal: its states are some of those of `l`.
            Some(state) => {
                self.make(Operation::Quotient(l, letter), |store| store.dfa(l).restart(state))
            }
        }
    }

    /// Whether every word of the first language is one of the second.
    pub fn is_included(&mut self, a: Language, b: Language) -> bool {
        if a == b || a == Language::EMPTY {
            return true;
        }
        if b == Language::EMPTY {
            return false;
        }
        self.answer(Question::Included(a, b), |store| {
            operations::is_included(store.dfa(a), store.dfa(b))
        })
    }

    /// The values that the last letter of a class may have, in order, over the words that have one.
    pub fn lasts(&mut self, l: Language, class: u32) -> Vec<i32> {
        if let Some(known) = self.lasts.get(&(l, class)) {
            return known.to_vec();
        }
        let lasts = self.dfa(l).lasts(class);
        self.held += size_of_val(&*lasts) as u64;
        self.lasts.insert((l, class), lasts.clone().into());
        lasts
    }

    /// The words whose last letter of `letter.class` is `letter`: L1 of \[LW10\].
    ///
    /// DIVERGENCE: as printed, the condition there excludes the wrong letters after it.
    pub fn with_last(&mut self, l: Language, letter: Letter) -> Language {
        self.make(Operation::WithLast(l, letter), |store| {
            operations::with_last(store.dfa(l), letter)
        })
    }

    /// The words with no letter of a class: L2 of \[LW10\].
    pub fn without(&mut self, l: Language, class: u32) -> Language {
        self.make(Operation::Without(l, class), |store| operations::without(store.dfa(l), class))
    }

    /// `u v` for each `u a v` where `u` has no letter of the class of `a` and none of the class `barrier`.
    pub fn remove_first(&mut self, l: Language, letter: Letter, barrier: u32) -> Language {
        self.make(Operation::RemoveFirst(l, letter, barrier), |store| {
            operations::remove_first(store.dfa(l), letter, barrier)
        })
    }

    /// The letters, in order, that are the first of their class in some word, with no letter of the class
    /// `barrier` before; none of that class. Those for which [`Self::remove_first`] is not empty.
    pub fn removable(&mut self, l: Language, barrier: u32) -> Vec<Letter> {
        if let Some(known) = self.removable.get(&(l, barrier)) {
            return known.to_vec();
        }
        let removable = self.dfa(l).removable(barrier);
        self.held += size_of_val(&*removable) as u64;
        self.removable.insert((l, barrier), removable.clone().into());
        removable
    }

    /// Each word without its leading letters of these classes.
    pub fn strip(&mut self, l: Language, is_marker: &[u32]) -> Language {
        let list = self.list(is_marker);
        self.make(Operation::Strip(l, list), |store| operations::strip(store.dfa(l), is_marker))
    }

    /// Each word with a marker at its end, but for those that need none: look at a word
    /// without its letters of the class `ignoring`; if that is empty or ends in the marker, the word stays as it is.
    pub fn mark(&mut self, l: Language, marker: Letter, ignoring: Option<u32>) -> Language {
        self.make(Operation::Mark(l, marker, ignoring), |store| {
            operations::mark(store.dfa(l), marker, ignoring)
        })
    }

    /// The word `w`, not longer than this, with `B = A . w`. It is the only one, unless both are empty; then
    /// the empty word is the answer.
    pub fn suffix(&mut self, a: Language, b: Language, longest: usize) -> Option<Vec<Letter>> {
        if a == b {
            return Some(Vec::new());
        }
        // The least of the shortest words of `A . w` is that of `A`, and then `w`.
        let (head, whole) = (self.shortest(a)?, self.shortest(b)?);
        let word = whole.strip_prefix(&*head)?;
        if word.is_empty() || word.len() > longest {
            return None;
        }
        self.answer(Question::Suffix(a, b), |store| {
            operations::concat(store.dfa(a), &operations::word(word)) == *store.dfa(b)
        })
        .then(|| word.to_vec())
    }

    /// The word `w`, not longer than this, with `B = w . A`. It is the only one, unless both are empty; then
    /// the empty word is the answer.
    pub fn prefix(&mut self, a: Language, b: Language, longest: usize) -> Option<Vec<Letter>> {
        if a == b {
            return Some(Vec::new());
        }
        let (tail, whole) = (self.shortest(a)?, self.shortest(b)?);
        let word = whole.strip_suffix(&*tail)?;
        if word.is_empty() || word.len() > longest {
            return None;
        }
        self.answer(Question::Prefix(a, b), |store| {
            operations::concat(&operations::word(word), store.dfa(a)) == *store.dfa(b)
        })
        .then(|| word.to_vec())
    }

    /// Of a finite language with at most 64 words: each word with its letters sorted by class, those of
    /// one class in the order they have. Letters of the classes `markers` stay where they are, and letters do not
    /// pass them. Any other language stays as it is.
    pub fn sorted(&mut self, l: Language, markers: &[u32]) -> Language {
        let list = self.list(markers);
        self.make(Operation::Sorted(l, list), |store| {
            let dfa = store.dfa(l);
            let Some(mut words) = dfa.few_words(64) else { return dfa.clone() };
            for word in &mut words {
                let is_marker = |letter: &Letter| markers.contains(&letter.class);
                for part in word.split_mut(is_marker) {
                    part.sort_by_key(|letter| letter.class);
                }
            }
            operations::words(&words)
        })
    }

    /// How many languages there are.
    #[expect(clippy::len_without_is_empty, reason = "a store is never empty")]
    pub fn len(&self) -> usize {
        self.dfas.len()
    }

    /// Roughly how much memory the store takes, tables included. It never becomes less.
    pub fn bytes(&self) -> u64 {
        fn table<K, V>(table: &FxHashMap<K, V>) -> u64 {
            // A byte for control; tables are at most seven eighths full.
            let slots = table.capacity() as u64 * 8 / 7;
            slots * (size_of::<(K, V)>() as u64 + 1)
        }
        let vector = self.dfas.capacity() * size_of::<Arc<Dfa>>();
        self.held
            + vector as u64
            + table(&self.numbers)
            + table(&self.made)
            + table(&self.answers)
            + table(&self.lasts)
            + table(&self.removable)
            + table(&self.lists)
    }
}
