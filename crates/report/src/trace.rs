//! A run replayed and told row by row.
//!
//! Every row is an event a reader counts (a shared access, a commit, a fence, ...), or an unnumbered
//! remark about the one above it (a critical section is entered, a fault). Local bookkeeping is left
//! out. The run is replayed on the exact machine, so a story is never about a run that does not exist.

use crate::wording;
use fencepost_ir::{Label, Op, Pc, Problem, Program, ThreadId, Value};
use fencepost_models::machine::choice::Choices;
use fencepost_models::replay::{Divergence, End, Moment, Run, Trace, replay};
use fencepost_models::{
    EventKind, Machine, MemoryModel, ModelSpec, Reductions, Step, Stumble, Visitor,
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
    /// How things stood at its end. Means nothing when the last step stumbled.
    pub last: LastState,
    /// What to show.
    pub rows: Vec<Row>,
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
    let (run, last) = model.visit(ROOM, Replaying { problem, reductions, trace })?;
    let rows = rows(&problem.program, &run);
    Ok(Story { problem, run, last, rows })
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
    type Output = Result<(Run, LastState), Divergence>;

    fn visit<M: MemoryModel>(self, model: M) -> Self::Output {
        let machine = Machine::new(self.problem, model, self.reductions);
        let run = replay(&machine, self.trace)?;
        let last = last_state(&machine, self.trace).unwrap_or_default();
        Ok((run, last))
    }
}

/// Takes the steps again, for the state they end in.
fn last_state<M: MemoryModel>(
    machine: &Machine<'_, M>,
    trace: &Trace,
) -> Result<LastState, Stumble> {
    let mut state = machine.blank();
    machine.start(&mut state, &mut Choices::scripted(&trace.init), &mut ())?;
    for step in &trace.steps {
        machine.take(&mut state, step, &mut ())?;
    }
    let program = machine.shape.program();
    let registers = (program.thread_ids())
        .map(|t| {
            let from = machine.shape.thread(t).registers;
            state.registers[from..from + program.thread(t).registers.len()].to_vec()
        })
        .collect();
    Ok(LastState { pcs: state.pcs, registers })
}

fn rows(program: &Program, run: &Run) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut number = 0;
    let line = |label: Option<Label>| label.map(|l| program.label(l).span.line);
    for (at, moment) in run.moments.iter().enumerate() {
        let thread = moment.step.thread;
        let mut add = |text, line, is_event: bool| {
            number += usize::from(is_event);
            let number = is_event.then_some(number);
            rows.push(Row { number, thread, text, line, moment: at, settles: false });
        };
        for told in &moment.events {
            let event = &told.event;
            if wording::matters(program, event) {
                add(wording::event(program, told), line(event.label), true);
            } else if matches!(event.kind, EventKind::AtomicBegin | EventKind::AtomicEnd) {
                add(wording::event(program, told), line(event.label), false);
            }
        }
        if let End::Stumbled(_, stumble) = run.end
            && let Some(fault) = stumble.fault
            && at + 1 == run.moments.len()
        {
            let told = moment.events.last().filter(|t| wording::matters(program, &t.event));
            if let Some(label) = stumble.label
                && told.is_none_or(|t| t.event.label != Some(label))
            {
                add(wording::statement(program, label, 40), line(Some(label)), true);
            }
            add(format!("FAULT: {}", fault.describe()), None, false);
        }
        if moment.critical[thread.index()] && !was_critical(program, run, at, thread) {
            add("enters critical section".into(), None, false);
        }
        let of_step = || rows.iter().rposition(|row| row.moment == at);
        let event = rows.iter().rposition(|row| row.moment == at && row.number.is_some());
        if let Some(shows_state) = event.or_else(of_step) {
            rows[shows_state].settles = true;
        }
    }
    rows
}

/// Whether a thread was in a critical section before its step. Only its own steps move it, so it is
/// where its step before left it; for its first step, where that step's statement is.
fn was_critical(program: &Program, run: &Run, at: usize, thread: ThreadId) -> bool {
    if at > 0 {
        return run.moments[at - 1].critical[thread.index()];
    }
    let first: Option<&Moment> = run.moments.first();
    let pc = first.and_then(|moment| match moment.step {
        Step { action: fencepost_models::Action::Run(_), .. } => moment.events.first()?.event.pc,
        Step { action: fencepost_models::Action::Internal(_), .. } => None,
    });
    pc.is_some_and(|pc| program.thread(thread).stmt(pc).critical)
}
