//! From a borderline execution to a run that is not sequentially consistent.
//!
//! The monitor reports that the last event of an SC execution could take effect before an earlier
//! write. This module builds that run on the machine with store buffers. The accesses take effect
//! in an order that the relaxed happens-before relation allows. A store is issued when its thread
//! must continue, and committed when its turn comes in that order.
//!
//! At its new position, the moved event may behave differently: a spin iteration may still fail,
//! and a block may be blocked or read other values. Then there is no such run, and the next write
//! is tried.

use crate::happens_before::cycle;
use crate::sc::{ScMachine, sc_machine};
use crate::stateless::footprint::{Cells, MonitorAction};
use crate::stateless::invisible::is_invisible;
use crate::stateless::path::Path;
use crate::stateless::silent_loop::SilentLoopDetector;
use crate::stateless::variants::Variant;
use fencepost_explore::Move;
use fencepost_ir::spin_loops::SpinAssumed;
use fencepost_ir::{Loc, Problem, ThreadId};
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::{ReplayedRun, Trace};
use fencepost_models::state::State;
use fencepost_models::{
    Action, Event, EventKind, Machine, MemoryModel, ModelSpec, Reductions, Step, StepResult,
    Visitor,
};
use fencepost_monitor as monitor;
use fencepost_search::WorkLimits;

/// A bound on pending stores that no run reaches.
const MAX_PENDING: u32 = 1 << 20;

/// Builds a run of the model that is not sequentially consistent from an SC execution whose last
/// move could take effect too early. The last move may be one that is still blocked. It may behave
/// like `variant` at its new position. After a cancellation, the answer may be missing.
pub(crate) fn build_non_sc_run(
    spin_assumed: &SpinAssumed,
    model: monitor::Model,
    (reductions, work_limits): (Reductions, &WorkLimits),
    init: &[u32],
    moves: &[Move],
    variant: Option<&Variant>,
) -> Option<Trace> {
    let machine = sc_machine(&spin_assumed.problem, reductions).within(work_limits.clone());
    let plan = EventPlan::new(&machine, spin_assumed, model, init, moves, variant)?;
    let name = match model {
        monitor::Model::Tso => "tso",
        monitor::Model::Pso => "pso",
    };
    let spec = ModelSpec::by_name(name).expect("TSO and PSO are built-in models");
    let orders = plan.orders(work_limits);
    let orders = orders.into_iter().take_while(|_| !work_limits.is_cancelled());
    let mut traces = orders.filter_map(|order| {
        let (plan, order) = (&plan, &order);
        spec.visit(MAX_PENDING, EventOrder { spin_assumed, reductions, work_limits, plan, order })
    });
    // A block may read less than the variant says, and the cycle may depend on an access that is
    // missing.
    traces.find(|trace| replay_if_not_sc(&spin_assumed.problem, &spec, reductions, trace).is_some())
}

/// Replays a trace. None if it does not replay or is sequentially consistent.
pub(crate) fn replay_if_not_sc(
    problem: &Problem,
    model: &ModelSpec,
    reductions: Reductions,
    trace: &Trace,
) -> Option<ReplayedRun> {
    let run = model.replay(problem, reductions, trace).ok()?;
    cycle(problem, &run).is_some().then_some(run)
}

/// The events of the execution, to be taken in another order.
struct EventPlan {
    init: Vec<u32>,
    /// By thread: the choices of its machine steps, and the event that each step belongs to.
    steps: Vec<Vec<(Option<usize>, Vec<u32>)>>,
    /// By event: its thread, the position of its access among the steps of the thread, and the
    /// location if it is a plain store.
    events: Vec<(usize, usize, Option<Loc>)>,
    execution: monitor::Execution,
    /// By action number of the monitor: the event, if the action is an access.
    access: Vec<Option<usize>>,
}

