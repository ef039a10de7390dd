//! Cycles: what a thread can do again and again, growing only its own buffer.
//!
//! Source: \[LW10\] section 4, `cycleCondition` and `cycle`. Direction: exact.
//!
//! A path leads from a state back to the same control and memory; only one thread's buffer has become longer,
//! by the words of a language V. Then the thread can go round once more, and again: from contents L it
//! reaches L V*. That is so if going round is possible from *every* content in L V*, with the same effect. We do
//! not argue it from the words, as the paper does (load equivalence of the last values): we go round
//! once more, from L V*, and look. Every load of the thread must see one value whichever content it is, every
//! step must append to its buffer or leave it alone, and at the end all else must be as before.
//!
//! DIVERGENCE from the paper, which adds V to all that the automaton can repeat (its W), whoever does it:
//! `loop { x = 1 }` followed by `loop { y = 1 }` would get contents in which x is stored after y. Here
//! cycles are kept with the state in which they were seen, and each is tried again with the others. And
//! where the paper has one word, V is a language: a path may contain widenings itself (a loop in a loop).
//!
//! Under PSO a commit may take a letter from behind others, and commits alone can make a content longer at the
//! front: x* y* from (xy)* by committing some. If commits lead from contents K to u K, where u has no letter
//! of the locations they commit, they lead from u^n K to u^(n+1) K: widened to u* K.

use super::transition::{Transition, Transitions};
use super::{Symbolic, SymbolicState};
use crate::concretise::Move;
use fencepost_automata::{Language, Languages, Letter};
use fencepost_ir::{Loc, ThreadId};
use fencepost_models::{Action, Step, Taken};
use std::rc::Rc;

/// How many steps going round may take when it is tried, loops in loops counted each time.
const LONGEST: usize = 4_000;

/// A step of the symbolic machine.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Hop {
    /// The step.
    pub(super) step: Step,
    /// The same for the exact machine.
    pub(super) to: Move,
    /// What it appends to its thread's buffer; none when it does anything else to it.
    pub(super) appended: Option<Vec<Letter>>,
}

impl Hop {
    pub(super) fn transition(&self) -> Transition {
        match self.step.action {
            Action::Run(_) => Transition::Run(self.step.thread),
            Action::Internal(_) => Transition::Commit(self.step.thread),
        }
    }
}

/// A piece of a path.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Piece {
    /// A step.
    Hop(Rc<Hop>),
    /// Cycles gone round any number of times.
    Widen(Widening),
}

/// A path that leads back, and how much longer it makes the thread's buffer.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cycle {
    pub(super) path: Vec<Piece>,
    /// What is added.
    pub(super) adds: Language,
}

/// Cycles to be gone round any number of times.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Widening {
    /// Whose buffer they make longer.
    pub(super) thread: ThreadId,
    /// At which end.
    pub(super) end: End,
    /// Which. At the front there is one.
    pub(super) cycles: Rc<[Rc<Cycle>]>,
}

/// An end of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// Where stores enter.
    Back,
    /// Where commits take them (PSO only).
    Front,
}

impl Widening {
    /// What the contents become, if all is well.
    fn widened(&self, languages: &mut Languages, contents: Language) -> Language {
        let adds = self.cycles.iter().fold(Language::EMPTY, |l, c| languages.union(l, c.adds));
        let again = languages.star(adds);
        match self.end {
            End::Back => languages.concat(contents, again),
            End::Front => languages.concat(again, contents),
        }
    }
}

/// How far going round has come.
pub(super) struct Walk<'a, 'p> {
    pub(super) machine: &'a Symbolic<'p>,
    pub(super) state: SymbolicState,
    /// The transitions that were independent of every step so far.
    pub(super) sleep: Transitions,
    /// The states before each piece, for those who go back.
    pub(super) before: Vec<SymbolicState>,
    /// How many steps are left.
    left: usize,
}

impl<'a, 'p> Walk<'a, 'p> {
    pub(super) fn new(machine: &'a Symbolic<'p>, state: SymbolicState, sleep: Transitions) -> Self {
        Walk { machine, state, sleep, before: Vec::new(), left: LONGEST }
    }

    /// Goes along a path. False when it is not possible, or does anything to the buffer of `watched`
    /// but append.
    pub(super) fn along(&mut self, path: &[Piece], watched: Option<ThreadId>) -> bool {
        path.iter().all(|piece| {
            self.before.push(self.state.clone());
            match piece {
                Piece::Hop(hop) => self.hop(hop, watched),
                Piece::Widen(widening) => {
                    let front = watched == Some(widening.thread) && widening.end == End::Front;
                    !front && self.widen(widening)
                }
            }
        })
    }

