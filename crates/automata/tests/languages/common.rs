//! Random languages with a naive test of membership, to compare with.

use fencepost_automata::{Language, Languages, Letter};
use proptest::collection::vec;
use proptest::prelude::*;

pub(crate) type Word = Vec<Letter>;

/// The class of the marker.
pub(crate) const MARKER: u32 = 9;

/// Two classes with two values, and a marker.
pub(crate) fn alphabet() -> Vec<Letter> {
    let pairs = [(0, 0), (0, 1), (1, 0), (1, 1), (MARKER, 0)];
    pairs.map(|(class, value)| Letter { class, value }).to_vec()
}

/// All words up to a length.
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

/// The language of these words.
pub(crate) fn of_words(store: &mut Languages, words: &[Word]) -> Language {
    words.iter().fold(Language::EMPTY, |sum, word| {
        let word = store.word(word);
        store.union(sum, word)
    })
}

/// The language of these words one after another, any number of them.
pub(crate) fn any_number(store: &mut Languages, words: &[Word]) -> Language {
    let once = of_words(store, words);
    store.star(once)
}

/// How a language is put together.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Words(Vec<Word>),
    Union(Box<Tree>, Box<Tree>),
    Intersection(Box<Tree>, Box<Tree>),
    Concat(Box<Tree>, Box<Tree>),
    Star(Box<Tree>),
}

impl Tree {
    /// The language in a store.
    pub(crate) fn build(&self, store: &mut Languages) -> Language {
        match self {
            Self::Words(words) => of_words(store, words),
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

    /// Whether a word is in the language, by definition.
    pub(crate) fn has(&self, word: &[Letter]) -> bool {
        match self {
            Self::Words(words) => words.iter().any(|other| other == word),
            Self::Union(a, b) => a.has(word) || b.has(word),
            Self::Intersection(a, b) => a.has(word) && b.has(word),
            Self::Concat(a, b) => {
                (0..=word.len()).any(|at| a.has(&word[..at]) && b.has(&word[at..]))
            }
            Self::Star(tree) => {
                word.is_empty()
                    || (1..=word.len()).any(|at| tree.has(&word[..at]) && self.has(&word[at..]))
            }
        }
    }
}

/// A language in a store of its own.
pub(crate) fn built(tree: &Tree) -> (Languages, Language) {
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

pub(crate) fn finite() -> impl Strategy<Value = Vec<Word>> {
    vec(word(4), 0..8)
}

/// At most so many short words, any number of times.
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

/// Whether some word of a language, read letter by letter, satisfies a monitor: a set of
/// situations, of which `step` says what a letter makes of one (several, or none) and `end` which are good at the end.
/// Uses quotients only.
pub(crate) fn some_word<S: Clone + Eq + std::hash::Hash>(
    store: &mut Languages,
    l: Language,
    start: S,
    step: impl Fn(&S, Letter) -> Vec<S>,
    end: impl Fn(&S) -> bool,
) -> bool {
    let mut seen = std::collections::HashSet::from([(l, start.clone())]);
    let mut stack = vec![(l, start)];
    while let Some((l, situation)) = stack.pop() {
        if store.contains_empty(l) && end(&situation) {
            return true;
        }
        for letter in store.firsts(l) {
            let rest = store.quotient(l, letter);
            for next in step(&situation, letter) {
                if seen.insert((rest, next.clone())) {
                    stack.push((rest, next));
                }
            }
        }
    }
    false
}
