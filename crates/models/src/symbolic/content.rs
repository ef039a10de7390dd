//! One content: a word, and what operations do to it.
//!
//! Under PSO two neighbours of a word may change places when they are of different locations and neither is
//! a marker. To ask whether a content is in a language is to ask for any of its rearrangements.

use super::{MARKERS, STORE_LOAD, STORE_STORE, Symbolic, marker};
use fencepost_automata::{Language, Languages, Letter};
use fencepost_ir::{FenceKinds, StoreBuffers};
use std::collections::BTreeSet;

impl Symbolic {
    /// The word itself, or with its letters sorted, if that is in the language. That is enough where the word
    /// was taken from the language, or from one made of it; [`Self::find_any`] looks for more.
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

    /// Whether two words mean the same.
    pub fn same(&self, one: &[Letter], other: &[Letter]) -> bool {
        one == other || self.grouping == StoreBuffers::Pso && sorted(one) == sorted(other)
    }

    /// A word of the language of which this one is left when a store is committed.
    pub fn before_commit(
        &self,
        languages: &Languages,
        l: Language,
        store: Letter,
        left: &[Letter],
    ) -> Option<Vec<Letter>> {
        let found = self.put_back(languages, l, store, left);
        if self.grouping == StoreBuffers::Tso {
            return found;
        }
        let found = found.or_else(|| self.put_back(languages, l, store, &sorted(left)));
        found.or_else(|| rearranged(languages, l, left, Some(store)))
    }

    /// The same, with the letters in this order: the store is put in where it may have been, and markers
    /// that went with it.
    fn put_back(
        &self,
        languages: &Languages,
        l: Language,
        store: Letter,
        left: &[Letter],
    ) -> Option<Vec<Letter>> {
        let last = left.iter().rposition(|letter| letter.class == STORE_LOAD);
        // So many letters may be before the store.
        let ahead = match self.grouping {
            StoreBuffers::Tso => 0,
            StoreBuffers::Pso => {
                let passes = |letter: &&Letter| ![store.class, STORE_STORE].contains(&letter.class);
                left.iter().take_while(passes).count()
            }
        };
        // The state of the automaton, how many letters are read, whether the store is.
        let start = (0, 0, false);
        let mut trail: Vec<(usize, Option<Letter>)> = vec![(0, None)];
        let mut seen = BTreeSet::from([start]);
        let mut stack = vec![(start, 0)];
        while let Some(((state, at, put), number)) = stack.pop() {
            if put && at == left.len() && languages.accepts(l, state) {
                return Some(told(&trail, number));
            }
            let mut next = Vec::new();
            next.extend(left.get(at).map(|letter| (*letter, at + 1, put)));
            if !put && at <= ahead {
                next.push((store, at, true));
            }
            // Gone with the store at the front; or with a later marker behind it.
            let gone = MARKERS.into_iter().filter(|class| {
                let stripped = put && at == 0;
                stripped || at > 0 && *class == STORE_LOAD && last.is_some_and(|last| at <= last)
            });
            next.extend(gone.map(|class| (marker(class), at, put)));
            for (letter, at, put) in next {
                let Some(state) = languages.step(l, state, letter) else { continue };
                if seen.insert((state, at, put)) {
                    trail.push((number, Some(letter)));
                    stack.push(((state, at, put), trail.len() - 1));
                }
            }
        }
        None
    }

    /// What a fence that is not full makes of a word.
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

    /// Any word of the language that means the same as this one. For long words this may take long.
    pub fn find_any(
        &self,
        languages: &mut Languages,
        l: Language,
        word: &[Letter],
    ) -> Option<Vec<Letter>> {
        // Products have sorted words only.
        let done = self.grouping == StoreBuffers::Tso || self.is_product(languages, l);
        self.find(languages, l, word).or_else(|| match done {
            true => None,
            false => rearranged(languages, l, word, None),
        })
    }
}

