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
//! where the paper has one word, V is a language: a path may contain widenings itself (a loop in a loop), of
//! the same part of the same buffer, or of others' buffers if they leave this one alone: the argument is about each
//! single content of it, while all else needs to come back only as a whole.
//!
//! Under PSO, where the contents of a thread are known to be all combinations of contents for each location,
//! a cycle may make only those of one location longer and put back what it commits to others.
//!
//! Or it stores to a location as often as it commits to it, always the same value, where nothing else is pending
//! for that location: then what is pending for it is what was, whatever is pending for others.
//!
//! Under PSO a commit may also take a letter from behind others, and commits alone can make a content longer at the
//! front: x* y* from (xy)* by committing some. If commits lead from contents K to u K, where u has no letter
//! of the locations they commit, they lead from u^n K to u^(n+1) K: widened to u* K.

use super::transition::{Transition, Transitions};
use super::{Symbolic, SymbolicState};
use crate::concretise::Move;
use fencepost_automata::{Language, Languages, Letter};
use fencepost_ir::{Loc, ThreadId};
use fencepost_models::mutation::Mutation;
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
    /// Stores that are put back as often as they are committed, so that nothing is added for their
    /// locations.
    pub(super) renewed: Vec<Letter>,
}

/// Cycles to be gone round any number of times.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Widening {
    /// What they make longer.
    pub(super) part: Part,
    /// At which end.
    pub(super) end: End,
    /// Which. At the front there is one.
    pub(super) cycles: Rc<[Rc<Cycle>]>,
}

/// What a cycle makes longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// A thread's buffer.
    pub(super) thread: ThreadId,
    /// Only what is for this location in it (PSO only).
    pub(super) loc: Option<Loc>,
}

impl Part {
    /// All that a thread has pending.
    pub(super) fn all(thread: ThreadId) -> Self {
        Part { thread, loc: None }
    }

    /// Of letters, those that belong to it.
    fn of(self, letters: &[Letter]) -> impl Iterator<Item = Letter> {
        let inside = move |letter: &&Letter| self.loc.is_none_or(|loc| loc.0 == letter.class);
        letters.iter().filter(inside).copied()
    }
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
    /// What going round any number of times adds.
    fn adds(&self, languages: &mut Languages) -> Language {
        let adds = self.cycles.iter().fold(Language::EMPTY, |l, c| languages.union(l, c.adds));
        languages.star(adds)
    }

    /// Nothing, unless going round does something to the buffer of this thread. All that may be
    /// pending there is the same after it, but a single content may be another.
    fn leaves_alone(&self, thread: ThreadId) -> Option<()> {
        let pieces = self.cycles.iter().flat_map(|cycle| &cycle.path);
        for piece in pieces {
            match piece {
                Piece::Widen(widening) if widening.part.thread == thread => return None,
                Piece::Widen(widening) => widening.leaves_alone(thread)?,
                Piece::Hop(hop) if hop.step.thread != thread => {}
                Piece::Hop(hop) => {
                    hop.appended.as_ref().filter(|letters| letters.is_empty()).map(|_| ())?
                }
            }
        }
        Some(())
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

    /// Goes along a path. False when it is not possible, or does anything to what is `watched` but append.
    pub(super) fn along(&mut self, path: &[Piece], watched: Option<Part>) -> bool {
        path.iter().all(|piece| {
            self.before.push(self.state.clone());
            match piece {
                Piece::Hop(hop) => self.hop(hop) && self.only_appends(hop, watched),
                Piece::Widen(widening) => self.widen(widening),
            }
        })
    }

    fn hop(&mut self, hop: &Hop) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        self.sleep = self.sleep.independent_of(self.machine, &self.state, hop.transition());
        let Some(step) = step_of(self.machine, &self.state, hop) else { return false };
        self.machine.take(&mut self.state, &step, &mut ()) == Ok(Taken::Yes)
    }

