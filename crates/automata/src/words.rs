//! Questions about the words of a language.
//!
//! All are answered by walks through the automaton. Since no state is dead, whatever can be begun can
//! be ended, and a cycle means infinitely many words.

use crate::dfa::Dfa;
use crate::{Language, Languages, Letter};

impl Languages {
    /// The state of the language's automaton that a letter leads to from a state; 0 is the start. None when no
    /// word goes on like that.
    pub fn step(&self, l: Language, state: u32, letter: Letter) -> Option<u32> {
        self.dfa(l).step(state, letter)
    }

    /// Whether a word may end in a state of the language's automaton.
    pub fn accepts(&self, l: Language, state: u32) -> bool {
        self.dfa(l).accepts(state)
    }

    /// The classes of letters that words of the language have, in order.
    pub fn classes(&self, l: Language) -> Vec<u32> {
        self.dfa(l).classes()
    }

    /// The letters that words begin with, in order.
    pub fn firsts(&self, l: Language) -> Vec<Letter> {
        self.dfa(l).moves(0).iter().map(|(letter, _)| *letter).collect()
    }

    /// Whether the empty word is in the language.
    pub fn contains_empty(&self, l: Language) -> bool {
        self.dfa(l).accepts(0)
    }

    /// Whether a word is in the language.
    pub fn contains(&self, l: Language, word: &[Letter]) -> bool {
        let dfa = self.dfa(l);
        dfa.run(word).is_some_and(|state| dfa.accepts(state))
    }

    /// Whether the language has finitely many words.
    pub fn is_finite(&self, l: Language) -> bool {
        self.dfa(l).topological().is_some()
    }

    /// A shortest word, the least of them in the order of letters; `None` if there is no word.
    pub fn shortest(&self, l: Language) -> Option<Vec<Letter>> {
        let dfa = self.dfa(l);
        if dfa.is_empty() {
            return None;
        }
        let distances = dfa.distances();
        let mut word = Vec::new();
        let mut state = 0;
        while !dfa.accepts(state) {
            let closer = |(_, target): &&(Letter, u32)| {
                distances[*target as usize] < distances[state as usize]
            };
            let (letter, target) =
                *dfa.moves(state).iter().find(closer).expect("a live state has a shortest word");
            word.push(letter);
            state = target;
        }
        Some(word)
    }

    /// All words up to a length, shortest first, those of one length in the order of letters. Their number may
    /// be exponential in the length.
    pub fn words(&self, l: Language, longest: usize) -> Vec<Vec<Letter>> {
        self.dfa(l).words(longest)
    }

    /// How many states the automaton has, without a dead one; the start always counts.
    pub fn states(&self, l: Language) -> usize {
        self.dfa(l).len()
    }
}

impl Dfa {
    /// All words up to a length, shortest first.
    fn words(&self, longest: usize) -> Vec<Vec<Letter>> {
        let distances = self.distances();
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
                for &(letter, target) in self.moves(state) {
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

    /// All words, if there are not more than this.
    pub(crate) fn few_words(&self, most: u64) -> Option<Vec<Vec<Letter>>> {
        let order = self.topological()?;
        let mut counts = vec![0u64; self.len()];
        for &state in order.iter().rev() {
            let after = self.moves(state).iter().map(|(_, target)| counts[*target as usize]);
            counts[state as usize] =
                after.fold(u64::from(self.accepts(state)), u64::saturating_add);
        }
        (counts[0] <= most).then(|| self.words(self.len()))
    }

    /// The values of last letters of a class: those of moves after which a word can end without another one.
    pub(crate) fn lasts(&self, class: u32) -> Vec<i32> {
        let mut ends: Vec<bool> = self.states().map(|state| self.accepts(state)).collect();
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        for state in self.states() {
            for (_, target) in self.moves(state).iter().filter(|(l, _)| l.class != class) {
                sources[*target as usize].push(state);
            }
        }
        let mut stack: Vec<u32> = self.states().filter(|state| self.accepts(*state)).collect();
        while let Some(state) = stack.pop() {
            for &source in &sources[state as usize] {
                if !ends[source as usize] {
                    ends[source as usize] = true;
                    stack.push(source);
                }
            }
        }
        let moves = self.states().flat_map(|state| self.moves(state));
        let lasts = moves.filter(|(letter, to)| letter.class == class && ends[*to as usize]);
        let mut values: Vec<i32> = lasts.map(|(letter, _)| letter.value).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The letters that are the first of their class in some word, with no barrier before.
    pub(crate) fn removable(&self, barrier: u32) -> Vec<Letter> {
        let mut letters = Vec::new();
        for class in self.classes().into_iter().filter(|class| *class != barrier) {
            let mut seen = vec![false; self.len()];
            seen[0] = true;
            let mut stack = vec![0];
            while let Some(state) = stack.pop() {
                for &(letter, target) in self.moves(state) {
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