/// The word with its letters sorted by location between markers.
fn sorted(word: &[Letter]) -> Vec<Letter> {
    let mut sorted = word.to_vec();
    for part in sorted.split_mut(|letter| MARKERS.contains(&letter.class)) {
        part.sort_by_key(|letter| letter.class);
    }
    sorted
}

/// How far a rearrangement has come.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Reached {
    /// The state of the automaton.
    state: u32,
    /// The part between markers being taken from.
    part: usize,
    /// How many letters of each of its classes were taken.
    taken: Vec<usize>,
    /// Whether the store that is put back was.
    put: bool,
}

/// A part of a word between markers: its classes, each with its letters.
type Part = Vec<(u32, Vec<Letter>)>;

/// A rearrangement of the word that is in the language: depth-first over what may come next, each
/// situation once. With a store to be put back: one of which the word is left when it is committed.
fn rearranged(
    languages: &Languages,
    language: Language,
    word: &[Letter],
    store: Option<Letter>,
) -> Option<Vec<Letter>> {
    let is_marker = |letter: &Letter| MARKERS.contains(&letter.class);
    let parts: Vec<Part> = word.split(is_marker).map(by_class).collect();
    let markers: Vec<Letter> = word.iter().copied().filter(is_marker).collect();
    let has = |markers: &[Letter], class: u32| markers.iter().any(|m| m.class == class);
    let start = Reached { state: 0, part: 0, taken: vec![0; parts[0].len()], put: store.is_none() };
    let mut seen = BTreeSet::from([start.clone()]);
    // What led here: the number of the one before, and the letter taken.
    let mut trail: Vec<(usize, Option<Letter>)> = vec![(0, None)];
    let mut stack = vec![(start, 0)];
    while let Some((reached, number)) = stack.pop() {
        let part = &parts[reached.part];
        let mut next = Vec::new();
        for (at, (_, letters)) in part.iter().enumerate() {
            if let Some(letter) = letters.get(reached.taken[at]) {
                let mut taken = reached.taken.clone();
                taken[at] += 1;
                next.push((*letter, Reached { taken, ..reached }));
            }
        }
        if next.is_empty() {
            match markers.get(reached.part) {
                Some(marker) => {
                    let part = reached.part + 1;
                    let taken = vec![0; parts[part].len()];
                    next.push((*marker, Reached { part, taken, ..reached }));
                }
                None if reached.put && languages.accepts(language, reached.state) => {
                    return Some(told(&trail, number));
                }
                None => {}
            }
        }
        if let Some(store) = store {
            let is_first = |at: usize| {
                let count = |(at, (class, _)): (usize, &(u32, _))| {
                    if *class == store.class { reached.taken[at] } else { 0 }
                };
                let earlier = parts[..at].iter().flatten().any(|(class, _)| *class == store.class);
                !earlier && part.iter().enumerate().map(count).sum::<usize>() == 0
            };
            let passes = !has(&markers[..reached.part], STORE_STORE);
            if !reached.put && passes && is_first(reached.part) {
                next.push((store, Reached { put: true, ..reached.clone() }));
            }
            // Markers that went with it: those at the front, and those before the last for loads.
            let nothing = reached.part == 0 && reached.taken.iter().all(|taken| *taken == 0);
            let earlier = !nothing && has(&markers[reached.part..], STORE_LOAD);
            for class in MARKERS {
                if nothing && reached.put || earlier && class == STORE_LOAD {
                    next.push((marker(class), reached.clone()));
                }
            }
        }
        for (letter, mut after) in next {
            let Some(state) = languages.step(language, reached.state, letter) else { continue };
            after.state = state;
            if seen.insert(after.clone()) {
                trail.push((number, Some(letter)));
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

/// The letters that led somewhere.
fn told(trail: &[(usize, Option<Letter>)], mut number: usize) -> Vec<Letter> {
    let mut letters = Vec::new();
    while let (before, Some(letter)) = trail[number] {
        letters.push(letter);
        number = before;
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

    fn find(kept: &[Letter], asked: &[Letter]) -> Option<Vec<Letter>> {
        let mut languages = Languages::new();
        let language = languages.word(kept);
        rearranged(&languages, language, asked, None)
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
