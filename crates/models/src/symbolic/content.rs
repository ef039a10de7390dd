//! One content of a symbolic buffer: a word, and the effect of operations on it.
//!
//! Under PSO, two adjacent letters commute if their locations differ and neither is a marker. Words
//! are equivalent if such exchanges transform one into the other (trace equivalence). A language
//! contains a content if it contains any equivalent word.

use super::{MARKERS, STORE_LOAD, STORE_STORE, Symbolic, marker};
use fencepost_automata::{Language, Languages, Letter};
use fencepost_ir::{FenceKinds, StoreBuffers};
use std::collections::BTreeSet;

impl Symbolic {
    /// Returns the word itself or the word with its letters sorted, if the language contains it.
    /// This is sufficient if the word comes from the language or from a language computed from it.
    /// [`Self::find_equivalent`] also finds other equivalent words.
    pub fn find(&self, languages: &Languages, l: Language, word: &[Letter]) -> Option<Vec<Letter>> {
        if languages.contains(l, word) {
            return Some(word.to_vec());
        }
        if self.grouping == StoreBuffers::Tso {
            return None;
        }
        let sorted = sorted(word);
        languages.contains(l, &sorted).then_some(sorted)
    }

    /// Returns whether two words are equivalent.
    pub fn are_equivalent(&self, one: &[Letter], other: &[Letter]) -> bool {
        one == other || self.grouping == StoreBuffers::Pso && sorted(one) == sorted(other)
    }

    /// Returns a word of the language that becomes `left` when `store` is committed.
    pub fn word_before_commit(
        &self,
        languages: &Languages,
        l: Language,
        store: Letter,
        left: &[Letter],
    ) -> Option<Vec<Letter>> {
        let found = self.reinsert(languages, l, store, left);
        if self.grouping == StoreBuffers::Tso {
            return found;
        }
        let found = found.or_else(|| self.reinsert(languages, l, store, &sorted(left)));
        found.or_else(|| find_rearrangement(languages, l, left, Some(store)))
    }

    /// Like [`Self::word_before_commit`], but keeps the letters of `left` in this order. Searches
    /// for a position of the store and for the markers that the commit removes.
    fn reinsert(
        &self,
        languages: &Languages,
        l: Language,
        store: Letter,
        left: &[Letter],
    ) -> Option<Vec<Letter>> {
        let last = left.iter().rposition(|letter| letter.class == STORE_LOAD);
        // The maximal number of letters before the store.
        let passed = match self.grouping {
            StoreBuffers::Tso => 0,
            StoreBuffers::Pso => {
                let passes = |letter: &&Letter| ![store.class, STORE_STORE].contains(&letter.class);
                left.iter().take_while(passes).count()
            }
        };
        // The state of the automaton, the number of letters read, and whether the store is read.
        let start = (0, 0, false);
        let mut trail: Vec<(usize, Option<Letter>)> = vec![(0, None)];
        let mut seen = BTreeSet::from([start]);
        let mut stack = vec![(start, 0)];
        while let Some(((state, at, reinserted), id)) = stack.pop() {
            if reinserted && at == left.len() && languages.accepts(l, state) {
                return Some(path_letters(&trail, id));
            }
            let mut next = Vec::new();
            next.extend(left.get(at).map(|letter| (*letter, at + 1, reinserted)));
            if !reinserted && at <= passed {
                next.push((store, at, true));
            }
            // A commit removes markers at the front, and store-load markers before a later
            // store-load marker.
            let removed = MARKERS.into_iter().filter(|class| {
                let stripped = reinserted && at == 0;
                stripped || at > 0 && *class == STORE_LOAD && last.is_some_and(|last| at <= last)
            });
            next.extend(removed.map(|class| (marker(class), at, reinserted)));
            for (letter, at, reinserted) in next {
                let Some(state) = languages.step(l, state, letter) else { continue };
                if seen.insert((state, at, reinserted)) {
                    trail.push((id, Some(letter)));
                    stack.push(((state, at, reinserted), trail.len() - 1));
                }
            }
        }
        None
    }

