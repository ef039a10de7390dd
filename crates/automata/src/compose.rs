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
