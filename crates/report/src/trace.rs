//! A run replayed and told row by row.
//!
//! Every row is an event a reader counts (a shared access, a commit, a fence, ...), or an unnumbered
//! remark about the one above it (a critical section is entered, a fault). Local bookkeeping is left
//! out. The run is replayed on the exact machine, so a story is never about a run that does not exist.

use crate::wording;
use fencepost_ir::{Label, Op, Pc, Problem, Program, ThreadId, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::{Divergence, End, Pending, Run, Trace, replay};
use fencepost_models::{
    Event, EventKind, Machine, MemoryModel, ModelSpec, Reductions, Stumble, Visitor,
};

/// More than any run a search can find has pending: replaying is never bounded.
const ROOM: u32 = 1 << 20;

/// A run, told.
#[derive(Clone, Debug)]
pub struct Story<'p> {
    /// The program it is a run of.
    pub problem: &'p Problem,
    /// What happened.
    pub run: Run,
    /// How things stood before its first step.
    pub first: FirstState,
    /// How things stood at its end. Means nothing when the last step stumbled.
    pub last: LastState,
    /// What to show.
    pub rows: Vec<Row>,
}

/// The threads at the beginning of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FirstState {
    /// By thread: what it has pending (table-driven models fetch at once).
    pub pending: Vec<Vec<Pending>>,
    /// By thread: whether it is in a critical section.
    pub critical: Vec<bool>,
}

/// The threads at the end of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LastState {
    /// By thread: where it is.
    pub pcs: Vec<Pc>,
    /// By thread: its registers.
    pub registers: Vec<Vec<Value>>,
}

/// One row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Its number, from 1; a remark has none.
    pub number: Option<usize>,
    /// Whose it is.
    pub thread: ThreadId,
    /// What happened.
    pub text: String,
    /// The source line.
    pub line: Option<u32>,
    /// The step it belongs to, from 0.
    pub moment: usize,
    /// Whether the state after that step belongs beside this row.
    pub settles: bool,
}

/// Replays a trace and tells it. The reductions must be those the trace was found with, since they
/// decide how many statements one step is; partial-order reduction makes no difference.
pub fn tell<'p>(
    problem: &'p Problem,
    model: &ModelSpec,
    reductions: Reductions,
    trace: &Trace,
) -> Result<Story<'p>, Divergence> {
    let (run, first, last) = model.visit(ROOM, Replaying { problem, reductions, trace })?;
    let rows = rows(&problem.program, &run, &first);
    Ok(Story { problem, run, first, last, rows })
}

impl Story<'_> {
    /// How many events it has.
    pub fn events(&self) -> usize {
        self.rows.iter().filter_map(|row| row.number).max().unwrap_or(0)
    }

    /// Where a thread is at the end; none when it has halted.
    pub fn stuck_at(&self, thread: ThreadId) -> Option<Label> {
        let stmt = self.problem.program.thread(thread).stmt(*self.last.pcs.get(thread.index())?);
        (!matches!(stmt.op, Op::Halt)).then_some(stmt.label)
    }

    /// Memory at the end.
    pub fn memory(&self) -> &[Value] {
        self.run.moments.last().map_or(&self.run.initial, |moment| &moment.memory)
    }
}

struct Replaying<'p, 't> {
    problem: &'p Problem,
    reductions: Reductions,
    trace: &'t Trace,
}

impl Visitor for Replaying<'_, '_> {
    type Output = Result<(Run, FirstState, LastState), Divergence>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let machine = Machine::new(self.problem, model, self.reductions);
        let run = replay(&machine, self.trace)?;
        // A run that goes wrong in `init` has neither.
        let (first, last) = ends(&machine, self.trace).unwrap_or_default();
        Ok((run, first, last))
    }
}

/// Takes the steps again, for the states they begin and end in.
fn ends<M: MemoryModel>(
    machine: &Machine<'_, M>,
    trace: &Trace,
) -> Result<(FirstState, LastState), Stumble> {
    let program = machine.shape.program();
    let mut state = machine.blank();
    let mut events: Vec<Event> = Vec::new();
    machine.start(&mut state, &mut Choices::scripted(&trace.init), &mut events)?;
    let mut pending = vec![Vec::new(); program.threads.len()];
    for event in &events {
        if let (EventKind::Fetch { stores, loc, value }, Some(label)) = (event.kind, event.label) {
            pending[event.thread.index()].push(Pending { label, stores, loc, value });
        }
    }
    let critical = program.thread_ids().map(|t| machine.is_critical(&state, t)).collect();
    let first = FirstState { pending, critical };
    for step in &trace.steps {
        if machine.take(&mut state, step, &mut ()).is_err() {
            return Ok((first, LastState::default())); // the run stumbles here
        }
    }
    let registers = (program.thread_ids())
        .map(|t| {
            let from = machine.shape.thread(t).registers;
            state.registers[from..from + program.thread(t).registers.len()].to_vec()
        })
        .collect();
    Ok((first, LastState { pcs: state.pcs, registers }))
}

fn rows(program: &Program, run: &Run, first: &FirstState) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut number = 0;
    let line = |label: Option<Label>| label.map(|l| program.label(l).span.line);
    for (at, moment) in run.moments.iter().enumerate() {
        let thread = moment.step.thread;
        let of_step = rows.len();
        let mut state_at = None; // the last row that does more than look at registers
        let mut add = |text, line, is_event: bool| {
            number += usize::from(is_event);
            let number = is_event.then_some(number);
            rows.push(Row { number, thread, text, line, moment: at, settles: false });
            rows.len() - 1
        };
        for (which, told) in moment.events.iter().enumerate() {
            let event = &told.event;
            let brackets = matches!(event.kind, EventKind::AtomicBegin | EventKind::AtomicEnd);
            if !brackets && !wording::matters(program, event) {
                continue;
            }
            let chosen = wording::chosen(program, &moment.events[which..]);
            let text = chosen.unwrap_or_else(|| wording::event(program, told));
            let row = add(text, line(event.label), !brackets);
            if !brackets && !matches!(event.kind, EventKind::Test(_)) {
                state_at = Some(row);
            }
        }
        if let End::Stumbled(_, stumble) = run.end
            && stumble.fault.is_some()
            && at + 1 == run.moments.len()
        {
            let shown = (moment.events.iter())
                .any(|t| t.event.label == stumble.label && wording::matters(program, &t.event));
            if let Some(label) = stumble.label
                && !shown
            {
                add(wording::statement(program, label, 40), line(Some(label)), true);
            }
            add("FAULT".into(), None, false);
        }
        let before = if at == 0 { &first.critical } else { &run.moments[at - 1].critical };
        if moment.critical[thread.index()] && !before[thread.index()] {
            add("enters critical section".into(), None, false);
        }
        if let Some(row) = rows.get_mut(state_at.unwrap_or(of_step)) {
            row.settles = true;
        }
    }
    rows
}
