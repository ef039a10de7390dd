//! From a borderline run to one that leaves sequential consistency.
//!
//! The monitor says that the last event of a sequentially consistent run could have come before an
//! earlier write. Here that run is made, on the machine with store buffers: every access takes effect in
//! an order that the relaxed happens-before allows; stores are issued when their thread has to go on, and
//! committed when it is their turn.
//!
//! The event that moves may do something else where it comes then: a wait may still not end, a
//! block may not be possible or read something else. Then there is no such run, and another write is tried.

use crate::happens::cycle;
use crate::sc::{ScMachine, sc_machine};
use crate::stateless::footprint::{Act, Cells};
use crate::stateless::path::{Path, is_invisible};
use crate::stateless::variants::Variant;
use fencepost_explore::Move;
use fencepost_ir::waits::Waiting;
use fencepost_ir::{Loc, Problem, ThreadId};
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::{Run, Trace};
use fencepost_models::state::State;
use fencepost_models::{
    Action, Event, EventKind, Machine, MemoryModel, ModelSpec, Reductions, Step, Taken, Visitor,
};
use fencepost_monitor as monitor;

/// More stores than this are never pending in a run that is shown.
const ROOM: u32 = 1 << 20;

/// A run of the model that is not sequentially consistent, made from one that is, whose last move could
/// come too early. The last move may be one that is not possible yet, and may do something else when it comes
/// early.
pub(crate) fn escape(
    waiting: &Waiting,
    model: monitor::Model,
    reductions: Reductions,
    init: &[u32],
    moves: &[Move],
    variant: Option<&Variant>,
) -> Option<Trace> {
    let machine = sc_machine(&waiting.problem, reductions);
    let plan = Plan::new(&machine, waiting, model, init, moves, variant)?;
    let name = match model {
        monitor::Model::Tso => "tso",
        monitor::Model::Pso => "pso",
    };
    let spec = ModelSpec::by_name(name).expect("a built-in model");
    let orders = plan.orders();
    let mut traces = orders.into_iter().filter_map(|order| {
        spec.visit(ROOM, Going { waiting, reductions, plan: &plan, order: &order })
    });
    // A block may read less than was said, and the cycle go through what it does not read.
    traces.find(|trace| non_sc_run(&waiting.problem, &spec, reductions, trace).is_some())
}

/// The replayed run of a trace, if it replays and is not sequentially consistent.
pub(crate) fn non_sc_run(
    problem: &Problem,
    model: &ModelSpec,
    reductions: Reductions,
    trace: &Trace,
) -> Option<Run> {
    let run = model.replay(problem, reductions, trace).ok()?;
    cycle(problem, &run).is_some().then_some(run)
}

/// What there is to do.
struct Plan {
    init: Vec<u32>,
    /// By thread: the steps of its machine, and the event each belongs to.
    steps: Vec<Vec<(Option<usize>, Vec<u32>)>>,
    /// By event: its thread, the position of its access among the thread's steps, and the location of a
    /// plain store.
    events: Vec<(usize, usize, Option<Loc>)>,
    execution: monitor::Execution,
    /// By number of the monitor: the event, if it is an access.
    access: Vec<Option<usize>>,
}

impl Plan {
    /// Runs the moves once more, to see what they do.
    fn new(
        machine: &ScMachine<'_>,
        waiting: &Waiting,
        model: monitor::Model,
        init: &[u32],
        moves: &[Move],
        variant: Option<&Variant>,
    ) -> Option<Plan> {
        let cells = Cells::new(&machine.shape);
        let mut path = Path::new(machine, waiting, &cells, None);
        path.start(init)?.ok()?;
        let mut plan = Plan {
            init: init.to_vec(),
            steps: vec![Vec::new(); machine.shape.threads.len()],
            events: Vec::new(),
            execution: monitor::Execution::new(model),
            access: Vec::new(),
        };
        for step in &path.opening {
            plan.steps[step.thread.index()].push((None, Vec::new()));
        }
        for (event, made) in moves.iter().enumerate() {
            path.step(made);
            let mut store = None;
            let last = event + 1 == moves.len();
            if let (true, Some(variant)) = (last, variant) {
                plan.access.push(Some(event));
                plan.execution.push(made.thread, variant.action());
                plan.events.push((made.thread, plan.steps[made.thread].len(), None));
                plan.steps[made.thread].push((Some(event), made.choices.clone()));
                continue;
            }
            for (number, act) in path.footprint.acts.iter().enumerate() {
                let is_access = match act {
                    Act::Plain(monitor::Action::Store(address)) => {
                        store = Some(Loc(*address));
                        true
                    }
                    Act::Plain(monitor::Action::Fence { .. } | monitor::Action::Drain(_)) => false,
                    Act::Plain(_) => true,
                    Act::Block { from, to } => from < to,
                };
                // What comes after the first is invisible.
                plan.access.push((is_access && number == 0).then_some(event));
            }
            path.footprint.for_each_action(|action| plan.execution.push(made.thread, action));
            let own = &mut plan.steps[made.thread];
            plan.events.push((made.thread, own.len(), store));
            let steps = path.events.get(event).map_or(1, |event| event.steps);
            own.push((Some(event), made.choices.clone()));
            own.extend((1..steps).map(|_| (Some(event), Vec::new())));
        }
        Some(plan)
    }

