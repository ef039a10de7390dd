//! Certificates of optimality: the proof that a repair is the cheapest, for the independent checker
//! `fencepost_certify::optimality`.
//!
//! The checker accepts a clause if the program with *all* permitted fences outside the clause has a
//! violating run. The run that inference learned the clause from is a run of a program with fewer
//! fences. It has a counterpart with all of them ([`crate::clause`]), and a search finds one. This
//! search is fast, because so many fences leave few behaviours.
//!
//! The checker uses every permitted place, not one of each group of equivalent places. Therefore a
//! clause is computed again from its run, over the candidates at all places.
//!
//! All four single kinds at one place form a full fence. If a full fence is in a clause, the kinds
//! outside the clause must not form one: a kind is then added to the clause. This weakens the bound,
//! so in rare cases there is no certificate.
//!
//! Only the clauses that the bound needs are written: as long as some set of fences that is cheaper
//! than the repair hits all chosen clauses, a clause that it does not hit is added.

use crate::candidates::{Candidates, Restrictions};
use crate::clause::blocking_clause;
use crate::fence_costs::{FenceCosts, FenceKind};
use crate::hitting_set::{Clauses, Cost};
use crate::lazy::Query;
use crate::repair::{LearnedClause, Repair, Sufficiency};
use crate::set::Set;
use fencepost_certify::optimality::{
    Clause, KindCost, OPTIMALITY_VERSION, OptimalityHeader, PlacedFence, RunStep, repaired_problem,
};
use fencepost_certify::{Model, check_certifiable};
use fencepost_engines::certificate::{NoCertificate, write_certificate};
use fencepost_engines::{Budget, Settings, Task};
use fencepost_ir::{
    Atom, Barrier, FenceKinds, PlaceId, Placement, Problem, WrittenFences, placement,
};
use fencepost_models::ModelSpec;
use fencepost_models::catalog::ModelKind;
use fencepost_models::event::EventKind;
use fencepost_models::machine::Action;
use fencepost_models::replay::ReplayedRun;
use fencepost_search::Stop;
use std::fmt;
use std::io::{self, Write};

/// The reason why there is no certificate of optimality.
#[derive(Debug)]
#[non_exhaustive]
pub enum NoOptimalityCertificate {
    /// Drains are among the fence kinds.
    Drains,
    /// The repair may change memory orders.
    Orders,
    /// The verifier decides robustness, which certificates do not cover.
    Robustness,
    /// The method does not prove that its answer is the cheapest.
    NotOptimal,
    /// The repair is verified only up to a bound.
    Bounded,
    /// The clauses do not give the bound, because single kinds together form a full fence.
    SinglesFormFullFence,
    /// A search ended before it found the run of a clause.
    NoRun,
    /// There is no certificate of the repaired program.
    Program(NoCertificate),
}

impl fmt::Display for NoOptimalityCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoOptimalityCertificate::Drains => {
                "certificates of optimality do not cover drains; leave drain out of --fences"
            }
            NoOptimalityCertificate::Orders => {
                "certificates of optimality do not cover memory orders; leave out --strengthen"
            }
            NoOptimalityCertificate::Robustness => {
                "certificates do not cover robustness; use --engine auto, explicit or automata"
            }
            NoOptimalityCertificate::NotOptimal => {
                "the method does not prove that its fences are the cheapest; use --method lazy"
            }
            NoOptimalityCertificate::Bounded => "the fences are verified only up to a bound",
            NoOptimalityCertificate::SinglesFormFullFence => {
                "the single fence kinds together form a full fence; try fewer kinds with --fences"
            }
            NoOptimalityCertificate::NoRun => {
                "a limit ended the search for the run of a clause; raise the limits"
            }
            NoOptimalityCertificate::Program(reason) => return reason.fmt(f),
        })
    }
}

impl std::error::Error for NoOptimalityCertificate {}

impl From<io::Error> for NoOptimalityCertificate {
    fn from(error: io::Error) -> Self {
        NoOptimalityCertificate::Program(NoCertificate::Unwritable(error))
    }
}

impl From<NoCertificate> for NoOptimalityCertificate {
    fn from(reason: NoCertificate) -> Self {
        NoOptimalityCertificate::Program(reason)
    }
}

/// Checks that certificates of optimality support a query, before inference runs.
pub fn check_supported(
    problems: &[Problem],
    model: &ModelSpec,
    fence_costs: &FenceCosts,
) -> Result<(), NoOptimalityCertificate> {
    certified_model(model)?;
    for problem in problems {
        check_certifiable(problem).map_err(NoCertificate::UncertifiableProperty)?;
    }
    if fence_costs.entries.iter().any(|(kind, _)| *kind == FenceKind::Drain) {
        return Err(NoOptimalityCertificate::Drains);
    }
    Ok(())
}

