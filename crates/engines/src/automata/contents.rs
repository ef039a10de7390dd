//! From a state of the symbolic search back to its beginning, with one content of each buffer.
//!
//! A symbolic state stands for many contents; to make a run, one is chosen at the end, and for each step the
//! content before it that leads to the one after it. Where cycles were gone round any number of times, the
//! content tells how often: what they add is taken off, round by round.

use super::cycle::{End, Hop, Piece, Walk, Widening, step_of};
use super::search::Frame;
use super::transition::Transitions;
use super::{Symbolic, SymbolicState};
use crate::concretise::Move;
use fencepost_automata::{Language, Letter};
use fencepost_ir::Op;
use fencepost_models::symbolic::{MARKERS, STORE_LOAD, STORE_STORE, letter, marker};
use fencepost_models::{Action, Step, Taken};

/// A content of each thread's buffer.
type Contents = Vec<Vec<Letter>>;

/// A run being made, from its end.
pub(super) struct Back<'a, 'p> {
    machine: &'a Symbolic<'p>,
    /// The last one first.
    moves: Vec<Move>,
}

impl<'a, 'p> Back<'a, 'p> {
    pub(super) fn new(machine: &'a Symbolic<'p>) -> Self {
        Back { machine, moves: Vec::new() }
    }

    /// From contents of the state on top of the stack to the beginning. The moves of the whole run.
    pub(super) fn stack(mut self, stack: &[Frame], contents: Contents) -> Vec<Move> {
        let mut contents = contents;
        let mut at = stack.len();
        while let Some(frame) = at.checked_sub(1).map(|top| &stack[top]) {
            if let Some((base, widening)) = &frame.widened {
                contents = self.widen(&stack[*base].state, widening, contents);
                at = base + 1;
                continue;
            }
            let Some(hop) = &frame.hop else { break };
            contents = self.hop(&stack[at - 2].state, hop, contents);
            at -= 1;
        }
        debug_assert!(contents.iter().all(Vec::is_empty), "in the beginning nothing is pending");
        self.moves.reverse();
        self.moves
    }

    /// Back along a path; `before` holds the state before each piece.
    fn path(&mut self, path: &[Piece], before: &[SymbolicState], after: Contents) -> Contents {
        path.iter().zip(before).rev().fold(after, |contents, (piece, before)| match piece {
            Piece::Hop(hop) => self.hop(before, hop, contents),
            Piece::Widen(widening) => self.widen(before, widening, contents),
        })
    }

    /// Back to before cycles were gone round.
    fn widen(&mut self, before: &SymbolicState, widening: &Widening, after: Contents) -> Contents {
        let mut contents = after;
        loop {
            let at = widening.thread.index();
            let found = {
                let discipline = &self.machine.model.0;
                let languages = &mut discipline.languages();
                discipline.find(languages, before.pending[at], &contents[at])
            };
            if let Some(found) = found {
                contents[at] = found;
                return contents;
            }
            contents = match widening.end {
                End::Back => self.round(before, widening, contents),
                End::Front => self.front_round(before, widening, contents),
            };
        }
    }

    /// Back once round one of the cycles.
    fn round(&mut self, before: &SymbolicState, widening: &Widening, after: Contents) -> Contents {
        let thread = widening.thread.index();
        let mut walk = Walk::new(self.machine, before.clone(), Transitions::default());
        assert!(walk.widen(widening), "what was widened once can be widened again");
        let wide = walk.state;
        let cycle = {
            let mut languages = self.machine.model.0.languages();
            let goes_before = |cycle: &super::cycle::Cycle| {
                let once = languages.concat(wide.pending[thread], cycle.adds);
                languages.contains(once, &after[thread])
            };
            let mut cycles = widening.cycles.iter();
            let mut goes_before = goes_before;
            cycles
                .find(|cycle| goes_before(cycle))
                .expect("a content that is new comes from a cycle")
        };
        let mut walk = Walk::new(self.machine, wide, Transitions::default());
        assert!(walk.along(&cycle.path, None), "a cycle can be gone round");
        self.path(&cycle.path, &walk.before, after)
    }

