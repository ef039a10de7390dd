//! Runs that show something: a violation, or that a condition can be met.
//!
//! Fields are private: evidence is made only from a run that was replayed on the exact model, and it carries
//! that run, so that nobody has to replay the trace again.

use crate::engine::Task;
use fencepost_ir::{Problem, Violation};
use fencepost_models::Reductions;
use fencepost_models::replay::{Run, Trace};

/// What a run shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// Something is wrong at its end.
    Violation(Violation),
    /// Its final state satisfies the condition at this position of
    /// [`Problem::sometimes`](fencepost_ir::Problem::sometimes).
    Witness(usize),
}

impl From<Violation> for Claim {
    fn from(violation: Violation) -> Self {
        Claim::Violation(violation)
    }
}

/// A claim with the run that shows it: what a report shows of a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shown<'a> {
    /// What is shown.
    pub claim: Claim,
    /// The run; none only for [`Violation::NoWitness`].
    pub run: Option<&'a Run>,
    /// Whether no run with fewer steps shows it.
    pub shortest: bool,
}

/// A violation, with the run that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    violation: Violation,
    run: Option<Box<Run>>,
    shortest: bool,
}

impl Evidence {
    /// No final state satisfies the condition at this position of
    /// [`Problem::sometimes`]. No single run shows it.
    pub(crate) fn no_witness(at: usize) -> Self {
        Evidence { violation: Violation::NoWitness(at), run: None, shortest: true }
    }

    /// What is wrong at the end of a replayed run; none when nothing is.
    pub(crate) fn of(run: Run) -> Option<Self> {
        Some(Evidence { violation: run.violation?, run: Some(Box::new(run)), shortest: false })
    }

    /// A replayed run that is not sequentially consistent.
    pub(crate) fn not_robust(run: Run) -> Self {
        Evidence { violation: Violation::NotRobust, run: Some(Box::new(run)), shortest: false }
    }

    /// Replays a trace to a violation.
    ///
    /// # Panics
    /// When the trace does not replay to a violation: the engine and the machine disagree, and no verdict
    /// could be trusted.
    pub(crate) fn replay(task: Task<'_>, reductions: Reductions, trace: &Trace) -> Self {
        let run = task.model.replay(task.problem, reductions, trace);
        let run = run.expect("what an engine finds replays");
        Evidence::of(run).expect("a violation replays as one")
    }

    /// The evidence with the claim that no run with fewer steps shows a violation, or without it.
    pub(crate) fn shortest(self, shortest: bool) -> Self {
        Evidence { shortest, ..self }
    }

    /// What is violated.
    pub fn violation(&self) -> Violation {
        self.violation
    }

    /// The run that shows it. None only for [`Violation::NoWitness`].
    pub fn run(&self) -> Option<&Run> {
        self.run.as_deref()
    }

    /// The steps of that run.
    pub fn trace(&self) -> Option<&Trace> {
        self.run().map(|run| &run.trace)
    }

    /// Whether no run with fewer steps shows a violation.
    pub fn is_shortest(&self) -> bool {
        self.shortest
    }

    /// For a report.
    pub fn shown(&self) -> Shown<'_> {
        Shown { claim: self.violation.into(), run: self.run(), shortest: self.shortest }
    }
}

/// A run whose final state satisfies a condition that some run must meet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    condition: usize,
    run: Box<Run>,
    shortest: bool,
}

impl Witness {
    /// A replayed run as a witness of the condition at this position of [`Problem::sometimes`]; none when it
    /// is not one.
    pub(crate) fn of(problem: &Problem, condition: usize, run: Run) -> Option<Self> {
        run.satisfies(problem.sometimes.get(condition)?).then(|| Witness {
            condition,
            run: Box::new(run),
            shortest: false,
        })
    }

    /// Replays a trace to a witness.
    ///
    /// # Panics
    /// When the trace does not replay to one.
    pub(crate) fn replay(
        task: Task<'_>,
        reductions: Reductions,
        condition: usize,
        trace: &Trace,
    ) -> Self {
        let run = task.model.replay(task.problem, reductions, trace);
        let run = run.expect("what an engine finds replays");
        Witness::of(task.problem, condition, run).expect("a witness replays as one")
    }

    /// The witness with the claim that no run with fewer steps is one, or without it.
    pub(crate) fn shortest(self, shortest: bool) -> Self {
        Witness { shortest, ..self }
    }

    /// The position of its condition in [`Problem::sometimes`].
    pub fn condition(&self) -> usize {
        self.condition
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Whether no run with fewer steps is a witness.
    pub fn is_shortest(&self) -> bool {
        self.shortest
    }

    /// For a report.
    pub fn shown(&self) -> Shown<'_> {
        let claim = Claim::Witness(self.condition);
        Shown { claim, run: Some(&self.run), shortest: self.shortest }
    }
}
