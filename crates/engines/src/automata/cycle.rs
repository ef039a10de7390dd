//! Cycles that a thread can iterate and that grow only its own buffer.
//!
//! Source: \[LW10\] section 4, `cycleCondition` and `cycle`. Direction: exact.
//!
//! A path leads from a state back to the same control and memory, and only one buffer has grown, by
//! the words of a language V. If the thread can iterate the path from *every* content in L V* with
//! the same effect, then from contents L it reaches L V*. The paper proves this condition from the
//! words (load equivalence of the last values). Here the condition is checked by executing the path
//! once from L V*. Every load of the thread must read the same value for all contents, every step
//! must append to the buffer or leave it unchanged, and at the end everything else must be as
//! before.
//!
//! DIVERGENCE: the paper adds V to everything that the automaton can repeat (its W), whichever
//! cycle repeats it. Then `loop { x = 1 }` followed by `loop { y = 1 }` gets contents in which x is
//! stored after y. Here cycles are kept with the state in which they were found, and each cycle is
//! checked again together with the others.
//!
//! DIVERGENCE: where the paper has one word, V is a language. A path may itself contain widenings
//! (nested loops) of the same part of the same buffer, or of other buffers if they leave this
//! buffer unchanged. The reason: the argument is about each single content of this buffer, while
//! everything else must be restored only as a whole.
//!
//! Three extensions for PSO:
//!
//! - If the contents of a thread have product form (all combinations of contents per location), a
//!   cycle may extend the contents of one location only and restore the stores that it commits to
//!   others.
//! - A cycle may store to a location as often as it commits to it, always the same value, if
//!   nothing else is pending for that location. Then the contents for this location are unchanged,
//!   whatever is pending for other locations.
//! - A commit may remove a letter from behind others, so commits alone can extend a content at the
//!   front: x* y* from (xy)* by committing some stores. If commits lead from contents K to u K, and
//!   u has no letter of the committed locations, they lead from u^n K to u^(n+1) K. The widening is
//!   u* K.

use super::transition::{Transition, Transitions};
use super::{Symbolic, SymbolicState};
use crate::concretise::Move;
use fencepost_automata::{Language, Languages, Letter};
use fencepost_ir::{Loc, ThreadId};
use fencepost_models::mutation::Mutation;
use fencepost_models::{Action, Step, StepResult};
use std::rc::Rc;

/// The largest number of steps for checking a cycle. Nested loops count each time.
const MAX_STEPS: usize = 4_000;

/// The largest automaton of widened contents. A cycle that leads to a larger one is not
/// used: nested widenings can multiply the sizes, and one operation then takes minutes.
const MAX_WIDENED_STATES: usize = 512;

/// A step of the symbolic machine.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct SymbolicStep {
    /// The step.
    pub(super) step: Step,
    /// The corresponding move of the exact machine.
    pub(super) exact_move: Move,
    /// The letters that the step appends to the buffer of its thread. None if the step changes the
    /// buffer in any other way.
    pub(super) appended: Option<Vec<Letter>>,
}

impl SymbolicStep {
    pub(super) fn transition(&self) -> Transition {
        match self.step.action {
            Action::Run(_) => Transition::Run(self.step.thread),
            Action::Internal(_) => Transition::Commit(self.step.thread),
        }
    }
}

/// A segment of a path.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum PathSegment {
    /// One step.
    Step(Rc<SymbolicStep>),
    /// Cycles iterated any number of times.
    Widen(Widening),
}

/// A path that returns to the same control and memory and extends a buffer.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cycle {
    pub(super) path: Vec<PathSegment>,
    /// The words that one iteration adds.
    pub(super) added: Language,
    /// Stores that the cycle issues as often as it commits them, so that nothing is added for their
    /// locations.
    pub(super) restored: Vec<Letter>,
}

/// Cycles to iterate any number of times.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Widening {
    /// The part of a buffer that the cycles extend.
    pub(super) part: BufferPart,
    /// The end of the buffer that the cycles extend.
    pub(super) end: End,
    /// The cycles. Exactly one for the front end.
    pub(super) cycles: Rc<[Rc<Cycle>]>,
}

/// The part of a buffer that a cycle extends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BufferPart {
    /// The thread that owns the buffer.
    pub(super) thread: ThreadId,
    /// Only the stores to this location (PSO only). None: the whole buffer.
    pub(super) loc: Option<Loc>,
}

impl BufferPart {
    /// The whole buffer of a thread.
    pub(super) fn whole_buffer(thread: ThreadId) -> Self {
        BufferPart { thread, loc: None }
    }

