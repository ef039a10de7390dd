//! Compares the operations by letter class with their definitions.
//!
//! Finite languages are compared word by word. For infinite languages, a search through the left
//! quotients finds a word of the operand that maps to a given word of the result.

use crate::common::{
    MARKER, Word, all_words, build_tree, finite_words, has_matching_word, language_of_words,
    letter, tree,
};
use fencepost_automata::{Language, Languages, Letter};
use proptest::prelude::*;

/// The classes of the alphabet, sorted.
const CLASSES: [u32; 3] = [0, 1, MARKER];
/// The maximum length of compared words.
const MAX_WORD_LENGTH: usize = 3;

fn projected(word: &[Letter], class: u32) -> Word {
    word.iter().copied().filter(|letter| letter.class == class).collect()
}

fn last_of_class_kept(word: &[Letter], class: u32) -> Word {
    let last = word.iter().rposition(|letter| letter.class == class);
    let stays = |(at, letter): &(usize, &Letter)| letter.class != class || Some(*at) == last;
    word.iter().enumerate().filter(stays).map(|(_, letter)| *letter).collect()
}

/// Returns all combinations that take, for each class in order, the letters of that class of some
/// word.
fn class_combinations(words: &[Word]) -> Vec<Word> {
    let none: Vec<Word> = words.first().map(|_| Word::new()).into_iter().collect();
    CLASSES.iter().fold(none, |begins, &class| {
        let ends = words.iter().map(|word| projected(word, class)).collect::<Vec<_>>();
        let longer = |begin: Word| ends.iter().map(move |end| [&*begin, end].concat());
        let mut all: Vec<Word> = begins.into_iter().flat_map(longer).collect();
        all.sort_unstable();
        all.dedup();
        all
    })
}

/// Returns whether `part` is the projection of some word of the language to a class.
fn is_projection(store: &mut Languages, l: Language, part: &[Letter], class: u32) -> bool {
    let step = |&at: &usize, letter: Letter| {
        if letter.class != class {
            vec![at]
        } else if part.get(at) == Some(&letter) {
            vec![at + 1]
        } else {
            vec![]
        }
    };
    has_matching_word(store, l, 0, step, |&at| at == part.len())
}

/// The letters of the class read so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Seen {
    None,
    Removed,
    Last,
}

/// Returns whether some word of the language becomes `word` when all letters of a class except the
/// last are removed.
fn is_last_of_class_kept(store: &mut Languages, l: Language, word: &[Letter], class: u32) -> bool {
    let step = |&(at, seen): &(usize, Seen), letter: Letter| {
        let matches = word.get(at) == Some(&letter);
        match (letter.class == class, seen) {
            (true, Seen::Last) => vec![],
            (true, Seen::None | Seen::Removed) => {
                let last = matches.then_some((at + 1, Seen::Last));
                [(at, Seen::Removed)].into_iter().chain(last).collect()
            }
            (false, _) => matches.then_some((at + 1, seen)).into_iter().collect(),
        }
    };
    let end = |&(at, seen): &(usize, Seen)| at == word.len() && seen != Seen::Removed;
    has_matching_word(store, l, (0, Seen::None), step, end)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn classes_are_the_classes_of_occurring_letters(tree in tree()) {
        let (mut store, l) = build_tree(&tree);
        let has = |class: &u32| {
            let step = |&seen: &bool, letter: Letter| vec![seen || letter.class == *class];
            has_matching_word(&mut store, l, false, step, |&seen| seen)
        };
        let expected: Vec<u32> = CLASSES.into_iter().filter(has).collect();
        prop_assert_eq!(store.classes(l), expected);
    }

    #[test]
    fn class_operations_match_definition_on_finite_languages(words in finite_words(), letter in letter()) {
        let mut store = Languages::new();
        let l = language_of_words(&mut store, &words);
        let class = letter.class;
        let each = |change: &dyn Fn(&Word) -> Word| words.iter().map(change).collect::<Vec<_>>();
        let expected_languages = [
            language_of_words(&mut store, &each(&|word| projected(word, class))),
            language_of_words(&mut store, &each(&|word| last_of_class_kept(word, class))),
            language_of_words(&mut store, &class_combinations(&words)),
        ];
        // The second pass reads cached results.
        for _ in 0..2 {
            let computed = [store.project(l, class), store.keep_last_of_class(l, class), store.product_form(l)];
            prop_assert_eq!(computed, expected_languages);
        }
    }

    #[test]
    fn projection_and_keep_last_match_definition(tree in tree(), letter in letter()) {
        let (mut store, l) = build_tree(&tree);
        let class = letter.class;
        let (alone, last) = (store.project(l, class), store.keep_last_of_class(l, class));
        for word in all_words(MAX_WORD_LENGTH) {
            let pure = word.iter().all(|letter| letter.class == class);
            let explained = pure && is_projection(&mut store, l, &word, class);
            prop_assert_eq!(store.contains(alone, &word), explained, "{:?}", word);
            let explained = is_last_of_class_kept(&mut store, l, &word, class);
            prop_assert_eq!(store.contains(last, &word), explained, "{:?}", word);
        }
        prop_assert_eq!(store.project(alone, class), alone);
        prop_assert_eq!(store.keep_last_of_class(last, class), last);
    }

    #[test]
    fn product_form_is_determined_by_projections(a in tree(), b in tree()) {
        let mut store = Languages::new();
        let (p, q) = (a.build(&mut store), b.build(&mut store));
        let product = store.product_form(p);
        for word in all_words(MAX_WORD_LENGTH) {
            let explained = word.is_sorted_by_key(|letter| letter.class)
                && CLASSES.iter().all(|&class| {
                    is_projection(&mut store, p, &projected(&word, class), class)
                });
            prop_assert_eq!(store.contains(product, &word), explained, "{:?}", word);
        }
        prop_assert_eq!(store.product_form(product), product);
        // A language and its product form have the same projections.
        for class in CLASSES {
            prop_assert_eq!(store.project(product, class), store.project(p, class));
        }
        let other = store.product_form(q);
        let alike = CLASSES.iter().all(|&class| store.project(p, class) == store.project(q, class));
        prop_assert_eq!(product == other, alike);
    }
}
