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

/// How a language is put together.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Words(Vec<Word>),
    Union(Box<Tree>, Box<Tree>),
    Intersection(Box<Tree>, Box<Tree>),
    Repeat(Box<Tree>, Vec<Word>),
    RepeatBefore(Word, Box<Tree>),
    Concat(Box<Tree>, Word),
    Prepend(Word, Box<Tree>),
}

impl Tree {
    /// The language in a store.
    pub(crate) fn build(&self, store: &mut Languages) -> Language {
        match self {
            Self::Words(words) => words.iter().fold(Language::EMPTY, |sum, word| {
                let word = store.word(word);
                store.union(sum, word)
            }),
            Self::Union(a, b) => {
                let (a, b) = (a.build(store), b.build(store));
                store.union(a, b)
            }
            Self::Intersection(a, b) => {
                let (a, b) = (a.build(store), b.build(store));
                store.intersection(a, b)
            }
            Self::Repeat(tree, words) => {
                let l = tree.build(store);
                store.repeat(l, words)
            }
            Self::RepeatBefore(word, tree) => {
                let l = tree.build(store);
                store.repeat_before(word, l)
            }
            Self::Concat(tree, word) => {
                let l = tree.build(store);
                store.concat_word(l, word)
            }
            Self::Prepend(word, tree) => {
                let l = tree.build(store);
                store.prepend_word(word, l)
            }
        }
    }

    /// Whether a word is in the language, by definition.
    pub(crate) fn has(&self, word: &[Letter]) -> bool {
        match self {
            Self::Words(words) => words.iter().any(|other| other == word),
            Self::Union(a, b) => a.has(word) || b.has(word),
            Self::Intersection(a, b) => a.has(word) && b.has(word),
            Self::Repeat(tree, words) => {
                tree.has(word)
                    || words
                        .iter()
                        .filter(|w| !w.is_empty())
                        .any(|end| word.strip_suffix(&**end).is_some_and(|rest| self.has(rest)))
            }
            Self::RepeatBefore(begin, tree) => {
                tree.has(word)
                    || !begin.is_empty()
                        && word.strip_prefix(&**begin).is_some_and(|rest| self.has(rest))
            }
            Self::Concat(tree, end) => word.strip_suffix(&**end).is_some_and(|rest| tree.has(rest)),
            Self::Prepend(begin, tree) => {
                word.strip_prefix(&**begin).is_some_and(|rest| tree.has(rest))
            }
        }
    }
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

pub(crate) fn tree() -> impl Strategy<Value = Tree> {
    let leaf = vec(word(3), 0..4).prop_map(Tree::Words);
    leaf.prop_recursive(4, 12, 2, |inner| {
        let one = inner.clone().prop_map(Box::new).boxed();
        prop_oneof![
            3 => (one.clone(), one.clone()).prop_map(|(a, b)| Tree::Union(a, b)),
            1 => (one.clone(), one.clone()).prop_map(|(a, b)| Tree::Intersection(a, b)),
            3 => (one.clone(), vec(word(2), 0..3)).prop_map(|(t, w)| Tree::Repeat(t, w)),
            2 => (word(2), one.clone()).prop_map(|(w, t)| Tree::RepeatBefore(w, t)),
            1 => (one.clone(), word(2)).prop_map(|(t, w)| Tree::Concat(t, w)),
            1 => (word(2), one).prop_map(|(w, t)| Tree::Prepend(w, t)),
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
