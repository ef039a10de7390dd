//! Acceleration: finds cycles on the stack and the part of a buffer that each one extends.
//!
//! Source: \[LW10\] Algorithm 3, lines 2 to 8. [`super::cycle`] checks a cycle. This module chooses
//! which cycles to check: it compares the new state with the states on the stack that have the same
//! control and memory and differ in one buffer, nearest first.

use super::SymbolicState;
use super::cycle::{
    BufferPart, Cycle, End, PathExecution, PathSegment, SymbolicStep, Widening, appended,
    committed, restored,
};
use super::search::Search;
use super::silent::commit_silently;
use super::transition::Transitions;
use fencepost_automata::{Language, Letter};
use fencepost_ir::{StoreBuffers, ThreadId};
use fencepost_models::symbolic::MARKERS;
use std::rc::Rc;

/// The largest number of cycles in one widening.
const MAX_CYCLES: usize = 8;
/// The largest length of the word that commits add at the front in one iteration.
const MAX_FRONT_WORD: usize = 16;
/// How many states of the stack are tried as the start of a cycle, nearest first.
const MAX_CYCLE_STARTS: usize = 32;

/// A state to be added to the visited set.
#[derive(Debug)]
pub(super) struct NewState {
    pub(super) state: SymbolicState,
    pub(super) sleep: Transitions,
    pub(super) widened: Option<(usize, Widening)>,
    pub(super) cycles: Vec<(BufferPart, Rc<Cycle>)>,
}

impl Search<'_, '_> {
    /// Looks for a state on the stack from which a cycle leads to the new state. Returns the state
    /// widened by that cycle.
    pub(super) fn accelerate(
        &self,
        control: usize,
        symbolic_step: &Rc<SymbolicStep>,
        new: &NewState,
    ) -> Option<NewState> {
        let positions = self.visited.by_control[control].on_stack.iter().rev();
        positions.copied().take(MAX_CYCLE_STARTS).find_map(|base| {
            let below = &self.stack[base];
            let thread = only_changed_buffer(&below.state.pending, &new.state.pending)?;
            if !self.may_iterate(base, thread, symbolic_step) {
                return None;
            }
            let path = self.path(base, symbolic_step);
            let parts = [
                Some(BufferPart::whole_buffer(thread)),
                self.only_changed_location(base, thread, new),
            ];
            let mut parts = parts.into_iter().flatten();
            let back = parts.find_map(|part| self.cycle_at_back(base, part, &path, new));
            back.or_else(|| self.cycle_at_front(base, thread, &path, new))
        })
    }

    /// Returns the part for the only location whose contents differ between the new state and a
    /// frame of the stack. None if there is no such location or a content is not in product form.
    fn only_changed_location(
        &self,
        base: usize,
        thread: ThreadId,
        new: &NewState,
    ) -> Option<BufferPart> {
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let below = self.stack[base].state.pending[thread.index()];
        let above = new.state.pending[thread.index()];
        let have_product_form = discipline.is_product(&mut languages, below)
            && discipline.is_product(&mut languages, above);
        if !have_product_form {
            return None;
        }
        let stores = self.machine.shape.thread(thread).stores.iter();
        let mut longer =
            stores.filter(|loc| languages.project(below, loc.0) != languages.project(above, loc.0));
        let first = longer.next()?;
        longer.next().is_none().then_some(BufferPart { thread, loc: Some(*first) })
    }

    /// A quick pre-check: returns whether the steps since a frame of the stack only append to the
    /// buffer of a thread. Always true under PSO, where a cycle may restore committed stores.
    fn may_iterate(&self, base: usize, thread: ThreadId, symbolic_step: &Rc<SymbolicStep>) -> bool {
        let symbolic_steps =
            self.stack[base + 1..].iter().filter_map(|frame| frame.symbolic_step.as_ref());
        let mut own = symbolic_steps
            .chain([symbolic_step])
            .filter(|symbolic_step| symbolic_step.step.thread == thread);
        self.machine.model.0.grouping == StoreBuffers::Pso
            || own.all(|symbolic_step| symbolic_step.appended.is_some())
    }

