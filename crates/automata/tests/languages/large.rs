//! Automata with hundreds of states, exponential results, caching and memory accounting.

use crate::common::star_of_words;
use fencepost_automata::{Language, Languages, Letter};

fn letter(class: u32, value: i64) -> Letter {
    Letter { class, value }
}

#[test]
fn every_store_has_empty_and_epsilon() {
    let mut store = Languages::new();
    assert_eq!(store.len(), 2);
    assert_eq!(store.word(&[]), Language::EPSILON);
    assert_eq!(store.words_up_to(Language::EMPTY, 9), Vec::<Vec<Letter>>::new());
    assert_eq!(store.words_up_to(Language::EPSILON, 9), [vec![]]);
    assert_eq!(store.append(Language::EMPTY, letter(0, 0)), Language::EMPTY);
    let one = store.word(&[letter(0, 0)]);
    assert_eq!(store.intersection(one, Language::EPSILON), Language::EMPTY);
    assert_eq!(Language::from_number(one.number()), one);
    assert_eq!(store.len(), 3);
    assert_eq!(Languages::default().len(), 2);
}

#[test]
fn long_words_are_built_and_consumed() {
    let mut store = Languages::new();
    let long: Vec<Letter> = (0..1000).map(|value| letter(value as u32 % 3, value % 7)).collect();
    let mut l = Language::EPSILON;
    for letter in &long {
        l = store.append(l, *letter);
    }
    assert_eq!(store.word(&long), l);
    assert_eq!(store.state_count(l), 1001);
    assert_eq!(store.shortest_word(l), Some(long.clone()));
    for letter in &long {
        l = store.left_quotient(l, *letter);
    }
    assert_eq!(l, Language::EPSILON);
}

#[test]
fn long_cycles_have_minimal_automata() {
    let mut store = Languages::new();
    let [a, b] = [0, 1].map(|value| letter(0, value));
    let plain = star_of_words(&mut store, &[vec![a; 400]]);
    assert_eq!(store.state_count(plain), 400);
    let thrice = star_of_words(&mut store, &[vec![a; 150]]);
    let common = store.intersection(plain, thrice);
    assert_eq!(store.state_count(common), 1200);
    assert!(store.is_included(common, thrice) && !store.is_included(thrice, common));
    assert_eq!(store.shortest_word(common), Some(vec![]));

    let fraction = star_of_words(&mut store, &[vec![a; 400], vec![a; 600]]);
    let step = star_of_words(&mut store, &[vec![a; 200]]);
    assert!(store.is_included(fraction, step) && fraction != step);
    // All suffixes of a long cycle. Only the letter `b` distinguishes the states of the cycle.
    let mut word = vec![a; 300];
    word.push(b);
    let begun = star_of_words(&mut store, std::slice::from_ref(&word));
    let (begun, _) = (0..300).fold((begun, begun), |(sum, last), _| {
        let next = store.left_quotient(last, a);
        (store.union(sum, next), next)
    });
    assert_eq!(store.state_count(begun), 601);
    assert!(store.contains(begun, &[&word[17..], &word].concat()));
    assert!(!store.contains(begun, &[&word[17..], &word[1..]].concat()));
}

#[test]
fn exponential_results_are_counted_in_bytes() {
    let mut store = Languages::new();
    let [a, b] = [0, 1].map(|value| letter(0, value));
    // The tenth letter from the end is `a`: the minimal DFA has 2^10 states.
    let any = star_of_words(&mut store, &[vec![a], vec![b]]);
    let mut l = store.append(any, a);
    for _ in 0..9 {
        let (with_a, with_b) = (store.append(l, a), store.append(l, b));
        let before = store.bytes();
        l = store.union(with_a, with_b);
        assert!(store.bytes() >= before);
    }
    assert_eq!(store.state_count(l), 1 << 10);
    let automaton = (1 << 10) * 2 * size_of::<(Letter, u32)>() as u64;
    assert!(store.bytes() > automaton, "{}", store.bytes());
    assert!(store.regex(l, &|_| "a".into()).contains("states"));
}

#[test]
fn cached_results_use_no_more_memory() {
    let mut store = Languages::new();
    let l = store.word(&[letter(0, 1), letter(1, 2), letter(9, 0), letter(0, 2)]);
    let mut bytes = Vec::new();
    let mut results = Vec::new();
    for _ in 0..2 {
        let end = star_of_words(&mut store, &[vec![letter(0, 3)], vec![]]);
        let loops = store.concat(l, end);
        results.push([
            loops,
            store.strip_leading(loops, &[9, 0]),
            store.sort_by_class(l, &[9]),
            store.append_marker(l, letter(9, 0), None),
            store.remove_first(l, letter(1, 2), 9),
            store.union(l, loops),
            store.project(loops, 0),
            store.keep_last_of_class(loops, 0),
            store.product_form(loops),
        ]);
        store.last_values(loops, 0);
        store.removable_letters(loops, 9);
        bytes.push(store.bytes());
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(bytes[0], bytes[1]);
    assert_eq!(
        store.words_up_to(results[0][4], 9),
        [vec![letter(0, 1), letter(9, 0), letter(0, 2)]]
    );
}

#[test]
fn languages_of_more_than_64_words_are_not_sorted() {
    let mut store = Languages::new();
    let mut l = Language::EPSILON;
    for value in 0..6 {
        let choices = [0, 1].map(|class| store.append(l, letter(1 - class, value)));
        l = store.union(choices[0], choices[1]);
    }
    let sorted = store.sort_by_class(l, &[]);
    assert_eq!(store.words_up_to(l, 6).len(), 64);
    assert!(store.words_up_to(sorted, 6).iter().all(|word| word.is_sorted_by_key(|l| l.class)));
    let more = store.union(l, Language::EPSILON);
    assert_eq!(store.sort_by_class(more, &[]), more);
}
