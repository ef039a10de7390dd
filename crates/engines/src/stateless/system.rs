//! The SC machine as a system to explore: its path, the ends of executions, and the findings.

use super::footprint::Cells;
use super::path::Path;
use super::variants::{Variant, Variants};
use crate::robust::non_sc_run::build_non_sc_run;
use crate::sc::{ScMachine, check_hang};
use fencepost_explore::{
    Attempt, CellAccess, Counts, End, Execution, Findings, Move, MoveResult, System, moves_of,
};
use fencepost_ir::flow::successors;
use fencepost_ir::spin_loops::SpinAssumed;
use fencepost_ir::{MemoryOp, Op, Pc, Stmt, ThreadId, Update, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::hang::{HangCheck, WaitCache};
use fencepost_models::replay::Trace;
use fencepost_monitor::{Access, Model};
use fencepost_search::{Cancel, Stop};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// The largest number of positions of a block that are tried.
const MAX_POSITIONS: usize = 5_000;

/// When an exploration stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StopAt {
    /// At the first finding.
    FirstFinding,
    /// When everything is explored.
    End,
}

/// A finding that can end an exploration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Finding {
    /// An execution that violates a property.
    Violation(Trace),
    /// An execution whose last event could leave sequential consistency: the choices of `init`, the
    /// moves, and the variant of the last move, if it must behave differently.
    Borderline(Vec<u32>, Vec<Move>, Option<Variant>),
}

/// The counts and findings of an exploration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct ExplorationResult {
    /// The counts of the whole exploration.
    pub(crate) counts: Counts,
    /// Executions on which the monitor fired.
    pub(crate) borderline: u64,
    pub(crate) outcomes: BTreeSet<Vec<Value>>,
    /// A witness by position in `Problem::sometimes`.
    pub(crate) witnesses: BTreeMap<usize, Trace>,
    pub(crate) found: Option<Finding>,
    /// Whether some block has more variants or positions than are examined.
    pub(crate) variants_incomplete: bool,
    /// Whether some execution reaches the bound on iterations.
    pub(crate) reaches_bound: bool,
    /// Whether it is not decided for the end of some execution whether it is a hang.
    pub(crate) undecided_hang: bool,
    /// The limit that ended the exploration early.
    pub(crate) stopped: Option<Stop>,
}

impl Findings for ExplorationResult {
    /// Keeps the first finding and the first witnesses.
    fn merge(&mut self, later: ExplorationResult) {
        self.borderline += later.borderline;
        self.outcomes.extend(later.outcomes);
        for (property, trace) in later.witnesses {
            self.witnesses.entry(property).or_insert(trace);
        }
        self.variants_incomplete |= later.variants_incomplete;
        self.undecided_hang |= later.undecided_hang;
        self.reaches_bound |= later.reaches_bound;
        self.found = self.found.take().or(later.found);
    }
}

impl ExplorationResult {
    /// Returns what the executions say about SC.
    pub(crate) fn without_monitor(&self) -> ExplorationResult {
        ExplorationResult { borderline: 0, variants_incomplete: false, ..self.clone() }
    }

    /// Returns whether no execution was left out by a limit or a bound.
    pub(crate) fn is_complete(&self) -> bool {
        let is_bounded = self.counts.bounded || self.reaches_bound;
        self.stopped.is_none() && self.counts.cut == 0 && !is_bounded
    }
}

/// The options of an exploration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExplorationOptions {
    pub(crate) monitored: Option<Model>,
    /// Whether a run is built for each event that may be borderline. That takes long. Otherwise
    /// such an event counts as borderline.
    pub(crate) confirms: bool,
    pub(crate) stop_at: StopAt,
    /// The largest number of events of an execution.
    pub(crate) max_events: usize,
    /// Whether properties are checked.
    pub(crate) check_properties: bool,
    /// The exploration ends when this many executions of a part exceeded `max_events`.
    pub(crate) max_cut: u64,
}