    /// Returns the letters that belong to this part.
    fn letters_in(self, letters: &[Letter]) -> impl Iterator<Item = Letter> {
        let is_in_part = move |letter: &&Letter| self.loc.is_none_or(|loc| loc.0 == letter.class);
        letters.iter().filter(is_in_part).copied()
    }
}

/// An end of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// The end where stores enter.
    Back,
    /// The end where commits remove stores (PSO only).
    Front,
}

impl Widening {
    /// Returns the language that any number of iterations adds.
    fn added(&self, languages: &mut Languages) -> Language {
        let added = self.cycles.iter().fold(Language::EMPTY, |l, c| languages.union(l, c.added));
        languages.star(added)
    }

    /// Returns `Some` if no iteration changes the buffer of this thread. A restored buffer is not
    /// enough: the set of contents is then unchanged, but a single content may differ.
    fn leaves_buffer_unchanged(&self, thread: ThreadId) -> Option<()> {
        let segments = self.cycles.iter().flat_map(|cycle| &cycle.path);
        for segment in segments {
            match segment {
                PathSegment::Widen(widening) if widening.part.thread == thread => return None,
                PathSegment::Widen(widening) => widening.leaves_buffer_unchanged(thread)?,
                PathSegment::Step(symbolic_step) if symbolic_step.step.thread != thread => {}
                PathSegment::Step(symbolic_step) => symbolic_step
                    .appended
                    .as_ref()
                    .filter(|letters| letters.is_empty())
                    .map(|_| ())?,
            }
        }
        Some(())
    }
}

/// An execution of paths of symbolic steps from a state.
pub(super) struct PathExecution<'a, 'p> {
    pub(super) machine: &'a Symbolic<'p>,
    pub(super) state: SymbolicState,
    /// The transitions that are independent of every step so far.
    pub(super) sleep: Transitions,
    /// The states before each segment, for building a run backwards.
    pub(super) before: Vec<SymbolicState>,
    /// How many steps may still be taken.
    steps_left: usize,
}

impl<'a, 'p> PathExecution<'a, 'p> {
    pub(super) fn new(machine: &'a Symbolic<'p>, state: SymbolicState, sleep: Transitions) -> Self {
        PathExecution { machine, state, sleep, before: Vec::new(), steps_left: MAX_STEPS }
    }

    /// Executes a path. Returns false if it is not executable, or if it changes the `watched` part
    /// other than by appending.
    pub(super) fn run_path(&mut self, path: &[PathSegment], watched: Option<BufferPart>) -> bool {
        path.iter().all(|segment| {
            self.before.push(self.state.clone());
            match segment {
                PathSegment::Step(symbolic_step) => {
                    self.take_step(symbolic_step) && self.only_appends(symbolic_step, watched)
                }
                PathSegment::Widen(widening) => self.widen(widening),
            }
        })
    }

    fn take_step(&mut self, symbolic_step: &SymbolicStep) -> bool {
        let Some(steps_left) = self.steps_left.checked_sub(1) else { return false };
        self.steps_left = steps_left;
        self.sleep =
            self.sleep.independent_of(self.machine, &self.state, symbolic_step.transition());
        let Some(step) = step_at(self.machine, &self.state, symbolic_step) else { return false };
        self.machine.take_step(&mut self.state, &step, &mut ()) == Ok(StepResult::Taken)
    }

    /// Returns whether the last step changed the watched part only by appending its letters.
    fn only_appends(&self, symbolic_step: &SymbolicStep, watched: Option<BufferPart>) -> bool {
        let thread = symbolic_step.step.thread;
        if self.machine.model.0.mutated.is(Mutation::CycleEffectsUnchecked) {
            return true;
        }
        let Some(part) = watched.filter(|part| part.thread == thread) else { return true };
        let before = self.before.last().expect("recorded before each step").pending[thread.index()];
        let after = self.state.pending[thread.index()];
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let appended = symbolic_step.appended.as_deref();
        match part.loc {
            None => {
                let Some(appended) = appended else { return false };
                let word = languages.word(appended);
                after == discipline.append_words(&mut languages, before, word)
            }
            Some(loc) => {
                let word: Vec<Letter> = part.letters_in(appended.unwrap_or_default()).collect();
                let word = languages.word(&word);
                let [old, new] = [before, after].map(|l| languages.project(l, loc.0));
                new == languages.concat(old, word) && discipline.is_product(&mut languages, after)
            }
        }
    }

