//! Compares the enumeration with an oracle that filters all texts.

use std::collections::BTreeSet;

use fencepost_ir::Diagnostics;

use super::{Bounds, Clients, clients};
use crate::Request;
use crate::fp::lower_for;

/// Returns a library with these operations. A capital letter has the attribute `owner`.
fn library(letters: &str) -> String {
    let mut source = String::from("shared int x;");
    for letter in letters.chars() {
        let owner = if letter.is_uppercase() { ", owner" } else { "" };
        source.push_str(&format!("operation void op_{letter}() as {letter}{owner} {{ x = 1; }}"));
    }
    source
}

fn found(letters: &str, bounds: Bounds) -> Clients {
    let mut diagnostics = Diagnostics::new();
    let found = clients(&library(letters), &bounds, &mut diagnostics);
    assert!(diagnostics.is_empty());
    found.expect("no errors")
}

/// Returns all words of a length.
fn words(letters: &str, length: usize) -> Vec<String> {
    let mut words = vec![String::new()];
    for _ in 0..length {
        words =
            words.iter().flat_map(|w| letters.chars().map(move |c| format!("{w}{c}"))).collect();
    }
    words
}

/// The oracle: filters and sorts all words over the letters and `|`.
fn naive(letters: &str, bounds: Bounds) -> Vec<String> {
    let mut all = BTreeSet::new();
    for init in (0..=bounds.init).flat_map(|length| words(letters, length)) {
        let most = bounds.operations + bounds.threads - 1;
        for word in (0..=most).flat_map(|length| words(&format!("{letters}|"), length)) {
            let mut threads: Vec<&str> = word.split('|').collect();
            let owned = |t: &&str| t.chars().any(char::is_uppercase);
            let operations = word.replace('|', "").len();
            if threads.len() != bounds.threads
                || threads.iter().any(|t| t.is_empty())
                || threads[1..].iter().any(owned)
                || operations > bounds.operations
            {
                continue;
            }
            let first_non_owner = usize::from(owned(&threads[0]));
            threads[first_non_owner..].sort_by_key(|t| (t.len(), t.to_string()));
            let threads = threads.join("|");
            let text = if init.is_empty() { threads } else { format!("{init}({threads})") };
            all.insert((init.len() + operations, init.len(), text));
        }
    }
    all.into_iter().map(|(_, _, text)| text).collect()
}

#[test]
fn every_client_is_listed_once_and_in_order() {
    for letters in ["a", "A", "ab", "Ab", "AB", "aBc", "abc"] {
        for (threads, init, operations) in
            [(1, 0, 3), (1, 2, 2), (2, 0, 4), (2, 1, 4), (2, 2, 3), (3, 0, 5), (3, 1, 4), (4, 0, 5)]
        {
            let bounds = Bounds { threads, init, operations, limit: usize::MAX };
            let Clients { total, texts } = found(letters, bounds);
            let naive = naive(letters, bounds);
            assert_eq!(texts, naive, "{letters} {bounds:?}");
            assert_eq!(total, naive.len() as u128, "{letters} {bounds:?}");
            let some = found(letters, Bounds { limit: 5, ..bounds });
            assert_eq!(some.texts, naive[..naive.len().min(5)]);
            assert_eq!(some.total, total);
        }
    }
}

#[test]
fn listed_clients_can_be_lowered() {
    let bounds = Bounds { threads: 2, init: 1, operations: 3, limit: 1_000 };
    let texts = found("Abc", bounds).texts;
    let mut diagnostics = Diagnostics::new();
    let request = Request { clients: Some(&texts), ..Request::default() };
    let problems = lower_for(&library("Abc"), &request, &mut diagnostics).expect("no errors");
    let names: Vec<&str> = problems.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, texts);
}

#[test]
fn large_bounds_take_little_time() {
    let start = std::time::Instant::now();
    for (threads, init, operations) in [(2, 4, 6), (64, 100, 100), (20, 0, 40), (64, 0, 100)] {
        for letters in ["a", "Ab", "abcdefgh"] {
            let bounds = Bounds { threads, init, operations, limit: 1_000 };
            let Clients { total, texts } = found(letters, bounds);
            assert_eq!(texts.len() as u128, total.min(1_000), "{letters} {bounds:?}");
        }
    }
    assert!(start.elapsed().as_secs() < 10);
}

/// The Chase-Lev deque: `push` and `take` have the attribute `owner`, `steal` has not.
#[test]
fn the_total_for_the_chase_lev_deque_is_right() {
    let bounds = Bounds { threads: 2, init: 4, operations: 6, limit: 3 };
    // 3^0 + ... + 3^4 initial parts; two non-owner threads, or one owner and one non-owner thread.
    let initial = 121;
    let non_owners = 1 + 1 + 2 + 2 + 3;
    let owned: u128 =
        (1..=5u32).map(|length| (3u128.pow(length) - 1) * u128::from(6 - length)).sum();
    assert_eq!(found("PTs", bounds).total, initial * (non_owners + owned));
}

#[test]
fn errors_are_reported() {
    let bounds = Bounds { threads: 2, init: 0, operations: 2, limit: 10 };
    let messages = |source: &str, bounds: Bounds| {
        let mut diagnostics = Diagnostics::new();
        assert_eq!(clients(source, &bounds, &mut diagnostics), None);
        diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>()
    };
    assert_eq!(messages("thread p { }", bounds), ["there are no operations in this file"]);
    assert_eq!(messages("thread", bounds).len(), 1);
    let many = Bounds { threads: 65, operations: 101, ..bounds };
    let library = library("a");
    assert_eq!(
        messages(&library, many),
        ["too many threads: 65", "too many operations of a client: 101"]
    );
}
