//! Hundreds of states, explosions, and what the store says about its memory.

use crate::common::any_number;
use fencepost_automata::{Language, Languages, Letter};

fn letter(class: u32, value: i32) -> Letter {
    Letter { class, value }
}

#[test]
fn handles_that_every_store_has() {
    let mut store = Languages::new();
    assert_eq!(store.len(), 2);
    assert_eq!(store.word(&[]), Language::EPSILON);
    assert_eq!(store.words(Language::EMPTY, 9), Vec::<Vec<Letter>>::new());
    assert_eq!(store.words(Language::EPSILON, 9), [vec![]]);
    assert_eq!(store.append(Language::EMPTY, letter(0, 0)), Language::EMPTY);
    let one = store.word(&[letter(0, 0)]);
    assert_eq!(store.intersection(one, Language::EPSILON), Language::EMPTY);
    assert_eq!(Language::from_number(one.number()), one);
    assert_eq!(store.len(), 3);
    assert_eq!(Languages::default().len(), 2);
}

#[test]
fn long_words() {
    let mut store = Languages::new();
    let long: Vec<Letter> = (0..1000).map(|value| letter(value as u32 % 3, value % 7)).collect();
    let mut l = Language::EPSILON;
    for letter in &long {
        l = store.append(l, *letter);
    }
    assert_eq!(store.word(&long), l);
    assert_eq!(store.states(l), 1001);
    assert_eq!(store.shortest(l), Some(long.clone()));
    for letter in &long {
        l = store.quotient(l, *letter);
    }
    assert_eq!(l, Language::EPSILON);
}

#[test]
fn cycles_of_hundreds() {
    let mut store = Languages::new();
    let [a, b] = [0, 1].map(|value| letter(0, value));
    let plain = any_number(&mut store, &[vec![a; 400]]);
    assert_eq!(store.states(plain), 400);
    let thrice = any_number(&mut store, &[vec![a; 150]]);
    let common = store.intersection(plain, thrice);
    assert_eq!(store.states(common), 1200);
    assert!(store.is_included(common, thrice) && !store.is_included(thrice, common));
    assert_eq!(store.shortest(common), Some(vec![]));

    let fraction = any_number(&mut store, &[vec![a; 400], vec![a; 600]]);
    let step = any_number(&mut store, &[vec![a; 200]]);
    assert!(store.is_included(fraction, step) && fraction != step);
    // All ways to begin in the middle of a long cycle, which only the one letter `b` tells apart.
    let mut word = vec![a; 300];
    word.push(b);
    let begun = any_number(&mut store, std::slice::from_ref(&word));
    let (begun, _) = (0..300).fold((begun, begun), |(sum, last), _| {
        let next = store.quotient(last, a);
        (store.union(sum, next), next)
    });
    assert_eq!(store.states(begun), 601);
    assert!(store.contains(begun, &[&word[17..], &word].concat()));
    assert!(!store.contains(begun, &[&word[17..], &word[1..]].concat()));
}

#[test]
fn an_explosion_is_counted() {
    let mut store = Languages::new();
    let [a, b] = [0, 1].map(|value| letter(0, value));
    // The letter at a place from the end: as many states as there are ways to fill the places.
    let any = any_number(&mut store, &[vec![a], vec![b]]);
    let mut l = store.append(any, a);
    for _ in 0..9 {
        let (with_a, with_b) = (store.append(l, a), store.append(l, b));
        let before = store.bytes();
        l = store.union(with_a, with_b);
        assert!(store.bytes() >= before);
    }
    assert_eq!(store.states(l), 1 << 10);
    let automaton = (1 << 10) * 2 * size_of::<(Letter, u32)>() as u64;
    assert!(store.bytes() > automaton, "{}", store.bytes());
    assert!(store.regex(l, &|_| "a".into()).contains("states"));
}

#[test]
fn what_is_known_costs_nothing() {
    let mut store = Languages::new();
    let l = store.word(&[letter(0, 1), letter(1, 2), letter(9, 0), letter(0, 2)]);
    let mut bytes = Vec::new();
    let mut results = Vec::new();
    for _ in 0..2 {
        let end = any_number(&mut store, &[vec![letter(0, 3)], vec![]]);
        let loops = store.concat(l, end);
        results.push([
            loops,
            store.strip(loops, &[9, 0]),
            store.sorted(l, &[9]),
            store.mark(l, letter(9, 0), None),
            store.remove_first(l, letter(1, 2), 9),
            store.union(l, loops),
            store.project(loops, 0),
            store.last_only(loops, 0),
            store.product(loops),
        ]);
        store.lasts(loops, 0);
        store.removable(loops, 9);
        bytes.push(store.bytes());
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(bytes[0], bytes[1]);
    assert_eq!(store.words(results[0][4], 9), [vec![letter(0, 1), letter(9, 0), letter(0, 2)]]);
}

#[test]
fn many_words_are_not_sorted() {
    let mut store = Languages::new();
    let mut l = Language::EPSILON;
    for value in 0..6 {
        let choices = [0, 1].map(|class| store.append(l, letter(1 - class, value)));
        l = store.union(choices[0], choices[1]);
    }
    let sorted = store.sorted(l, &[]);
    assert_eq!(store.words(l, 6).len(), 64);
    assert!(store.words(sorted, 6).iter().all(|word| word.is_sorted_by_key(|l| l.class)));
    let more = store.union(l, Language::EPSILON);
    assert_eq!(store.sorted(more, &[]), more);
}