    /// Widens the state by these cycles if each of them passes its check.
    pub(super) fn widen(&mut self, widening: &Widening) -> bool {
        let BufferPart { thread, loc } = widening.part;
        let contents = self.state.pending[thread.index()];
        let discipline = &self.machine.model.0;
        match widening.end {
            End::Back => {
                let mut languages = discipline.languages();
                if loc.is_some() && !discipline.is_product(&mut languages, contents) {
                    return false;
                }
                let added = widening.added(&mut languages);
                let widened = discipline.append_words(&mut languages, contents, added);
                if languages.state_count(widened) > MAX_WIDENED_STATES {
                    return false;
                }
                drop(languages);
                self.state.pending[thread.index()] = widened;
                if discipline.mutated.is(Mutation::CyclesNotValidated) {
                    return true;
                }
                widening.cycles.iter().all(|cycle| self.can_iterate(widening.part, cycle))
            }
            End::Front => {
                let cycle = &widening.cycles[0];
                if !self.extends_front(thread, cycle) {
                    return false;
                }
                let mut languages = discipline.languages();
                let added = widening.added(&mut languages);
                self.state.pending[thread.index()] = languages.concat(added, contents);
                true
            }
        }
    }

    /// Returns whether a cycle is executable from every content and appends only its letters.
    fn can_iterate(&mut self, part: BufferPart, cycle: &Cycle) -> bool {
        let mut execution = PathExecution::new(self.machine, self.state.clone(), self.sleep);
        execution.steps_left = self.steps_left;
        let is_executable = match cycle.restored.is_empty() {
            true => execution.run_path(&cycle.path, Some(part)),
            false => {
                self.holds_only_restored(part.thread, cycle) && execution.restores(part, cycle)
            }
        };
        (self.steps_left, self.sleep) = (execution.steps_left, execution.sleep);
        if !is_executable {
            return false;
        }
        let discipline = &self.machine.model.0;
        let mut expected = self.state.clone();
        let contents = &mut expected.pending[part.thread.index()];
        *contents = discipline.append_words(&mut discipline.languages(), *contents, cycle.added);
        if !cycle.restored.is_empty() {
            // The contents are the same, but their representation may order the letters
            // differently.
            execution.state.pending[part.thread.index()] = *contents;
        }
        execution.state == expected
    }

    /// Returns whether only restored stores are pending for the locations of the restored stores.
    fn holds_only_restored(&self, thread: ThreadId, cycle: &Cycle) -> bool {
        let mut languages = self.machine.model.0.languages();
        cycle.restored.iter().all(|letter| {
            let pending = languages.project(self.state.pending[thread.index()], letter.class);
            let once = languages.word(&[*letter]);
            let again = languages.star(once);
            languages.is_included(pending, again)
        })
    }

    /// Executes a path that commits its own stores. Returns false if the path is not executable or
    /// changes the part other than by appending and committing.
    fn restores(&mut self, part: BufferPart, cycle: &Cycle) -> bool {
        cycle.path.iter().all(|segment| {
            self.before.push(self.state.clone());
            match segment {
                PathSegment::Step(symbolic_step) => {
                    let own = symbolic_step.step.thread == part.thread;
                    let commits = own && matches!(symbolic_step.exact_move, Move::Commit(..));
                    self.take_step(symbolic_step)
                        && (commits || self.only_appends(symbolic_step, Some(part)))
                }
                PathSegment::Widen(widening) => {
                    widening.part.thread != part.thread && self.widen(widening)
                }
            }
        })
    }

    /// Returns whether the commits of a cycle lead from contents K to u K, where u is the added
    /// word.
    fn extends_front(&mut self, thread: ThreadId, cycle: &Cycle) -> bool {
        let mut execution = PathExecution::new(self.machine, self.state.clone(), self.sleep);
        execution.steps_left = self.steps_left;
        let is_executable = execution.run_path(&cycle.path, None);
        (self.steps_left, self.sleep) = (execution.steps_left, execution.sleep);
        let mut expected = self.state.clone();
        let mut languages = self.machine.model.0.languages();
        let contents = self.state.pending[thread.index()];
        expected.pending[thread.index()] = languages.concat(cycle.added, contents);
        is_executable && execution.state == expected
    }
}

/// Finds the step of a state that corresponds to a symbolic step. A commit is identified by its
/// letter, not by its number.
pub(super) fn step_at(
    machine: &Symbolic<'_>,
    state: &SymbolicState,
    symbolic_step: &SymbolicStep,
) -> Option<Step> {
    match symbolic_step.exact_move {
        Move::Run(..) => Some(symbolic_step.step.clone()),
        Move::Commit(thread, loc, value) => {
            let discipline = &machine.model.0;
            let contents = state.pending[thread.index()];
            let letters = discipline.committable_letters(&mut discipline.languages(), contents);
            let which = letters.iter().position(|l| (l.class, l.value) == (loc.0, value))?;
            Some(Step { thread, action: Action::Internal(which as u32) })
        }
    }
}

