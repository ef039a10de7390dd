//! Random languages with a naive membership test, used as an oracle.

use fencepost_automata::{Language, Languages, Letter};
use proptest::collection::vec;
use proptest::prelude::*;

pub(crate) type Word = Vec<Letter>;

/// The class of the marker letter.
pub(crate) const MARKER: u32 = 9;

/// Returns the alphabet: two classes with two values each, and a marker.
pub(crate) fn alphabet() -> Vec<Letter> {
    let pairs = [(0, 0), (0, 1), (1, 0), (1, 1), (MARKER, 0)];
    pairs.map(|(class, value)| Letter { class, value }).to_vec()
}

/// Returns all words of at most `longest` letters.
pub(crate) fn all_words(longest: usize) -> Vec<Word> {
    let mut words = vec![Vec::new()];
    let mut begin = 0;
    for _ in 0..longest {
        let end = words.len();
        for at in begin..end {
            for letter in alphabet() {
                let mut word: Word = words[at].clone();
                word.push(letter);
                words.push(word);
            }
        }
        begin = end;
    }
    words
}

/// Returns the language of the given words.
pub(crate) fn language_of_words(store: &mut Languages, words: &[Word]) -> Language {
    words.iter().fold(Language::EMPTY, |sum, word| {
        let word = store.word(word);
        store.union(sum, word)
    })
}

/// Returns the Kleene star of the language of the given words.
pub(crate) fn star_of_words(store: &mut Languages, words: &[Word]) -> Language {
    let once = language_of_words(store, words);
    store.star(once)
}

/// A language as a tree of operations.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Words(Vec<Word>),
    Union(Box<Tree>, Box<Tree>),
    Intersection(Box<Tree>, Box<Tree>),
    Concat(Box<Tree>, Box<Tree>),
    Star(Box<Tree>),
}

impl Tree {
    /// Builds the language in a store.
    pub(crate) fn build(&self, store: &mut Languages) -> Language {
        match self {
            Self::Words(words) => language_of_words(store, words),
            Self::Union(a, b) => {
                let (a, b) = (a.build(store), b.build(store));
                store.union(a, b)
            }
            Self::Intersection(a, b) => {
                let (a, b) = (a.build(store), b.build(store));
                store.intersection(a, b)
            }
            Self::Concat(a, b) => {
                let (a, b) = (a.build(store), b.build(store));
                store.concat(a, b)
            }
            Self::Star(tree) => {
                let l = tree.build(store);
                store.star(l)
            }
        }
    }

    /// Returns whether the language contains a word, by definition of the operations.
    pub(crate) fn contains(&self, word: &[Letter]) -> bool {
        match self {
            Self::Words(words) => words.iter().any(|other| other == word),
            Self::Union(a, b) => a.contains(word) || b.contains(word),
            Self::Intersection(a, b) => a.contains(word) && b.contains(word),
            Self::Concat(a, b) => {
                (0..=word.len()).any(|at| a.contains(&word[..at]) && b.contains(&word[at..]))
            }
            Self::Star(tree) => {
                word.is_empty()
                    || (1..=word.len())
                        .any(|at| tree.contains(&word[..at]) && self.contains(&word[at..]))
            }
        }
    }
}

/// Builds a language in a new store.
pub(crate) fn build_tree(tree: &Tree) -> (Languages, Language) {
    let mut store = Languages::new();
    let language = tree.build(&mut store);
    (store, language)
}

pub(crate) fn letter() -> impl Strategy<Value = Letter> {
    proptest::sample::select(alphabet())
}

pub(crate) fn word(longest: usize) -> impl Strategy<Value = Word> {
    vec(letter(), 0..=longest)
}

pub(crate) fn finite_words() -> impl Strategy<Value = Vec<Word>> {
    vec(word(4), 0..8)
}

/// Generates the star of at most `most` short words.
fn star(most: usize) -> impl Strategy<Value = Tree> {
    vec(word(2), 0..=most).prop_map(|words| Tree::Star(Box::new(Tree::Words(words))))
}

pub(crate) fn tree() -> impl Strategy<Value = Tree> {
    let leaf = vec(word(3), 0..4).prop_map(Tree::Words);
    leaf.prop_recursive(4, 12, 2, |inner| {
        let one = inner.clone().prop_map(Box::new).boxed();
        prop_oneof![
            3 => (one.clone(), one.clone()).prop_map(|(a, b)| Tree::Union(a, b)),
            1 => (one.clone(), one.clone()).prop_map(|(a, b)| Tree::Intersection(a, b)),
            3 => (one.clone(), star(3)).prop_map(|(t, s)| Tree::Concat(t, Box::new(s))),
            2 => (star(1), one.clone()).prop_map(|(s, t)| Tree::Concat(Box::new(s), t)),
            1 => (one.clone(), one.clone()).prop_map(|(a, b)| Tree::Concat(a, b)),
            1 => one.prop_map(Tree::Star),
        ]
    })
}

/// Returns whether a nondeterministic monitor accepts some word of a language. `step` returns the
/// successors of a monitor state for a letter, and `end` decides acceptance. Uses only left
/// quotients.
pub(crate) fn has_matching_word<S: Clone + Eq + std::hash::Hash>(
    store: &mut Languages,
    l: Language,
    start: S,
    step: impl Fn(&S, Letter) -> Vec<S>,
    end: impl Fn(&S) -> bool,
) -> bool {
    let mut seen = std::collections::HashSet::from([(l, start.clone())]);
    let mut stack = vec![(l, start)];
    while let Some((l, monitor)) = stack.pop() {
        if store.contains_empty_word(l) && end(&monitor) {
            return true;
        }
        for letter in store.first_letters(l) {
            let rest = store.left_quotient(l, letter);
            for next in step(&monitor, letter) {
                if seen.insert((rest, next.clone())) {
                    stack.push((rest, next));
                }
            }
        }
    }
    false
}
