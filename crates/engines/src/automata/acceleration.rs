//! Where on the stack a cycle began, and which parts of a buffer it makes longer.
//!
//! Source: \[LW10\] Algorithm 3, lines 2 to 8. What a cycle is worth is found out in [`super::cycle`]; here is which ones are
//! tried: of the states on the stack with the same control and memory, those that differ in one buffer, nearest
//! first.

use super::SymbolicState;
use super::cycle::{Cycle, End, Hop, Part, Piece, Walk, Widening, appended, committed, renewed};
use super::search::Search;
use super::transition::Transitions;
use fencepost_automata::{Language, Letter};
use fencepost_ir::{StoreBuffers, ThreadId};
use fencepost_models::symbolic::MARKERS;
use std::rc::Rc;

/// How many cycles are tried together at most.
const TOGETHER: usize = 8;
/// How long the word may be that commits add at the front in one round.
const LONGEST_FRONT: usize = 16;
/// How many states of the stack are tried as the beginning of a cycle, nearest first.
const TRIED: usize = 32;

/// A state about to be entered.
#[derive(Debug)]
pub(super) struct Entering {
    pub(super) state: SymbolicState,
    pub(super) sleep: Transitions,
    pub(super) widened: Option<(usize, Widening)>,
    pub(super) cycles: Vec<(Part, Rc<Cycle>)>,
}

impl Search<'_, '_> {
    /// Looks down the stack for a state that a cycle leads back to, and widens by it.
    pub(super) fn accelerate(
        &self,
        room: usize,
        hop: &Rc<Hop>,
        new: &Entering,
    ) -> Option<Entering> {
        let places = self.visited.rooms[room].on_stack.iter().rev();
        places.copied().take(TRIED).find_map(|base| {
            let below = &self.stack[base];
            let thread = only_difference(&below.state.pending, &new.state.pending)?;
            if !self.may_go_round(base, thread, hop) {
                return None;
            }
            let path = self.path(base, hop);
            let parts = [Some(Part::all(thread)), self.location(base, thread, new)];
            let mut parts = parts.into_iter().flatten();
            let back = parts.find_map(|part| self.cycle_at_back(base, part, &path, new));
            back.or_else(|| self.cycle_at_front(base, thread, &path, new))
        })
    }

    /// The only location for which a thread has other contents than in a frame of the stack, where both are
    /// all combinations.
    fn location(&self, base: usize, thread: ThreadId, new: &Entering) -> Option<Part> {
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let below = self.stack[base].state.pending[thread.index()];
        let above = new.state.pending[thread.index()];
        let products = discipline.is_product(&mut languages, below)
            && discipline.is_product(&mut languages, above);
        if !products {
            return None;
        }
        let stores = self.machine.shape.thread(thread).stores.iter();
        let mut longer =
            stores.filter(|loc| languages.project(below, loc.0) != languages.project(above, loc.0));
        let first = longer.next()?;
        longer.next().is_none().then_some(Part { thread, loc: Some(*first) })
    }

    /// A quick look: whether the steps since a frame of the stack only append to a thread's buffer. Under
    /// PSO commits may be made good.
    fn may_go_round(&self, base: usize, thread: ThreadId, hop: &Rc<Hop>) -> bool {
        let hops = self.stack[base + 1..].iter().filter_map(|frame| frame.hop.as_ref());
        let mut own = hops.chain([hop]).filter(|hop| hop.step.thread == thread);
        self.machine.model.0.grouping == StoreBuffers::Pso || own.all(|hop| hop.appended.is_some())
    }

    /// From a frame of the stack to its top, and on.
    fn path(&self, base: usize, hop: &Rc<Hop>) -> Vec<Piece> {
        let mut path = Vec::new();
        for frame in &self.stack[base + 1..] {
            path.extend(frame.hop.clone().map(Piece::Hop));
            path.extend(frame.widened.clone().map(|(_, widening)| Piece::Widen(widening)));
        }
        path.push(Piece::Hop(Rc::clone(hop)));
        path
    }

    fn cycle_at_back(
        &self,
        base: usize,
        part: Part,
        path: &[Piece],
        new: &Entering,
    ) -> Option<Entering> {
        let discipline = &self.machine.model.0;
        let (adds, renewed) = self.added(part, path)?;
        let stores = {
            let languages = discipline.languages();
            let classes = languages.classes(adds);
            !languages.contains_empty(adds) && classes.iter().any(|c| !MARKERS.contains(c))
        };
        if !stores {
            return None;
        }
        let below = &self.stack[base];
        let cycle = Rc::new(Cycle { path: path.to_vec(), adds, renewed });
        let with = |cycles: &[(Part, Rc<Cycle>)]| {
            let known = cycles.iter().filter(|(whose, _)| *whose == part).map(|(_, cycle)| cycle);
            let cycles = known.rev().take(TOGETHER - 1).chain([&cycle]).cloned().collect();
            self.widened(base, Widening { part, end: End::Back, cycles }, new)
        };
        let mut wider = with(&below.cycles).or_else(|| with(&[]))?;
        if self.is_rash(base, part.thread, &wider, adds) {
            return None;
        }
        wider.cycles = below.cycles.clone();
        wider.cycles.push((part, cycle));
        Some(wider)
    }

