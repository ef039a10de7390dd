//! From a state of the symbolic search to an exact run, built backwards.
//!
//! A symbolic state stands for many contents. To build a run, one content is chosen at the end. For
//! each step, going backwards, a content before the step is chosen that leads to the content after
//! it. Where cycles were iterated any number of times, the content determines how often: the words
//! that an iteration adds are removed, iteration by iteration.

use super::cycle::{Cycle, End, PathExecution, PathSegment, SymbolicStep, Widening};
use super::search::Frame;
use super::silent::SilentCommits;
use super::transition::Transitions;
use super::{Symbolic, SymbolicState};
use crate::concretise::Move;
use fencepost_automata::Letter;
use fencepost_ir::{FenceKinds, Loc, MemoryOp, Op};
use fencepost_models::symbolic::{MARKERS, letter};
use fencepost_search::{Cancel, Stop};

/// One content of each buffer, by thread.
type Contents = Vec<Vec<Letter>>;

/// A run under construction, from its end.
pub(super) struct BackwardRun<'a, 'p> {
    machine: &'a Symbolic<'p>,
    /// The moves, last one first.
    moves: Vec<Move>,
    cancel: &'a Cancel,
}

/// A result, or the reason for a cancellation.
type Cancellable<T> = Result<T, Stop>;

impl<'a, 'p> BackwardRun<'a, 'p> {
    pub(super) fn new(machine: &'a Symbolic<'p>, cancel: &'a Cancel) -> Self {
        BackwardRun { machine, moves: Vec::new(), cancel }
    }

    /// Builds the run from the start to these contents of the state on top of the stack, or of the
    /// state after a last step from there. Returns its moves.
    pub(super) fn run(
        mut self,
        stack: &[Frame],
        contents: Contents,
        last: Option<&SymbolicStep>,
    ) -> Cancellable<Vec<Move>> {
        let mut contents = contents;
        if let (Some(symbolic_step), Some(top)) = (last, stack.last()) {
            contents = self.undo_step(&top.state, symbolic_step, contents)?;
        }
        let mut at = stack.len();
        while let Some(frame) = at.checked_sub(1).map(|top| &stack[top]) {
            for silent in frame.silent.iter().rev() {
                self.undo_silent_commits(silent, &mut contents)?;
            }
            if let Some((base, widening)) = &frame.widened {
                contents = self.undo_widening(&stack[*base].state, widening, contents)?;
                at = base + 1;
                continue;
            }
            let Some(symbolic_step) = &frame.symbolic_step else { break };
            contents = self.undo_step(&stack[at - 2].state, symbolic_step, contents)?;
            at -= 1;
        }
        debug_assert!(contents.iter().all(Vec::is_empty), "nothing may be pending at the start");
        self.moves.reverse();
        Ok(self.moves)
    }

    /// Goes back to before silent commits: adds stores at the front.
    fn undo_silent_commits(
        &mut self,
        silent: &SilentCommits,
        contents: &mut Contents,
    ) -> Cancellable<()> {
        let discipline = &self.machine.model.0;
        let at = silent.thread.index();
        // A front store passes all stores to other locations, so it may be added at the very front.
        let find = |word: &[Letter]| {
            discipline.find_equivalent(&mut discipline.languages(), silent.before, word)
        };
        let (loc, value) = (Loc(silent.letter.class), silent.letter.value);
        let commit = Move::Commit(silent.thread, loc, value);
        let found = discipline.word_before_commits(
            &discipline.languages(),
            silent.before,
            silent.letter,
            &contents[at],
        );
        if let Some(found) = found {
            let commits = found.len() - contents[at].len();
            self.moves.extend(std::iter::repeat_n(commit, commits));
            contents[at] = found;
            return Ok(());
        }
        let mut longer = contents[at].clone();
        loop {
            if let Some(stop) = self.cancel.reason() {
                return Err(stop);
            }
            if let Some(found) = find(&longer) {
                contents[at] = found;
                return Ok(());
            }
            longer.insert(0, silent.letter);
            self.moves.push(commit.clone());
        }
    }

    /// Goes back along a path. `before` holds the state before each segment.
    fn undo_path(
        &mut self,
        path: &[PathSegment],
        before: &[SymbolicState],
        after: Contents,
    ) -> Cancellable<Contents> {
        path.iter().zip(before).rev().try_fold(after, |contents, (segment, before)| match segment {
            PathSegment::Step(symbolic_step) => self.undo_step(before, symbolic_step, contents),
            PathSegment::Widen(widening) => self.undo_widening(before, widening, contents),
        })
    }

