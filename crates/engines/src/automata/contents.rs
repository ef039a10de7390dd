//! From a state of the symbolic search back to its beginning, with one content of each buffer.
//!
//! A symbolic state stands for many contents; to make a run, one is chosen at the end, and for each step the
//! content before it that leads to the one after it. Where cycles were gone round any number of times, the
//! content tells how often: what they add is taken off, round by round.

use super::cycle::{Cycle, End, Hop, Piece, Walk, Widening};
use super::search::Frame;
use super::transition::Transitions;
use super::{Symbolic, SymbolicState};
use crate::concretise::Move;
use fencepost_automata::Letter;
use fencepost_ir::{FenceKinds, MemoryOp, Op};
use fencepost_models::symbolic::{MARKERS, letter};
use fencepost_search::{Cancel, Stop};

/// A content of each thread's buffer.
type Contents = Vec<Vec<Letter>>;

/// A run being made, from its end.
pub(super) struct Back<'a, 'p> {
    machine: &'a Symbolic<'p>,
    /// The last one first.
    moves: Vec<Move>,
    cancel: &'a Cancel,
}

/// What is found, unless it is to stop.
type Going<T> = Result<T, Stop>;

impl<'a, 'p> Back<'a, 'p> {
    pub(super) fn new(machine: &'a Symbolic<'p>, cancel: &'a Cancel) -> Self {
        Back { machine, moves: Vec::new(), cancel }
    }

    /// From contents of the state on top of the stack, or of the state after a last step from there, to the
    /// beginning. The moves of the whole run.
    pub(super) fn run(
        mut self,
        stack: &[Frame],
        contents: Contents,
        last: Option<&Hop>,
    ) -> Going<Vec<Move>> {
        let mut contents = contents;
        if let (Some(hop), Some(top)) = (last, stack.last()) {
            contents = self.hop(&top.state, hop, contents)?;
        }
        let mut at = stack.len();
        while let Some(frame) = at.checked_sub(1).map(|top| &stack[top]) {
            if let Some((base, widening)) = &frame.widened {
                contents = self.widen(&stack[*base].state, widening, contents)?;
                at = base + 1;
                continue;
            }
            let Some(hop) = &frame.hop else { break };
            contents = self.hop(&stack[at - 2].state, hop, contents)?;
            at -= 1;
        }
        debug_assert!(contents.iter().all(Vec::is_empty), "in the beginning nothing is pending");
        self.moves.reverse();
        Ok(self.moves)
    }

    /// Back along a path; `before` holds the state before each piece.
    fn path(
        &mut self,
        path: &[Piece],
        before: &[SymbolicState],
        after: Contents,
    ) -> Going<Contents> {
        path.iter().zip(before).rev().try_fold(after, |contents, (piece, before)| match piece {
            Piece::Hop(hop) => self.hop(before, hop, contents),
            Piece::Widen(widening) => self.widen(before, widening, contents),
        })
    }

    /// Back to before cycles were gone round.
    fn widen(
        &mut self,
        before: &SymbolicState,
        widening: &Widening,
        after: Contents,
    ) -> Going<Contents> {
        let mut contents = after;
        loop {
            let at = widening.part.thread.index();
            let found = {
                let discipline = &self.machine.model.0;
                discipline.find(&discipline.languages(), before.pending[at], &contents[at])
            };
            if let Some(found) = found {
                contents[at] = found;
                return Ok(contents);
            }
            contents = match widening.end {
                End::Back => self.round(before, widening, contents)?,
                End::Front => self.front_round(before, widening, contents)?,
            };
        }
    }

