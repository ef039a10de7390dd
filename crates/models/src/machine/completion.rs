//! Completions: whether the program reaches a state in which a property is violated.
//!
//! A thread of a model with [holds](MemoryModel::holds_locations) has promised something about its
//! pending accesses: no other thread writes a location before a pending write, or a pending access is
//! to a certain location. A run that cannot keep such a promise is not a run of the program. So a
//! violation counts only if the pending accesses can be performed until no promise is left.
//!
//! Direction: exact for failed assertions and for properties of states. If a statement fails, the
//! state is the one in which it fails: its own access is performed, too. Its thread fetches nothing
//! more. Accesses behind a failed assertion are completed. Accesses behind a fault are dropped,
//! because the result of the statement is not defined. Further failures of a completion are ignored in
//! the same way: they are failures of other runs, which the search finds.

use super::{Machine, StepResult};
use crate::bits::Writer;
use crate::event::EventRecorder;
use crate::model::MemoryModel;
use crate::state::State;
use fencepost_ir::ThreadId;
use rustc_hash::FxHashSet;

impl<M: MemoryModel> Machine<'_, M> {
    /// Returns whether the program reaches a state in which a property is violated, or in which a
    /// step of the given thread has failed.
    #[inline]
    pub(super) fn is_realizable(
        &self,
        state: &State<M::Pending>,
        failed: Option<ThreadId>,
    ) -> bool {
        self.is_free(state) || self.completion(state, failed).is_some()
    }

    /// Performs pending accesses until no thread holds a location, if this is possible. In `state`, a
    /// property is violated, or a step of the given thread has failed.
    pub fn complete(
        &self,
        mut state: State<M::Pending>,
        failed: Option<ThreadId>,
        recorder: &mut dyn EventRecorder,
    ) {
        if self.is_free(&state) {
            return;
        }
        let Some(steps) = self.completion(&state, failed) else { return };
        let mut has_ended = self.ended_threads(failed);
        if let Some(t) = failed {
            self.model.ignore_failures(&self.shape, &mut state, t, recorder);
        }
        for (t, which) in steps {
            self.complete_step(&mut state, &mut has_ended, (t, which), recorder);
        }
    }

    /// Returns internal steps that perform pending accesses until no thread holds a location. `None`
    /// if there are none: then the program does not reach the state.
    fn completion(
        &self,
        state: &State<M::Pending>,
        failed: Option<ThreadId>,
    ) -> Option<Vec<(ThreadId, u32)>> {
        let mut state = state.clone();
        if let Some(t) = failed
            && !self.model.ignore_failures(&self.shape, &mut state, t, &mut ())
        {
            return None;
        }
        if self.is_free(&state) {
            return Some(Vec::new());
        }
        let mut writer = Writer::default();
        let mut known = FxHashSet::default();
        let mut internal = Vec::new();
        let mut open = vec![(state, self.ended_threads(failed), Vec::new())];
        while let Some((state, has_ended, path)) = open.pop() {
            for t in self.shape.program().thread_ids() {
                internal.clear();
                self.model.internal_steps(&self.shape, &state, t, &mut internal);
                for which in &internal {
                    let (mut after, mut has_ended) = (state.clone(), has_ended.clone());
                    if !self.complete_step(&mut after, &mut has_ended, (t, *which), &mut ()) {
                        continue;
                    }
                    let longer = || path.iter().copied().chain([(t, *which)]).collect();
                    if self.is_free(&after) {
                        return Some(longer());
                    }
                    let packed = self.encode(&after, &mut writer).to_vec();
                    if known.insert((packed, has_ended.clone())) {
                        open.push((after, has_ended, longer()));
                    }
                }
            }
        }
        None
    }

    /// Takes an internal step of a completion. A thread that fails ends: it fetches nothing more.
    /// Returns false if the step is not enabled.
    fn complete_step(
        &self,
        state: &mut State<M::Pending>,
        has_ended: &mut [bool],
        (t, which): (ThreadId, u32),
        recorder: &mut dyn EventRecorder,
    ) -> bool {
        let taken = if has_ended[t.index()] {
            let taken = self.model.perform_internal_step(&self.shape, state, t, which, recorder);
            taken.map(|taken| if taken { StepResult::Taken } else { StepResult::Blocked })
        } else {
            self.perform_internal_step(state, t, which, recorder)
        };
        match taken {
            Ok(StepResult::Taken) => true,
            Ok(StepResult::Blocked | StepResult::BoundReached) => false,
            Err(_) => {
                has_ended[t.index()] = true;
                self.model.ignore_failures(&self.shape, state, t, recorder)
            }
        }
    }

    fn ended_threads(&self, failed: Option<ThreadId>) -> Vec<bool> {
        self.shape.program().thread_ids().map(|t| Some(t) == failed).collect()
    }

    fn is_free(&self, state: &State<M::Pending>) -> bool {
        !self.shape.program().thread_ids().any(|t| self.holds_locations(state, t))
    }
}
