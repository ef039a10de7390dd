//! Compares every operation with its definition, word by word, on random languages.
//!
//! Operations that remove letters are compared in two ways: on finite languages word by word, and
//! on infinite languages with a search through the left quotients for a word that maps to the
//! result.

use crate::common::{
    MARKER, Word, all_words, build_tree, finite_words, has_matching_word, language_of_words,
    letter, tree, word,
};
use fencepost_automata::{Language, Languages, Letter};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The maximum length of compared words.
const MAX_WORD_LENGTH: usize = 4;

/// Asserts that a language contains exactly the words that satisfy a predicate.
fn assert_words(store: &Languages, l: Language, holds: impl Fn(&[Letter]) -> bool) {
    for word in all_words(MAX_WORD_LENGTH) {
        assert_eq!(store.contains(l, &word), holds(&word), "{word:?}");
    }
}

fn is_last_of_class(word: &[Letter], letter: Letter) -> bool {
    word.iter().rev().find(|other| other.class == letter.class) == Some(&letter)
}

/// Removes the first occurrence of a letter, if no letter of its class or of the class `barrier` is
/// before it.
fn without_first(word: &[Letter], letter: Letter, barrier: u32) -> Option<Word> {
    let blocks = |other: &Letter| other.class == letter.class || other.class == barrier;
    let at = word.iter().position(blocks)?;
    (word[at] == letter).then(|| [&word[..at], &word[at + 1..]].concat())
}

fn with_marker(word: &[Letter], marker: Letter, ignoring: Option<u32>) -> Word {
    let rest: Word = word.iter().copied().filter(|l| Some(l.class) != ignoring).collect();
    match rest.last() {
        Some(last) if *last != marker => [word, &[marker]].concat(),
        _ => word.to_vec(),
    }
}

fn without_leading(word: &[Letter], classes: &[u32]) -> Word {
    word.iter().copied().skip_while(|letter| classes.contains(&letter.class)).collect()
}