    /// Returns the path from a frame of the stack to its top, plus a last step.
    fn path(&self, base: usize, symbolic_step: &Rc<SymbolicStep>) -> Vec<PathSegment> {
        let mut path = Vec::new();
        for frame in &self.stack[base + 1..] {
            path.extend(frame.symbolic_step.clone().map(PathSegment::Step));
            path.extend(frame.widened.clone().map(|(_, widening)| PathSegment::Widen(widening)));
        }
        path.push(PathSegment::Step(Rc::clone(symbolic_step)));
        path
    }

    fn cycle_at_back(
        &self,
        base: usize,
        part: BufferPart,
        path: &[PathSegment],
        new: &NewState,
    ) -> Option<NewState> {
        let discipline = &self.machine.model.0;
        let (added, restored) = self.added_and_restored(part, path)?;
        let stores = {
            let languages = discipline.languages();
            let classes = languages.classes(added);
            !languages.contains_empty_word(added) && classes.iter().any(|c| !MARKERS.contains(c))
        };
        if !stores {
            return None;
        }
        let below = &self.stack[base];
        let cycle = Rc::new(Cycle { path: path.to_vec(), added, restored });
        let widen_with = |cycles: &[(BufferPart, Rc<Cycle>)]| {
            let same_part =
                cycles.iter().filter(|(cycle_part, _)| *cycle_part == part).map(|(_, cycle)| cycle);
            let cycles = same_part.rev().take(MAX_CYCLES - 1).chain([&cycle]).cloned().collect();
            self.try_widening(base, Widening { part, end: End::Back, cycles }, new)
        };
        let mut wider = widen_with(&below.cycles).or_else(|| widen_with(&[]))?;
        if self.loses_product_form(base, part.thread, &wider, added) {
            return None;
        }
        wider.cycles = below.cycles.clone();
        wider.cycles.push((part, cycle));
        Some(wider)
    }

    /// Under PSO: returns whether widening would lose the product form of the contents, the first
    /// time that the cycle is found. Commits may still restore the product form. They are explored
    /// before the cycle is found for the second time.
    fn loses_product_form(
        &self,
        base: usize,
        thread: ThreadId,
        wider: &NewState,
        added: Language,
    ) -> bool {
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let contents = |state: &SymbolicState| state.pending[thread.index()];
        let below = contents(&self.stack[base].state);
        let keeps = !discipline.is_product(&mut languages, below)
            || discipline.is_product(&mut languages, contents(&wider.state));
        if keeps {
            return false;
        }
        let Some(control) = self.stack[base].control else { return false };
        let on_stack = &self.visited.by_control[control].on_stack;
        let mut earlier = on_stack.iter().take_while(|at| **at < base);
        !earlier.any(|at| {
            let before = contents(&self.stack[*at].state);
            discipline.append_words(&mut languages, before, added) == below
        })
    }

    /// Returns the words that one execution of a path adds to a part of a buffer, and the stores
    /// that it restores.
    fn added_and_restored(
        &self,
        part: BufferPart,
        path: &[PathSegment],
    ) -> Option<(Language, Vec<Letter>)> {
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let added = appended(&mut languages, path, part).map(|added| (added, Vec::new()));
        let may_restore = self.has_queue_per_location(part.thread) && part.loc.is_none();
        added.or_else(|| match may_restore {
            true => restored(&mut languages, path, part.thread),
            false => None,
        })
    }

    /// Returns whether a thread has one queue per location and no fence puts markers into them.
    fn has_queue_per_location(&self, thread: ThreadId) -> bool {
        let shape = self.machine.shape.thread(thread);
        self.machine.model.0.grouping == StoreBuffers::Pso
            && !shape.has_store_store
            && !shape.has_store_load
    }

