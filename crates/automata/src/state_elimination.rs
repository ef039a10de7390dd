//! Conversion of a language to a short regular expression, by state elimination.
//!
//! The DFA gets a new start state without incoming edges and a new end state without outgoing
//! edges. The original states are then eliminated one by one. Each path through an eliminated state
//! becomes an edge with the expression of that path. The order of elimination determines the length
//! of the result. We eliminate the state that adds the fewest letters (the weight of Delgado and
//! Morais). Ties are broken in two ways, by the state nearest to the start and by the state
//! farthest from it, and the shorter result is kept. Expressions are simplified during
//! construction, see [`crate::expression`].
//! Direction: exact, or no expression. An expression of more than [`MAX_LETTERS`] letters is not
//! readable and may exceed the available memory. The number of states replaces it, as `⟨27
//! states⟩`.

use crate::dfa::Dfa;
use crate::expression::Expression;
use crate::{Language, Languages, Letter};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of letters of an expression, and of states of its DFA.
const MAX_LETTERS: usize = 1000;
/// The maximum number of letters in all intermediate expressions together.
const MAX_WRITTEN_LETTERS: usize = 200 * MAX_LETTERS;

impl Languages {
    /// Returns the language as a regular expression, such as `ε`, `∅` or `(x,1)((x,0)(x,1))*`, with
    /// `|` for alternatives and `?` for optional parts. `name` prints a letter; the text should
    /// read as one unit. An expression that is too long is replaced by the number of states, as
    /// `⟨27 states⟩`.
    pub fn regex(&self, l: Language, name: &dyn Fn(Letter) -> String) -> String {
        let dfa = self.dfa(l);
        if dfa.is_empty() {
            return "∅".into();
        }
        let candidates = [TieBreak::NearStart, TieBreak::NearEnd]
            .map(|tie_break| eliminate_states(dfa, tie_break));
        let shortest =
            candidates.iter().flatten().min_by_key(|expression| expression.letter_count());
        match shortest {
            Some(expression) => expression.render(name),
            None => format!("⟨{} states⟩", dfa.len()),
        }
    }
}

/// Which of two states of the same weight is eliminated first.
#[derive(Clone, Copy)]
enum TieBreak {
    NearStart,
    NearEnd,
}

/// Returns an expression for a non-empty language; `None` if it is too long.
fn eliminate_states(dfa: &Dfa, tie_break: TieBreak) -> Option<Expression> {
    if dfa.len() > MAX_LETTERS {
        return None;
    }
    let mut graph = EliminationGraph::new(dfa.len() + 2);
    let (start, end) = (dfa.len(), dfa.len() + 1);
    graph.add(start, 0, Expression::Epsilon);
    for state in dfa.states() {
        let from = state as usize;
        let mut by_target: BTreeMap<usize, Vec<Expression>> = BTreeMap::new();
        for (letter, target) in dfa.transitions(state) {
            by_target.entry(*target as usize).or_default().push(Expression::Letter(*letter));
        }
        for (target, letters) in by_target {
            graph.add(from, target, Expression::alternation(letters));
        }
        if dfa.accepts(state) {
            graph.add(from, end, Expression::Epsilon);
        }
    }
    let mut remaining: Vec<usize> = (0..dfa.len()).collect();
    if let TieBreak::NearEnd = tie_break {
        remaining.reverse();
    }
    while let Some(at) = (0..remaining.len()).min_by_key(|at| graph.weight(remaining[*at])) {
        if !graph.eliminate(remaining.remove(at)) {
            return None;
        }
    }
    Some(
        graph.out[start]
            .remove(&end)
            .expect("the start state of a non-empty language must reach the end state")
            .expression,
    )
}

/// The automaton during elimination. There is at most one edge from one state to another.
struct EliminationGraph {
    out: Vec<BTreeMap<usize, Edge>>,
    into: Vec<BTreeSet<usize>>,
    /// The number of letters in all expressions added so far, plus one for each expression.
    written: usize,
}

struct Edge {
    expression: Expression,
    letter_count: usize,
}

impl EliminationGraph {
    fn new(states: usize) -> Self {
        let out = (0..states).map(|_| BTreeMap::new()).collect();
        Self { out, into: vec![BTreeSet::new(); states], written: 0 }
    }

    /// Adds an alternative to the edge between two states. Returns false if there are too many
    /// letters.
    fn add(&mut self, from: usize, to: usize, expression: Expression) -> bool {
        let expression = match self.out[from].remove(&to) {
            Some(edge) => Expression::alternation(vec![edge.expression, expression]),
            None => expression,
        };
        let letter_count = expression.letter_count();
        self.out[from].insert(to, Edge { expression, letter_count });
        self.into[to].insert(from);
        // An edge without letters also takes time.
        self.written += letter_count + 1;
        letter_count <= MAX_LETTERS && self.written <= MAX_WRITTEN_LETTERS
    }

    /// Returns the number of letters that the elimination of a state adds: for each of its edges,
    /// the letters times the number of copies beyond the first.
    fn weight(&self, state: usize) -> usize {
        let entering = self.into[state].iter().filter(|from| **from != state);
        let entering: Vec<usize> =
            entering.map(|from| self.out[*from][&state].letter_count).collect();
        let self_loop = self.out[state].get(&state).map_or(0, |edge| edge.letter_count);
        let leaving = self.out[state].iter().filter(|(to, _)| **to != state);
        let leaving: Vec<usize> = leaving.map(|(_, edge)| edge.letter_count).collect();
        let (ins, outs) = (entering.len(), leaving.len());
        let copies = |letters: usize, uses: usize| letters.saturating_mul(uses.saturating_sub(1));
        let parts = entering.iter().map(|letter_count| copies(*letter_count, outs));
        let parts = parts.chain(leaving.iter().map(|letter_count| copies(*letter_count, ins)));
        parts.chain([copies(self_loop, ins * outs)]).fold(0, usize::saturating_add)
    }

    /// Eliminates a state. Returns false if there are too many letters.
    fn eliminate(&mut self, state: usize) -> bool {
        let mut leaving = std::mem::take(&mut self.out[state]);
        let self_loop = leaving.remove(&state);
        let repeated =
            self_loop.map_or(Expression::Epsilon, |edge| Expression::star(edge.expression));
        for to in leaving.keys() {
            self.into[*to].remove(&state);
        }
        for from in std::mem::take(&mut self.into[state]) {
            let Some(entering) = self.out[from].remove(&state) else { continue };
            for (to, edge) in &leaving {
                let path =
                    vec![entering.expression.clone(), repeated.clone(), edge.expression.clone()];
                if !self.add(from, *to, Expression::sequence(path)) {
                    return false;
                }
            }
        }
        true
    }
}