    /// The orders in which the events may take effect, one for each write that the last could come before.
    fn orders(&self) -> Vec<Vec<usize>> {
        let last = self.events.len() - 1;
        let Some(at) = self.access.iter().rposition(|event| *event == Some(last)) else {
            return Vec::new();
        };
        let order = |before: usize| {
            let needed = self.needed(at, before);
            let order = self.execution.order(at, before).into_iter();
            order
                .filter(|number| needed[*number])
                .filter_map(|number| self.access[number])
                .collect()
        };
        self.execution.borderline(at).into_iter().map(order).collect()
    }

    /// By number of the monitor: whether the cycle, or something it depends on, needs the access.
    fn needed(&self, at: usize, before: usize) -> Vec<bool> {
        let mut needed = vec![false; self.access.len()];
        for step in self.execution.cycle(at, before) {
            needed[step.from] = true;
        }
        let relaxed = self.execution.relaxed(at, before);
        let thread = |number: usize| self.access[number].map(|event| self.events[event].0);
        loop {
            let mut more = relaxed.iter().find(|(a, b)| needed[*b] && !needed[*a]).map(|(a, _)| *a);
            if more.is_none() {
                // What a thread did before it has to have done.
                more = (0..needed.len()).find(|earlier| {
                    let later = earlier + 1..needed.len();
                    let mut same =
                        later.filter(|later| needed[*later] && thread(*later) == thread(*earlier));
                    thread(*earlier).is_some() && !needed[*earlier] && same.next().is_some()
                });
            }
            match more {
                Some(number) => needed[number] = true,
                None => return needed,
            }
        }
    }
}

/// Takes the steps on a machine with store buffers.
struct Going<'a> {
    waiting: &'a Waiting,
    reductions: Reductions,
    plan: &'a Plan,
    order: &'a [usize],
}

impl Visitor for Going<'_> {
    type Output = Option<Trace>;

    fn visit<M: MemoryModel>(self, model: M) -> Option<Trace> {
        let Going { waiting, reductions, plan, order } = &self;
        let machine = Machine::new(&waiting.problem, model, *reductions);
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
                let moved = *event + 1 == plan.events.len() && next[thread] > access;
                if moved {
                    // Choices may go another way where it comes now.
                    let (step, goes_on) = self.chosen(&machine, &mut state, t, step)?;
                    trace.steps.push(step);
                    if !goes_on {
                        return Some(trace);
                    }
                    continue;
                }
                if machine.take(&mut state, &step, &mut ()) != Ok(Taken::Yes) {
                    return None;
                }
                trace.steps.push(step);
            }
            if let Some(loc) = store {
                trace.steps.push(commit(&machine, &mut state, t, loc)?);
            }
        }
        Some(trace)
    }
}

impl Going<'_> {
    /// Takes a step, or the same with other choices, so that the thread does not wait. False if something goes wrong
    /// in it: the run ends there.
    fn chosen<M: MemoryModel>(
        &self,
        machine: &Machine<'_, M>,
        state: &mut State<M::Pending>,
        t: ThreadId,
        step: Step,
    ) -> Option<(Step, bool)> {
        let others = machine.runs(state, t).into_iter().map(|attempt| attempt.step);
        let mut steps = std::iter::once(step).chain(others);
        steps.find_map(|step| {
            let mut after = state.clone();
            match machine.take(&mut after, &step, &mut ()) {
                Ok(Taken::Yes) if !is_dead_end(machine, self.waiting, &after, t) => {
                    state.clone_from(&after);
                    Some((step, true))
                }
                Ok(Taken::Yes | Taken::Blocked | Taken::Bounded) => None,
                Err(_) => Some((step, false)),
            }
        })
    }
}

/// Whether the thread has gone round in a wait.
fn is_dead_end<M: MemoryModel>(
    machine: &Machine<'_, M>,
    waiting: &Waiting,
    state: &State<M::Pending>,
    t: ThreadId,
) -> bool {
    let mut state = state.clone();
    let is_local =
        |state: &State<M::Pending>| machine.shape.stmt(t, state.pcs[t.index()]).op.is_local();
    while is_local(&state) && is_invisible(machine, &state, t) {
        if machine.run(&mut state, t, &mut Choices::default(), &mut ()) != Ok(Taken::Yes) {
            return false;
        }
    }
    waiting.is_dead_end(t, state.pcs[t.index()])
}

/// Commits the oldest store of a thread to a location.
fn commit<M: MemoryModel>(
    machine: &Machine<'_, M>,
    state: &mut State<M::Pending>,
    t: ThreadId,
    loc: Loc,
) -> Option<Step> {
    for attempt in machine.internals(state, t) {
        let mut after = state.clone();
        let mut events: Vec<Event> = Vec::new();
        let taken = machine.take(&mut after, &attempt.step, &mut events);
        let is_it =
            |event: &Event| matches!(event.kind, EventKind::Commit { loc: at, .. } if at == loc);
        if taken == Ok(Taken::Yes) && events.iter().any(is_it) {
            *state = after;
            return Some(attempt.step);
        }
    }
    None
}

/// A sequentially consistent run as one of a model with store buffers: each store is committed at once.
pub(crate) fn lifted(
    problem: &Problem,
    model: &ModelSpec,
    reductions: Reductions,
    trace: &Trace,
) -> Trace {
    model.visit(ROOM, Lifting { problem, reductions, trace })
}

struct Lifting<'a> {
    problem: &'a Problem,
    reductions: Reductions,
    trace: &'a Trace,
}

impl Visitor for Lifting<'_> {
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
            if machine.take(&mut state, step, &mut ()) != Ok(Taken::Yes) {
                break;
            }
            while let Some(attempt) = machine.internals(&state, step.thread).into_iter().next() {
                state = attempt.after;
                lifted.steps.push(attempt.step);
            }
        }
        lifted
    }
}