    fn cycle_at_front(
        &self,
        base: usize,
        thread: ThreadId,
        path: &[PathSegment],
        new: &NewState,
    ) -> Option<NewState> {
        let discipline = &self.machine.model.0;
        if !self.has_queue_per_location(thread) {
            return None;
        }
        let committed = committed(path, thread)?;
        let below = &self.stack[base].state;
        let (old, longer) = (below.pending[thread.index()], new.state.pending[thread.index()]);
        let word = discipline.languages().find_prefix(old, longer, MAX_FRONT_WORD)?;
        let is_disjoint =
            word.iter().all(|letter| !committed.iter().any(|loc| loc.0 == letter.class));
        if word.is_empty() || !is_disjoint {
            return None;
        }
        let added = discipline.languages().word(&word);
        let cycles = [Rc::new(Cycle { path: path.to_vec(), added, restored: Vec::new() })].into();
        self.try_widening(
            base,
            Widening { part: BufferPart::whole_buffer(thread), end: End::Front, cycles },
            new,
        )
    }

    /// Widens the state of a frame of the stack. None if the widening is not possible or does not
    /// cover the new state.
    fn try_widening(&self, base: usize, widening: Widening, new: &NewState) -> Option<NewState> {
        let below = &self.stack[base];
        let mut execution = PathExecution::new(self.machine, below.state.clone(), below.asleep);
        if !execution.widen(&widening) || execution.state.pending == below.state.pending {
            return None;
        }
        let discipline = &self.machine.model.0;
        let (state, sleep) = (execution.state, execution.sleep.intersection(new.sleep));
        let covers = discipline.covers(&state.pending, &new.state.pending, self.options.silent)
            || self.is_one_iteration(base, &widening, new)
            || self.options.silent && self.covers_with_silent_commits(base, &widening, new, &state);
        let widened = Some((base, widening));
        covers.then_some(NewState { state, sleep, widened, cycles: Vec::new() })
    }

    /// Returns whether the widened state, or the contents after one iteration, include the new state
    /// once silent commits are added.
    fn covers_with_silent_commits(
        &self,
        base: usize,
        widening: &Widening,
        new: &NewState,
        widened: &SymbolicState,
    ) -> bool {
        let discipline = &self.machine.model.0;
        let covers = |mut state: SymbolicState| {
            commit_silently(self.machine, &mut state, Transitions::default());
            discipline.covers(&state.pending, &new.state.pending, self.options.silent)
        };
        let at = widening.part.thread.index();
        let once = widening
            .cycles
            .last()
            .filter(|cycle| widening.end == End::Back && cycle.restored.is_empty());
        let after_once = |cycle: &Rc<Cycle>| {
            let mut state = self.stack[base].state.clone();
            let contents = state.pending[at];
            state.pending[at] = {
                let mut languages = discipline.languages();
                discipline.append_words(&mut languages, contents, cycle.added)
            };
            state
        };
        covers(widened.clone()) || once.is_some_and(|cycle| covers(after_once(cycle)))
    }

    /// Returns whether the new state is the result of exactly one iteration. Under PSO, its
    /// contents may have a different letter order than those of the widened state.
    fn is_one_iteration(&self, base: usize, widening: &Widening, new: &NewState) -> bool {
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let at = widening.part.thread.index();
        let Some(cycle) = widening.cycles.last() else { return false };
        let once = match widening.end {
            // Its path has no widening of this thread and leads from the frame to the new state.
            End::Back if !cycle.restored.is_empty() => return true,
            End::Back => {
                let contents = self.stack[base].state.pending[at];
                discipline.append_words(&mut languages, contents, cycle.added)
            }
            End::Front => return false,
        };
        once == new.state.pending[at]
    }
}

/// Returns the thread whose buffer is the only one that differs.
fn only_changed_buffer(one: &[Language], other: &[Language]) -> Option<ThreadId> {
    let mut threads = (0..one.len()).filter(|at| one[*at] != other[*at]);
    let first = threads.next()?;
    threads.next().is_none().then(|| ThreadId::from_index(first))
}
