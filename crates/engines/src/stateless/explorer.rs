//! What the ways of exploring share: the path, what runs end with, and who wants to know.

use super::footprint::Cells;
use super::path::{Move, Path, Pushed, Trouble};
use super::variants::{Variant, Variants};
use crate::robust::escape::escape;
use crate::sc::ScMachine;
use fencepost_ir::waits::Waiting;
use fencepost_ir::{Op, ThreadId, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::Trace;
use fencepost_monitor::{Access, Model};
use fencepost_search::{Cancel, Stop};
use std::collections::{BTreeMap, BTreeSet};

/// Places where a block could come that are tried.
const PLACES: usize = 5_000;

/// How often the flag that ends an exploration is looked at, in events.
const PATIENCE: u32 = 1 << 10;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// All threads have halted.
    Complete,
    /// Nothing more can happen. `waiting`: some thread goes round in a wait.
    Stuck { waiting: bool },
    /// All that is left was explored elsewhere.
    Redundant,
    /// It became too long.
    Cut,
    /// Something is wrong.
    Wrong,
}

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

/// What was counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) complete: u64,
    pub(crate) stuck: u64,
    pub(crate) redundant: u64,
    /// Runs on which the monitor has fired.
    pub(crate) borderline: u64,
    /// Runs that became too long, or were given up for want of preemptions.
    pub(crate) cut: u64,
    pub(crate) steps: u64,
    pub(crate) longest: usize,
    pub(crate) outcomes: BTreeSet<Vec<Value>>,
    /// By position of a `final exists` among the properties: a run that shows it.
    pub(crate) witnesses: BTreeMap<usize, Trace>,
    pub(crate) found: Option<Found>,
    /// Whether the bound on preemptions kept something from happening.
    pub(crate) bounded: bool,
    /// Whether some block has more ways through it than are told apart.
    pub(crate) doubtful: bool,
    /// Why it ended early, if it did.
    pub(crate) stopped: Option<Stop>,
}

impl Tally {
    /// Adds what another part has counted. The first thing found stays.
    pub(crate) fn add(&mut self, other: Tally) {
        self.complete += other.complete;
        self.stuck += other.stuck;
        self.redundant += other.redundant;
        self.borderline += other.borderline;
        self.cut += other.cut;
        self.steps += other.steps;
        self.longest = self.longest.max(other.longest);
        self.outcomes.extend(other.outcomes);
        for (property, trace) in other.witnesses {
            self.witnesses.entry(property).or_insert(trace);
        }
        self.bounded |= other.bounded;
        self.doubtful |= other.doubtful;
        self.found = self.found.take().or(other.found);
        self.stopped = self.stopped.or(other.stopped);
    }

    /// Whether nothing was left out, unless something was found and that was enough.
    pub(crate) fn is_whole(&self) -> bool {
        self.stopped.is_none() && self.cut == 0 && !self.bounded
    }