/// The threads of a program, executed by the SC machine.
pub(crate) struct MachineSystem<'m, 'p> {
    pub(crate) path: Path<'m, 'p>,
    /// The machine of the problem whose spin loops are not cut, to check for hangs.
    original: &'m ScMachine<'p>,
    spin_assumed: &'m SpinAssumed,
    options: ExplorationOptions,
    result: ExplorationResult,
    wait_cache: WaitCache,
    cancel: &'m Cancel,
    /// By thread and program counter: whether the step there has choices.
    chooses: Vec<Vec<bool>>,
    /// By thread and program counter: whether the event there is
    /// [unconditional](System::is_unconditional).
    is_unconditional: Vec<Vec<bool>>,
    variants: Variants,
    /// Whether updates, blocks and allocations can be reordered before an earlier store: under
    /// PSO, or if the program allocates records.
    uses_variants: bool,
}

impl<'m, 'p> MachineSystem<'m, 'p> {
    /// Starts at the state after these choices of `init`. None if there is no such state.
    pub(crate) fn new(
        machine: &'m ScMachine<'p>,
        original: &'m ScMachine<'p>,
        spin_assumed: &'m SpinAssumed,
        cells: &'m Cells,
        options: ExplorationOptions,
        cancel: &'m Cancel,
        init: &[u32],
    ) -> Option<Self> {
        let mut code = machine.shape.program().threads.iter().flat_map(|thread| &thread.code);
        let uses_variants = match options.monitored {
            None => false,
            Some(Model::Pso) => true,
            Some(Model::Tso) => code.any(|stmt| matches!(stmt.op, Op::New { .. })),
        };
        let variants =
            if uses_variants { Variants::new(&machine.shape) } else { Variants::default() };
        let mut path = Path::new(machine, spin_assumed, cells, options.monitored);
        path.start(init)?.ok()?;
        Some(MachineSystem {
            path,
            original,
            spin_assumed,
            options,
            result: ExplorationResult {
                variants_incomplete: variants.too_many,
                ..ExplorationResult::default()
            },
            wait_cache: WaitCache::default(),
            cancel,
            chooses: machine.shape.program().threads.iter().map(chooses).collect(),
            is_unconditional: unconditional_events(spin_assumed, cells),
            variants,
            uses_variants,
        })
    }

    /// Confirms a borderline event. The monitor ignores values: at another position, the event may
    /// behave differently or block. Afterwards, the path has fired exactly if the last event or one
    /// of its variants leaves sequential consistency. Returns that variant.
    fn confirm_borderline(&mut self, execution: &Execution) -> Option<Variant> {
        let last = execution.len() - 1;
        let thread = execution.events()[last].mv.thread;
        if self.uses_variants
            && let Some(variants) =
                self.variants.of(self.path.machine, self.path.state_at(last), thread)
        {
            if self.path.fired && !self.path.fired_on_last_event() {
                return None;
            }
            self.path.fired = false;
            let found = self.path.would_have_fired(&variants);
            let mut found = found.into_iter();
            let confirmed =
                found.find(|variant| self.has_non_sc_run(execution, None, Some(variant)));
            self.path.fired = confirmed.is_some();
            return confirmed;
        }
        // An execution that ends there with a violation may end so under SC, too. Then the
        // exploration finds it elsewhere.
        let needs_confirmation = self.options.stop_at == StopAt::FirstFinding
            || self.spin_assumed.has_spin_loops(ThreadId::from_index(thread));
        if self.path.fired_on_last_event()
            && needs_confirmation
            && !self.has_non_sc_run(execution, None, None)
        {
            self.path.fired = false;
        }
        None
    }