impl EventPlan {
    /// Executes the moves again to record their actions.
    fn new(
        machine: &ScMachine<'_>,
        spin_assumed: &SpinAssumed,
        model: monitor::Model,
        init: &[u32],
        moves: &[Move],
        variant: Option<&Variant>,
    ) -> Option<EventPlan> {
        let cells = Cells::new(&machine.shape);
        let mut path = Path::new(machine, spin_assumed, &cells, None);
        path.start(init)?.ok()?;
        let mut plan = EventPlan {
            init: init.to_vec(),
            steps: vec![Vec::new(); machine.shape.threads.len()],
            events: Vec::new(),
            execution: monitor::Execution::new(model),
            access: Vec::new(),
        };
        for step in &path.initial_steps {
            plan.steps[step.thread.index()].push((None, Vec::new()));
        }
        for (event, mv) in moves.iter().enumerate() {
            path.step(mv);
            let mut store = None;
            let last = event + 1 == moves.len();
            if let (true, Some(variant)) = (last, variant) {
                plan.access.push(Some(event));
                plan.execution.push(mv.thread, variant.action());
                plan.events.push((mv.thread, plan.steps[mv.thread].len(), None));
                plan.steps[mv.thread].push((Some(event), mv.choices.clone()));
                continue;
            }
            for (number, monitor_action) in path.footprint().actions.iter().enumerate() {
                let is_access = match monitor_action {
                    MonitorAction::Plain(monitor::Action::Store(address)) => {
                        store = Some(Loc(*address));
                        true
                    }
                    MonitorAction::Plain(
                        monitor::Action::Fence { .. } | monitor::Action::Drain(_),
                    ) => false,
                    MonitorAction::Plain(_) => true,
                    MonitorAction::Block { from, to } => from < to,
                };
                // The actions after the first one are invisible.
                plan.access.push((is_access && number == 0).then_some(event));
            }
            path.footprint().for_each_action(|action| plan.execution.push(mv.thread, action));
            let thread_steps = &mut plan.steps[mv.thread];
            plan.events.push((mv.thread, thread_steps.len(), store));
            let steps = path.events.get(event).map_or(1, |event| event.steps);
            thread_steps.push((Some(event), mv.choices.clone()));
            thread_steps.extend((1..steps).map(|_| (Some(event), Vec::new())));
        }
        Some(plan)
    }

    /// Returns the orders in which the events may take effect, one for each write that the last
    /// event could overtake.
    fn orders(&self, work_limits: &WorkLimits) -> Vec<Vec<usize>> {
        let last = self.events.len() - 1;
        let Some(at) = self.access.iter().rposition(|event| *event == Some(last)) else {
            return Vec::new();
        };
        let order = |before: usize| {
            let needed = self.needed(at, before, work_limits);
            let order = self.execution.reordered(at, before).into_iter();
            order
                .filter(|number| needed[*number])
                .filter_map(|number| self.access[number])
                .collect()
        };
        let borderline = self.execution.borderline(at).into_iter();
        borderline.take_while(|_| !work_limits.is_cancelled()).map(order).collect()
    }

    /// By action number of the monitor: whether the cycle depends on the access. Incomplete after a
    /// cancellation.
    fn needed(&self, at: usize, before: usize, work_limits: &WorkLimits) -> Vec<bool> {
        let mut needed = vec![false; self.access.len()];
        for step in self.execution.cycle(at, before) {
            needed[step.from] = true;
        }
        let relaxed = self.execution.relaxed_edges(at, before);
        let thread = |number: usize| self.access[number].map(|event| self.events[event].0);
        loop {
            let mut missing =
                relaxed.iter().find(|(a, b)| needed[*b] && !needed[*a]).map(|(a, _)| *a);
            if missing.is_none() {
                // Every earlier access of the same thread is needed, too.
                missing = (0..needed.len()).find(|earlier| {
                    let later = earlier + 1..needed.len();
                    let mut same =
                        later.filter(|later| needed[*later] && thread(*later) == thread(*earlier));
                    thread(*earlier).is_some() && !needed[*earlier] && same.next().is_some()
                });
            }
            match missing {
                Some(number) if !work_limits.is_cancelled() => needed[number] = true,
                Some(_) | None => return needed,
            }
        }
    }
}

/// Takes the events in this order on a machine with store buffers.
struct EventOrder<'a> {
    spin_assumed: &'a SpinAssumed,
    reductions: Reductions,
    work_limits: &'a WorkLimits,
    plan: &'a EventPlan,
    order: &'a [usize],
}

impl Visitor for EventOrder<'_> {
    type Output = Option<Trace>;

    fn visit<M: MemoryModel>(self, model: M) -> Option<Trace> {
        let EventOrder { spin_assumed, reductions, work_limits, plan, order } = &self;
        let machine =
            Machine::new(&spin_assumed.problem, model, *reductions).within((*work_limits).clone());
        let mut state = machine.blank();
        let mut choices = Choices::scripted(&plan.init);
        if machine.start(&mut state, &mut choices, &mut ()) != Ok(true) {
            return None;
        }
        let mut trace =
            Trace { init: plan.init.clone(), steps: Vec::new(), bound: machine.model.bound() };
        let mut next = vec![0; plan.steps.len()];
        for event in *order {
            let (thread, access, store) = plan.events[*event];
            let t = ThreadId::from_index(thread);
            while next[thread] <= access {
                let (_, script) = &plan.steps[thread][next[thread]];
                let step = Step { thread: t, action: Action::Run(script.clone()) };
                next[thread] += 1;
                let is_moved = *event + 1 == plan.events.len() && next[thread] > access;
                if is_moved {
                    // The choices may differ at the new position.
                    let (step, has_succeeded) =
                        self.take_moved_step(&machine, &mut state, t, step)?;
                    trace.steps.push(step);
                    if !has_succeeded {
                        return Some(trace);
                    }
                    continue;
                }
                if machine.take_step(&mut state, &step, &mut ()) != Ok(StepResult::Taken) {
                    return None;
                }
                trace.steps.push(step);
                if work_limits.is_cancelled() {
                    return None;
                }
            }
            if let Some(loc) = store {
                trace.steps.push(commit(&machine, &mut state, t, loc)?);
            }
        }
        Some(trace)
    }
}