/// Sorts by exchange of adjacent letters: a naive oracle.
fn sorted_by_exchange(word: &[Letter], markers: &[u32]) -> Word {
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
    fn operations_match_membership_oracle(tree in tree()) {
        let (store, l) = build_tree(&tree);
        assert_words(&store, l, |word| tree.contains(word));
        let all: Vec<Word> = all_words(MAX_WORD_LENGTH).into_iter().filter(|word| tree.contains(word)).collect();
        prop_assert_eq!(store.words_up_to(l, MAX_WORD_LENGTH), all.clone());
        prop_assert_eq!(store.contains_empty_word(l), tree.contains(&[]));
        if let Some(least) = all.first() {
            prop_assert_eq!(store.shortest_word(l), Some(least.clone()));
        } else {
            prop_assert!(store.shortest_word(l).is_none_or(|word| word.len() > MAX_WORD_LENGTH && tree.contains(&word)));
        }
    }

    #[test]
    fn handles_are_equal_exactly_when_languages_are(a in tree(), b in tree()) {
        let mut store = Languages::new();
        let mut all = vec![a.build(&mut store), b.build(&mut store)];
        // Include all left quotients, because random languages are rarely equal.
        let mut next = 0;
        while let Some(&l) = all.get(next) {
            for letter in store.first_letters(l) {
                let rest = store.left_quotient(l, letter);
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
                let words = |l| store.words_up_to(l, MAX_WORD_LENGTH).into_iter().collect::<BTreeSet<_>>();
                let (p_words, q_words) = (words(p), words(q));
                prop_assert!(!store.is_included(p, q) || p_words.is_subset(&q_words));
                prop_assert!(!both || p_words == q_words);
            }
        }
    }

    #[test]
    fn automata_are_minimal(tree in tree()) {
        let (mut store, l) = build_tree(&tree);
        let mut residuals = vec![l];
        let mut next = 0;
        while let Some(&l) = residuals.get(next) {
            for letter in store.first_letters(l) {
                let rest = store.left_quotient(l, letter);
                prop_assert!(rest != Language::EMPTY);
                if !residuals.contains(&rest) {
                    residuals.push(rest);
                }
            }
            next += 1;
        }
        prop_assert_eq!(store.state_count(l), residuals.len());
    }

    #[test]
    fn inclusion_agrees_with_union_and_intersection(a in tree(), b in tree()) {
        let mut store = Languages::new();
        let (p, q) = (a.build(&mut store), b.build(&mut store));
        let common = store.intersection(p, q);
        let sum = store.union(p, q);
        prop_assert_eq!(store.is_included(p, q), common == p);
        prop_assert_eq!(store.is_included(p, q), sum == q);
        prop_assert!(store.is_included(common, p) && store.is_included(p, sum));
    }

    #[test]
    fn append_and_left_quotient_match_definition(tree in tree(), letter in letter()) {
        let (mut store, l) = build_tree(&tree);
        let longer = store.append(l, letter);
        assert_words(&store, longer, |w| w.split_last().is_some_and(|(end, w)| *end == letter && tree.contains(w)));
        let rest = store.left_quotient(l, letter);
        assert_words(&store, rest, |word| tree.contains(&[&[letter], word].concat()));
        prop_assert_eq!(store.first_letters(l).contains(&letter), rest != Language::EMPTY);
        let first = store.word(&[letter]);
        let before = store.concat(first, l);
        prop_assert_eq!(store.left_quotient(before, letter), l);
    }

    #[test]
    fn concat_and_star_match_definition(a in tree(), b in tree()) {
        let mut store = Languages::new();
        let (p, q) = (a.build(&mut store), b.build(&mut store));
        let both = store.concat(p, q);
        assert_words(&store, both, |word| (0..=word.len()).any(|at| a.contains(&word[..at]) && b.contains(&word[at..])));
        let many = store.star(p);
        assert_words(&store, many, |word| {
            // By prefix length: whether the prefix is a concatenation of words of the language.
            let mut splits = vec![true];
            for end in 1..=word.len() {
                let last = (0..end).any(|begin| splits[begin] && a.contains(&word[begin..end]));
                splits.push(last);
            }
            splits[word.len()]
        });
        prop_assert_eq!(store.star(many), many);
        prop_assert_eq!(store.concat(many, many), many);
    }

    #[test]
    fn steps_and_acceptance_match_membership(tree in tree()) {
        let (mut store, l) = build_tree(&tree);
        for word in all_words(MAX_WORD_LENGTH) {
            let state = word.iter().try_fold(0, |state, letter| store.step(l, state, *letter));
            let rest = word.iter().fold(l, |rest, letter| store.left_quotient(rest, *letter));
            // The DFA of the empty language also has a start state.
            prop_assert_eq!(state.is_some(), word.is_empty() || rest != Language::EMPTY, "{:?}", word);
            let ends = state.is_some_and(|state| store.accepts(l, state));
            prop_assert_eq!(ends, tree.contains(&word), "{:?}", word);
        }
    }

    #[test]
    fn last_letter_operations_match_definition(tree in tree(), letter in letter()) {
        let (mut store, l) = build_tree(&tree);
        let with = store.with_last_letter(l, letter);
        assert_words(&store, with, |word| tree.contains(word) && is_last_of_class(word, letter));
        let without = store.without_class(l, letter.class);
        assert_words(&store, without, |w| tree.contains(w) && w.iter().all(|l| l.class != letter.class));
        let lasts = store.last_values(l, letter.class);
        prop_assert_eq!(lasts.contains(&letter.value), with != Language::EMPTY);
        prop_assert!(lasts.is_sorted_by(|a, b| a < b));
        prop_assert_eq!(store.last_values(l, letter.class), lasts.clone());
        // The union of the parts is the language.
        let whole = lasts.iter().fold(without, |sum, &value| {
            let part = store.with_last_letter(l, Letter { value, ..letter });
            store.union(sum, part)
        });
        prop_assert_eq!(whole, l);
    }

    #[test]
    fn remove_first_matches_definition(tree in tree(), letter in letter(), barrier in 0..2u32) {
        let barrier = if barrier == 0 { MARKER } else { 1 };
        let (mut store, l) = build_tree(&tree);
        let rest = store.remove_first(l, letter, barrier);
        assert_words(&store, rest, |word| (0..=word.len()).any(|at| {
            let longer = [&word[..at], &[letter], &word[at..]].concat();
            let clear = word[..at].iter().all(|l| l.class != letter.class && l.class != barrier);
            clear && tree.contains(&longer)
        }));
        let removable = store.removable_letters(l, barrier);
        prop_assert!(removable.is_sorted_by(|a, b| a < b));
        let is_removable = rest != Language::EMPTY && letter.class != barrier;
        prop_assert_eq!(removable.contains(&letter), is_removable);
        prop_assert_eq!(store.removable_letters(l, barrier), removable);
    }

    #[test]
    fn remove_leading_is_any_number_of_remove_first(tree in tree(), letter in letter(), barrier in 0..2u32) {
        let barrier = if barrier == 0 { MARKER } else { 1 };
        let (mut store, l) = build_tree(&tree);
        let rest = store.remove_leading(l, letter, barrier);
        // Nothing is missing.
        let mut shorter = l;
        for _ in 0..4 {
            prop_assert!(store.is_included(shorter, rest));
            shorter = store.remove_first(shorter, letter, barrier);
        }
        // Nothing is added: a word comes from a word of the tree. The monitor counts matched
        // letters and notes whether letters may still be removed.
        for word in all_words(3) {
            let explained = has_matching_word(&mut store, l, (0, true), |&(at, open), read| {
                let stops = read.class == letter.class || read.class == barrier;
                let removed = (open && read == letter).then_some((at, open));
                let kept = (word.get(at) == Some(&read)).then_some((at + 1, open && !stops));
                removed.into_iter().chain(kept).collect()
            }, |&(at, _)| at == word.len());
            prop_assert_eq!(store.contains(rest, &word), explained, "{:?}", word);
        }
    }

    #[test]
    fn append_marker_and_strip_leading_match_definition(tree in tree(), marker in letter(), ignoring in proptest::option::of(0..2u32)) {
        let (mut store, l) = build_tree(&tree);
        let with = store.append_marker(l, marker, ignoring);
        assert_words(&store, with, |word| {
            let as_is = tree.contains(word) && with_marker(word, marker, ignoring) == word;
            as_is || word.split_last().is_some_and(|(_, begin)| {
                tree.contains(begin) && with_marker(begin, marker, ignoring) == word
            })
        });
        for classes in [&[MARKER][..], &[MARKER, 1], &[]] {
            let rest = store.strip_leading(l, classes);
            for word in all_words(3) {
                // The monitor counts matched letters; it stays at 0 while it skips leading letters.
                let explained = has_matching_word(&mut store, l, 0, |&at, letter| {
                    let leading = at == 0 && classes.contains(&letter.class);
                    let matches = word.get(at) == Some(&letter);
                    if leading { vec![0] } else if matches { vec![at + 1] } else { vec![] }
                }, |&at| at == word.len());
                prop_assert_eq!(store.contains(rest, &word), explained, "{:?}", word);
            }
        }
    }

    #[test]
    fn operations_match_definition_on_finite_languages(words in finite_words(), letter in letter()) {
        let mut store = Languages::new();
        let l = language_of_words(&mut store, &words);
        prop_assert!(store.is_finite(l));
        let mut expect = |words: Vec<Word>| language_of_words(&mut store, &words);
        let each = |change: &dyn Fn(&Word) -> Word| words.iter().map(change).collect::<Vec<_>>();
        let expected = [
            expect(each(&|word| [&**word, &[letter]].concat())),
            expect(words.iter().filter_map(|word| without_first(word, letter, MARKER)).collect()),
            expect(each(&|word| without_leading(word, &[MARKER, 0]))),
            expect(each(&|word| with_marker(word, letter, Some(1)))),
            expect(each(&|word| sorted_by_exchange(word, &[MARKER]))),
            expect(each(&|word| sorted_by_exchange(word, &[]))),
        ];
        let computed = [
            store.append(l, letter),
            store.remove_first(l, letter, MARKER),
            store.strip_leading(l, &[MARKER, 0]),
            store.append_marker(l, letter, Some(1)),
            store.sort_by_class(l, &[MARKER]),
            store.sort_by_class(l, &[]),
        ];
        prop_assert_eq!(computed, expected);
    }

    #[test]
    fn find_suffix_and_find_prefix_invert_concat(tree in tree(), other in tree(), more in word(4), longest in 0..5usize) {
        let mut store = Languages::new();
        let (a, b) = (tree.build(&mut store), other.build(&mut store));
        let added = store.word(&more);
        let (after, before) = (store.concat(a, added), store.concat(added, a));
        let found = (a == Language::EMPTY).then(Word::new).unwrap_or(more.clone());
        let found = (found.len() <= longest).then_some(found);
        for _ in 0..2 {
            prop_assert_eq!(store.find_suffix(a, after, longest), found.clone());
            prop_assert_eq!(store.find_prefix(a, before, longest), found.clone());
        }
        // A result is correct. If a short word exists, there is a result.
        let (suffix, prefix) = (store.find_suffix(a, b, 4), store.find_prefix(a, b, 4));
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
    fn language_is_finite_exactly_when_it_has_no_long_word(tree in tree()) {
        let (mut store, l) = build_tree(&tree);
        // A word with as many letters as the automaton has states passes through a cycle.
        let states = store.state_count(l);
        let long = has_matching_word(&mut store, l, 0, |&at, _| vec![states.min(at + 1)], |&at| at == states);
        prop_assert_eq!(store.is_finite(l), !long);
        if long {
            prop_assert_eq!(store.sort_by_class(l, &[]), l);
        }
    }
}