    /// Returns whether the path, plus one more move, has a counterpart that is not sequentially
    /// consistent, if its last move behaves like `variant`.
    fn has_non_sc_run(
        &mut self,
        execution: &Execution,
        last_move: Option<&Move>,
        variant: Option<&Variant>,
    ) -> bool {
        if !self.options.confirms {
            return true;
        }
        // The answer is not used after a cancellation.
        let cancelled = self.cancel.reason().is_some();
        let Some(model) = self.options.monitored.filter(|_| !cancelled) else { return false };
        if let Some(Variant::Block(accesses)) = variant {
            let writes = |access: &Access| {
                let accesses = execution.accesses(access.address).iter();
                accesses.filter(|(_, wrote)| *wrote).count() + 1
            };
            let positions = accesses.iter().map(writes).try_fold(1, usize::checked_mul);
            if positions.is_none_or(|positions| positions > MAX_POSITIONS) {
                self.result.variants_incomplete = true;
                return false;
            }
        }
        let Path { init, machine, .. } = &self.path;
        build_non_sc_run(
            self.spin_assumed,
            model,
            (machine.reductions, &machine.work_limits),
            init,
            &moves(execution, last_move),
            variant,
        )
        .is_some()
    }

    /// Finds a blocked move that could run if the write it waits for came earlier. Returns the move
    /// if that leaves sequential consistency.
    fn find_borderline_blocked(
        &mut self,
        execution: &Execution,
    ) -> Option<(Move, Option<Variant>)> {
        for t in 0..self.threads() {
            if self.has_halted(t) || self.path.is_looping(t) {
                continue;
            }
            for mv in moves_of(t, self.alternatives(t)) {
                match self.path.step(&mv) {
                    MoveResult::Blocked | MoveResult::Spinning => {}
                    MoveResult::Taken => {
                        unreachable!("no thread can move at the end of an execution")
                    }
                }
                let variants = if self.uses_variants {
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
                        && self.has_non_sc_run(execution, Some(&mv), variant.as_ref())
                    {
                        return Some((mv, variant));
                    }
                }
            }
        }
        None
    }

    fn trace(&self, execution: &Execution) -> Trace {
        Trace { init: self.path.init.clone(), steps: self.path.steps(execution), bound: None }
    }

    /// Returns whether to continue after a finding.
    fn stop_or_continue(&self) -> ControlFlow<()> {
        match self.options.stop_at {
            StopAt::FirstFinding => ControlFlow::Break(()),
            StopAt::End => ControlFlow::Continue(()),
        }
    }

    /// Records an execution that violates a property.
    fn record_violation(&mut self, execution: &Execution) -> ControlFlow<()> {
        let trace = self.trace(execution);
        self.result.found.get_or_insert(Finding::Violation(trace));
        self.stop_or_continue()
    }

    /// Records an execution whose last move, or one more move, could leave sequential consistency.
    fn record_borderline(
        &mut self,
        execution: &Execution,
        last_move: Option<&Move>,
        variant: Option<Variant>,
    ) -> ControlFlow<()> {
        if self.options.stop_at == StopAt::FirstFinding {
            let (init, moves) = (self.path.init.clone(), moves(execution, last_move));
            self.result.found = Some(Finding::Borderline(init, moves, variant));
        }
        self.stop_or_continue()
    }

    /// Checks the final state of an execution.
    fn check_final_state(&mut self, execution: &Execution) -> ControlFlow<()> {
        let machine = self.path.machine;
        let state = self.path.state();
        let observed = &machine.shape.problem.observed;
        let outcome = observed.iter().map(|what| machine.observe(state, *what)).collect();
        self.result.outcomes.insert(outcome);
        for (at, condition) in machine.shape.problem.sometimes.iter().enumerate() {
            if !self.result.witnesses.contains_key(&at) && machine.holds(state, condition) {
                self.result.witnesses.insert(at, self.trace(execution));
            }
        }
        if !self.options.check_properties || machine.final_violation(state).is_none() {
            return ControlFlow::Continue(());
        }
        self.record_violation(execution)
    }

