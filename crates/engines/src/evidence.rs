//! Replayed runs that show a violation, or that a condition can be satisfied.
//!
//! The fields are private. Evidence is created only from a run that was replayed on the exact
//! model. It carries that run, so no caller has to replay the trace again.

use crate::engine::Task;
use fencepost_ir::{DataRace, Problem, Violation};
use fencepost_models::Reductions;
use fencepost_models::replay::{ReplayedRun, Trace};

/// What a run shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// The run ends in a violation.
    Violation(Violation),
    /// The final state satisfies the condition at this position of
    /// [`Problem::sometimes`](fencepost_ir::Problem::sometimes).
    Witness(usize),
}

impl From<Violation> for Claim {
    fn from(violation: Violation) -> Self {
        Claim::Violation(violation)
    }
}

/// A claim with the run that shows it, for a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClaimWithRun<'a> {
    /// The claim.
    pub claim: Claim,
    /// The run; none only for [`Violation::NoWitness`].
    pub run: Option<&'a ReplayedRun>,
    /// Whether no run with fewer steps shows the claim.
    pub shortest: bool,
}

/// A violation, with the run that shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evidence {
    violation: Violation,
    run: Option<Box<ReplayedRun>>,
    shortest: bool,
}

impl Evidence {
    /// Evidence that no final state satisfies the condition at this position of
    /// [`Problem::sometimes`]. No single run shows this.
    pub(crate) fn no_witness(at: usize) -> Self {
        Evidence { violation: Violation::NoWitness(at), run: None, shortest: true }
    }

    /// Evidence from a replayed run. None if the run does not end in a violation.
    pub(crate) fn from_run(run: ReplayedRun) -> Option<Self> {
        Some(Evidence { violation: run.violation?, run: Some(Box::new(run)), shortest: false })
    }

    /// Evidence from a replayed run that is not sequentially consistent.
    pub(crate) fn not_robust(run: ReplayedRun) -> Self {
        Evidence { violation: Violation::NotRobust, run: Some(Box::new(run)), shortest: false }
    }

    /// Evidence from a replayed run with a data race. The caller has checked the race.
    pub(crate) fn data_race(mut run: ReplayedRun, race: DataRace) -> Self {
        let violation = Violation::DataRace(race);
        run.violation = Some(violation);
        Evidence { violation, run: Some(Box::new(run)), shortest: false }
    }

    /// Evidence from a replayed run that ends in a fair cycle. The caller has checked the cycle.
    pub(crate) fn livelock(mut run: ReplayedRun, violation: Violation) -> Self {
        run.violation = Some(violation);
        Evidence { violation, run: Some(Box::new(run)), shortest: false }
    }

    /// Replays a trace to a violation.
    ///
    /// # Panics
    /// Panics if the trace does not replay to a violation. Then the engine and the machine
    /// disagree, and no verdict can be trusted.
    pub(crate) fn replay(task: Task<'_>, reductions: Reductions, trace: &Trace) -> Self {
        let run = task.model.replay(task.problem, reductions, trace);
        let run = run.expect("the machine must replay a trace that an engine found");
        Evidence::from_run(run).expect("a violation must replay as one")
    }

    /// Sets whether no run with fewer steps shows a violation.
    pub(crate) fn shortest(self, shortest: bool) -> Self {
        Evidence { shortest, ..self }
    }

    /// Returns the violation.
    pub fn violation(&self) -> Violation {
        self.violation
    }

    /// Returns the run that shows the violation. None only for [`Violation::NoWitness`].
    pub fn run(&self) -> Option<&ReplayedRun> {
        self.run.as_deref()
    }

    /// Returns the steps of the run.
    pub fn trace(&self) -> Option<&Trace> {
        self.run().map(|run| &run.trace)
    }

    /// Returns whether no run with fewer steps shows a violation.
    pub fn is_shortest(&self) -> bool {
        self.shortest
    }

    /// Returns the violation with its run, for a report.
    pub fn claim_with_run(&self) -> ClaimWithRun<'_> {
        ClaimWithRun { claim: self.violation.into(), run: self.run(), shortest: self.shortest }
    }
}

/// A run whose final state satisfies a `sometimes` condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    condition: usize,
    run: Box<ReplayedRun>,
    shortest: bool,
}

impl Witness {
    /// A replayed run as a witness of the condition at this position of [`Problem::sometimes`].
    /// None if the run does not satisfy the condition.
    pub(crate) fn from_run(problem: &Problem, condition: usize, run: ReplayedRun) -> Option<Self> {
        run.satisfies(problem.sometimes.get(condition)?).then(|| Witness {
            condition,
            run: Box::new(run),
            shortest: false,
        })
    }

    /// Replays a trace to a witness.
    ///
    /// # Panics
    /// Panics if the trace does not replay to a witness.
    pub(crate) fn replay(
        task: Task<'_>,
        reductions: Reductions,
        condition: usize,
        trace: &Trace,
    ) -> Self {
        let run = task.model.replay(task.problem, reductions, trace);
        let run = run.expect("the machine must replay a trace that an engine found");
        Witness::from_run(task.problem, condition, run).expect("a witness must replay as one")
    }

    /// Sets whether no run with fewer steps is a witness.
    pub(crate) fn shortest(self, shortest: bool) -> Self {
        Witness { shortest, ..self }
    }

    /// Returns the position of the condition in [`Problem::sometimes`].
    pub fn condition(&self) -> usize {
        self.condition
    }

    /// Returns the run.
    pub fn run(&self) -> &ReplayedRun {
        &self.run
    }

    /// Returns whether no run with fewer steps is a witness.
    pub fn is_shortest(&self) -> bool {
        self.shortest
    }

    /// Returns the witness with its run, for a report.
    pub fn claim_with_run(&self) -> ClaimWithRun<'_> {
        let claim = Claim::Witness(self.condition);
        ClaimWithRun { claim, run: Some(&self.run), shortest: self.shortest }
    }
}