fn certified_model(model: &ModelSpec) -> Result<Model, NoCertificate> {
    match model.kind {
        ModelKind::Sc => Ok(Model::Sc),
        ModelKind::Tso => Ok(Model::Tso),
        ModelKind::Pso => Ok(Model::Pso),
        ModelKind::Table(_) | ModelKind::Arm => Err(NoCertificate::Model),
    }
}

/// Writes the certificate of a repair that [`crate::lazy::infer`] found for the query. The fence
/// costs and restrictions are those of its candidates.
pub fn write_optimality_certificate(
    query: Query<'_>,
    (fence_costs, restrictions): (&FenceCosts, &Restrictions),
    repair: &Repair,
    budget: Budget<'_>,
    out: &mut dyn Write,
) -> Result<(), NoOptimalityCertificate> {
    check_supported(query.problems, query.model, fence_costs)?;
    if !repair.optimal {
        return Err(NoOptimalityCertificate::NotOptimal);
    }
    if repair.sufficiency != Sufficiency::Verified {
        return Err(NoOptimalityCertificate::Bounded);
    }
    let written = query.candidates.written;
    let candidates = Candidates::at_every_place(query.problems, fence_costs, restrictions, written);
    let writer = Writer { query, fence_costs, candidates: &candidates, budget };
    let placement = &writer.permitted_placement(&repair.placements[0]);
    if writer.cost(placement) != Some(Cost::from(repair.cost)) {
        return Err(NoOptimalityCertificate::NotOptimal);
    }
    let clauses = writer.needed_clauses(repair)?;
    let header = OptimalityHeader {
        optimality: OPTIMALITY_VERSION,
        model: certified_model(query.model)?,
        cost: u64::from(repair.cost),
        fences: (fence_costs.entries.iter())
            .filter_map(|(kind, cost)| match kind {
                FenceKind::Fence(kinds) => Some(KindCost(kinds.name(), *cost)),
                FenceKind::Drain => None,
            })
            .collect(),
        keeps_written: written == WrittenFences::Kept,
        forbidden_lines: restrictions.forbidden_lines.iter().copied().collect(),
        only_in: restrictions.functions.iter().cloned().collect(),
        may_hang: query.problems.iter().any(|problem| problem.may_hang),
        clients: query.problems.iter().map(|problem| problem.name.clone()).collect(),
        placement: placement.atoms.iter().filter_map(placed_fence).collect(),
        clauses: clauses.len() as u64,
    };
    writeln!(out, "{}", header.to_line())?;
    for (learned, clause) in clauses {
        writeln!(out, "{}", writer.justify(learned, &clause)?.to_line())?;
    }
    for problem in query.problems {
        let repaired = repaired_problem(problem, placement, written);
        let task = Task { problem: &repaired, model: query.model };
        let settings = Settings { certifiable: true, ..query.settings };
        let answer = query.engine.run(task, settings, budget);
        write_certificate(task, &answer, settings, budget, out)?;
    }
    Ok(())
}

const FULL_FENCE: Barrier = Barrier::Fence(FenceKinds::FULL);

/// Returns a fence as the certificate writes it.
fn placed_fence(atom: &Atom) -> Option<PlacedFence> {
    match atom.barrier {
        Barrier::Fence(kinds) => Some(PlacedFence(atom.place.0, kinds.name())),
        Barrier::Drain(_) | Barrier::Order(_) => None,
    }
}

/// The query and the candidates at all places. A full fence is a candidate if it is permitted, or if
/// permitted kinds form it together.
struct Writer<'a> {
    query: Query<'a>,
    fence_costs: &'a FenceCosts,
    candidates: &'a Candidates,
    budget: Budget<'a>,
}

