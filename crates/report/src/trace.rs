//! A replayed run, told row by row.
//!
//! Every row is an event a reader counts (a shared access, a commit, a fence, ...), or an unnumbered
//! remark about the one above it (a critical section is entered, a fault). Local bookkeeping is left
//! out. The run was replayed on the exact machine, so a story is never about a run that does not exist; only
//! [`tell_suspect`] tells one of an abstract model, and says so.

use crate::wording;
use fencepost_engines::concretise::Suspect;
use fencepost_engines::path::Path;
use fencepost_ir::{Label, Op, Problem, Program, ThreadId, Violation};
use fencepost_models::replay::{Run, replay_along};
use fencepost_models::{EventKind, Machine, ModelSpec, Reductions};
use std::borrow::Cow;

/// A run, told.
#[derive(Clone, Debug)]
pub struct Story<'p> {
    /// The program it is a run of.
    pub problem: &'p Problem,
    /// What happened.
    pub run: Cow<'p, Run>,
    /// What to show.
    pub rows: Vec<Row>,
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

/// Tells a run of an abstract model.
///
/// # Panics
/// When it does not replay there, or the model has no abstraction: no engine reports such a run.
pub fn tell_suspect<'p>(
    problem: &'p Problem,
    model: &ModelSpec,
    reductions: Reductions,
    suspect: &Suspect,
) -> Story<'p> {
    let abstracted = model.abstracted(suspect.domain, suspect.k, false);
    let machine = Machine::new(problem, abstracted.expect("it has an abstraction"), reductions);
    let Path { trace, states } = &suspect.path;
    let run = replay_along(&machine, trace, states).expect("a run of the abstract model replays");
    Story::new(problem, Cow::Owned(run))
}

impl<'p> Story<'p> {
    /// Tells a replayed run.
    pub fn new(problem: &'p Problem, run: Cow<'p, Run>) -> Self {
        let rows = rows(&problem.program, &run);
        Story { problem, run, rows }
    }
}

impl Story<'_> {
    /// The number of the last event of a step, or the first one after it.
    pub fn number_at(&self, step: usize) -> usize {
        let mut numbered = self.rows.iter().filter(|row| row.moment >= step);
        numbered.find_map(|row| row.number).unwrap_or_else(|| self.events())
    }

    /// How many events it has.
    pub fn events(&self) -> usize {
        self.rows.iter().filter_map(|row| row.number).max().unwrap_or(0)
    }

    /// Where a thread is at the end; none when it has halted.
    pub fn stuck_at(&self, thread: ThreadId) -> Option<Label> {
        let stmt =
            self.problem.program.thread(thread).stmt(*self.run.last.pcs.get(thread.index())?);
        (!matches!(stmt.op, Op::Halt)).then_some(stmt.label)
    }
}

fn rows(program: &Program, run: &Run) -> Vec<Row> {
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
            // These change nothing that is shown beside a row.
            let looks = matches!(
                event.kind,
                EventKind::Test(_) | EventKind::Fence(_) | EventKind::Drain(_)
            );
            if !brackets && !looks {
                state_at = Some(row);
            }
        }
        if let Some(Violation::Fault(_, _, failed)) = run.violation
            && at + 1 == run.moments.len()
        {
            let shown = (moment.events.iter())
                .any(|t| t.event.label == failed && wording::matters(program, &t.event));
            if let Some(label) = failed
                && !shown
            {
                add(wording::statement(program, label, 40), line(Some(label)), true);
            }
            add("FAULT".into(), None, false);
        }
        let before = if at == 0 { &run.first.critical } else { &run.moments[at - 1].critical };
        if moment.critical[thread.index()] && !before[thread.index()] {
            add("enters critical section".into(), None, false);
        }
        if let Some(row) = rows.get_mut(state_at.unwrap_or(of_step)) {
            row.settles = true;
        }
    }
    rows
}