    /// Back through one round of commits that made the content longer at the front.
    fn front_round(
        &mut self,
        before: &SymbolicState,
        widening: &Widening,
        after: Contents,
    ) -> Contents {
        let thread = widening.thread.index();
        let cycle = &widening.cycles[0];
        let mut start = before.clone();
        let discipline = &self.machine.model.0;
        loop {
            let mut languages = discipline.languages();
            let longer = languages.concat(cycle.adds, start.pending[thread]);
            if discipline.find(&mut languages, longer, &after[thread]).is_some() {
                break;
            }
            start.pending[thread] = longer;
        }
        let mut walk = Walk::new(self.machine, start, Transitions::default());
        assert!(walk.along(&cycle.path, None), "the commits are possible again");
        self.path(&cycle.path, &walk.before, after)
    }

    /// Back one step.
    pub(super) fn hop(&mut self, before: &SymbolicState, hop: &Hop, after: Contents) -> Contents {
        let thread = hop.step.thread.index();
        let discipline = &self.machine.model.0;
        for candidate in self.candidates(before, hop, &after[thread]) {
            let language = before.pending[thread];
            let found = discipline.find(&mut discipline.languages(), language, &candidate);
            let Some(found) = found else { continue };
            let mut contents = after.clone();
            contents[thread] = found;
            if self.leads(before, hop, &contents, &after) {
                self.moves.push(hop.to.clone());
                return contents;
            }
        }
        unreachable!("every content that a step leads to comes from one that can take it")
    }

    /// Whether the step leads from these contents to those.
    fn leads(
        &self,
        before: &SymbolicState,
        hop: &Hop,
        contents: &Contents,
        after: &Contents,
    ) -> bool {
        let discipline = &self.machine.model.0;
        let mut state = before.clone();
        for (language, word) in state.pending.iter_mut().zip(contents) {
            *language = self.only(word);
        }
        let step = match &hop.to {
            Move::Run(thread, script) => {
                Some(Step { thread: *thread, action: Action::Run(script.clone()) })
            }
            Move::Commit(..) => step_of(self.machine, &state, hop),
        };
        let Some(step) = step else { return false };
        let taken = self.machine.take(&mut state, &step, &mut ());
        let thread = hop.step.thread.index();
        debug_assert!(discipline.languages().is_finite(state.pending[thread]), "of one word");
        !matches!(taken, Ok(Taken::Blocked | Taken::Bounded))
            && state.pending[thread] == self.only(&after[thread])
    }

    /// The language of one content.
    fn only(&self, word: &[Letter]) -> Language {
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let language = languages.word(word);
        discipline.normal(&mut languages, language)
    }

    /// Contents that the step may have led from to this one.
    fn candidates(&self, before: &SymbolicState, hop: &Hop, after: &[Letter]) -> Vec<Vec<Letter>> {
        if let Move::Commit(_, loc, value) = hop.to {
            // The markers behind what was committed are gone with it.
            let [one, other] = [marker(STORE_STORE), marker(STORE_LOAD)];
            let gone = [vec![], vec![one], vec![other], vec![one, other], vec![other, one]];
            let first = vec![letter(loc, value)];
            return gone.iter().map(|gone| [&first, gone, after].concat()).collect();
        }
        let thread = hop.step.thread;
        match machine_op(self.machine, before, thread) {
            Op::Store { .. } => {
                let stored = hop.appended.iter().flatten().next();
                let at = stored.and_then(|stored| {
                    after.iter().rposition(|letter| letter.class == stored.class)
                });
                let without = at.map(|at| [&after[..at], &after[at + 1..]].concat());
                without.into_iter().chain([after.to_vec()]).collect()
            }
            Op::Fence(_) => unmarked(after),
            _ => vec![after.to_vec()],
        }
    }
}

/// The statement that a thread executes next.
fn machine_op<'p>(
    machine: &Symbolic<'p>,
    state: &SymbolicState,
    thread: fencepost_ir::ThreadId,
) -> &'p Op {
    &machine.shape.stmt(thread, state.pcs[thread.index()]).op
}

/// Contents that a fence may have marked to give this one: some markers at its end are new, and an older
/// store-load marker is gone.
fn unmarked(after: &[Letter]) -> Vec<Vec<Letter>> {
    let is_marker = |letter: &Letter| MARKERS.contains(&letter.class);
    let new = after.iter().rev().take_while(|letter| is_marker(letter)).count();
    let mut found = Vec::new();
    for taken in 0..=new {
        let rest = &after[..after.len() - taken];
        found.push(rest.to_vec());
        for at in 0..=rest.len() {
            found.push([&rest[..at], &[marker(STORE_LOAD)], &rest[at..]].concat());
        }
    }
    found
}
