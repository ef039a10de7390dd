//! Nondeterministic automata with empty moves: what operations build.
//!
//! [`Nfa::finish`] goes in four steps: leave out what does not reach an accepting state; make it deterministic
//! by sets of states; merge states that accept the same words; number the states. The second step may take
//! time and memory exponential in the number of states; that lies in the operations, of which some have results
//! of that size.

use crate::Letter;
use crate::dfa::{Builder, Dfa};
use crate::minimise::minimise;
use rustc_hash::FxHashMap;

/// A nondeterministic automaton.
#[derive(Debug, Default)]
pub(crate) struct Nfa {
    accepting: Vec<bool>,
    starts: Vec<u32>,
    /// From, letter, to.
    moves: Vec<(u32, Letter, u32)>,
    /// Moves that read nothing: from, to.
    jumps: Vec<(u32, u32)>,
}

impl Nfa {
    /// A new state.
    pub(crate) fn state(&mut self, accepting: bool) -> u32 {
        self.accepting.push(accepting);
        u32::try_from(self.accepting.len() - 1).expect("fewer than 2^32 states")
    }

    /// As many new states as an automaton has, not accepting. Returns what to add to a state's number.
    pub(crate) fn states_of(&mut self, dfa: &Dfa) -> u32 {
        let base = self.accepting.len();
        self.accepting.resize(base + dfa.len(), false);
        u32::try_from(base).expect("fewer than 2^32 states")
    }

    /// A copy of an automaton: new states, its moves, and accepting states if asked for.
    pub(crate) fn copy(&mut self, dfa: &Dfa, accepting: bool) -> u32 {
        let base = self.states_of(dfa);
        for state in dfa.states() {
            if accepting && dfa.accepts(state) {
                self.accept(base + state);
            }
            for (letter, target) in dfa.moves(state) {
                self.step(base + state, *letter, base + *target);
            }
        }
        base
    }

    /// Words may begin here.
    pub(crate) fn start(&mut self, state: u32) {
        self.starts.push(state);
    }

    /// Words may end here.
    pub(crate) fn accept(&mut self, state: u32) {
        self.accepting[state as usize] = true;
    }

    /// A move.
    pub(crate) fn step(&mut self, from: u32, letter: Letter, to: u32) {
        self.moves.push((from, letter, to));
    }

    /// A move that reads nothing.
    pub(crate) fn jump(&mut self, from: u32, to: u32) {
        self.jumps.push((from, to));
    }

    /// Moves that read a word.
    pub(crate) fn path(&mut self, from: u32, word: &[Letter], to: u32) {
        let Some((last, before)) = word.split_last() else {
            self.jump(from, to);
            return;
        };
        let mut at = from;
        for letter in before {
            let next = self.state(false);
            self.step(at, *letter, next);
            at = next;
        }
        self.step(at, *last, to);
    }

    /// The automaton of the same language in its unique form.
    pub(crate) fn finish(mut self) -> Dfa {
        self.trim();
        if self.starts.is_empty() {
            return Dfa::single(false);
        }
        minimise(&self.determinise())
    }

    /// Leaves out moves and starts from which no accepting state is reached. Sorts the rest.
    fn trim(&mut self) {
        let backward = |live: &mut Vec<bool>, arrows: &mut Vec<(u32, u32)>| {
            arrows.sort_unstable();
            let mut stack: Vec<u32> =
                (0..live.len() as u32).filter(|state| live[*state as usize]).collect();
            while let Some(state) = stack.pop() {
                let first = arrows.partition_point(|(to, _)| *to < state);
                for &(_, from) in arrows[first..].iter().take_while(|(to, _)| *to == state) {
                    if !live[from as usize] {
                        live[from as usize] = true;
                        stack.push(from);
                    }
                }
            }
        };
        let mut live = self.accepting.clone();
        let mut arrows: Vec<(u32, u32)> =
            self.moves.iter().map(|(from, _, to)| (*to, *from)).collect();
        arrows.extend(self.jumps.iter().map(|(from, to)| (*to, *from)));
        backward(&mut live, &mut arrows);
        self.moves.retain(|(_, _, to)| live[*to as usize]);
        self.moves.sort_unstable();
        self.jumps.retain(|(_, to)| live[*to as usize]);
        self.jumps.sort_unstable();
        self.starts.retain(|state| live[*state as usize]);
    }

    /// The deterministic automaton of the sets of states that a word may lead to; all live and reachable.
    fn determinise(&self) -> Dfa {
        let mut numbers: FxHashMap<Box<[u32]>, u32> = FxHashMap::default();
        let mut sets: Vec<Box<[u32]>> = Vec::new();
        let mut number = |set: Box<[u32]>, sets: &mut Vec<Box<[u32]>>| match numbers.get(&set) {
            Some(number) => *number,
            None => {
                let new = u32::try_from(sets.len()).expect("fewer than 2^32 states");
                sets.push(set.clone());
                numbers.insert(set, new);
                new
            }
        };
        number(self.closure(self.starts.clone()), &mut sets);
        let mut builder = Builder::new();
        let mut steps: Vec<(Letter, u32)> = Vec::new();
        let mut next = 0;
        while let Some(set) = sets.get(next) {
            let accepting = set.iter().any(|state| self.accepting[*state as usize]);
            steps.clear();
            for &state in set {
                let first = self.moves.partition_point(|(from, ..)| *from < state);
                let moves = self.moves[first..].iter().take_while(|(from, ..)| *from == state);
                steps.extend(moves.map(|(_, letter, to)| (*letter, *to)));
            }
            steps.sort_unstable();
            for group in steps.chunk_by(|a, b| a.0 == b.0) {
                let targets = self.closure(group.iter().map(|(_, to)| *to).collect());
                builder.step(group[0].0, number(targets, &mut sets));
            }
            builder.close(accepting);
            next += 1;
        }
        builder.finish()
    }

    /// A set with what it reaches by moves that read nothing, in order.
    fn closure(&self, mut set: Vec<u32>) -> Box<[u32]> {
        set.sort_unstable();
        set.dedup();
        if !self.jumps.is_empty() {
            let mut stack = set.clone();
            while let Some(state) = stack.pop() {
                let first = self.jumps.partition_point(|(from, _)| *from < state);
                for &(_, to) in self.jumps[first..].iter().take_while(|(from, _)| *from == state) {
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
