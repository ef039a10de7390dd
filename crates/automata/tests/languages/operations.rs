//! Every operation against its definition, word by word.
//!
//! The languages are random. What leaves letters out is compared in two ways: on finite languages word by
//! word, on infinite ones with a search through the quotients for a word that explains the result.

use crate::common::{
    MARKER, Word, all_words, built, finite, letter, of_words, some_word, tree, word,
};
use fencepost_automata::{Language, Languages, Letter};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Words are compared up to this length.
const LONGEST: usize = 4;

/// A language has exactly the words for which something holds.
fn same(store: &Languages, l: Language, holds: impl Fn(&[Letter]) -> bool) {
    for word in all_words(LONGEST) {
        assert_eq!(store.contains(l, &word), holds(&word), "{word:?}");
    }
}

fn is_last(word: &[Letter], letter: Letter) -> bool {
    word.iter().rev().find(|other| other.class == letter.class) == Some(&letter)
}

/// A word without the first letter like this one, if it may be removed.
fn removed(word: &[Letter], letter: Letter, barrier: u32) -> Option<Word> {
    let blocks = |other: &Letter| other.class == letter.class || other.class == barrier;
    let at = word.iter().position(blocks)?;
    (word[at] == letter).then(|| [&word[..at], &word[at + 1..]].concat())
}

fn marked(word: &[Letter], marker: Letter, ignoring: Option<u32>) -> Word {
    let rest: Word = word.iter().copied().filter(|l| Some(l.class) != ignoring).collect();
    match rest.last() {
        Some(last) if *last != marker => [word, &[marker]].concat(),
        _ => word.to_vec(),
    }
}

fn stripped(word: &[Letter], classes: &[u32]) -> Word {
    word.iter().copied().skip_while(|letter| classes.contains(&letter.class)).collect()
}

