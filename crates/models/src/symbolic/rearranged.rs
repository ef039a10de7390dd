//! Words that differ only in an order that means nothing.
//!
//! Under PSO two neighbours of a word may change places when they are of different locations and neither is
//! a marker. To ask whether a content is in a language is to ask for any of its rearrangements.

use super::{MARKERS, Symbolic};
use crate::coherence::Grouping;
use fencepost_automata::{Language, Languages, Letter};
use std::collections::BTreeSet;

impl Symbolic {
    /// A word of the language that means the same as this one.
    pub fn find(
        &self,
        languages: &mut Languages,
        language: Language,
        word: &[Letter],
    ) -> Option<Vec<Letter>> {
        match self.grouping {
            Grouping::Thread => languages.contains(language, word).then(|| word.to_vec()),
            Grouping::Location => rearranged(languages, language, word),
        }
    }
}

/// A rearrangement of the word that is in the language. Depth-first over what may come next; a position (the
/// rest of the language, the letters used) is tried once.
fn rearranged(
    languages: &mut Languages,
    language: Language,
    word: &[Letter],
) -> Option<Vec<Letter>> {
    let mut seen = BTreeSet::new();
    let mut stack = vec![(language, Vec::<usize>::new())];
    while let Some((rest, used)) = stack.pop() {
        let mut taken = used.clone();
        taken.sort_unstable();
        if !seen.insert((rest, taken)) {
            continue;
        }
        if used.len() == word.len() {
            if languages.contains_empty(rest) {
                return Some(used.iter().map(|at| word[*at]).collect());
            }
            continue;
        }
        for at in next(word, &used) {
            let after = languages.quotient(rest, word[at]);
            if after != Language::EMPTY {
                let used = used.iter().copied().chain([at]).collect();
                stack.push((after, used));
            }
        }
    }
    None
}

/// The positions of the word that may come after those used: the first unused one of each class before the
/// first unused marker, or that marker.
fn next(word: &[Letter], used: &[usize]) -> Vec<usize> {
    let mut classes = BTreeSet::new();
    let mut found = Vec::new();
    for (at, letter) in word.iter().enumerate().filter(|(at, _)| !used.contains(at)) {
        if MARKERS.contains(&letter.class) {
            if found.is_empty() {
                found.push(at);
            }
            break;
        }
        if classes.insert(letter.class) {
            found.push(at);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{STORE_STORE, marker};
    use super::*;

    const X: Letter = Letter { class: 0, value: 1 };
    const Y: Letter = Letter { class: 1, value: 1 };
    const Y2: Letter = Letter { class: 1, value: 2 };

    fn find(kept: &[Letter], asked: &[Letter]) -> Option<Vec<Letter>> {
        let mut languages = Languages::new();
        let language = languages.word(kept);
        rearranged(&mut languages, language, asked)
    }

    #[test]
    fn only_letters_of_different_locations_change_places() {
        assert_eq!(find(&[X, Y, Y2], &[Y, X, Y2]), Some(vec![X, Y, Y2]));
        assert_eq!(find(&[X, Y, Y2], &[Y2, X, Y]), None);
        assert_eq!(find(&[X, Y], &[X]), None);
    }

    #[test]
    fn nothing_goes_past_a_marker() {
        let fence = marker(STORE_STORE);
        assert_eq!(find(&[X, fence, Y], &[X, fence, Y]), Some(vec![X, fence, Y]));
        assert_eq!(find(&[X, fence, Y], &[Y, fence, X]), None);
        assert_eq!(find(&[X, Y, fence, Y2], &[Y, X, fence, Y2]), Some(vec![X, Y, fence, Y2]));
    }
}