    /// Whether the last step has only appended to what is watched what it is said to append.
    fn only_appends(&self, hop: &Hop, watched: Option<Part>) -> bool {
        let thread = hop.step.thread;
        if self.machine.model.0.mutated.is(Mutation::CyclesUnwatched) {
            return true;
        }
        let Some(part) = watched.filter(|part| part.thread == thread) else { return true };
        let before = self.before.last().expect("noted before each step").pending[thread.index()];
        let after = self.state.pending[thread.index()];
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let appended = hop.appended.as_deref();
        match part.loc {
            None => {
                let Some(appended) = appended else { return false };
                let word = languages.word(appended);
                after == discipline.appended(&mut languages, before, word)
            }
            Some(loc) => {
                let word: Vec<Letter> = part.of(appended.unwrap_or_default()).collect();
                let word = languages.word(&word);
                let [old, new] = [before, after].map(|l| languages.project(l, loc.0));
                new == languages.concat(old, word) && discipline.is_product(&mut languages, after)
            }
        }
    }

    /// Widens the state by these cycles, after trying each.
    pub(super) fn widen(&mut self, widening: &Widening) -> bool {
        let Part { thread, loc } = widening.part;
        let contents = self.state.pending[thread.index()];
        let discipline = &self.machine.model.0;
        match widening.end {
            End::Back => {
                let mut languages = discipline.languages();
                if loc.is_some() && !discipline.is_product(&mut languages, contents) {
                    return false;
                }
                let adds = widening.adds(&mut languages);
                let wide = discipline.appended(&mut languages, contents, adds);
                drop(languages);
                self.state.pending[thread.index()] = wide;
                if discipline.mutated.is(Mutation::CyclesUntried) {
                    return true;
                }
                widening.cycles.iter().all(|cycle| self.goes_round(widening.part, cycle))
            }
            End::Front => {
                let cycle = &widening.cycles[0];
                if !self.leads_to_longer(thread, cycle) {
                    return false;
                }
                let mut languages = discipline.languages();
                let adds = widening.adds(&mut languages);
                self.state.pending[thread.index()] = languages.concat(adds, contents);
                true
            }
        }
    }

    /// Whether a cycle is possible from every content, and only appends what it says.
    fn goes_round(&mut self, part: Part, cycle: &Cycle) -> bool {
        let mut walk = Walk::new(self.machine, self.state.clone(), self.sleep);
        walk.left = self.left;
        let good = match cycle.renewed.is_empty() {
            true => walk.along(&cycle.path, Some(part)),
            false => self.is_alone(part.thread, cycle) && walk.renews(part, cycle),
        };
        (self.left, self.sleep) = (walk.left, walk.sleep);
        if !good {
            return false;
        }
        let discipline = &self.machine.model.0;
        let mut expected = self.state.clone();
        let contents = &mut expected.pending[part.thread.index()];
        *contents = discipline.appended(&mut discipline.languages(), *contents, cycle.adds);
        if !cycle.renewed.is_empty() {
            // The same contents, perhaps written in another order.
            walk.state.pending[part.thread.index()] = *contents;
        }
        walk.state == expected
    }

    /// Whether nothing but what a cycle renews is pending for the locations of that.
    fn is_alone(&self, thread: ThreadId, cycle: &Cycle) -> bool {
        let mut languages = self.machine.model.0.languages();
        cycle.renewed.iter().all(|letter| {
            let pending = languages.project(self.state.pending[thread.index()], letter.class);
            let once = languages.word(&[*letter]);
            let again = languages.star(once);
            languages.is_included(pending, again)
        })
    }