/// Sorting by exchange: the naive version.
fn sorted(word: &[Letter], markers: &[u32]) -> Word {
    let mut word = word.to_vec();
    let marks = |letter: Letter| markers.contains(&letter.class);
    for _ in 0..word.len() {
        for at in 1..word.len() {
            let (a, b) = (word[at - 1], word[at]);
            if a.class > b.class && !marks(a) && !marks(b) {
                word.swap(at - 1, at);
            }
        }
    }
    word
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn languages_are_what_they_are_put_together_from(tree in tree()) {
        let (store, l) = built(&tree);
        same(&store, l, |word| tree.has(word));
        let all: Vec<Word> = all_words(LONGEST).into_iter().filter(|word| tree.has(word)).collect();
        prop_assert_eq!(store.words(l, LONGEST), all.clone());
        prop_assert_eq!(store.contains_empty(l), tree.has(&[]));
        if let Some(least) = all.first() {
            prop_assert_eq!(store.shortest(l), Some(least.clone()));
        } else {
            prop_assert!(store.shortest(l).is_none_or(|word| word.len() > LONGEST && tree.has(&word)));
        }
    }

    #[test]
    fn equal_handles_are_equal_languages(a in tree(), b in tree()) {
        let mut store = Languages::new();
        let mut all = vec![a.build(&mut store), b.build(&mut store)];
        // With all that quotients lead to; few pairs of random languages are alike.
        let mut next = 0;
        while let Some(&l) = all.get(next) {
            for letter in store.firsts(l) {
                let rest = store.quotient(l, letter);
                if !all.contains(&rest) {
                    all.push(rest);
                }
            }
            next += 1;
        }
        for &p in &all {
            for &q in &all {
                let both = store.is_included(p, q) && store.is_included(q, p);
                prop_assert_eq!(p == q, both);
                let words = |l| store.words(l, LONGEST).into_iter().collect::<BTreeSet<_>>();
                let (p_words, q_words) = (words(p), words(q));
                prop_assert!(!store.is_included(p, q) || p_words.is_subset(&q_words));
                prop_assert!(!both || p_words == q_words);
            }
        }
    }

    #[test]
    fn automata_are_minimal(tree in tree()) {
        let (mut store, l) = built(&tree);
        let mut residuals = vec![l];
        let mut next = 0;
        while let Some(&l) = residuals.get(next) {
            for letter in store.firsts(l) {
                let rest = store.quotient(l, letter);
                prop_assert!(rest != Language::EMPTY);
                if !residuals.contains(&rest) {
                    residuals.push(rest);
                }
            }
            next += 1;
        }
        prop_assert_eq!(store.states(l), residuals.len());
    }

    #[test]
    fn inclusion_is_of_all_words(a in tree(), b in tree()) {
        let mut store = Languages::new();
        let (p, q) = (a.build(&mut store), b.build(&mut store));
        let common = store.intersection(p, q);
        let sum = store.union(p, q);
        prop_assert_eq!(store.is_included(p, q), common == p);
        prop_assert_eq!(store.is_included(p, q), sum == q);
        prop_assert!(store.is_included(common, p) && store.is_included(p, sum));
    }

    #[test]
    fn one_more_letter_or_one_less(tree in tree(), letter in letter()) {
        let (mut store, l) = built(&tree);
        let longer = store.append(l, letter);
        same(&store, longer, |w| w.split_last().is_some_and(|(end, w)| *end == letter && tree.has(w)));
        let rest = store.quotient(l, letter);
        same(&store, rest, |word| tree.has(&[&[letter], word].concat()));
        prop_assert_eq!(store.firsts(l).contains(&letter), rest != Language::EMPTY);
        let first = store.word(&[letter]);
        let before = store.concat(first, l);
        prop_assert_eq!(store.quotient(before, letter), l);
    }

    #[test]
    fn languages_after_one_another(a in tree(), b in tree()) {
        let mut store = Languages::new();
        let (p, q) = (a.build(&mut store), b.build(&mut store));
        let both = store.concat(p, q);
        same(&store, both, |word| (0..=word.len()).any(|at| a.has(&word[..at]) && b.has(&word[at..])));
        let many = store.star(p);
        same(&store, many, |word| {
            // By length: whether so much of the word is made of words of the language.
            let mut made = vec![true];
            for end in 1..=word.len() {
                let last = (0..end).any(|begin| made[begin] && a.has(&word[begin..end]));
                made.push(last);
            }
            made[word.len()]
        });
        prop_assert_eq!(store.star(many), many);
        prop_assert_eq!(store.concat(many, many), many);
    }

    #[test]
    fn steps_read_words(tree in tree()) {
        let (mut store, l) = built(&tree);
        for word in all_words(LONGEST) {
            let state = word.iter().try_fold(0, |state, letter| store.step(l, state, *letter));
            let rest = word.iter().fold(l, |rest, letter| store.quotient(rest, *letter));
            // The start is a state also of the language without words.
            prop_assert_eq!(state.is_some(), word.is_empty() || rest != Language::EMPTY, "{:?}", word);
            let ends = state.is_some_and(|state| store.accepts(l, state));
            prop_assert_eq!(ends, tree.has(&word), "{:?}", word);
        }
    }

    #[test]
    fn last_letters(tree in tree(), letter in letter()) {
        let (mut store, l) = built(&tree);
        let with = store.with_last(l, letter);
        same(&store, with, |word| tree.has(word) && is_last(word, letter));
        let without = store.without(l, letter.class);
        same(&store, without, |w| tree.has(w) && w.iter().all(|l| l.class != letter.class));
        let lasts = store.lasts(l, letter.class);
        prop_assert_eq!(lasts.contains(&letter.value), with != Language::EMPTY);
        prop_assert!(lasts.is_sorted_by(|a, b| a < b));
        prop_assert_eq!(store.lasts(l, letter.class), lasts.clone());
        // The parts make the whole.
        let whole = lasts.iter().fold(without, |sum, &value| {
            let part = store.with_last(l, Letter { value, ..letter });
            store.union(sum, part)
        });
        prop_assert_eq!(whole, l);
    }

    #[test]
    fn first_letters_leave(tree in tree(), letter in letter(), barrier in 0..2u32) {
        let barrier = if barrier == 0 { MARKER } else { 1 };
        let (mut store, l) = built(&tree);
        let rest = store.remove_first(l, letter, barrier);
        same(&store, rest, |word| (0..=word.len()).any(|at| {
            let longer = [&word[..at], &[letter], &word[at..]].concat();
            let clear = word[..at].iter().all(|l| l.class != letter.class && l.class != barrier);
            clear && tree.has(&longer)
        }));
        let removable = store.removable(l, barrier);
        prop_assert!(removable.is_sorted_by(|a, b| a < b));
        let is_removable = rest != Language::EMPTY && letter.class != barrier;
        prop_assert_eq!(removable.contains(&letter), is_removable);
        prop_assert_eq!(store.removable(l, barrier), removable);
    }

    #[test]
    fn markers_come_and_go(tree in tree(), marker in letter(), ignoring in proptest::option::of(0..2u32)) {
        let (mut store, l) = built(&tree);
        let with = store.mark(l, marker, ignoring);
        same(&store, with, |word| {
            let as_is = tree.has(word) && marked(word, marker, ignoring) == word;
            as_is || word.split_last().is_some_and(|(_, begin)| {
                tree.has(begin) && marked(begin, marker, ignoring) == word
            })
        });
        for classes in [&[MARKER][..], &[MARKER, 1], &[]] {
            let rest = store.strip(l, classes);
            for word in all_words(3) {
                // How far the word is read; nothing of it while markers lead.
                let explained = some_word(&mut store, l, 0, |&at, letter| {
                    let leading = at == 0 && classes.contains(&letter.class);
                    let matches = word.get(at) == Some(&letter);
                    if leading { vec![0] } else if matches { vec![at + 1] } else { vec![] }
                }, |&at| at == word.len());
                prop_assert_eq!(store.contains(rest, &word), explained, "{:?}", word);
            }
        }
    }

    #[test]
    fn finite_languages_word_by_word(words in finite(), letter in letter()) {
        let mut store = Languages::new();
        let l = of_words(&mut store, &words);
        prop_assert!(store.is_finite(l));
        let mut expect = |words: Vec<Word>| of_words(&mut store, &words);
        let each = |change: &dyn Fn(&Word) -> Word| words.iter().map(change).collect::<Vec<_>>();
        let by_hand = [
            expect(each(&|word| [&**word, &[letter]].concat())),
            expect(words.iter().filter_map(|word| removed(word, letter, MARKER)).collect()),
            expect(each(&|word| stripped(word, &[MARKER, 0]))),
            expect(each(&|word| marked(word, letter, Some(1)))),
            expect(each(&|word| sorted(word, &[MARKER]))),
            expect(each(&|word| sorted(word, &[]))),
        ];
        let by_store = [
            store.append(l, letter),
            store.remove_first(l, letter, MARKER),
            store.strip(l, &[MARKER, 0]),
            store.mark(l, letter, Some(1)),
            store.sorted(l, &[MARKER]),
            store.sorted(l, &[]),
        ];
        prop_assert_eq!(by_store, by_hand);
    }

    #[test]
    fn what_was_added_is_found(tree in tree(), other in tree(), more in word(4), longest in 0..5usize) {
        let mut store = Languages::new();
        let (a, b) = (tree.build(&mut store), other.build(&mut store));
        let added = store.word(&more);
        let (after, before) = (store.concat(a, added), store.concat(added, a));
        let found = (a == Language::EMPTY).then(Word::new).unwrap_or(more.clone());
        let found = (found.len() <= longest).then_some(found);
        for _ in 0..2 {
            prop_assert_eq!(store.suffix(a, after, longest), found.clone());
            prop_assert_eq!(store.prefix(a, before, longest), found.clone());
        }
        // What is found makes the other language; and if a word of the alphabet does, something is found.
        let (suffix, prefix) = (store.suffix(a, b, 4), store.prefix(a, b, 4));
        for word in all_words(2) {
            let word = store.word(&word);
            let fits = store.concat(a, word) == b;
            prop_assert!(!fits || suffix.is_some());
            let fits = store.concat(word, a) == b;
            prop_assert!(!fits || prefix.is_some());
        }
        if let Some(word) = suffix {
            let word = store.word(&word);
            prop_assert_eq!(store.concat(a, word), b);
        }
        if let Some(word) = prefix {
            let word = store.word(&word);
            prop_assert_eq!(store.concat(word, a), b);
        }
    }

    #[test]
    fn finite_means_no_long_word(tree in tree()) {
        let (mut store, l) = built(&tree);
        // A word as long as the automaton goes around a cycle.
        let states = store.states(l);
        let long = some_word(&mut store, l, 0, |&at, _| vec![states.min(at + 1)], |&at| at == states);
        prop_assert_eq!(store.is_finite(l), !long);
        if long {
            prop_assert_eq!(store.sorted(l, &[]), l);
        }
    }
}