    fn hop(&mut self, hop: &Hop, watched: Option<ThreadId>) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let thread = hop.step.thread;
        let contents = self.state.pending[thread.index()];
        self.sleep = self.sleep.independent_of(self.machine, &self.state, hop.transition());
        let Some(step) = step_of(self.machine, &self.state, hop) else { return false };
        if self.machine.take(&mut self.state, &step, &mut ()) != Ok(Taken::Yes) {
            return false;
        }
        if watched != Some(thread) {
            return true;
        }
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let Some(appended) = &hop.appended else { return false };
        let mut expected = contents;
        for letter in appended {
            let longer = languages.append(expected, *letter);
            expected = discipline.normal(&mut languages, longer);
        }
        self.state.pending[thread.index()] == expected
    }

    /// Widens the state by these cycles, after trying each.
    pub(super) fn widen(&mut self, widening: &Widening) -> bool {
        let thread = widening.thread;
        let contents = self.state.pending[thread.index()];
        match widening.end {
            End::Back => {
                let discipline = &self.machine.model.0;
                let wide = widening.widened(&mut discipline.languages(), contents);
                let wide = discipline.normal(&mut discipline.languages(), wide);
                self.state.pending[thread.index()] = wide;
                widening.cycles.iter().all(|cycle| self.goes_round(thread, cycle))
            }
            End::Front => {
                let cycle = &widening.cycles[0];
                if !self.leads_to_longer(thread, cycle) {
                    return false;
                }
                let mut languages = self.machine.model.0.languages();
                self.state.pending[thread.index()] = widening.widened(&mut languages, contents);
                true
            }
        }
    }

    /// Whether a cycle is possible from every content, and only appends what it says.
    fn goes_round(&mut self, thread: ThreadId, cycle: &Cycle) -> bool {
        let mut walk = Walk::new(self.machine, self.state.clone(), self.sleep);
        walk.left = self.left;
        let good = walk.along(&cycle.path, Some(thread));
        (self.left, self.sleep) = (walk.left, walk.sleep);
        if !good {
            return false;
        }
        let discipline = &self.machine.model.0;
        let mut expected = self.state.clone();
        let mut languages = discipline.languages();
        let longer = languages.concat(self.state.pending[thread.index()], cycle.adds);
        expected.pending[thread.index()] = discipline.normal(&mut languages, longer);
        walk.state == expected
    }

    /// Whether commits lead from contents K to u K, where u is what the cycle adds.
    fn leads_to_longer(&mut self, thread: ThreadId, cycle: &Cycle) -> bool {
        let mut walk = Walk::new(self.machine, self.state.clone(), self.sleep);
        walk.left = self.left;
        let good = walk.along(&cycle.path, None);
        (self.left, self.sleep) = (walk.left, walk.sleep);
        let mut expected = self.state.clone();
        let mut languages = self.machine.model.0.languages();
        let contents = self.state.pending[thread.index()];
        expected.pending[thread.index()] = languages.concat(cycle.adds, contents);
        good && walk.state == expected
    }
}

/// The step of a state that is this hop: a commit is known by its letter, not by its number.
pub(super) fn step_of(machine: &Symbolic<'_>, state: &SymbolicState, hop: &Hop) -> Option<Step> {
    match hop.to {
        Move::Run(..) => Some(hop.step.clone()),
        Move::Commit(thread, loc, value) => {
            let discipline = &machine.model.0;
            let contents = state.pending[thread.index()];
            let letters = discipline.oldest(&mut discipline.languages(), contents);
            let which = letters.iter().position(|l| (l.class, l.value) == (loc.0, value))?;
            Some(Step { thread, action: Action::Internal(which as u32) })
        }
    }
}

/// What a path that leads back appends to the buffer of a thread; none when it does anything else to it.
pub(super) fn appended(
    languages: &mut Languages,
    path: &[Piece],
    thread: ThreadId,
) -> Option<Language> {
    let mut adds = Language::EPSILON;
    for piece in path {
        match piece {
            Piece::Hop(hop) if hop.step.thread != thread => {}
            Piece::Widen(widening) if widening.thread != thread => {}
            Piece::Hop(hop) => {
                for letter in hop.appended.as_ref()? {
                    adds = languages.append(adds, *letter);
                }
            }
            Piece::Widen(widening) => match widening.end {
                End::Back => adds = widening.widened(languages, adds),
                End::Front => return None,
            },
        }
    }
    Some(adds)
}

/// The locations that a path commits for a thread; none when it does anything else for it, or nothing.
pub(super) fn committed(path: &[Piece], thread: ThreadId) -> Option<Vec<Loc>> {
    let mut found = Vec::new();
    for piece in path {
        match piece {
            Piece::Hop(hop) if hop.step.thread != thread => {}
            Piece::Widen(widening) if widening.thread != thread => {}
            Piece::Widen(_) => return None,
            Piece::Hop(hop) => match hop.to {
                Move::Commit(_, loc, _) => found.push(loc),
                Move::Run(..) => return None,
            },
        }
    }
    (!found.is_empty()).then_some(found)
}