    /// Under PSO: whether widening would lose that contents for different locations have nothing to do with each
    /// other, the first time that the cycle is met. Commits may yet show that they have not: they are tried
    /// before it is met for the second time.
    fn is_rash(&self, base: usize, thread: ThreadId, wider: &Entering, adds: Language) -> bool {
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let contents = |state: &SymbolicState| state.pending[thread.index()];
        let below = contents(&self.stack[base].state);
        let keeps = !discipline.is_product(&mut languages, below)
            || discipline.is_product(&mut languages, contents(&wider.state));
        if keeps {
            return false;
        }
        let room = &self.visited.rooms[self.stack[base].room];
        let mut earlier = room.on_stack.iter().take_while(|at| **at < base);
        !earlier.any(|at| {
            let before = contents(&self.stack[*at].state);
            discipline.appended(&mut languages, before, adds) == below
        })
    }

    /// What going along a path once adds to a part of a buffer, and what it renews.
    fn added(&self, part: Part, path: &[Piece]) -> Option<(Language, Vec<Letter>)> {
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let adds = appended(&mut languages, path, part).map(|adds| (adds, Vec::new()));
        let may_renew = self.has_locations(part.thread) && part.loc.is_none();
        adds.or_else(|| match may_renew {
            true => renewed(&mut languages, path, part.thread),
            false => None,
        })
    }

    /// Whether a thread has a queue for each location, and no fence leaves markers in them.
    fn has_locations(&self, thread: ThreadId) -> bool {
        let shape = self.machine.shape.thread(thread);
        self.machine.model.0.grouping == StoreBuffers::Pso
            && !shape.has_store_store
            && !shape.has_store_load
    }

    fn cycle_at_front(
        &self,
        base: usize,
        thread: ThreadId,
        path: &[Piece],
        new: &Entering,
    ) -> Option<Entering> {
        let discipline = &self.machine.model.0;
        if !self.has_locations(thread) {
            return None;
        }
        let committed = committed(path, thread)?;
        let below = &self.stack[base].state;
        let (old, longer) = (below.pending[thread.index()], new.state.pending[thread.index()]);
        let word = discipline.languages().prefix(old, longer, LONGEST_FRONT)?;
        let apart = word.iter().all(|letter| !committed.iter().any(|loc| loc.0 == letter.class));
        if word.is_empty() || !apart {
            return None;
        }
        let adds = discipline.languages().word(&word);
        let cycles = [Rc::new(Cycle { path: path.to_vec(), adds, renewed: Vec::new() })].into();
        self.widened(base, Widening { part: Part::all(thread), end: End::Front, cycles }, new)
    }

    /// The state of a frame of the stack, widened, if that is possible and covers the state that the cycle
    /// led to.
    fn widened(&self, base: usize, widening: Widening, new: &Entering) -> Option<Entering> {
        let below = &self.stack[base];
        let mut walk = Walk::new(self.machine, below.state.clone(), below.asleep);
        if !walk.widen(&widening) || walk.state.pending == below.state.pending {
            return None;
        }
        let discipline = &self.machine.model.0;
        let (state, sleep) = (walk.state, walk.sleep.intersection(new.sleep));
        let covers = discipline.covers(&state.pending, &new.state.pending)
            || self.is_once_round(base, &widening, new);
        let widened = Some((base, widening));
        covers.then_some(Entering { state, sleep, widened, cycles: Vec::new() })
    }

    /// Whether the state that the cycle led to is just that: once round. (Under PSO its contents may be
    /// written in another order than those of the widened state.)
    fn is_once_round(&self, base: usize, widening: &Widening, new: &Entering) -> bool {
        let discipline = &self.machine.model.0;
        let mut languages = discipline.languages();
        let at = widening.part.thread.index();
        let Some(cycle) = widening.cycles.last() else { return false };
        let once = match widening.end {
            // It has no widening of this thread in it and has led from there to here.
            End::Back if !cycle.renewed.is_empty() => return true,
            End::Back => {
                let contents = self.stack[base].state.pending[at];
                discipline.appended(&mut languages, contents, cycle.adds)
            }
            End::Front => return false,
        };
        once == new.state.pending[at]
    }
}

/// The thread whose buffer is the only one that differs.
fn only_difference(one: &[Language], other: &[Language]) -> Option<ThreadId> {
    let mut threads = (0..one.len()).filter(|at| one[*at] != other[*at]);
    let first = threads.next()?;
    threads.next().is_none().then(|| ThreadId::from_index(first))
}