    /// Goes along a path that commits what it stores. No content must be left out, and nothing else
    /// but an append happen to what is pending.
    fn renews(&mut self, part: Part, cycle: &Cycle) -> bool {
        cycle.path.iter().all(|piece| {
            self.before.push(self.state.clone());
            match piece {
                Piece::Hop(hop) => {
                    let own = hop.step.thread == part.thread;
                    let commits = own && matches!(hop.to, Move::Commit(..));
                    self.hop(hop) && (commits || self.only_appends(hop, Some(part)))
                }
                Piece::Widen(widening) => {
                    widening.part.thread != part.thread && self.widen(widening)
                }
            }
        })
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

/// What a path that leads back appends to a part of a buffer; none when it does anything else to it.
pub(super) fn appended(languages: &mut Languages, path: &[Piece], part: Part) -> Option<Language> {
    let mut adds = Language::EPSILON;
    for piece in path {
        match piece {
            Piece::Hop(hop) if hop.step.thread != part.thread => {}
            Piece::Widen(widening) if widening.part.thread != part.thread => {
                widening.leaves_alone(part.thread)?;
            }
            Piece::Hop(hop) => match (&hop.appended, &hop.to, part.loc) {
                (Some(letters), ..) => {
                    for letter in part.of(letters) {
                        adds = languages.append(adds, letter);
                    }
                }
                // Something is taken from the buffer: not what is for this location.
                (None, Move::Commit(_, committed, _), Some(loc)) if *committed != loc => {}
                (None, ..) => return None,
            },
            // Another part of the same buffer may be different after it, content by content.
            Piece::Widen(widening) if widening.part != part || widening.end == End::Front => {
                return None;
            }
            Piece::Widen(widening) => {
                let again = widening.adds(languages);
                adds = languages.concat(adds, again);
            }
        }
    }
    Some(adds)
}

/// What a path appends to a thread's buffer for locations that it does not commit to, and what it stores
/// to those that it does, if it renews that: the same value, stored before it is committed and as
/// often.
pub(super) fn renewed(
    languages: &mut Languages,
    path: &[Piece],
    thread: ThreadId,
) -> Option<(Language, Vec<Letter>)> {
    let mut stored: Vec<Letter> = Vec::new();
    // How often each letter was committed.
    let mut open: Vec<(Letter, u32)> = Vec::new();
    for piece in path {
        let hop = match piece {
            Piece::Hop(hop) if hop.step.thread != thread => continue,
            Piece::Widen(widening) if widening.part.thread != thread => {
                widening.leaves_alone(thread)?;
                continue;
            }
            Piece::Widen(_) => return None,
            Piece::Hop(hop) => hop,
        };
        if let Move::Commit(_, loc, value) = hop.to {
            let committed = Letter { class: loc.0, value };
            let earlier = stored.iter().filter(|letter| **letter == committed).count() as u32;
            match open.iter_mut().find(|(letter, _)| *letter == committed) {
                Some((_, commits)) if *commits < earlier => *commits += 1,
                Some(_) => return None,
                None if earlier > 0 => open.push((committed, 1)),
                None => return None,
            }
        } else {
            stored.extend(hop.appended.as_ref()?);
        }
    }
    let balanced = open.iter().all(|(letter, commits)| {
        let mut same = stored.iter().filter(|stored| stored.class == letter.class);
        same.clone().count() as u32 == *commits && same.all(|stored| stored == letter)
    });
    let letters: Vec<Letter> = open.into_iter().map(|(letter, _)| letter).collect();
    if letters.is_empty() || !balanced {
        return None;
    }
    stored.retain(|stored| !letters.contains(stored));
    Some((languages.word(&stored), letters))
}

/// The locations that a path commits for a thread; none when it does anything else for it, or nothing.
pub(super) fn committed(path: &[Piece], thread: ThreadId) -> Option<Vec<Loc>> {
    let mut found = Vec::new();
    for piece in path {
        match piece {
            Piece::Hop(hop) if hop.step.thread != thread => {}
            Piece::Widen(widening) if widening.part.thread != thread => {
                widening.leaves_alone(thread)?;
            }
            Piece::Widen(_) => return None,
            Piece::Hop(hop) => match hop.to {
                Move::Commit(_, loc, _) => found.push(loc),
                Move::Run(..) => return None,
            },
        }
    }
    (!found.is_empty()).then_some(found)
}