impl EventOrder<'_> {
    /// Takes a step, or the same step with other choices, such that the thread does not block.
    /// Returns false if the step fails: the run ends there.
    fn take_moved_step<M: MemoryModel>(
        &self,
        machine: &Machine<'_, M>,
        state: &mut State<M::Pending>,
        t: ThreadId,
        step: Step,
    ) -> Option<(Step, bool)> {
        let others =
            machine.attempt_next_statement(state, t).into_iter().map(|attempt| attempt.step);
        let mut steps = std::iter::once(step).chain(others);
        steps.find_map(|step| {
            let mut after = state.clone();
            match machine.take_step(&mut after, &step, &mut ()) {
                Ok(StepResult::Taken)
                    if !is_at_cut_point(machine, self.spin_assumed, &after, t) =>
                {
                    state.clone_from(&after);
                    Some((step, true))
                }
                Ok(StepResult::Taken | StepResult::Blocked | StepResult::BoundReached) => None,
                Err(_) => Some((step, false)),
            }
        })
    }
}

/// Returns whether the thread is at the end of a failed spin iteration.
fn is_at_cut_point<M: MemoryModel>(
    machine: &Machine<'_, M>,
    spin_assumed: &SpinAssumed,
    state: &State<M::Pending>,
    t: ThreadId,
) -> bool {
    let mut state = state.clone();
    let is_local =
        |state: &State<M::Pending>| machine.shape.stmt(t, state.pcs[t.index()]).op.is_local();
    let mut detector = SilentLoopDetector::default();
    while is_local(&state) && is_invisible(machine, &state, t) {
        if machine.work_limits.is_cancelled() || detector.is_in_loop(machine, &state, t) {
            return false;
        }
        if machine.run(&mut state, t, &mut Choices::default(), &mut ()) != Ok(StepResult::Taken) {
            return false;
        }
    }
    spin_assumed.is_cut_point(t, state.pcs[t.index()])
}

/// Commits the oldest store of a thread to a location.
fn commit<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &mut State<M::Pending>,
    t: ThreadId,
    loc: Loc,
) -> Option<Step> {
    for attempt in machine.attempt_internal_steps(state, t) {
        let mut after = state.clone();
        let mut events: Vec<Event> = Vec::new();
        let taken = machine.take_step(&mut after, &attempt.step, &mut events);
        let is_commit_to_loc =
            |event: &Event| matches!(event.kind, EventKind::Commit { loc: at, .. } if at == loc);
        if taken == Ok(StepResult::Taken) && events.iter().any(is_commit_to_loc) {
            *state = after;
            return Some(attempt.step);
        }
    }
    None
}

/// Converts an SC run into a run of a model with store buffers: each store is committed
/// immediately.
pub(crate) fn lift_sc_trace(
    problem: &Problem,
    model: &ModelSpec,
    reductions: Reductions,
    trace: &Trace,
) -> Trace {
    model.visit(MAX_PENDING, ScTraceLifter { problem, reductions, trace })
}

struct ScTraceLifter<'a> {
    problem: &'a Problem,
    reductions: Reductions,
    trace: &'a Trace,
}

impl Visitor for ScTraceLifter<'_> {
    type Output = Trace;

    fn visit<M: MemoryModel>(self, model: M) -> Trace {
        let machine = Machine::new(self.problem, model, self.reductions);
        let mut state = machine.blank();
        let mut choices = Choices::scripted(&self.trace.init);
        let mut lifted =
            Trace { steps: Vec::new(), bound: machine.model.bound(), ..self.trace.clone() };
        if machine.start(&mut state, &mut choices, &mut ()) != Ok(true) {
            return lifted;
        }
        for step in &self.trace.steps {
            lifted.steps.push(step.clone());
            if machine.take_step(&mut state, step, &mut ()) != Ok(StepResult::Taken) {
                break;
            }
            while let Some(attempt) =
                machine.attempt_internal_steps(&state, step.thread).into_iter().next()
            {
                state = attempt.after;
                lifted.steps.push(attempt.step);
            }
        }
        lifted
    }
}
