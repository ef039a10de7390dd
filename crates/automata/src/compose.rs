//! One language after another, and a language any number of times.

use crate::languages::Operation;
use crate::nfa::Nfa;
use crate::{Language, Languages};

impl Languages {
    /// `A . B`: each word of the one with each word of the other after it.
    pub fn concat(&mut self, a: Language, b: Language) -> Language {
        if a == Language::EMPTY || b == Language::EMPTY {
            return Language::EMPTY;
        }
        if a == Language::EPSILON {
            return b;
        }
        if b == Language::EPSILON {
            return a;
        }
        self.make(Operation::Concat(a, b), |store| {
            let (head, tail) = (store.dfa(a), store.dfa(b));
            let mut nfa = Nfa::default();
            let from = nfa.copy(head, false);
            let to = nfa.copy(tail, true);
            nfa.start(from);
            for state in head.states().filter(|state| head.accepts(*state)) {
                nfa.jump(from + state, to);
            }
            nfa.finish()
        })
    }

    /// Every word with only its letters of one class.
    pub fn project(&mut self, l: Language, class: u32) -> Language {
        self.make(Operation::Project(l, class), |store| {
            let dfa = store.dfa(l);
            let mut nfa = Nfa::default();
            let base = nfa.states_of(dfa);
            nfa.start(base);
            for state in dfa.states() {
                if dfa.accepts(state) {
                    nfa.accept(base + state);
                }
                for (letter, to) in dfa.moves(state) {
                    if letter.class == class {
                        nfa.step(base + state, *letter, base + *to);
                    } else {
                        nfa.jump(base + state, base + *to);
                    }
                }
            }
            nfa.finish()
        })
    }

    /// Every word without its letters of one class but the last of them.
    pub fn last_only(&mut self, l: Language, class: u32) -> Language {
        self.make(Operation::LastOnly(l, class), |store| {
            let dfa = store.dfa(l);
            let mut nfa = Nfa::default();
            // Before the last letter of the class, and after it or without any.
            let [before, after] = [nfa.states_of(dfa), nfa.states_of(dfa)];
            nfa.start(before);
            nfa.start(after);
            for state in dfa.states() {
                if dfa.accepts(state) {
                    nfa.accept(after + state);
                }
                for (letter, to) in dfa.moves(state) {
                    if letter.class == class {
                        nfa.jump(before + state, before + *to);
                        nfa.step(before + state, *letter, after + *to);
                    } else {
                        nfa.step(before + state, *letter, before + *to);
                        nfa.step(after + state, *letter, after + *to);
                    }
                }
            }
            nfa.finish()
        })
    }

    /// The classes of letters that words of the language have, in order.
    pub fn classes(&self, l: Language) -> Vec<u32> {
        let dfa = self.dfa(l);
        let letters = dfa.states().flat_map(|state| dfa.moves(state));
        let mut classes: Vec<u32> = letters.map(|(letter, _)| letter.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// What the language becomes when the letters of each class are chosen on their own: its projections to
    /// the classes one after another, in order. A language that is its own product is
    /// known by its projections.
    pub fn product(&mut self, l: Language) -> Language {
        if let Some(known) = self.known(Operation::Product(l)) {
            return known;
        }
        let mut product = if l == Language::EMPTY { l } else { Language::EPSILON };
        for class in self.classes(l) {
            let factor = self.project(l, class);
            product = self.concat(product, factor);
        }
        self.remember(Operation::Product(l), product);
        product
    }

    /// `L*`: words of the language one after another, any number of them.
    pub fn star(&mut self, l: Language) -> Language {
        if l == Language::EMPTY || l == Language::EPSILON {
            return Language::EPSILON;
        }
        self.make(Operation::Star(l), |store| {
            let dfa = store.dfa(l);
            let mut nfa = Nfa::default();
            let hub = nfa.state(true);
            let base = nfa.copy(dfa, false);
            nfa.start(hub);
            nfa.jump(hub, base);
            for state in dfa.states().filter(|state| dfa.accepts(*state)) {
                nfa.jump(base + state, hub);
            }
            nfa.finish()
        })
    }
}