    /// Checks whether the end of an execution in which no thread can move is a hang. It is not if a
    /// thread that failed a spin iteration would leave its loop with the next one.
    fn check_stuck(&mut self, execution: &Execution) -> ControlFlow<()> {
        let state = self.path.state();
        let threads = self.original.shape.program().thread_ids();
        let mut pcs = threads.zip(&state.pcs);
        let is_at_bound = pcs.any(|(t, pc)| self.spin_assumed.is_bound_point(t, *pc));
        self.result.reaches_bound |= is_at_bound;
        if !self.options.check_properties {
            return ControlFlow::Continue(());
        }
        match check_hang(self.original, self.spin_assumed, state, &mut self.wait_cache) {
            HangCheck::No => ControlFlow::Continue(()),
            HangCheck::Yes => self.record_violation(execution),
            // The bound is part of the verdict.
            HangCheck::Undecided if is_at_bound => ControlFlow::Continue(()),
            HangCheck::Undecided => {
                self.result.undecided_hang = true;
                ControlFlow::Continue(())
            }
        }
    }
}

impl System for MachineSystem<'_, '_> {
    type Findings = ExplorationResult;

    fn threads(&self) -> usize {
        self.chooses.len()
    }

    fn has_halted(&mut self, thread: usize) -> bool {
        self.path.has_halted(thread)
    }

    fn alternatives(&mut self, thread: usize) -> Vec<Move> {
        let state = self.path.state();
        if !self.chooses[thread][state.pcs[thread].index()] {
            return Vec::new();
        }
        let mut moves = Vec::new();
        let mut choices = Choices::default();
        let t = ThreadId::from_index(thread);
        loop {
            choices.rewind();
            let _ = self.path.machine.run(&mut state.clone(), t, &mut choices, &mut ());
            moves.push(Move { thread, choices: choices.script().to_vec() });
            if !self.path.machine.next_combination(&mut choices) {
                return moves;
            }
        }
    }

    fn step(&mut self, mv: &Move) -> MoveResult {
        self.path.step(mv)
    }

    fn footprint(&self) -> &[CellAccess] {
        &self.path.footprint().touches
    }

    fn truncate(&mut self, events: usize) {
        self.path.truncate(events);
    }

    fn attempts(&mut self, events: usize, moves: &[&Move], thread: usize) -> Vec<Attempt> {
        self.path.attempts(events, moves, thread)
    }

    fn is_unconditional(&self, execution: &Execution, event: usize) -> bool {
        let thread = execution.events()[event].mv.thread;
        let pc = self.path.state_at(event).pcs[thread];
        self.is_unconditional[thread][pc.index()]
    }

    fn has_failed(&mut self, execution: &Execution) -> bool {
        self.path.check_overlap(execution);
        self.path.violation.is_some()
    }

    fn observe(&mut self, execution: &Execution) -> ControlFlow<()> {
        if self.path.violation.is_some() {
            return match self.options.check_properties {
                true => self.record_violation(execution),
                false => ControlFlow::Continue(()),
            };
        }
        if self.options.monitored.is_none() {
            return ControlFlow::Continue(());
        }
        let variant = self.confirm_borderline(execution);
        match self.path.fired {
            true => self.record_borderline(execution, None, variant),
            false => ControlFlow::Continue(()),
        }
    }

    fn observe_again(&mut self, execution: &Execution) {
        // The monitor has fired again, also if this was not confirmed.
        if self.options.monitored.is_some() && self.path.violation.is_none() {
            self.confirm_borderline(execution);
        }
    }

