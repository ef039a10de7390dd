//! The rows of a replayed run.
//!
//! A row is a numbered event (a shared access, a commit, a fence, ...) or an unnumbered remark
//! about the event above it (the thread enters its critical section, a fault). Local events have no
//! row. The exact machine has replayed the run, so the rows always show a real run. The only
//! exception is [`spurious_trace_rows`], which shows a run of an abstract model.

use crate::wording;
use fencepost_engines::concretise::SpuriousRun;
use fencepost_engines::path::Path;
use fencepost_ir::{Label, Problem, Program, ThreadId, Violation};
use fencepost_models::replay::{ReplayedRun, ReplayedStep, replay_abstract};
use fencepost_models::{EventKind, Machine, ModelSpec, Reductions};
use std::borrow::Cow;

/// A replayed run and its rows.
#[derive(Clone, Debug)]
pub struct TraceRows<'p> {
    /// The problem that the run belongs to.
    pub problem: &'p Problem,
    /// The replayed run.
    pub run: Cow<'p, ReplayedRun>,
    /// The rows to show.
    pub rows: Vec<Row>,
}

/// One row of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The number of the event, from 1; none for a remark.
    pub number: Option<usize>,
    /// The thread of the event.
    pub thread: ThreadId,
    /// The text of the event or remark.
    pub text: String,
    /// The source line, with the file if it is included: `:7`, `lock.h:7`.
    pub line: Option<String>,
    /// The step that the row belongs to, from 0.
    pub step: usize,
    /// Whether this row shows the state after its step. At most one row of a step does.
    pub shows_state: bool,
}

/// Creates the rows of a run of an abstract model.
///
/// # Panics Panics if the abstract model cannot replay the run, or if the model has no abstraction.
/// No engine reports such a run.
pub fn spurious_trace_rows<'p>(
    problem: &'p Problem,
    model: &ModelSpec,
    reductions: Reductions,
    spurious_run: &SpuriousRun,
) -> TraceRows<'p> {
    let abstracted = model.abstracted(spurious_run.domain, spurious_run.k, false);
    let machine =
        Machine::new(problem, abstracted.expect("the model has an abstraction"), reductions);
    let Path { trace, states } = &spurious_run.path;
    let run =
        replay_abstract(&machine, trace, states).expect("the abstract model replays its own run");
    TraceRows::new(problem, Cow::Owned(run))
}

impl<'p> TraceRows<'p> {
    /// Creates the rows of a replayed run.
    pub fn new(problem: &'p Problem, run: Cow<'p, ReplayedRun>) -> Self {
        let rows = rows(&problem.program, &run);
        TraceRows { problem, run, rows }
    }
}

impl TraceRows<'_> {
    /// Returns the number of the first event of a step, or else of the first event after the step.
    /// Returns the number of the last event if there is none.
    pub fn number_at(&self, step: usize) -> usize {
        let mut numbered = self.rows.iter().filter(|row| row.step >= step);
        numbered.find_map(|row| row.number).unwrap_or_else(|| self.event_count())
    }

    /// Returns the number of numbered events.
    pub fn event_count(&self) -> usize {
        self.rows.iter().filter_map(|row| row.number).max().unwrap_or(0)
    }
}

/// Returns whether the accesses of a step are all to auxiliary locations.
fn has_only_auxiliary_accesses(program: &Program, replayed: &ReplayedStep) -> bool {
    let locations = replayed.events.iter().filter_map(|annotated| match annotated.event.kind {
        EventKind::Load { loc, .. } | EventKind::Write { loc, .. } => Some(loc),
        EventKind::Update { loc, .. } => Some(loc),
        _ => None,
    });
    let mut locations = locations.peekable();
    locations.peek().is_some() && locations.all(|loc| program.location(loc).is_auxiliary())
}

fn rows(program: &Program, run: &ReplayedRun) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut number = 0;
    let line = |label: Option<Label>| label.map(|label| wording::place(program, label));
    for (at, replayed) in run.steps.iter().enumerate() {
        let thread = replayed.step.thread;
        let first_row = rows.len();
        let mut state_row = None; // the last row of the step that can change the shown state
        let cycle_starts = matches!(
            run.violation,
            Some(Violation::Livelock { cycle_start, .. }) if cycle_start == at
        );
        let mut add = |text, line, is_event: bool| {
            number += usize::from(is_event);
            let number = is_event.then_some(number);
            rows.push(Row { number, thread, text, line, step: at, shows_state: false });
            rows.len() - 1
        };
        if cycle_starts {
            add("-- the cycle starts --".into(), None, false);
        }
        for (which, annotated) in replayed.events.iter().enumerate() {
            let event = &annotated.event;
            let brackets = matches!(event.kind, EventKind::AtomicBegin | EventKind::AtomicEnd);
            if !brackets && !wording::is_numbered(program, event) {
                continue;
            }
            if brackets && has_only_auxiliary_accesses(program, replayed) {
                continue;
            }
            let chosen = wording::chosen(program, &replayed.events[which..]);
            let text = chosen.unwrap_or_else(|| wording::event(program, annotated));
            let row = add(text, line(event.label), !brackets);
            // These events change neither memory nor the pending accesses.
            let keeps_state = matches!(
                event.kind,
                EventKind::Test(_) | EventKind::Fence(_) | EventKind::Drain(_)
            );
            if !brackets && !keeps_state {
                state_row = Some(row);
            }
        }
        if let Some(Violation::Fault(_, _, failed)) = run.violation
            && at + 1 == run.steps.len()
        {
            let shown = (replayed.events.iter())
                .any(|t| t.event.label == failed && wording::is_numbered(program, &t.event));
            if let Some(label) = failed
                && !shown
            {
                add(wording::statement(program, label, 40), line(Some(label)), true);
            }
            add("FAULT".into(), None, false);
        }
        let before = if at == 0 { &run.first.critical } else { &run.steps[at - 1].critical };
        if replayed.critical[thread.index()] && !before[thread.index()] {
            add("enters critical section".into(), None, false);
        }
        if let Some(row) = rows.get_mut(state_row.unwrap_or(first_row)) {
            row.shows_state = true;
        }
    }
    rows
}
