//! A language as a regular expression that people can read.
//!
//! State elimination: the automaton gets a start without moves into it and an end without moves out of it;
//! then its states go one by one, and for each way through the state that goes, an arrow with the expression of
//! that way remains. The order decides how long the result is. We take the state whose going writes the fewest
//! letters (the weight of Delgado and Morais). Of equals, we try the one nearest to the start and the one farthest
//! from it, and keep the shorter result. Expressions are simplified as they are put together, see
//! [`crate::expression`].
//! Direction: exact, or no expression at all: one that would be longer than [`LONGEST`] letters says nothing to
//! people, and may need more memory than there is; its place is taken by the number of states, as
//! `⟨27 states⟩`.

use crate::dfa::Dfa;
use crate::expression::Expression;
use crate::{Language, Languages, Letter};
use std::collections::{BTreeMap, BTreeSet};

/// Expressions with more letters, or of automata with more states, are not written.
const LONGEST: usize = 1000;
/// Nor are those that take more letters than this in all expressions on the way.
const MOST: usize = 200 * LONGEST;

impl Languages {
    /// The language as a regular expression: `ε`, `∅`, `(x,1)((x,0)(x,1))*`; with `|` for alternatives and `?`
    /// for what may be left out. Letters are printed with `name`, which should make something that one sees as a
    /// unit. What is too long to be read is `⟨27 states⟩`.
    pub fn regex(&self, l: Language, name: &dyn Fn(Letter) -> String) -> String {
        let dfa = self.dfa(l);
        if dfa.is_empty() {
            return "∅".into();
        }
        let found = [Tie::NearStart, Tie::NearEnd].map(|tie| expression(dfa, tie));
        let shortest = found.iter().flatten().min_by_key(|expression| expression.letters());
        match shortest {
            Some(expression) => expression.show(name),
            None => format!("⟨{} states⟩", dfa.len()),
        }
    }
}

/// Which of two states of the same weight goes first.
#[derive(Clone, Copy)]
enum Tie {
    NearStart,
    NearEnd,
}

/// The expression of an automaton that has a word; `None` if it is too long.
fn expression(dfa: &Dfa, tie: Tie) -> Option<Expression> {
    if dfa.len() > LONGEST {
        return None;
    }
    let mut arrows = Arrows::new(dfa.len() + 2);
    let (start, end) = (dfa.len(), dfa.len() + 1);
    arrows.add(start, 0, Expression::Empty);
    for state in dfa.states() {
        let from = state as usize;
        let mut ways: BTreeMap<usize, Vec<Expression>> = BTreeMap::new();
        for (letter, target) in dfa.moves(state) {
            ways.entry(*target as usize).or_default().push(Expression::Letter(*letter));
        }
        for (target, ways) in ways {
            arrows.add(from, target, Expression::either(ways));
        }
        if dfa.accepts(state) {
            arrows.add(from, end, Expression::Empty);
        }
    }
    let mut left: Vec<usize> = (0..dfa.len()).collect();
    if let Tie::NearEnd = tie {
        left.reverse();
    }
    while let Some(at) = (0..left.len()).min_by_key(|at| arrows.weight(left[*at])) {
        if !arrows.eliminate(left.remove(at)) {
            return None;
        }
    }
    Some(arrows.out[start].remove(&end).expect("a live start reaches the end").expression)
}

/// The automaton during elimination. Between two states there is at most one arrow.
struct Arrows {
    out: Vec<BTreeMap<usize, Arrow>>,
    into: Vec<BTreeSet<usize>>,
    /// How many letters were written so far.
    written: usize,
}

struct Arrow {
    expression: Expression,
    letters: usize,
}

impl Arrows {
    fn new(states: usize) -> Self {
        let out = (0..states).map(|_| BTreeMap::new()).collect();
        Self { out, into: vec![BTreeSet::new(); states], written: 0 }
    }

    /// One more way from a state to another. Returns false if there are too many letters.
    fn add(&mut self, from: usize, to: usize, expression: Expression) -> bool {
        let expression = match self.out[from].remove(&to) {
            Some(arrow) => Expression::either(vec![arrow.expression, expression]),
            None => expression,
        };
        let letters = expression.letters();
        self.out[from].insert(to, Arrow { expression, letters });
        self.into[to].insert(from);
        // An arrow without letters is work too.
        self.written += letters + 1;
        letters <= LONGEST && self.written <= MOST
    }

    /// How many letters are written if a state goes: those of its arrows, each as often as it is used, less
    /// what is there now.
    fn weight(&self, state: usize) -> usize {
        let entering = self.into[state].iter().filter(|from| **from != state);
        let entering: Vec<usize> = entering.map(|from| self.out[*from][&state].letters).collect();
        let looping = self.out[state].get(&state).map_or(0, |arrow| arrow.letters);
        let leaving = self.out[state].iter().filter(|(to, _)| **to != state);
        let leaving: Vec<usize> = leaving.map(|(_, arrow)| arrow.letters).collect();
        let (ins, outs) = (entering.len(), leaving.len());
        let copies = |letters: usize, uses: usize| letters.saturating_mul(uses.saturating_sub(1));
        let parts = entering.iter().map(|letters| copies(*letters, outs));
        let parts = parts.chain(leaving.iter().map(|letters| copies(*letters, ins)));
        parts.chain([copies(looping, ins * outs)]).fold(0, usize::saturating_add)
    }

    /// Leaves a state out. Returns false if there are too many letters.
    fn eliminate(&mut self, state: usize) -> bool {
        let mut leaving = std::mem::take(&mut self.out[state]);
        let looping = leaving.remove(&state);
        let repeated =
            looping.map_or(Expression::Empty, |arrow| Expression::star(arrow.expression));
        for to in leaving.keys() {
            self.into[*to].remove(&state);
        }
        for from in std::mem::take(&mut self.into[state]) {
            let Some(entering) = self.out[from].remove(&state) else { continue };
            for (to, arrow) in &leaving {
                let way =
                    vec![entering.expression.clone(), repeated.clone(), arrow.expression.clone()];
                if !self.add(from, *to, Expression::sequence(way)) {
                    return false;
                }
            }
        }
        true
    }
}