    /// Back once round one of the cycles.
    fn round(
        &mut self,
        before: &SymbolicState,
        widening: &Widening,
        after: Contents,
    ) -> Going<Contents> {
        let thread = widening.part.thread.index();
        let mut walk = Walk::new(self.machine, before.clone(), Transitions::default());
        assert!(walk.widen(widening), "what was widened once can be widened again");
        let wide = walk.state;
        let discipline = &self.machine.model.0;
        let comes_from = |cycle: &Cycle| {
            let languages = &mut discipline.languages();
            let longer = discipline.appended(languages, wide.pending[thread], cycle.adds);
            discipline.find(languages, longer, &after[thread]).is_some()
        };
        let cycle = widening.cycles.iter().find(|cycle| comes_from(cycle));
        let cycle = cycle.expect("a content that is new comes from a cycle");
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
    ) -> Going<Contents> {
        let thread = widening.part.thread.index();
        let cycle = &widening.cycles[0];
        let mut start = before.clone();
        let discipline = &self.machine.model.0;
        loop {
            let mut languages = discipline.languages();
            let longer = languages.concat(cycle.adds, start.pending[thread]);
            if discipline.find(&languages, longer, &after[thread]).is_some() {
                break;
            }
            start.pending[thread] = longer;
        }
        let mut walk = Walk::new(self.machine, start, Transitions::default());
        assert!(walk.along(&cycle.path, None), "the commits are possible again");
        self.path(&cycle.path, &walk.before, after)
    }

    /// Back one step.
    fn hop(&mut self, before: &SymbolicState, hop: &Hop, after: Contents) -> Going<Contents> {
        if let Some(stop) = self.cancel.raised() {
            return Err(stop);
        }
        let thread = hop.step.thread.index();
        let discipline = &self.machine.model.0;
        let language = before.pending[thread];
        let content = match hop.to {
            Move::Commit(_, loc, value) => {
                let (store, left) = (letter(loc, value), &after[thread]);
                discipline.before_commit(&discipline.languages(), language, store, left)
            }
            Move::Run(..) => {
                let candidates = || self.candidates(before, hop, &after[thread]);
                let close =
                    candidates().map(|c| discipline.find(&discipline.languages(), language, &c));
                let any = candidates()
                    .map(|c| discipline.find_any(&mut discipline.languages(), language, &c));
                close.chain(any).flatten().find(|c| self.leads(before, hop, c, &after[thread]))
            }
        };
        let content =
            content.expect("every content that a step leads to comes from one that can take it");
        let mut contents = after;
        contents[thread] = content;
        self.moves.push(hop.to.clone());
        Ok(contents)
    }

    /// Whether a statement leads from one content of its thread's buffer to another. What it reads is not
    /// looked at: the other is among those for which it reads the right value.
    fn leads(
        &self,
        before: &SymbolicState,
        hop: &Hop,
        content: &[Letter],
        after: &[Letter],
    ) -> bool {
        let discipline = &self.machine.model.0;
        let stored = hop.appended.as_deref().unwrap_or_default();
        match self.op(before, hop).memory() {
            Some(MemoryOp::Store { .. }) => discipline.same(&[content, stored].concat(), after),
            Some(MemoryOp::Fence(kinds)) if kinds != FenceKinds::FULL => {
                discipline.same(&discipline.fence(content, kinds), after)
            }
            Some(
                MemoryOp::Load { .. }
                | MemoryOp::Update { .. }
                | MemoryOp::Fence(_)
                | MemoryOp::Drain(_),
            )
            | None => discipline.same(content, after),
        }
    }

    /// The statement that the step executes.
    fn op(&self, before: &SymbolicState, hop: &Hop) -> &'p Op {
        let thread = hop.step.thread;
        &self.machine.shape.stmt(thread, before.pcs[thread.index()]).op
    }

    /// Contents that a statement may have led from to this one.
    fn candidates<'c>(
        &self,
        before: &SymbolicState,
        hop: &Hop,
        after: &'c [Letter],
    ) -> Box<dyn Iterator<Item = Vec<Letter>> + 'c> {
        match self.op(before, hop).memory() {
            Some(MemoryOp::Store { .. }) => {
                let stored = hop.appended.iter().flatten().next();
                let at = stored.and_then(|stored| {
                    after.iter().rposition(|letter| letter.class == stored.class)
                });
                let without = at.map(|at| [&after[..at], &after[at + 1..]].concat());
                Box::new(without.into_iter().chain([after.to_vec()]))
            }
            Some(MemoryOp::Fence(_)) => {
                let is_marker = |letter: &&Letter| MARKERS.contains(&letter.class);
                let new = after.iter().rev().take_while(is_marker).count();
                Box::new((0..=new).map(move |new| after[..after.len() - new].to_vec()))
            }
            Some(MemoryOp::Load { .. } | MemoryOp::Update { .. } | MemoryOp::Drain(_)) | None => {
                Box::new([after.to_vec()].into_iter())
            }
        }
    }
}