impl Writer<'_> {
    /// Returns the cost of a fence; `None` if its kind is not permitted.
    fn fence_cost(&self, atom: &Atom) -> Option<Cost> {
        let is_same = |kind: &FenceKind| match (kind, atom.barrier) {
            (FenceKind::Fence(kinds), Barrier::Fence(placed)) => *kinds == placed,
            (FenceKind::Drain, _) | (_, Barrier::Drain(_) | Barrier::Order(_)) => false,
        };
        let mut entries = self.fence_costs.entries.iter();
        entries.find(|(kind, _)| is_same(kind)).map(|(_, cost)| Cost::from(*cost))
    }

    /// Returns the cost of a placement; `None` if a kind is not permitted.
    fn cost(&self, placement: &Placement) -> Option<Cost> {
        placement.atoms.iter().map(|atom| self.fence_cost(atom)).sum()
    }

    /// Returns a placement with single kinds instead of full fences where this is cheaper, or where
    /// full fences are not permitted.
    fn permitted_placement(&self, placement: &Placement) -> Placement {
        let is_full = |atom: &Atom| atom.barrier == FULL_FENCE;
        let permitted = placement.atoms.iter().flat_map(|atom| {
            let present = self.present(atom.place);
            let missing = FenceKinds::SINGLE.iter().filter(|(kind, _)| !present.contains(*kind));
            let singles: Placement = missing
                .map(|(kind, _)| Atom { place: atom.place, barrier: Barrier::Fence(*kind) })
                .collect();
            match (self.fence_cost(atom), self.cost(&singles)) {
                (full, Some(cost)) if is_full(atom) && full.is_none_or(|full| cost < full) => {
                    singles
                }
                _ => Placement::from_iter([*atom]),
            }
            .atoms
        });
        permitted.collect()
    }

    /// Returns the kinds of the fence that the program keeps at a place.
    fn present(&self, place: PlaceId) -> FenceKinds {
        let written = self.query.problems[0].program.place(place).written;
        let kept = written.filter(|_| self.query.candidates.written == WrittenFences::Kept);
        kept.map(|(kinds, _)| kinds).unwrap_or_default()
    }

    /// Returns the clauses that show that no cheaper placement is sufficient, with the violations
    /// that they were learned from.
    fn needed_clauses<'r>(
        &self,
        repair: &'r Repair,
    ) -> Result<Vec<(&'r LearnedClause, Set)>, NoOptimalityCertificate> {
        let learned = repair.rounds.iter().flat_map(|round| &round.learned_clauses);
        let clauses: Vec<(&LearnedClause, Set)> = learned
            .filter_map(|learned| Some((learned, self.clause_at_every_place(learned)?)))
            .collect();
        // A candidate that is not permitted is in no clause.
        let costs: Vec<Cost> =
            self.candidates.atoms.iter().map(|atom| self.fence_cost(atom).unwrap_or(1)).collect();
        let mut chosen = Vec::new();
        let mut bound = Clauses::new(self.candidates.len());
        loop {
            let cheapest = bound.cheapest(&costs, self.budget.cancel).map_err(stopped)?;
            let cheapest = cheapest.ok_or(NoOptimalityCertificate::NotOptimal)?;
            if Clauses::cost(&cheapest, &costs) >= Cost::from(repair.cost) {
                return Ok(chosen);
            }
            let open = clauses.iter().find(|(_, clause)| !clause.intersects(&cheapest));
            let Some((learned, clause)) = open else {
                let is_weak =
                    clauses.iter().any(|(learned, clause)| self.is_weaker(learned, clause));
                return Err(if is_weak {
                    NoOptimalityCertificate::SinglesFormFullFence
                } else {
                    NoOptimalityCertificate::NotOptimal
                });
            };
            bound.add(clause.clone());
            chosen.push((*learned, clause.clone()));
        }
    }

    /// Returns the candidates at all places that block the run of a clause.
    fn blocking(&self, learned: &LearnedClause) -> Option<Set> {
        let problem = self.fenced(learned.problem, &learned.placement);
        let run = learned.evidence.run()?;
        Some(blocking_clause(&problem, self.query.model, run, self.candidates))
    }

    /// Returns a clause over the permitted fences at all places: those that block the run, and so
    /// many single kinds that the others do not form a full fence which blocks the run.
    fn clause_at_every_place(&self, learned: &LearnedClause) -> Option<Set> {
        let blocking = self.blocking(learned)?;
        let atoms = &self.candidates.atoms;
        let mut clause = blocking.clone();
        for full in blocking.iter().filter(|at| atoms[*at].barrier == FULL_FENCE) {
            let place = atoms[full].place;
            let is_single =
                |at: &usize| atoms[*at].place == place && atoms[*at].barrier != FULL_FENCE;
            let singles: Vec<usize> = (0..atoms.len()).filter(is_single).collect();
            loop {
                let others = singles.iter().copied().filter(|at| !clause.contains(*at));
                let formed =
                    others.clone().fold(self.present(place), |kinds, at| match atoms[at].barrier {
                        Barrier::Fence(more) => kinds.union(more),
                        Barrier::Drain(_) | Barrier::Order(_) => kinds,
                    });
                let expensive = others.max_by_key(|at| self.fence_cost(&atoms[*at]));
                match expensive.filter(|_| formed == FenceKinds::FULL) {
                    Some(at) => clause.insert(at),
                    None => break,
                }
            }
            if self.fence_cost(&atoms[full]).is_none() {
                clause.remove(full);
            }
        }
        Some(clause)
    }

    /// Returns whether a clause has fences that do not block its run by themselves.
    fn is_weaker(&self, learned: &LearnedClause, clause: &Set) -> bool {
        self.blocking(learned).is_some_and(|blocking| !clause.is_subset(&blocking))
    }

    /// Finds a violating run of the program with all candidates outside a clause.
    fn justify(
        &self,
        learned: &LearnedClause,
        clause: &Set,
    ) -> Result<Clause, NoOptimalityCertificate> {
        let mut others = Set::of(self.candidates.len(), 0..self.candidates.len());
        others.subtract(clause);
        let permitted = self.candidates.atoms.iter().enumerate();
        permitted
            .filter(|(_, atom)| self.fence_cost(atom).is_none())
            .for_each(|(position, _)| others.remove(position));
        let fenced = self.fenced(learned.problem, &self.candidates.placement(&others));
        let settings = Settings { shortest: false, traces: 1, ..self.query.settings };
        let task = Task { problem: &fenced, model: self.query.model };
        let answer = self.query.engine.run(task, settings, self.budget);
        let evidence = answer.verdict.into_evidence();
        let run = evidence.as_ref().and_then(|evidence| evidence.run());
        let Some(run) = run else {
            return Err(match self.budget.cancel.reason() {
                Some(stop) => stopped(stop),
                None => NoOptimalityCertificate::NoRun,
            });
        };
        let atoms = clause.iter().map(|position| &self.candidates.atoms[position]);
        Ok(Clause {
            client: u32::try_from(learned.problem).expect("there are fewer clients than 2^32"),
            clause: atoms.filter_map(placed_fence).collect(),
            init: run.trace.init.clone(),
            steps: run_steps(run),
        })
    }

    fn fenced(&self, problem: usize, placement: &Placement) -> Problem {
        let problem = self.query.problems[problem].safety();
        let program = placement::fenced(&problem.program, placement, self.query.candidates.written);
        Problem { program, ..problem }
    }
}