    /// All runs, but for those in vain: how many there are of these depends on how parts were cut.
    pub(crate) fn runs(&self) -> u64 {
        self.complete + self.stuck + self.cut
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

pub(crate) struct Explorer<'m, 'p> {
    pub(crate) path: Path<'m, 'p>,
    pub(crate) waiting: &'m Waiting,
    pub(crate) cells: &'m Cells,
    pub(crate) plan: Plan,
    pub(crate) longest: usize,
    pub(crate) tally: Tally,
    /// Runs that this part may still take.
    pub(crate) runs_left: u64,
    cancel: &'m Cancel,
    patience: u32,
    /// By thread and program counter: whether the step there chooses.
    chooses: Vec<Vec<bool>>,
    variants: Variants,
    /// Whether steps that write at once can come too early at all: under PSO, or where records are allocated.
    varies: bool,
}

impl<'m, 'p> Explorer<'m, 'p> {
    pub(crate) fn new(
        machine: &'m ScMachine<'p>,
        waiting: &'m Waiting,
        cells: &'m Cells,
        plan: Plan,
        cancel: &'m Cancel,
    ) -> Self {
        let mut code = machine.shape.program().threads.iter().flat_map(|thread| &thread.code);
        let varies = match plan.watch {
            None => false,
            Some(Model::Pso) => true,
            Some(Model::Tso) => code.any(|stmt| matches!(stmt.op, Op::New { .. })),
        };
        let variants = if varies { Variants::new(&machine.shape) } else { Variants::default() };
        Explorer {
            path: Path::new(machine, waiting, cells, plan.watch),
            waiting,
            cells,
            plan,
            longest: plan.longest,
            tally: Tally { doubtful: variants.too_many, ..Tally::default() },
            runs_left: u64::MAX,
            cancel,
            patience: PATIENCE,
            chooses: machine.shape.program().threads.iter().map(chooses).collect(),
            variants,
            varies,
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.chooses.len()
    }

    /// What a thread may do next: one move, or one for each way that choices go.
    pub(crate) fn moves(&self, t: usize) -> Vec<Move> {
        let state = self.path.state();
        let plain = Move { thread: t, script: Vec::new() };
        if !self.chooses[t][state.pcs[t].index()] {
            return vec![plain];
        }
        let mut moves = Vec::new();
        let mut choices = Choices::default();
        loop {
            choices.rewind();
            let thread = ThreadId::from_index(t);
            let _ = self.path.machine.run(&mut state.clone(), thread, &mut choices, &mut ());
            moves.push(Move { thread: t, script: choices.script().to_vec() });
            if !choices.advance() {
                return moves;
            }
        }
    }

    /// Whether someone has asked to stop.
    pub(crate) fn is_cancelled(&mut self) -> bool {
        self.tally.stopped = self.tally.stopped.or(self.cancel.raised());
        self.tally.stopped.is_some()
    }

    /// After an event: whether the monitor has fired and that is what was wanted.
    pub(crate) fn fired(&mut self) -> bool {
        self.patience -= 1;
        if self.patience == 0 {
            self.patience = PATIENCE;
            if self.is_cancelled() {
                return true;
            }
        }
        if self.plan.watch.is_none() {
            return false;
        }
        let variant = self.settle();
        let fired = self.path.fired && self.plan.until == Until::Found;
        if fired {
            let init = self.path.init.clone();
            self.tally.found = Some(Found::Borderline(init, self.made(None), variant));
        }
        fired
    }

    /// The monitor does not know values: what it moves might do something else where it comes then, or wait. Sees to it
    /// that the path has fired exactly if the last event, or what it could do elsewhere, leaves
    /// sequential consistency; which of that.
    fn settle(&mut self) -> Option<Variant> {
        let last = self.path.events.len() - 1;
        let thread = self.path.events[last].made.thread;
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
            let real = found.find(|variant| self.escapes(None, Some(variant)));
            self.path.fired = real.is_some();
            return real;
        }
        // A run that ends there with something wrong may end so under SC, too; then it is met elsewhere.
        let in_doubt =
            self.plan.until == Until::Found || self.waiting.has_waits(ThreadId::from_index(thread));
        if self.path.fired_now() && in_doubt && !self.escapes(None, None) {
            self.path.fired = false;
        }
        None
    }

    /// The moves of the path, and one more.
    fn made(&self, more: Option<Move>) -> Vec<Move> {
        self.path.events.iter().map(|event| event.made.clone()).chain(more).collect()
    }

    /// Whether the path, with one more move, leads to a run that is not sequentially consistent, when its last move does
    /// something else.
    fn escapes(&mut self, more: Option<Move>, variant: Option<&Variant>) -> bool {
        let Some(model) = self.plan.watch.filter(|_| !self.is_cancelled()) else { return false };
        if let Some(Variant::Block(accesses)) = variant {
            let writes = |access: &Access| {
                let history = self.path.history(access.address).iter();
                history.filter(|(_, wrote)| *wrote).count() + 1
            };
            let places = accesses.iter().map(writes).try_fold(1, usize::checked_mul);
            if places.is_none_or(|places| places > PLACES) {
                self.tally.doubtful = true;
                return false;
            }
        }
        let (init, reductions) = (&self.path.init, self.path.machine.reductions);
        escape(self.waiting, model, reductions, init, &self.made(more), variant).is_some()
    }

    /// A thread that waits could go on if what it waits for had come earlier: the move, if that leaves
    /// sequential consistency.
    fn impatient(&mut self) -> Option<(Move, Option<Variant>)> {
        for t in 0..self.threads() {
            if self.path.has_halted(t) {
                continue;
            }
            for made in self.moves(t) {
                match self.path.push(made.clone()) {
                    Pushed::Blocked | Pushed::Waiting => {}
                    Pushed::Yes | Pushed::Wrong(_) => unreachable!("nothing can happen here"),
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
                        && self.escapes(Some(made.clone()), variant.as_ref())
                    {
                        return Some((made, variant));
                    }
                }
            }
        }
        None
    }

    /// Something is wrong. Whether to go on.
    pub(crate) fn wrong(&mut self, trouble: Trouble) -> bool {
        if !self.plan.judge {
            return true;
        }
        let trace = self.trace(Some(trouble));
        self.tally.found.get_or_insert(Found::Trouble(trace));
        self.plan.until == Until::End
    }

    fn trace(&self, trouble: Option<Trouble>) -> Trace {
        Trace { init: self.path.init.clone(), steps: self.path.steps(trouble), bound: None }
    }

    /// Counts and judges the end of a run. Whether to go on.
    pub(crate) fn end(&mut self, end: End) -> bool {
        if end != End::Redundant {
            self.tally.steps += self.path.events.len() as u64;
        }
        self.tally.longest = self.tally.longest.max(self.path.events.len());
        match end {
            End::Complete | End::Wrong => self.tally.complete += 1,
            End::Stuck { .. } => self.tally.stuck += 1,
            End::Redundant => self.tally.redundant += 1,
            End::Cut => self.tally.cut += 1,
        }
        let waits = matches!(end, End::Stuck { .. }) && !self.path.fired;
        let impatient = if waits { self.impatient() } else { None };
        if end != End::Redundant && (self.path.fired || impatient.is_some()) {
            self.tally.borderline += 1;
        }
        if let Some((made, variant)) = impatient
            && self.plan.until == Until::Found
        {
            let moves = self.made(Some(made));
            self.tally.found = Some(Found::Borderline(self.path.init.clone(), moves, variant));
            return false;
        }
        let goes_on = match end {
            End::Complete | End::Stuck { waiting: false } => self.at_rest(end == End::Complete),
            End::Stuck { waiting: true } | End::Redundant | End::Cut | End::Wrong => true,
        };
        if self.tally.cut > self.plan.cuts {
            self.tally.stopped = Some(Stop::Depth);
            return false;
        }
        self.runs_left = self.runs_left.saturating_sub(1);
        goes_on && self.runs_left > 0
    }

    /// Judges a state in which nothing can happen. Whether to go on.
    fn at_rest(&mut self, complete: bool) -> bool {
        let machine = self.path.machine;
        let state = self.path.state();
        if complete {
            let observed = &machine.shape.problem.observed;
            let outcome = observed.iter().map(|what| machine.observe(state, *what)).collect();
            self.tally.outcomes.insert(outcome);
            for (at, condition) in machine.shape.problem.sometimes.iter().enumerate() {
                if !self.tally.witnesses.contains_key(&at) && machine.holds(state, condition) {
                    self.tally.witnesses.insert(at, self.trace(None));
                }
            }
        }
        if !self.plan.judge || machine.wrong_at_rest(state).is_none() {
            return true;
        }
        let trace = self.trace(None);
        self.tally.found.get_or_insert(Found::Trouble(trace));
        self.plan.until == Until::End
    }
}

/// By program counter: whether a step that begins there meets a `choose`.
fn chooses(thread: &fencepost_ir::Thread) -> Vec<bool> {
    let in_blocks = thread.code.iter().any(|stmt| matches!(stmt.op, Op::Choose { .. }));
    let of = |op: &Op| match op {
        Op::Choose { .. } => true,
        Op::AtomicBegin => in_blocks,
        _ => false,
    };
    thread.code.iter().map(|stmt| of(&stmt.op)).collect()
}