    /// Returns a word of the language that becomes `left` when `store` is committed as often as
    /// needed. Keeps the letters of `left` in this order or sorted, so it may miss a word. The words
    /// have no markers.
    pub fn word_before_commits(
        &self,
        languages: &Languages,
        l: Language,
        store: Letter,
        left: &[Letter],
    ) -> Option<Vec<Letter>> {
        let passed = |left: &[Letter]| match self.grouping {
            StoreBuffers::Tso => 0,
            StoreBuffers::Pso => left.iter().take_while(|next| next.class != store.class).count(),
        };
        let reinsert = |left: &[Letter]| {
            let passed = passed(left);
            // The state of the automaton, and the number of letters read of `left`.
            let mut trail: Vec<(usize, Option<Letter>)> = vec![(0, None)];
            let mut seen = BTreeSet::from([(0, 0)]);
            let mut stack = vec![((0, 0), 0)];
            while let Some(((state, at), id)) = stack.pop() {
                if at == left.len() && languages.accepts(l, state) {
                    return Some(path_letters(&trail, id));
                }
                let inserted = (at <= passed).then_some((store, at));
                let kept = left.get(at).map(|letter| (*letter, at + 1));
                for (letter, at) in inserted.into_iter().chain(kept) {
                    let Some(state) = languages.step(l, state, letter) else { continue };
                    if seen.insert((state, at)) {
                        trail.push((id, Some(letter)));
                        stack.push(((state, at), trail.len() - 1));
                    }
                }
            }
            None
        };
        reinsert(left).or_else(|| match self.grouping {
            StoreBuffers::Tso => None,
            StoreBuffers::Pso => reinsert(&sorted(left)),
        })
    }

    /// Returns the word after a fence that is not full.
    pub fn fence(&self, word: &[Letter], kinds: FenceKinds) -> Vec<Letter> {
        let mut word = word.to_vec();
        let last = |word: &[Letter], ignoring: u32| {
            word.iter().rfind(|letter| letter.class != ignoring).map(|letter| letter.class)
        };
        if kinds.contains(FenceKinds::STORE_STORE)
            && self.grouping == StoreBuffers::Pso
            && last(&word, STORE_LOAD).is_some_and(|class| class != STORE_STORE)
        {
            word.push(marker(STORE_STORE));
        }
        if kinds.contains(FenceKinds::STORE_LOAD)
            && word.last().is_some_and(|letter| letter.class != STORE_LOAD)
        {
            word.push(marker(STORE_LOAD));
        }
        word
    }

    /// Returns any word of the language that is equivalent to `word`. May be slow for long words.
    pub fn find_equivalent(
        &self,
        languages: &mut Languages,
        l: Language,
        word: &[Letter],
    ) -> Option<Vec<Letter>> {
        // A product contains only sorted words; under TSO no letters commute.
        let find_is_complete = self.grouping == StoreBuffers::Tso || self.is_product(languages, l);
        self.find(languages, l, word).or_else(|| match find_is_complete {
            true => None,
            false => find_rearrangement(languages, l, word, None),
        })
    }
}

/// Returns the word with its letters sorted by location between markers.
fn sorted(word: &[Letter]) -> Vec<Letter> {
    let mut sorted = word.to_vec();
    for part in sorted.split_mut(|letter| MARKERS.contains(&letter.class)) {
        part.sort_by_key(|letter| letter.class);
    }
    sorted
}

/// A state of the search for a rearrangement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Progress {
    /// The state of the automaton.
    state: u32,
    /// The current part of the word, between two markers.
    part: usize,
    /// The number of letters taken of each class of this part.
    taken: Vec<usize>,
    /// Whether the committed store is already reinserted.
    reinserted: bool,
}

/// A part of a word between markers: its classes, and the letters of each class in order.
type Part = Vec<(u32, Vec<Letter>)>;

