//! The canonical DFA of a language: minimal, without dead states, states numbered breadth-first.
//!
//! State 0 is the start state and always exists. The DFA of the empty language has only this state.
//! In every other canonical DFA, each state is reachable and *live* (it reaches an accepting
//! state), no two states accept the same words, and states are numbered in breadth-first order from
//! the start, with transitions in the order of their letters. Two languages are equal exactly when
//! their canonical DFAs are equal as values.

use crate::Letter;

/// A DFA. It is canonical except while an operation builds it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Dfa {
    accepting: Box<[bool]>,
    /// By state: the index of its first transition in `transitions`. The last entry is the end.
    offsets: Box<[u32]>,
    /// Letters and target states, sorted by source state, then by letter.
    transitions: Box<[(Letter, u32)]>,
}

/// Builds a DFA state by state.
#[derive(Debug)]
pub(crate) struct Builder {
    accepting: Vec<bool>,
    offsets: Vec<u32>,
    transitions: Vec<(Letter, u32)>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { accepting: Vec::new(), offsets: vec![0], transitions: Vec::new() }
    }

    /// Adds a transition to the current state. Letters must be added in strictly increasing order.
    pub(crate) fn add_transition(&mut self, letter: Letter, target: u32) {
        self.transitions.push((letter, target));
    }

    /// Completes the current state.
    pub(crate) fn finish_state(&mut self, accepting: bool) {
        self.accepting.push(accepting);
        self.offsets.push(
            u32::try_from(self.transitions.len())
                .expect("a DFA must have fewer than 2^32 transitions"),
        );
    }

    /// Returns the DFA as built. It is not necessarily canonical.
    pub(crate) fn finish(self) -> Dfa {
        Dfa {
            accepting: self.accepting.into(),
            offsets: self.offsets.into(),
            transitions: self.transitions.into(),
        }
    }
}

impl Dfa {
    /// Returns the DFA of the empty language, or, if `accepting`, of the empty word.
    pub(crate) fn single(accepting: bool) -> Self {
        let mut builder = Builder::new();
        builder.finish_state(accepting);
        builder.finish()
    }

    /// Returns the number of states, at least one.
    pub(crate) fn len(&self) -> usize {
        self.accepting.len()
    }

    /// Returns all states.
    pub(crate) fn states(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        0..self.len() as u32
    }

    /// Returns whether a state is accepting.
    pub(crate) fn accepts(&self, state: u32) -> bool {
        self.accepting[state as usize]
    }

    /// Returns the transitions of a state, in the order of their letters.
    pub(crate) fn transitions(&self, state: u32) -> &[(Letter, u32)] {
        let state = state as usize;
        &self.transitions[self.offsets[state] as usize..self.offsets[state + 1] as usize]
    }

    /// Returns the target of the transition with a letter, if any.
    pub(crate) fn step(&self, state: u32, letter: Letter) -> Option<u32> {
        let transitions = self.transitions(state);
        let at = transitions.binary_search_by_key(&letter, |(letter, _)| *letter).ok()?;
        Some(transitions[at].1)
    }

    /// Returns the state reached from the start by a word, if any.
    pub(crate) fn run(&self, word: &[Letter]) -> Option<u32> {
        word.iter().try_fold(0, |state, letter| self.step(state, *letter))
    }

    /// Returns whether the language is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.transitions.is_empty() && !self.accepting[0]
    }

    /// Returns the DFA with another start state, restricted to reachable states and numbered
    /// breadth-first. If this DFA is minimal and has no dead states, the result is canonical.
    pub(crate) fn rooted_at(&self, start: u32) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let mut numbers = vec![UNSEEN; self.len()];
        let mut order = vec![start];
        numbers[start as usize] = 0;
        let mut builder = Builder::new();
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            for &(letter, target) in self.transitions(state) {
                if numbers[target as usize] == UNSEEN {
                    numbers[target as usize] = order.len() as u32;
                    order.push(target);
                }
                builder.add_transition(letter, numbers[target as usize]);
            }
            builder.finish_state(self.accepts(state));
            next += 1;
        }
        builder.finish()
    }

    /// Returns, by state, the length of a shortest word accepted from the state; `u32::MAX` if
    /// none.
    pub(crate) fn distances_to_acceptance(&self) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.len()];
        let mut queue: Vec<u32> = self.states().filter(|state| self.accepts(*state)).collect();
        for &state in &queue {
            distances[state as usize] = 0;
        }
        let (offsets, predecessors) = self.predecessors();
        let mut next = 0;
        while let Some(&state) = queue.get(next) {
            let state = state as usize;
            for &predecessor in &predecessors[offsets[state] as usize..offsets[state + 1] as usize]
            {
                if distances[predecessor as usize] == u32::MAX {
                    distances[predecessor as usize] = distances[state] + 1;
                    queue.push(predecessor);
                }
            }
            next += 1;
        }
        distances
    }

    /// Returns the predecessors of all states, grouped by state: the offset of each group, and the
    /// predecessors.
    fn predecessors(&self) -> (Vec<u32>, Vec<u32>) {
        let mut offsets = vec![0; self.len() + 1];
        for (_, target) in &self.transitions {
            offsets[*target as usize + 1] += 1;
        }
        for state in 0..self.len() {
            offsets[state + 1] += offsets[state];
        }
        let mut fill = offsets.clone();
        let mut predecessors = vec![0; self.transitions.len()];
        for state in self.states() {
            for (_, target) in self.transitions(state) {
                predecessors[fill[*target as usize] as usize] = state;
                fill[*target as usize] += 1;
            }
        }
        (offsets, predecessors)
    }

    /// Returns the states in topological order; `None` if there is a cycle. All states must be
    /// reachable.
    pub(crate) fn topological_order(&self) -> Option<Vec<u32>> {
        let mut pending_predecessors = vec![0u32; self.len()];
        for (_, target) in &self.transitions {
            pending_predecessors[*target as usize] += 1;
        }
        let mut order: Vec<u32> =
            self.states().filter(|s| pending_predecessors[*s as usize] == 0).collect();
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            for (_, target) in self.transitions(state) {
                pending_predecessors[*target as usize] -= 1;
                if pending_predecessors[*target as usize] == 0 {
                    order.push(*target);
                }
            }
            next += 1;
        }
        (order.len() == self.len()).then_some(order)
    }

    /// Returns the classes of all letters, sorted.
    pub(crate) fn classes(&self) -> Vec<u32> {
        let mut classes: Vec<u32> =
            self.transitions.iter().map(|(letter, _)| letter.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Returns the approximate memory use in bytes, including allocator overhead for four
    /// allocations.
    pub(crate) fn bytes(&self) -> u64 {
        const OVERHEAD: usize = 4 * 16;
        let parts = size_of_val(&*self.accepting)
            + size_of_val(&*self.offsets)
            + size_of_val(&*self.transitions)
            + size_of::<Self>()
            + OVERHEAD;
        parts as u64
    }
}