/// Returns the language that a cyclic path appends to a part of a buffer. None if it changes the
/// part in any other way.
pub(super) fn appended(
    languages: &mut Languages,
    path: &[PathSegment],
    part: BufferPart,
) -> Option<Language> {
    let mut added = Language::EPSILON;
    for segment in path {
        match segment {
            PathSegment::Step(symbolic_step) if symbolic_step.step.thread != part.thread => {}
            PathSegment::Widen(widening) if widening.part.thread != part.thread => {
                widening.leaves_buffer_unchanged(part.thread)?;
            }
            PathSegment::Step(symbolic_step) => {
                match (&symbolic_step.appended, &symbolic_step.exact_move, part.loc) {
                    (Some(letters), ..) => {
                        for letter in part.letters_in(letters) {
                            added = languages.append(added, letter);
                        }
                    }
                    // A commit to another location does not change this part.
                    (None, Move::Commit(_, committed, _), Some(loc)) if *committed != loc => {}
                    (None, ..) => return None,
                }
            }
            // A widening of another part of the same buffer may change single contents.
            PathSegment::Widen(widening) if widening.part != part || widening.end == End::Front => {
                return None;
            }
            PathSegment::Widen(widening) => {
                let again = widening.added(languages);
                added = languages.concat(added, again);
            }
        }
    }
    Some(added)
}

/// Returns the word that a path appends to the buffer of a thread for locations that it does not
/// commit, and the stores that it restores. A store is restored if the path stores only this value
/// to its location, stores it before it commits it, and commits it as often. None if the path has
/// any other effect on the buffer.
pub(super) fn restored(
    languages: &mut Languages,
    path: &[PathSegment],
    thread: ThreadId,
) -> Option<(Language, Vec<Letter>)> {
    let mut stored: Vec<Letter> = Vec::new();
    // How often each letter was committed.
    let mut commit_counts: Vec<(Letter, u32)> = Vec::new();
    for segment in path {
        let symbolic_step = match segment {
            PathSegment::Step(symbolic_step) if symbolic_step.step.thread != thread => continue,
            PathSegment::Widen(widening) if widening.part.thread != thread => {
                widening.leaves_buffer_unchanged(thread)?;
                continue;
            }
            PathSegment::Widen(_) => return None,
            PathSegment::Step(symbolic_step) => symbolic_step,
        };
        if let Move::Commit(_, loc, value) = symbolic_step.exact_move {
            let committed = Letter { class: loc.0, value };
            let earlier = stored.iter().filter(|letter| **letter == committed).count() as u32;
            match commit_counts.iter_mut().find(|(letter, _)| *letter == committed) {
                Some((_, commits)) if *commits < earlier => *commits += 1,
                Some(_) => return None,
                None if earlier > 0 => commit_counts.push((committed, 1)),
                None => return None,
            }
        } else {
            stored.extend(symbolic_step.appended.as_ref()?);
        }
    }
    let is_balanced = commit_counts.iter().all(|(letter, commits)| {
        let mut same = stored.iter().filter(|stored| stored.class == letter.class);
        same.clone().count() as u32 == *commits && same.all(|stored| stored == letter)
    });
    let letters: Vec<Letter> = commit_counts.into_iter().map(|(letter, _)| letter).collect();
    if letters.is_empty() || !is_balanced {
        return None;
    }
    stored.retain(|stored| !letters.contains(stored));
    Some((languages.word(&stored), letters))
}

/// Returns the locations that a path commits for a thread. None if the path does anything else for
/// the thread, or commits nothing.
pub(super) fn committed(path: &[PathSegment], thread: ThreadId) -> Option<Vec<Loc>> {
    let mut locations = Vec::new();
    for segment in path {
        match segment {
            PathSegment::Step(symbolic_step) if symbolic_step.step.thread != thread => {}
            PathSegment::Widen(widening) if widening.part.thread != thread => {
                widening.leaves_buffer_unchanged(thread)?;
            }
            PathSegment::Widen(_) => return None,
            PathSegment::Step(symbolic_step) => match symbolic_step.exact_move {
                Move::Commit(_, loc, _) => locations.push(loc),
                Move::Run(..) => return None,
            },
        }
    }
    (!locations.is_empty()).then_some(locations)
}
