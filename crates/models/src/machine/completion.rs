//! Completions: whether the program reaches a state in which a property is violated.
//!
//! A thread of a model with [holds](MemoryModel::holds_locations) has promised something about its
//! pending accesses: no other thread writes a location before a pending write, or a pending access is
//! to a certain location. A run that cannot keep such a promise is not a run of the program. So a
//! violation counts only if the pending accesses can be performed until no promise is left.
//!
//! Direction: exact for failed assertions and for properties of states. If a statement fails, the
//! state is the one in which it fails: its own access is performed, too. The thread continues behind
//! a failed assertion. It ends at a fault, because the result of the statement is not defined, so its
//! later accesses need not be performed. Further failures of a completion are ignored in the same
//! way: they are failures of other runs, which the search finds.

use super::{Machine, Step, StepResult};
use crate::bits::Writer;
use crate::event::EventRecorder;
use crate::model::MemoryModel;
use crate::state::State;
use fencepost_ir::ThreadId;
use rustc_hash::FxHashSet;

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether the program reaches a state in which a property is violated or a step has
    /// failed.
    pub(super) fn is_realizable(&self, state: &State<M::Pending>) -> bool {
        self.is_free(state) || self.completion(state.clone()).is_some()
    }

    /// Performs pending accesses until no thread holds a location, if this is possible. `state` is
    /// one in which a property is violated or a step has failed.
    pub fn complete(&self, mut state: State<M::Pending>, recorder: &mut dyn EventRecorder) {
        if self.is_free(&state) {
            return;
        }
        for step in self.completion(state.clone()).unwrap_or_default() {
            match step {
                CompletionStep::Ignore(t) => {
                    self.model.ignore_failures(&self.shape, &mut state, t, recorder);
                }
                CompletionStep::Take(step) => {
                    // A failure is ignored by the next step.
                    let _ = self.take_step(&mut state, &step, recorder);
                }
            }
        }
    }

    /// Returns steps that perform pending accesses until no thread holds a location. `None` if there
    /// are none: then the program does not reach the state.
    fn completion(&self, mut state: State<M::Pending>) -> Option<Vec<CompletionStep>> {
        let mut path = Vec::new();
        for t in self.shape.program().thread_ids() {
            self.ignore(&mut state, t, &mut path)?;
        }
        if self.is_free(&state) {
            return Some(path);
        }
        let mut writer = Writer::default();
        let mut known = FxHashSet::default();
        let mut open = vec![(state, path)];
        while let Some((state, path)) = open.pop() {
            let threads = self.shape.program().thread_ids();
            for attempt in threads.flat_map(|t| self.attempt_internal_steps(&state, t)) {
                let mut after = attempt.after;
                let mut longer = path.clone();
                let t = attempt.step.thread;
                longer.push(CompletionStep::Take(attempt.step));
                match attempt.taken {
                    Ok(StepResult::Taken) => {}
                    Ok(StepResult::Blocked | StepResult::BoundReached) => continue,
                    Err(_) => {
                        if self.ignore(&mut after, t, &mut longer).is_none() {
                            continue;
                        }
                    }
                }
                if self.is_free(&after) {
                    return Some(longer);
                }
                if known.insert(self.encode(&after, &mut writer).to_vec()) {
                    open.push((after, longer));
                }
            }
        }
        None
    }

    /// Ignores the failures of a thread. Returns `None` if a guess is wrong.
    fn ignore(
        &self,
        state: &mut State<M::Pending>,
        t: ThreadId,
        path: &mut Vec<CompletionStep>,
    ) -> Option<()> {
        path.push(CompletionStep::Ignore(t));
        self.model.ignore_failures(&self.shape, state, t, &mut ()).then_some(())
    }

    fn is_free(&self, state: &State<M::Pending>) -> bool {
        !self.shape.program().thread_ids().any(|t| self.holds_locations(state, t))
    }
}

/// A part of a completion.
#[derive(Clone, Debug)]
enum CompletionStep {
    /// Ignore the failures of a thread.
    Ignore(ThreadId),
    /// Take a step. If it fails, the next part ignores the failure.
    Take(Step),
}