fn stopped(stop: Stop) -> NoOptimalityCertificate {
    NoCertificate::Stopped(stop).into()
}

/// Returns the steps of a run as the checker takes them: one for each statement, except that an
/// atomic block is one step.
fn run_steps(run: &ReplayedRun) -> Vec<RunStep> {
    let mut steps = Vec::new();
    let first = run.first.events.iter().map(|annotated| (&[][..], annotated));
    let later = run.steps.iter().flat_map(|step| {
        let script = match &step.step.action {
            Action::Run(script) => &script[..],
            Action::Internal(_) => &[],
        };
        // Only the first statement of a step makes choices.
        let choices = std::iter::once(script).chain(std::iter::repeat(&[][..]));
        choices.zip(&step.events)
    });
    let mut is_inside_block = false;
    for (choices, annotated) in first.chain(later) {
        let event = &annotated.event;
        let thread = u32::from(event.thread.0);
        match event.kind {
            EventKind::Commit { loc, .. } => steps.push(RunStep::Commit(thread, loc.0)),
            EventKind::AtomicEnd => is_inside_block = false,
            EventKind::Fetch { .. }
            | EventKind::Load { .. }
            | EventKind::Store { .. }
            | EventKind::Write { .. }
            | EventKind::CommitAndKeep { .. }
            | EventKind::Confirm
            | EventKind::Repeat { .. }
            | EventKind::Update { .. }
            | EventKind::Fence(_)
            | EventKind::Drain(_)
            | EventKind::Set { .. }
            | EventKind::Test(_)
            | EventKind::Guess(_)
            | EventKind::New(_)
            | EventKind::Free(_)
            | EventKind::Leave
            | EventKind::SectionBegin
            | EventKind::SectionEnd
            | EventKind::GracePeriod { .. }
            | EventKind::AtomicBegin
            | EventKind::Skip
            | EventKind::Defer => {
                if !is_inside_block {
                    steps.push(match choices {
                        [] => RunStep::Statement((thread,)),
                        choices => RunStep::Choices(thread, choices.to_vec()),
                    });
                }
                is_inside_block |= event.kind == EventKind::AtomicBegin;
            }
        }
    }
    // A block that fails has no end. The checker finds its failure in the last state.
    if is_inside_block {
        steps.pop();
    }
    steps
}