/// Returns a rearrangement of the word that the language contains. Depth-first search; visits each
/// search state once. With `store`: returns a word that becomes a rearrangement of `word` when
/// `store` is committed.
fn find_rearrangement(
    languages: &Languages,
    language: Language,
    word: &[Letter],
    store: Option<Letter>,
) -> Option<Vec<Letter>> {
    let is_marker = |letter: &Letter| MARKERS.contains(&letter.class);
    let parts: Vec<Part> = word.split(is_marker).map(by_class).collect();
    let markers: Vec<Letter> = word.iter().copied().filter(is_marker).collect();
    let has = |markers: &[Letter], class: u32| markers.iter().any(|m| m.class == class);
    let start =
        Progress { state: 0, part: 0, taken: vec![0; parts[0].len()], reinserted: store.is_none() };
    let mut seen = BTreeSet::from([start.clone()]);
    // For each visited search state: its predecessor, and the letter taken.
    let mut trail: Vec<(usize, Option<Letter>)> = vec![(0, None)];
    let mut stack = vec![(start, 0)];
    while let Some((progress, id)) = stack.pop() {
        let part = &parts[progress.part];
        let mut next = Vec::new();
        for (at, (_, letters)) in part.iter().enumerate() {
            if let Some(letter) = letters.get(progress.taken[at]) {
                let mut taken = progress.taken.clone();
                taken[at] += 1;
                next.push((*letter, Progress { taken, ..progress }));
            }
        }
        if next.is_empty() {
            match markers.get(progress.part) {
                Some(marker) => {
                    let part = progress.part + 1;
                    let taken = vec![0; parts[part].len()];
                    next.push((*marker, Progress { part, taken, ..progress }));
                }
                None if progress.reinserted && languages.accepts(language, progress.state) => {
                    return Some(path_letters(&trail, id));
                }
                None => {}
            }
        }
        if let Some(store) = store {
            let is_first = |at: usize| {
                let count = |(at, (class, _)): (usize, &(u32, _))| {
                    if *class == store.class { progress.taken[at] } else { 0 }
                };
                let earlier = parts[..at].iter().flatten().any(|(class, _)| *class == store.class);
                !earlier && part.iter().enumerate().map(count).sum::<usize>() == 0
            };
            let passes = !has(&markers[..progress.part], STORE_STORE);
            if !progress.reinserted && passes && is_first(progress.part) {
                next.push((store, Progress { reinserted: true, ..progress.clone() }));
            }
            // Markers that the commit removes: at the front, and store-load markers before a later
            // one.
            let at_front = progress.part == 0 && progress.taken.iter().all(|taken| *taken == 0);
            let before_later_marker = !at_front && has(&markers[progress.part..], STORE_LOAD);
            for class in MARKERS {
                if at_front && progress.reinserted || before_later_marker && class == STORE_LOAD {
                    next.push((marker(class), progress.clone()));
                }
            }
        }
        for (letter, mut after) in next {
            let Some(state) = languages.step(language, progress.state, letter) else { continue };
            after.state = state;
            if seen.insert(after.clone()) {
                trail.push((id, Some(letter)));
                stack.push((after, trail.len() - 1));
            }
        }
    }
    None
}

fn by_class(letters: &[Letter]) -> Part {
    let mut part = Part::new();
    for letter in letters {
        match part.iter_mut().find(|(class, _)| *class == letter.class) {
            Some((_, these)) => these.push(*letter),
            None => part.push((letter.class, vec![*letter])),
        }
    }
    part
}

/// Returns the letters on the path to a visited search state.
fn path_letters(trail: &[(usize, Option<Letter>)], mut id: usize) -> Vec<Letter> {
    let mut letters = Vec::new();
    while let (before, Some(letter)) = trail[id] {
        letters.push(letter);
        id = before;
    }
    letters.reverse();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Letter = Letter { class: 0, value: 1 };
    const Y: Letter = Letter { class: 1, value: 1 };
    const Y2: Letter = Letter { class: 1, value: 2 };

    fn find(contained: &[Letter], word: &[Letter]) -> Option<Vec<Letter>> {
        let mut languages = Languages::new();
        let language = languages.word(contained);
        find_rearrangement(&languages, language, word, None)
    }

    #[test]
    fn only_letters_of_different_locations_commute() {
        assert_eq!(find(&[X, Y, Y2], &[Y, X, Y2]), Some(vec![X, Y, Y2]));
        assert_eq!(find(&[X, Y, Y2], &[Y2, X, Y]), None);
        assert_eq!(find(&[X, Y], &[X]), None);
    }

    #[test]
    fn no_letter_passes_a_marker() {
        let fence = marker(STORE_STORE);
        assert_eq!(find(&[X, fence, Y], &[X, fence, Y]), Some(vec![X, fence, Y]));
        assert_eq!(find(&[X, fence, Y], &[Y, fence, X]), None);
        assert_eq!(find(&[X, Y, fence, Y2], &[Y, X, fence, Y2]), Some(vec![X, Y, fence, Y2]));
    }
}
