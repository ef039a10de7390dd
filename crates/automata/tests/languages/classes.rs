//! What looks at the letters class by class, against its definition.
//!
//! Finite languages word by word; infinite ones with a search through the quotients for words that explain a
//! word of the result.

use crate::common::{MARKER, Word, all_words, built, finite, letter, of_words, some_word, tree};
use fencepost_automata::{Language, Languages, Letter};
use proptest::prelude::*;

/// The classes of the alphabet, in order.
const CLASSES: [u32; 3] = [0, 1, MARKER];
/// Words are compared up to this length.
const LONGEST: usize = 3;

fn projected(word: &[Letter], class: u32) -> Word {
    word.iter().copied().filter(|letter| letter.class == class).collect()
}

fn with_last_only(word: &[Letter], class: u32) -> Word {
    let last = word.iter().rposition(|letter| letter.class == class);
    let stays = |(at, letter): &(usize, &Letter)| letter.class != class || Some(*at) == last;
    word.iter().enumerate().filter(stays).map(|(_, letter)| *letter).collect()
}

/// Every choice of a word for each class, of its letters of that class, in order.
fn choices(words: &[Word]) -> Vec<Word> {
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

/// Whether a word of the language has these letters of a class and no others.
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
    some_word(store, l, 0, step, |&at| at == part.len())
}

/// What was seen of the letters of the class.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Seen {
    None,
    LeftOut,
    Last,
}

/// Whether a word of the language becomes this one when all letters of a class but the last are left out.
fn is_with_last_only(store: &mut Languages, l: Language, word: &[Letter], class: u32) -> bool {
    let step = |&(at, seen): &(usize, Seen), letter: Letter| {
        let matches = word.get(at) == Some(&letter);
        match (letter.class == class, seen) {
            (true, Seen::Last) => vec![],
            (true, Seen::None | Seen::LeftOut) => {
                let last = matches.then_some((at + 1, Seen::Last));
                [(at, Seen::LeftOut)].into_iter().chain(last).collect()
            }
            (false, _) => matches.then_some((at + 1, seen)).into_iter().collect(),
        }
    };
    let end = |&(at, seen): &(usize, Seen)| at == word.len() && seen != Seen::LeftOut;
    some_word(store, l, (0, Seen::None), step, end)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn classes_are_those_of_letters(tree in tree()) {
        let (mut store, l) = built(&tree);
        let has = |class: &u32| {
            let step = |&seen: &bool, letter: Letter| vec![seen || letter.class == *class];
            some_word(&mut store, l, false, step, |&seen| seen)
        };
        let expected: Vec<u32> = CLASSES.into_iter().filter(has).collect();
        prop_assert_eq!(store.classes(l), expected);
    }

    #[test]
    fn finite_languages_class_by_class(words in finite(), letter in letter()) {
        let mut store = Languages::new();
        let l = of_words(&mut store, &words);
        let class = letter.class;
        let each = |change: &dyn Fn(&Word) -> Word| words.iter().map(change).collect::<Vec<_>>();
        let by_hand = [
            of_words(&mut store, &each(&|word| projected(word, class))),
            of_words(&mut store, &each(&|word| with_last_only(word, class))),
            of_words(&mut store, &choices(&words)),
        ];
        // What was remembered is what was built.
        for _ in 0..2 {
            let by_store = [store.project(l, class), store.last_only(l, class), store.product(l)];
            prop_assert_eq!(by_store, by_hand);
        }
    }

    #[test]
    fn what_is_left_out(tree in tree(), letter in letter()) {
        let (mut store, l) = built(&tree);
        let class = letter.class;
        let (alone, last) = (store.project(l, class), store.last_only(l, class));
        for word in all_words(LONGEST) {
            let pure = word.iter().all(|letter| letter.class == class);
            let explained = pure && is_projection(&mut store, l, &word, class);
            prop_assert_eq!(store.contains(alone, &word), explained, "{:?}", word);
            let explained = is_with_last_only(&mut store, l, &word, class);
            prop_assert_eq!(store.contains(last, &word), explained, "{:?}", word);
        }
        prop_assert_eq!(store.project(alone, class), alone);
        prop_assert_eq!(store.last_only(last, class), last);
    }

    #[test]
    fn products_are_made_of_projections(a in tree(), b in tree()) {
        let mut store = Languages::new();
        let (p, q) = (a.build(&mut store), b.build(&mut store));
        let product = store.product(p);
        for word in all_words(LONGEST) {
            let explained = word.is_sorted_by_key(|letter| letter.class)
                && CLASSES.iter().all(|&class| {
                    is_projection(&mut store, p, &projected(&word, class), class)
                });
            prop_assert_eq!(store.contains(product, &word), explained, "{:?}", word);
        }
        prop_assert_eq!(store.product(product), product);
        // A product is known by its projections; the language and its product have the same.
        for class in CLASSES {
            prop_assert_eq!(store.project(product, class), store.project(p, class));
        }
        let other = store.product(q);
        let alike = CLASSES.iter().all(|&class| store.project(p, class) == store.project(q, class));
        prop_assert_eq!(product == other, alike);
    }
}
