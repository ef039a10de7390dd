//! The machine as a system to explore: its path, what runs end with, and what is looked for on the way.

use super::footprint::Cells;
use super::path::Path;
use super::variants::{Variant, Variants};
use crate::robust::escape::escape;
use crate::sc::ScMachine;
use fencepost_explore::{Attempt, Counts, End, Execution, Findings, Move, Step, System, Touch};
use fencepost_ir::waits::Waiting;
use fencepost_ir::{MemoryOp, Op, ThreadId, Update, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::Trace;
use fencepost_monitor::{Access, Model};
use fencepost_search::{Cancel, Stop};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Places where a block could come that are tried.
const PLACES: usize = 5_000;

/// When to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Until {
    /// When there is something to tell.
    Found,
    /// When everything was seen.
    End,
}

/// Something to tell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// A run that breaks a property.
    Trouble(Trace),
    /// A run whose last event could have left sequential consistency: the choices of `init`, the
    /// moves, and what the last of them does then, if that is not what it does.
    Borderline(Vec<u32>, Vec<Move>, Option<Variant>),
}

/// What was counted and found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    /// Those of the whole exploration.
    pub(crate) counts: Counts,
    /// Runs on which the monitor has fired.
    pub(crate) borderline: u64,
    pub(crate) outcomes: BTreeSet<Vec<Value>>,
    /// By position of a `final exists` among the properties: a run that shows it.
    pub(crate) witnesses: BTreeMap<usize, Trace>,
    pub(crate) found: Option<Found>,
    /// Whether some block has more ways through it than are told apart.
    pub(crate) doubtful: bool,
    /// Why the exploration ended early, if it did.
    pub(crate) stopped: Option<Stop>,
}

impl Findings for Tally {
    /// The first thing found stays.
    fn merge(&mut self, later: Tally) {
        self.borderline += later.borderline;
        self.outcomes.extend(later.outcomes);
        for (property, trace) in later.witnesses {
            self.witnesses.entry(property).or_insert(trace);
        }
        self.doubtful |= later.doubtful;
        self.found = self.found.take().or(later.found);
    }
}

impl Tally {
    /// Whether nothing was left out, unless something was found and that was enough.
    pub(crate) fn is_whole(&self) -> bool {
        self.stopped.is_none() && self.counts.cut == 0 && !self.counts.bounded
    }
}

/// What to look at, and how far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) watch: Option<Model>,
    pub(crate) until: Until,
    /// Events in a run, at most.
    pub(crate) longest: usize,
    /// Whether properties are judged.
    pub(crate) judge: bool,
    /// How many runs of a part may become too long before nobody wants more of them.
    pub(crate) cuts: u64,
}

/// The threads of a program, run by the machine.
pub(crate) struct MachineSystem<'m, 'p> {
    path: Path<'m, 'p>,
    waiting: &'m Waiting,
    cells: &'m Cells,
    plan: Plan,
    tally: Tally,
    cancel: &'m Cancel,
    /// By thread and program counter: whether the step there chooses.
    chooses: Vec<Vec<bool>>,
    variants: Variants,
    /// Whether steps that write at once can come too early at all: under PSO, or where records are allocated.
    varies: bool,
}

impl<'m, 'p> MachineSystem<'m, 'p> {
    /// At the state that these choices of `init` lead to. None when there is no such state.
    pub(crate) fn new(
        machine: &'m ScMachine<'p>,
        waiting: &'m Waiting,
        cells: &'m Cells,
        plan: Plan,
        cancel: &'m Cancel,
        init: &[u32],
    ) -> Option<Self> {
        let mut code = machine.shape.program().threads.iter().flat_map(|thread| &thread.code);
        let varies = match plan.watch {
            None => false,
            Some(Model::Pso) => true,
            Some(Model::Tso) => code.any(|stmt| matches!(stmt.op, Op::New { .. })),
        };
        let variants = if varies { Variants::new(&machine.shape) } else { Variants::default() };
        let mut path = Path::new(machine, waiting, cells, plan.watch);
        path.start(init)?.ok()?;
        Some(MachineSystem {
            path,
            waiting,
            cells,
            plan,
            tally: Tally { doubtful: variants.too_many, ..Tally::default() },
            cancel,
            chooses: machine.shape.program().threads.iter().map(chooses).collect(),
            variants,
            varies,
        })
    }

