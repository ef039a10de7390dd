//! Queries about the words of a language: membership, enumeration, finiteness, first and last
//! letters.
//!
//! All queries traverse the canonical DFA. No state is dead, so every path extends to an accepted
//! word, and a cycle implies infinitely many words.

use crate::dfa::Dfa;
use crate::{Language, Languages, Letter};

impl Languages {
    /// Returns the successor of a DFA state for a letter; `None` if no word continues with the
    /// letter. The start state is 0.
    pub fn step(&self, l: Language, state: u32, letter: Letter) -> Option<u32> {
        self.dfa(l).step(state, letter)
    }

    /// Returns whether a state of the DFA is accepting.
    pub fn accepts(&self, l: Language, state: u32) -> bool {
        self.dfa(l).accepts(state)
    }

    /// Returns the classes of the letters that occur in words, sorted.
    pub fn classes(&self, l: Language) -> Vec<u32> {
        self.dfa(l).classes()
    }

    /// Returns the possible first letters of words, sorted.
    pub fn first_letters(&self, l: Language) -> Vec<Letter> {
        self.dfa(l).transitions(0).iter().map(|(letter, _)| *letter).collect()
    }

    /// Returns whether the language contains the empty word.
    pub fn contains_empty_word(&self, l: Language) -> bool {
        self.dfa(l).accepts(0)
    }

    /// Returns whether the language contains a word.
    pub fn contains(&self, l: Language, word: &[Letter]) -> bool {
        let dfa = self.dfa(l);
        dfa.run(word).is_some_and(|state| dfa.accepts(state))
    }

    /// Returns whether the language is finite.
    pub fn is_finite(&self, l: Language) -> bool {
        self.dfa(l).topological_order().is_some()
    }

    /// Returns all words if there are at most this many.
    pub fn words_if_at_most(&self, l: Language, most: u64) -> Option<Vec<Vec<Letter>>> {
        self.dfa(l).words_if_at_most(most)
    }

    /// Returns the lexicographically least of the shortest words; `None` if the language is empty.
    pub fn shortest_word(&self, l: Language) -> Option<Vec<Letter>> {
        let dfa = self.dfa(l);
        if dfa.is_empty() {
            return None;
        }
        let distances = dfa.distances_to_acceptance();
        let mut word = Vec::new();
        let mut state = 0;
        while !dfa.accepts(state) {
            let closer = |(_, target): &&(Letter, u32)| {
                distances[*target as usize] < distances[state as usize]
            };
            let (letter, target) = *dfa
                .transitions(state)
                .iter()
                .find(closer)
                .expect("a live state must have a transition towards acceptance");
            word.push(letter);
            state = target;
        }
        Some(word)
    }

    /// Returns all words of at most `longest` letters, shortest first, then in lexicographic order.
    /// The number of words may be exponential in `longest`.
    pub fn words_up_to(&self, l: Language, longest: usize) -> Vec<Vec<Letter>> {
        self.dfa(l).words(longest)
    }

    /// Returns the number of states of the canonical DFA. It has no dead states, except the start
    /// state of the empty language.
    pub fn state_count(&self, l: Language) -> usize {
        self.dfa(l).len()
    }
}

impl Dfa {
    /// Returns all words of at most `longest` letters, shortest first.
    fn words(&self, longest: usize) -> Vec<Vec<Letter>> {
        let distances = self.distances_to_acceptance();
        let fits = |state: u32, length: usize| {
            let rest = distances[state as usize];
            rest != u32::MAX && length.saturating_add(rest as usize) <= longest
        };
        let mut words = Vec::new();
        let mut layer: Vec<(Vec<Letter>, u32)> = Vec::new();
        if fits(0, 0) {
            layer.push((Vec::new(), 0));
        }
        while !layer.is_empty() {
            let mut next = Vec::new();
            for (word, state) in layer {
                for &(letter, target) in self.transitions(state) {
                    if fits(target, word.len().saturating_add(1)) {
                        let mut longer = word.clone();
                        longer.push(letter);
                        next.push((longer, target));
                    }
                }
                if self.accepts(state) {
                    words.push(word);
                }
            }
            layer = next;
        }
        words
    }

    /// Returns all words if there are at most `most`.
    pub(crate) fn words_if_at_most(&self, most: u64) -> Option<Vec<Vec<Letter>>> {
        let order = self.topological_order()?;
        let mut counts = vec![0u64; self.len()];
        for &state in order.iter().rev() {
            let after = self.transitions(state).iter().map(|(_, target)| counts[*target as usize]);
            counts[state as usize] =
                after.fold(u64::from(self.accepts(state)), u64::saturating_add);
        }
        (counts[0] <= most).then(|| self.words(self.len()))
    }

    /// Returns the possible values of the last letter of a class, sorted. Such a letter has a
    /// transition after which a word can end without another letter of the class.
    pub(crate) fn last_values(&self, class: u32) -> Vec<i64> {
        let mut can_end: Vec<bool> = self.states().map(|state| self.accepts(state)).collect();
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        for state in self.states() {
            for (_, target) in self.transitions(state).iter().filter(|(l, _)| l.class != class) {
                sources[*target as usize].push(state);
            }
        }
        let mut stack: Vec<u32> = self.states().filter(|state| self.accepts(*state)).collect();
        while let Some(state) = stack.pop() {
            for &source in &sources[state as usize] {
                if !can_end[source as usize] {
                    can_end[source as usize] = true;
                    stack.push(source);
                }
            }
        }
        let transitions = self.states().flat_map(|state| self.transitions(state));
        let lasts =
            transitions.filter(|(letter, to)| letter.class == class && can_end[*to as usize]);
        let mut values: Vec<i64> = lasts.map(|(letter, _)| letter.value).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Returns the letters that are the first of their class in some word, with no letter of the
    /// class `barrier` before them. Letters of that class are excluded.
    pub(crate) fn removable_letters(&self, barrier: u32) -> Vec<Letter> {
        let mut letters = Vec::new();
        for class in self.classes().into_iter().filter(|class| *class != barrier) {
            let mut seen = vec![false; self.len()];
            seen[0] = true;
            let mut stack = vec![0];
            while let Some(state) = stack.pop() {
                for &(letter, target) in self.transitions(state) {
                    if letter.class == class {
                        letters.push(letter);
                    } else if letter.class != barrier && !seen[target as usize] {
                        seen[target as usize] = true;
                        stack.push(target);
                    }
                }
            }
        }
        letters.sort_unstable();
        letters.dedup();
        letters
    }
}
