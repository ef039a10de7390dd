//! Nondeterministic finite automata (NFAs) with epsilon transitions: the intermediate form of most
//! operations.
//!
//! [`Nfa::into_minimal_dfa`] has four phases: remove states that reach no accepting state (trim),
//! determinise by the subset construction, minimise, and number the states. Determinisation may
//! take time and memory exponential in the number of states. This is inherent: some operations have
//! results of exponential size.

use crate::Letter;
use crate::dfa::{Builder, Dfa};
use crate::minimise::minimise;
use rustc_hash::FxHashMap;

/// An NFA.
#[derive(Debug, Default)]
pub(crate) struct Nfa {
    accepting: Vec<bool>,
    starts: Vec<u32>,
    /// Source, letter, target.
    transitions: Vec<(u32, Letter, u32)>,
    /// Source, target.
    epsilon_transitions: Vec<(u32, u32)>,
}

impl Nfa {
    /// Adds a state.
    pub(crate) fn add_state(&mut self, accepting: bool) -> u32 {
        self.accepting.push(accepting);
        u32::try_from(self.accepting.len() - 1).expect("an NFA must have fewer than 2^32 states")
    }

    /// Adds one non-accepting state for each state of a DFA. Returns the offset from DFA states to
    /// the new states.
    pub(crate) fn add_states_of(&mut self, dfa: &Dfa) -> u32 {
        let base = self.accepting.len();
        self.accepting.resize(base + dfa.len(), false);
        u32::try_from(base).expect("an NFA must have fewer than 2^32 states")
    }

    /// Adds a copy of a DFA: its states and transitions, and, if `accepting`, its accepting states.
    /// Returns the offset from DFA states to the new states.
    pub(crate) fn add_copy(&mut self, dfa: &Dfa, accepting: bool) -> u32 {
        let base = self.add_states_of(dfa);
        for state in dfa.states() {
            if accepting && dfa.accepts(state) {
                self.set_accepting(base + state);
            }
            for (letter, target) in dfa.transitions(state) {
                self.add_transition(base + state, *letter, base + *target);
            }
        }
        base
    }

    /// Makes a state a start state.
    pub(crate) fn add_start(&mut self, state: u32) {
        self.starts.push(state);
    }

    /// Makes a state accepting.
    pub(crate) fn set_accepting(&mut self, state: u32) {
        self.accepting[state as usize] = true;
    }

    /// Adds a transition.
    pub(crate) fn add_transition(&mut self, from: u32, letter: Letter, to: u32) {
        self.transitions.push((from, letter, to));
    }

    /// Adds an epsilon transition.
    pub(crate) fn add_epsilon_transition(&mut self, from: u32, to: u32) {
        self.epsilon_transitions.push((from, to));
    }

    /// Adds a chain of transitions that reads a word.
    pub(crate) fn add_path(&mut self, from: u32, word: &[Letter], to: u32) {
        let Some((last, before)) = word.split_last() else {
            self.add_epsilon_transition(from, to);
            return;
        };
        let mut at = from;
        for letter in before {
            let next = self.add_state(false);
            self.add_transition(at, *letter, next);
            at = next;
        }
        self.add_transition(at, *last, to);
    }

    /// Returns the canonical DFA of the language.
    pub(crate) fn into_minimal_dfa(mut self) -> Dfa {
        self.trim();
        if self.starts.is_empty() {
            return Dfa::single(false);
        }
        minimise(&self.determinise())
    }

    /// Removes transitions to dead states and dead start states. Sorts the remaining transitions.
    fn trim(&mut self) {
        let mark_backward = |live: &mut Vec<bool>, reversed_edges: &mut Vec<(u32, u32)>| {
            reversed_edges.sort_unstable();
            let mut stack: Vec<u32> =
                (0..live.len() as u32).filter(|state| live[*state as usize]).collect();
            while let Some(state) = stack.pop() {
                let first = reversed_edges.partition_point(|(to, _)| *to < state);
                for &(_, from) in reversed_edges[first..].iter().take_while(|(to, _)| *to == state)
                {
                    if !live[from as usize] {
                        live[from as usize] = true;
                        stack.push(from);
                    }
                }
            }
        };
        let mut live = self.accepting.clone();
        let mut reversed_edges: Vec<(u32, u32)> =
            self.transitions.iter().map(|(from, _, to)| (*to, *from)).collect();
        reversed_edges.extend(self.epsilon_transitions.iter().map(|(from, to)| (*to, *from)));
        mark_backward(&mut live, &mut reversed_edges);
        self.transitions.retain(|(_, _, to)| live[*to as usize]);
        self.transitions.sort_unstable();
        self.epsilon_transitions.retain(|(_, to)| live[*to as usize]);
        self.epsilon_transitions.sort_unstable();
        self.starts.retain(|state| live[*state as usize]);
    }

    /// Determinises a trimmed NFA by the subset construction. All states of the result are live and
    /// reachable.
    fn determinise(&self) -> Dfa {
        let mut numbers: FxHashMap<Box<[u32]>, u32> = FxHashMap::default();
        let mut sets: Vec<Box<[u32]>> = Vec::new();
        let mut number = |set: Box<[u32]>, sets: &mut Vec<Box<[u32]>>| match numbers.get(&set) {
            Some(number) => *number,
            None => {
                let new =
                    u32::try_from(sets.len()).expect("an NFA must have fewer than 2^32 states");
                sets.push(set.clone());
                numbers.insert(set, new);
                new
            }
        };
        number(self.epsilon_closure(self.starts.clone()), &mut sets);
        let mut builder = Builder::new();
        let mut outgoing: Vec<(Letter, u32)> = Vec::new();
        let mut next = 0;
        while let Some(set) = sets.get(next) {
            let accepting = set.iter().any(|state| self.accepting[*state as usize]);
            outgoing.clear();
            for &state in set {
                let first = self.transitions.partition_point(|(from, ..)| *from < state);
                let transitions =
                    self.transitions[first..].iter().take_while(|(from, ..)| *from == state);
                outgoing.extend(transitions.map(|(_, letter, to)| (*letter, *to)));
            }
            outgoing.sort_unstable();
            for group in outgoing.chunk_by(|a, b| a.0 == b.0) {
                let targets = self.epsilon_closure(group.iter().map(|(_, to)| *to).collect());
                builder.add_transition(group[0].0, number(targets, &mut sets));
            }
            builder.finish_state(accepting);
            next += 1;
        }
        builder.finish()
    }

    /// Returns the epsilon closure of a set of states, sorted.
    fn epsilon_closure(&self, mut set: Vec<u32>) -> Box<[u32]> {
        set.sort_unstable();
        set.dedup();
        if !self.epsilon_transitions.is_empty() {
            let mut stack = set.clone();
            while let Some(state) = stack.pop() {
                let first = self.epsilon_transitions.partition_point(|(from, _)| *from < state);
                for &(_, to) in
                    self.epsilon_transitions[first..].iter().take_while(|(from, _)| *from == state)
                {
                    if let Err(at) = set.binary_search(&to) {
                        set.insert(at, to);
                        stack.push(to);
                    }
                }
            }
        }
        set.into()
    }
}