    /// The monitor does not know values: what it moves might do something else where it comes then, or wait. Sees to it
    /// that the path has fired exactly if the last event, or what it could do elsewhere, leaves
    /// sequential consistency; which of that.
    fn settle(&mut self, execution: &Execution) -> Option<Variant> {
        let last = execution.len() - 1;
        let thread = execution.events()[last].made.thread;
        if self.varies
            && let Some(variants) =
                self.variants.of(self.path.machine, self.path.state_at(last), thread)
        {
            if self.path.fired && !self.path.fired_now() {
                return None;
            }
            self.path.fired = false;
            let found = self.path.would_have_fired(&variants);
            let mut found = found.into_iter();
            let real = found.find(|variant| self.escapes(execution, None, Some(variant)));
            self.path.fired = real.is_some();
            return real;
        }
        // A run that ends there with something wrong may end so under SC, too; then it is met elsewhere.
        let in_doubt =
            self.plan.until == Until::Found || self.waiting.has_waits(ThreadId::from_index(thread));
        if self.path.fired_now() && in_doubt && !self.escapes(execution, None, None) {
            self.path.fired = false;
        }
        None
    }

    /// Whether the path, with one more move, leads to a run that is not sequentially consistent, when its last move does
    /// something else.
    fn escapes(
        &mut self,
        execution: &Execution,
        more: Option<&Move>,
        variant: Option<&Variant>,
    ) -> bool {
        // What is said after someone wanted to stop is not used.
        let cancelled = self.cancel.raised().is_some();
        let Some(model) = self.plan.watch.filter(|_| !cancelled) else { return false };
        if let Some(Variant::Block(accesses)) = variant {
            let writes = |access: &Access| {
                let accesses = execution.accesses(access.address).iter();
                accesses.filter(|(_, wrote)| *wrote).count() + 1
            };
            let places = accesses.iter().map(writes).try_fold(1, usize::checked_mul);
            if places.is_none_or(|places| places > PLACES) {
                self.tally.doubtful = true;
                return false;
            }
        }
        let (init, reductions) = (&self.path.init, self.path.machine.reductions);
        escape(self.waiting, model, reductions, init, &moves(execution, more), variant).is_some()
    }

    /// A thread that waits could go on if what it waits for had come earlier: the move, if that leaves
    /// sequential consistency.
    fn impatient(&mut self, execution: &Execution) -> Option<(Move, Option<Variant>)> {
        for t in 0..self.threads() {
            if self.has_halted(t) {
                continue;
            }
            for made in self.moves(t) {
                match self.path.step(&made) {
                    Step::Blocked | Step::Spinning => {}
                    Step::Taken => unreachable!("nothing can happen here"),
                }
                let variants = if self.varies {
                    self.variants.of(self.path.machine, self.path.state(), t)
                } else {
                    None
                };
                let variants: Vec<Option<Variant>> = match variants {
                    Some(variants) => variants.into_iter().map(Some).collect(),
                    None => vec![None],
                };
                for variant in variants {
                    if self.path.would_fire(t, variant.as_ref())
                        && self.escapes(execution, Some(&made), variant.as_ref())
                    {
                        return Some((made, variant));
                    }
                }
            }
        }
        None
    }

    fn trace(&self, execution: &Execution) -> Trace {
        Trace { init: self.path.init.clone(), steps: self.path.steps(execution), bound: None }
    }

    /// Whether to go on after something was found.
    fn unless_enough(&self) -> ControlFlow<()> {
        match self.plan.until {
            Until::Found => ControlFlow::Break(()),
            Until::End => ControlFlow::Continue(()),
        }
    }

    /// A run that breaks a property.
    fn trouble(&mut self, execution: &Execution) -> ControlFlow<()> {
        let trace = self.trace(execution);
        self.tally.found.get_or_insert(Found::Trouble(trace));
        self.unless_enough()
    }

    /// A run whose last move, or one more, could have left sequential consistency.
    fn borderline(
        &mut self,
        execution: &Execution,
        more: Option<&Move>,
        variant: Option<Variant>,
    ) -> ControlFlow<()> {
        if self.plan.until == Until::Found {
            let (init, moves) = (self.path.init.clone(), moves(execution, more));
            self.tally.found = Some(Found::Borderline(init, moves, variant));
        }
        self.unless_enough()
    }

