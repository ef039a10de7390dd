//! The unique automaton of a language: minimal, without dead states, states numbered breadth-first.
//!
//! State 0 is the start and always exists; the empty language has just that state. Of every other automaton
//! each state is reachable and reaches an accepting one (it is *live*), no two accept the same words, and the
//! states are numbered in the order in which a breadth-first walk from the start meets them, moves in order of
//! their letters. Two languages are equal exactly when the automata are equal as values.

use crate::Letter;

/// A deterministic automaton; in its unique form except while it is being built.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Dfa {
    accepting: Box<[bool]>,
    /// By state: where its moves begin in `moves`; one more for the end.
    begins: Box<[u32]>,
    /// By state, then by letter.
    moves: Box<[(Letter, u32)]>,
}

/// Builds an automaton state by state.
#[derive(Debug)]
pub(crate) struct Builder {
    accepting: Vec<bool>,
    begins: Vec<u32>,
    moves: Vec<(Letter, u32)>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self { accepting: Vec::new(), begins: vec![0], moves: Vec::new() }
    }

    /// A move of the state that is being built. They must come in order of their letters, which must differ.
    pub(crate) fn step(&mut self, letter: Letter, target: u32) {
        self.moves.push((letter, target));
    }

    /// The state that was being built is complete.
    pub(crate) fn close(&mut self, accepting: bool) {
        self.accepting.push(accepting);
        self.begins.push(u32::try_from(self.moves.len()).expect("fewer than 2^32 moves"));
    }

    /// The automaton, as it was built.
    pub(crate) fn finish(self) -> Dfa {
        Dfa {
            accepting: self.accepting.into(),
            begins: self.begins.into(),
            moves: self.moves.into(),
        }
    }
}

impl Dfa {
    /// The language without words, or that of the empty word.
    pub(crate) fn single(accepting: bool) -> Self {
        let mut builder = Builder::new();
        builder.close(accepting);
        builder.finish()
    }

    /// How many states there are, at least one.
    pub(crate) fn len(&self) -> usize {
        self.accepting.len()
    }

    /// All states.
    pub(crate) fn states(&self) -> impl DoubleEndedIterator<Item = u32> + use<> {
        0..self.len() as u32
    }

    /// Whether a word may end in a state.
    pub(crate) fn accepts(&self, state: u32) -> bool {
        self.accepting[state as usize]
    }

    /// The moves of a state, letters in order.
    pub(crate) fn moves(&self, state: u32) -> &[(Letter, u32)] {
        let state = state as usize;
        &self.moves[self.begins[state] as usize..self.begins[state + 1] as usize]
    }

    /// Where a letter leads.
    pub(crate) fn step(&self, state: u32, letter: Letter) -> Option<u32> {
        let moves = self.moves(state);
        let at = moves.binary_search_by_key(&letter, |(letter, _)| *letter).ok()?;
        Some(moves[at].1)
    }

    /// Where a word leads.
    pub(crate) fn run(&self, word: &[Letter]) -> Option<u32> {
        word.iter().try_fold(0, |state, letter| self.step(state, *letter))
    }

    /// Whether the language has no word.
    pub(crate) fn is_empty(&self) -> bool {
        self.moves.is_empty() && !self.accepting[0]
    }

    /// What is accepted from a state: the part that it reaches, numbered breadth-first. If this automaton is
    /// minimal and without dead states, so is that one.
    pub(crate) fn restart(&self, start: u32) -> Self {
        const UNSEEN: u32 = u32::MAX;
        let mut numbers = vec![UNSEEN; self.len()];
        let mut order = vec![start];
        numbers[start as usize] = 0;
        let mut builder = Builder::new();
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            for &(letter, target) in self.moves(state) {
                if numbers[target as usize] == UNSEEN {
                    numbers[target as usize] = order.len() as u32;
                    order.push(target);
                }
                builder.step(letter, numbers[target as usize]);
            }
            builder.close(self.accepts(state));
            next += 1;
        }
        builder.finish()
    }

    /// By state: the length of a shortest word accepted from it, `u32::MAX` if there is none.
    pub(crate) fn distances(&self) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.len()];
        let mut queue: Vec<u32> = self.states().filter(|state| self.accepts(*state)).collect();
        for &state in &queue {
            distances[state as usize] = 0;
        }
        let (begins, sources) = self.sources();
        let mut next = 0;
        while let Some(&state) = queue.get(next) {
            let state = state as usize;
            for &source in &sources[begins[state] as usize..begins[state + 1] as usize] {
                if distances[source as usize] == u32::MAX {
                    distances[source as usize] = distances[state] + 1;
                    queue.push(source);
                }
            }
            next += 1;
        }
        distances
    }

    /// By state, where the states with a move to it begin; and these states.
    fn sources(&self) -> (Vec<u32>, Vec<u32>) {
        let mut begins = vec![0; self.len() + 1];
        for (_, target) in &self.moves {
            begins[*target as usize + 1] += 1;
        }
        for state in 0..self.len() {
            begins[state + 1] += begins[state];
        }
        let mut fill = begins.clone();
        let mut sources = vec![0; self.moves.len()];
        for state in self.states() {
            for (_, target) in self.moves(state) {
                sources[fill[*target as usize] as usize] = state;
                fill[*target as usize] += 1;
            }
        }
        (begins, sources)
    }

    /// The states in an order in which every move leads forward; `None` if there is a cycle. All states must be
    /// reachable.
    pub(crate) fn topological(&self) -> Option<Vec<u32>> {
        let mut waiting = vec![0u32; self.len()];
        for (_, target) in &self.moves {
            waiting[*target as usize] += 1;
        }
        let mut order: Vec<u32> = self.states().filter(|s| waiting[*s as usize] == 0).collect();
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            for (_, target) in self.moves(state) {
                waiting[*target as usize] -= 1;
                if waiting[*target as usize] == 0 {
                    order.push(*target);
                }
            }
            next += 1;
        }
        (order.len() == self.len()).then_some(order)
    }

    /// All classes of its letters, in order.
    pub(crate) fn classes(&self) -> Vec<u32> {
        let mut classes: Vec<u32> = self.moves.iter().map(|(letter, _)| letter.class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// Roughly how much memory it takes, with what the allocator keeps for its four pieces.
    pub(crate) fn bytes(&self) -> u64 {
        const OVERHEAD: usize = 4 * 16;
        let parts = size_of_val(&*self.accepting)
            + size_of_val(&*self.begins)
            + size_of_val(&*self.moves)
            + size_of::<Self>()
            + OVERHEAD;
        parts as u64
    }
}