    fn observe_end(&mut self, execution: &Execution, end: End) -> ControlFlow<()> {
        // After a cancellation, moves may be missing, and an execution may seem to end.
        if self.cancel.reason().is_some() {
            return ControlFlow::Continue(());
        }
        let waits = matches!(end, End::Stuck { .. }) && !self.path.fired;
        let borderline_blocked = if waits { self.find_borderline_blocked(execution) } else { None };
        if end != End::Redundant && (self.path.fired || borderline_blocked.is_some()) {
            self.result.borderline += 1;
        }
        if let Some((mv, variant)) = borderline_blocked {
            self.record_borderline(execution, Some(&mv), variant)?;
        }
        match end {
            End::Complete => self.check_final_state(execution),
            End::Stuck { .. } => self.check_stuck(execution),
            End::Redundant | End::Cut | End::Failed => ControlFlow::Continue(()),
        }
    }

    fn into_findings(self) -> ExplorationResult {
        self.result
    }
}

/// Returns the moves of an execution, plus one more.
fn moves(execution: &Execution, last_move: Option<&Move>) -> Vec<Move> {
    execution.events().iter().map(|event| &event.mv).chain(last_move).cloned().collect()
}

/// By program counter: whether a step that starts there executes a `choose`.
fn chooses(thread: &fencepost_ir::Thread) -> Vec<bool> {
    let in_blocks = thread.code.iter().any(|stmt| matches!(stmt.op, Op::Choose { .. }));
    let of =
        |op: &Op| matches!(op, Op::Choose { .. }) || in_blocks && matches!(op, Op::AtomicBegin);
    thread.code.iter().map(|stmt| of(&stmt.op)).collect()
}

/// By thread and program counter: whether the event that starts there is enabled and has the same
/// footprint wherever its thread could take it. It has one fixed access, and no path through the
/// other statements of the event ends a spin iteration.
fn unconditional_events(spin_assumed: &SpinAssumed, cells: &Cells) -> Vec<Vec<bool>> {
    let program = &spin_assumed.problem.program;
    let of_thread = |t: ThreadId| {
        let thread = program.thread(t);
        let may_spin = |from: &Stmt| {
            let mut seen = vec![false; thread.code.len()];
            let mut open: Vec<Pc> = successors(from).collect();
            while let Some(pc) = open.pop() {
                if spin_assumed.is_cut_point(t, pc) {
                    return true;
                }
                let stmt = &thread.code[pc.index()];
                if !std::mem::replace(&mut seen[pc.index()], true)
                    && may_belong_to_earlier(&stmt.op)
                {
                    open.extend(successors(stmt));
                }
            }
            false
        };
        let has_fixed_access = |op: &Op| {
            matches!(op, Op::Choose { .. })
                || op.memory().is_some_and(|memory| match memory {
                    MemoryOp::Load { .. } | MemoryOp::Store { .. } => true,
                    MemoryOp::Update { update, .. } => !matches!(update, Update::Cas { .. }),
                    MemoryOp::Fence(_) | MemoryOp::Drain(_) => false,
                })
        };
        let is_unconditional =
            |stmt: &Stmt| !cells.is_observed(t) && has_fixed_access(&stmt.op) && !may_spin(stmt);
        thread.code.iter().map(is_unconditional).collect()
    };
    program.thread_ids().map(of_thread).collect()
}

/// Returns whether a statement may belong to the event of an earlier statement of its thread.
fn may_belong_to_earlier(op: &Op) -> bool {
    match op {
        Op::Skip
        | Op::Assign { .. }
        | Op::Branch { .. }
        | Op::Assume(_)
        | Op::Assert(_)
        | Op::Return { .. }
        | Op::Fence(_)
        | Op::Drain(_)
        | Op::Leave
        | Op::SectionEnd { .. }
        | Op::AtomicEnd => true,
        Op::Choose { .. }
        | Op::Load { .. }
        | Op::Store { .. }
        | Op::Update { .. }
        | Op::New { .. }
        | Op::Free { .. }
        | Op::AtomicBegin
        | Op::Invoke { .. }
        | Op::Join
        | Op::SectionBegin { .. }
        | Op::GracePeriod { .. }
        | Op::Halt => false,
    }
}