    /// Judges a state in which nothing can happen.
    fn at_rest(&mut self, execution: &Execution, complete: bool) -> ControlFlow<()> {
        let machine = self.path.machine;
        let state = self.path.state();
        if complete {
            let observed = &machine.shape.problem.observed;
            let outcome = observed.iter().map(|what| machine.observe(state, *what)).collect();
            self.tally.outcomes.insert(outcome);
            for (at, condition) in machine.shape.problem.sometimes.iter().enumerate() {
                if !self.tally.witnesses.contains_key(&at) && machine.holds(state, condition) {
                    self.tally.witnesses.insert(at, self.trace(execution));
                }
            }
        }
        if !self.plan.judge || machine.wrong_at_rest(state).is_none() {
            return ControlFlow::Continue(());
        }
        self.trouble(execution)
    }
}

impl System for MachineSystem<'_, '_> {
    type Findings = Tally;

    fn threads(&self) -> usize {
        self.chooses.len()
    }

    fn has_halted(&mut self, thread: usize) -> bool {
        self.path.has_halted(thread)
    }

    fn moves(&mut self, thread: usize) -> Vec<Move> {
        let state = self.path.state();
        if !self.chooses[thread][state.pcs[thread].index()] {
            return vec![Move::of(thread)];
        }
        let mut moves = Vec::new();
        let mut choices = Choices::default();
        let t = ThreadId::from_index(thread);
        loop {
            choices.rewind();
            let _ = self.path.machine.run(&mut state.clone(), t, &mut choices, &mut ());
            moves.push(Move { thread, choices: choices.script().to_vec() });
            if !choices.advance() {
                return moves;
            }
        }
    }

    fn step(&mut self, made: &Move) -> Step {
        self.path.step(made)
    }

    fn footprint(&self) -> &[Touch] {
        &self.path.footprint.touches
    }

    fn truncate(&mut self, events: usize) {
        self.path.truncate(events);
    }

    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
        self.path.attempts(events, moves, thread)
    }

    fn is_unconditional(&self, execution: &Execution, event: usize) -> bool {
        let thread = ThreadId::from_index(execution.events()[event].made.thread);
        let pc = self.path.state_at(event).pcs[thread.index()];
        if self.waiting.has_waits(thread) || self.cells.is_watched(thread) {
            return false;
        }
        let op = &self.path.machine.shape.stmt(thread, pc).op;
        matches!(op, Op::Choose { .. })
            || op.memory().is_some_and(|memory| match memory {
                MemoryOp::Load { .. } | MemoryOp::Store { .. } => true,
                MemoryOp::Update { update, .. } => !matches!(update, Update::Cas { .. }),
                MemoryOp::Fence(_) | MemoryOp::Drain(_) => false,
            })
    }

    fn has_failed(&mut self, execution: &Execution) -> bool {
        self.path.judge_overlap(execution);
        self.path.wrong.is_some()
    }

    fn observe(&mut self, execution: &Execution) -> ControlFlow<()> {
        if self.path.wrong.is_some() {
            return match self.plan.judge {
                true => self.trouble(execution),
                false => ControlFlow::Continue(()),
            };
        }
        if self.plan.watch.is_none() {
            return ControlFlow::Continue(());
        }
        let variant = self.settle(execution);
        match self.path.fired {
            true => self.borderline(execution, None, variant),
            false => ControlFlow::Continue(()),
        }
    }

    fn ended(&mut self, execution: &Execution, end: End) -> ControlFlow<()> {
        let waits = matches!(end, End::Stuck { .. }) && !self.path.fired;
        let impatient = if waits { self.impatient(execution) } else { None };
        if end != End::Redundant && (self.path.fired || impatient.is_some()) {
            self.tally.borderline += 1;
        }
        if let Some((made, variant)) = impatient {
            self.borderline(execution, Some(&made), variant)?;
        }
        match end {
            End::Complete | End::Stuck { spinning: false } => {
                self.at_rest(execution, end == End::Complete)
            }
            End::Stuck { spinning: true } | End::Redundant | End::Cut | End::Failed => {
                ControlFlow::Continue(())
            }
        }
    }

    fn into_findings(self) -> Tally {
        self.tally
    }
}

/// The moves of an execution, and one more.
fn moves(execution: &Execution, more: Option<&Move>) -> Vec<Move> {
    execution.events().iter().map(|event| &event.made).chain(more).cloned().collect()
}

/// By program counter: whether a step that begins there meets a `choose`.
fn chooses(thread: &fencepost_ir::Thread) -> Vec<bool> {
    let in_blocks = thread.code.iter().any(|stmt| matches!(stmt.op, Op::Choose { .. }));
    let of =
        |op: &Op| matches!(op, Op::Choose { .. }) || in_blocks && matches!(op, Op::AtomicBegin);
    thread.code.iter().map(|stmt| of(&stmt.op)).collect()
}