    /// Goes back to before the iterations of a widening.
    fn undo_widening(
        &mut self,
        before: &SymbolicState,
        widening: &Widening,
        after: Contents,
    ) -> Cancellable<Contents> {
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
                End::Back => self.undo_iteration(before, widening, contents)?,
                End::Front => self.undo_front_iteration(before, widening, contents)?,
            };
        }
    }

    /// Goes back one iteration of one of the cycles.
    fn undo_iteration(
        &mut self,
        before: &SymbolicState,
        widening: &Widening,
        after: Contents,
    ) -> Cancellable<Contents> {
        let thread = widening.part.thread.index();
        let mut execution =
            PathExecution::new(self.machine, before.clone(), Transitions::default());
        assert!(execution.widen(widening), "a widening must be repeatable");
        let widened = execution.state;
        let discipline = &self.machine.model.0;
        let comes_from = |cycle: &Cycle| {
            let languages = &mut discipline.languages();
            let longer = discipline.append_words(languages, widened.pending[thread], cycle.added);
            discipline.find(languages, longer, &after[thread]).is_some()
        };
        let cycle = widening.cycles.iter().find(|cycle| comes_from(cycle));
        let cycle = cycle.expect("a content that a widening added must come from a cycle");
        let mut execution = PathExecution::new(self.machine, widened, Transitions::default());
        assert!(execution.run_path(&cycle.path, None), "a validated cycle must be executable");
        self.undo_path(&cycle.path, &execution.before, after)
    }

    /// Goes back one iteration of commits that extended the content at the front.
    fn undo_front_iteration(
        &mut self,
        before: &SymbolicState,
        widening: &Widening,
        after: Contents,
    ) -> Cancellable<Contents> {
        let thread = widening.part.thread.index();
        let cycle = &widening.cycles[0];
        let mut start = before.clone();
        let discipline = &self.machine.model.0;
        loop {
            let mut languages = discipline.languages();
            let longer = languages.concat(cycle.added, start.pending[thread]);
            if discipline.find(&languages, longer, &after[thread]).is_some() {
                break;
            }
            start.pending[thread] = longer;
        }
        let mut execution = PathExecution::new(self.machine, start, Transitions::default());
        assert!(execution.run_path(&cycle.path, None), "validated commits must be executable");
        self.undo_path(&cycle.path, &execution.before, after)
    }

    /// Goes back one step.
    fn undo_step(
        &mut self,
        before: &SymbolicState,
        symbolic_step: &SymbolicStep,
        after: Contents,
    ) -> Cancellable<Contents> {
        if let Some(stop) = self.cancel.reason() {
            return Err(stop);
        }
        let thread = symbolic_step.step.thread.index();
        let discipline = &self.machine.model.0;
        let language = before.pending[thread];
        let content = match symbolic_step.exact_move {
            Move::Commit(_, loc, value) => {
                let (store, left) = (letter(loc, value), &after[thread]);
                discipline.word_before_commit(&discipline.languages(), language, store, left)
            }
            Move::Run(..) => {
                let candidates =
                    || self.predecessor_candidates(before, symbolic_step, &after[thread]);
                let close =
                    candidates().map(|c| discipline.find(&discipline.languages(), language, &c));
                let any = candidates()
                    .map(|c| discipline.find_equivalent(&mut discipline.languages(), language, &c));
                close
                    .chain(any)
                    .flatten()
                    .find(|c| self.leads_to(before, symbolic_step, c, &after[thread]))
            }
        };
        let content = content
            .expect("a content after a step must come from a content that can take the step");
        let mut contents = after;
        contents[thread] = content;
        self.moves.push(symbolic_step.exact_move.clone());
        Ok(contents)
    }

    /// Returns whether a statement leads from one content of its buffer to another. The value that
    /// it reads needs no check: the content after the step is one for which the load reads the
    /// right value.
    fn leads_to(
        &self,
        before: &SymbolicState,
        symbolic_step: &SymbolicStep,
        content: &[Letter],
        after: &[Letter],
    ) -> bool {
        let discipline = &self.machine.model.0;
        let stored = symbolic_step.appended.as_deref().unwrap_or_default();
        match self.op(before, symbolic_step).memory() {
            Some(MemoryOp::Store { .. }) => {
                discipline.are_equivalent(&[content, stored].concat(), after)
            }
            Some(MemoryOp::Fence(kinds)) if kinds != FenceKinds::FULL => {
                discipline.are_equivalent(&discipline.fence(content, kinds), after)
            }
            Some(
                MemoryOp::Load { .. }
                | MemoryOp::Update { .. }
                | MemoryOp::Fence(_)
                | MemoryOp::Drain(_),
            )
            | None => discipline.are_equivalent(content, after),
        }
    }

    /// Returns the statement that a step executes.
    fn op(&self, before: &SymbolicState, symbolic_step: &SymbolicStep) -> &'p Op {
        let thread = symbolic_step.step.thread;
        &self.machine.shape.stmt(thread, before.pcs[thread.index()]).op
    }

    /// Returns contents from which a statement may have led to this one.
    fn predecessor_candidates<'c>(
        &self,
        before: &SymbolicState,
        symbolic_step: &SymbolicStep,
        after: &'c [Letter],
    ) -> Box<dyn Iterator<Item = Vec<Letter>> + 'c> {
        match self.op(before, symbolic_step).memory() {
            Some(MemoryOp::Store { .. }) => {
                let stored = symbolic_step.appended.iter().flatten().next();
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
