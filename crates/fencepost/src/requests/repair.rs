//! The request for the cheapest fences that make a program correct under a model.
//!
//! The repaired text is compiled again, and for every client the result is compared with the
//! program that was verified. If the code differs, the new program is verified as well. The text is
//! returned only after that.

mod certificate;
mod error;
mod permitted_fences;

pub use error::RepairError;

use self::permitted_fences::{fence_costs, offered_fences, restrictions};
use super::Control;
use super::check::EngineChoice;
use super::file_diff::FileDiff;
use crate::search::{Elapsed, SearchOptions};
use crate::source::Source;
use fencepost_engines::robust::{RobustDefinition, RobustMethod};
use fencepost_engines::{Engine, Explicit, Task, Verdict};
use fencepost_frontends::litmus::forbid::{forbid, forbid_in_text};
use fencepost_frontends::repair::{Changes, LoweredSource};
use fencepost_frontends::{EditError, FenceSyntax};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::{FenceCosts, FenceKind};
use fencepost_infer::fixpoint::drawing::{NoDrawing, StateGraph, draw_states};
use fencepost_infer::lazy::{self, Query};
use fencepost_infer::order_candidates::OrderCosts;
use fencepost_infer::repair::{Inference, Sufficiency, Unrepairable};
use fencepost_infer::{clause, fixpoint_inference};
use fencepost_ir::{Atom, Placement, Problem, WrittenFences, grace_period, placement};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_report::Paint;
use fencepost_report::diff;
use fencepost_report::repair::{self, FencedRun, Subject};
use fencepost_report::repair_json::{InferReport, ReportExtras};
use fencepost_report::trace::TraceRows;
use fencepost_report::trace_file::TraceFile;
use fencepost_report::violation::{claim_of_run, describe_claim};
use std::borrow::Cow;

/// The method that finds fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Method {
    /// Learns clauses from violations.
    #[default]
    Lazy,
    /// The method of the papers: computes the orderings that avoid every error state and enforces
    /// them on every path. Uses an abstraction if its domain and `k` are given.
    Fixpoint(Option<(Domain, u32)>),
}

impl Method {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Lazy => "lazy",
            Method::Fixpoint(_) => "fixpoint",
        }
    }
}

/// Options of a repair.
#[derive(Clone, Debug, Default)]
pub struct RepairOptions {
    /// The method that finds fences.
    pub method: Method,
    /// The engine that verifies placements.
    pub verifier: EngineChoice,
    /// The fence kinds to choose from. Empty means all kinds that have an effect under the model.
    pub fences: Vec<FenceKind>,
    /// Costs that differ from the defaults.
    pub costs: Vec<(FenceKind, u32)>,
    /// Whether to list all placements of lowest cost.
    pub all: bool,
    /// The costs of stronger memory orders, if the repair may change the orders of accesses. If it is
    /// `None`, orders change only under a model with ordered accesses, with the default costs, and
    /// only if no fence kinds are selected.
    pub strengthen: Option<OrderCosts>,
    /// Whether to reconsider the fences that are already in the program.
    pub from_scratch: bool,
    /// Lines of the main file before which no fence may be placed.
    pub forbidden_lines: Vec<u32>,
    /// Functions in which fences may be placed. Empty means all.
    pub only_in: Vec<String>,
}

/// A request for the cheapest fences.
///
/// ```
/// use fencepost::{Model, Source};
///
/// let source = Source::parse("sb.fp", "shared int x, y;
/// thread p { x = 1; a = y; }
/// thread q { y = 1; b = x; }
/// final forall p.a == 1 || q.b == 1;
/// ")?;
/// let repaired = source.repair(Model::TSO).run()?;
/// println!("{}", repaired.diff());
/// assert_eq!(repaired.diff().matches("\n+").count(), 3); // two fences and the header
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is run"]
pub struct Repair<'s> {
    source: Cow<'s, Source>,
    model: ModelSpec,
    repair: RepairOptions,
    options: SearchOptions,
    control: Control<'s>,
}

impl Source {
    /// Returns a request for the cheapest fences that make the programs correct under a model.
    pub fn repair(&self, model: ModelSpec) -> Repair<'_> {
        Repair {
            source: self.with_places(),
            model,
            repair: RepairOptions::default(),
            options: SearchOptions::default(),
            control: Control::default(),
        }
    }

    /// Returns the programs with the properties that a repair must establish. An `exists` condition
    /// of a litmus test is forbidden; the text is a sentence that says so.
    pub fn programs_to_repair(&self) -> (Vec<Problem>, Option<String>) {
        let mut problems = self.programs().to_vec();
        let condition = if self.is_litmus() { forbid(self.text(), &mut problems) } else { None };
        (problems, condition)
    }
}

impl RepairOptions {
    /// Returns the costs of stronger memory orders, if a repair for a model may change orders.
    fn order_costs(&self, model: &ModelSpec) -> Option<OrderCosts> {
        let by_default = model.has_ordered_accesses()
            && self.fences.is_empty()
            && !self.from_scratch
            && self.method == Method::Lazy;
        self.strengthen.or_else(|| by_default.then(OrderCosts::default))
    }
}

impl<'s> Repair<'s> {
    search_methods!();

    /// Sets the options of the repair.
    pub fn repair_options(mut self, options: RepairOptions) -> Self {
        self.repair = options;
        self
    }

    /// Checks the options and finds fences.
    pub fn run(self) -> Result<Repaired<'s>, RepairError> {
        Ok(self.prepare()?.run())
    }

    /// Checks the options without running the request.
    pub fn prepare(mut self) -> Result<PreparedRepair<'s>, RepairError> {
        let order_costs = self.repair.order_costs(&self.model);
        if order_costs.is_some() && !self.source.marks_orders() {
            self.source = Cow::Owned(self.source.with_orders());
        }
        // Robustness does not depend on the condition of a litmus test.
        let robust = matches!(self.repair.verifier, EngineChoice::Robust { .. });
        let (problems, condition) = if robust {
            (self.source.programs().to_vec(), None)
        } else {
            self.source.programs_to_repair()
        };
        check_repairable(&problems)?;
        let source = &self.source;
        let fences = source.frontend().fences(source.text(), &source.request());
        if matches!(self.repair.method, Method::Fixpoint(_)) && self.model.has_ordered_accesses() {
            return Err(RepairError::FixpointOfOrderedAccesses);
        }
        if let Method::Fixpoint(Some((domain, k))) = self.repair.method
            && self.model.abstracted(domain, k, true).is_none()
        {
            return Err(RepairError::NoAbstraction);
        }
        if self.repair.strengthen.is_some() {
            if let Method::Fixpoint(_) = self.repair.method {
                return Err(RepairError::OrdersByFixpoint);
            }
            if self.repair.from_scratch {
                return Err(RepairError::OrdersFromScratch);
            }
        }
        let costs = fence_costs(&self.repair, &self.model, &fences)?;
        let restrictions = restrictions(&self.repair, &problems)?;
        let written =
            if self.repair.from_scratch { WrittenFences::Dropped } else { WrittenFences::Kept };
        let mut candidates = Candidates::new(&problems, &costs, &restrictions, written);
        if let Some(orders) = &order_costs {
            let program = &problems[0].program;
            candidates = candidates.with_orders(program, &self.model, &restrictions, orders);
        }
        Ok(PreparedRepair {
            request: self,
            problems,
            condition,
            fences,
            costs,
            restrictions,
            candidates,
        })
    }
}

/// Checks that changes of fences and orders have their usual effect on the programs.
pub(super) fn check_repairable(problems: &[Problem]) -> Result<(), RepairError> {
    if problems.iter().any(Problem::requires_control_points) {
        return Err(RepairError::RequiredControlPoint);
    }
    if problems.iter().any(|problem| grace_period::occurs(&problem.program)) {
        return Err(RepairError::GracePeriods);
    }
    Ok(())
}

/// The source was compiled before, and its language has the inferred fences.
const STILL_COMPILES: &str = "a source with inferred fences still compiles";

/// A request with valid options.
#[derive(Clone, Debug)]
pub struct PreparedRepair<'s> {
    request: Repair<'s>,
    problems: Vec<Problem>,
    condition: Option<String>,
    fences: FenceSyntax,
    costs: FenceCosts,
    restrictions: Restrictions,
    candidates: Candidates,
}

impl<'s> PreparedRepair<'s> {
    /// Returns the model.
    pub fn model(&self) -> &ModelSpec {
        &self.request.model
    }

    /// Finds fences.
    ///
    /// # Panics
    /// If the repaired text does not compile to a program that is as correct as the verified one.
    /// That is a bug in the front end.
    pub fn run(self) -> Repaired<'s> {
        let Repair { repair, options, control, .. } = &self.request;
        let engine = repair.verifier.engine();
        let query = self.query(engine.as_ref());
        let (inference, elapsed) = control.run(options, |budget| match repair.method {
            Method::Lazy => lazy::infer(query, budget),
            Method::Fixpoint(_) => fixpoint_inference::infer(query, budget),
        });
        let changes = self.changes(&inference, engine.as_ref());
        let diff = changes.as_ref().map(FileDiff::new).unwrap_or_default();
        let engine = engine.name();
        Repaired { prepared: self, inference, changes, diff, elapsed, engine }
    }

    fn query<'q>(&'q self, engine: &'q (dyn Engine + Sync)) -> Query<'q> {
        let Repair { repair, options, model, .. } = &self.request;
        Query {
            problems: &self.problems,
            model,
            candidates: &self.candidates,
            engine,
            settings: options.settings,
            all: repair.all,
            abstraction: match repair.method {
                Method::Lazy => None,
                Method::Fixpoint(abstraction) => abstraction,
            },
        }
    }

    fn original(&self) -> LoweredSource<'_> {
        let source = &self.request.source;
        LoweredSource {
            frontend: source.frontend(),
            text: source.text(),
            request: source.request(),
            problems: &self.problems,
        }
    }

    /// Returns the changed files after checking that they compile to the verified program.
    fn changes(&self, inference: &Inference, engine: &dyn Engine) -> Option<Changes> {
        let Inference::Repaired(repair) = inference else { return None };
        let Repair { options, control, model, .. } = &self.request;
        let repaired = self.original().repair(&repair.placements[0], self.candidates.written);
        let repaired = repaired.expect(STILL_COMPILES);
        for at in repaired.differing {
            let problem = repaired.problems[at].clone().with_requirements_of(&self.problems[at]);
            let task = Task { problem: &problem, model };
            let (answer, _) =
                control.run(options, |budget| engine.run(task, options.settings, budget));
            let holds = match answer.verdict {
                Verdict::Verified(_) => true,
                Verdict::Violated(_) => false,
                Verdict::Inconclusive(_) => repair.sufficiency != Sufficiency::Verified,
            };
            assert!(holds, "the repaired text has the verdict of the repaired program");
        }
        Some(repaired.changes)
    }
}

/// The answer to a request for fences.
#[derive(Clone, Debug)]
pub struct Repaired<'s> {
    prepared: PreparedRepair<'s>,
    inference: Inference,
    changes: Option<Changes>,
    diff: FileDiff,
    elapsed: Elapsed,
    engine: &'static str,
}

/// A run that a fence prevents, as a run of the text without that fence.
#[derive(Clone, Debug)]
pub struct PreventedRun {
    /// The client of the run.
    pub client: String,
    /// The model.
    pub model: ModelSpec,
    /// The trace file for `fencepost replay`.
    pub file: TraceFile,
}

impl Repaired<'_> {
    /// Returns the result of the inference: placements, evidence for each fence, optimality.
    pub fn inference(&self) -> &Inference {
        &self.inference
    }

    /// Returns the repaired text of the main file, if there is a repair.
    pub fn text(&self) -> Option<&str> {
        let changes = self.changes.as_ref()?;
        Some(changes.main_text(self.prepared.request.source.text()))
    }

    /// Returns the files that the repair changes, if there is a repair.
    pub fn changes(&self) -> Option<&Changes> {
        self.changes.as_ref()
    }

    /// Returns the change as a unified diff with a section for each file, or an empty text.
    pub fn diff(&self) -> &str {
        &self.diff.text
    }

    /// Returns the folder in which `patch -p1` applies the diff, if it is not the current one.
    pub fn diff_folder(&self) -> Option<&str> {
        self.diff.folder.as_deref()
    }

    /// Returns the duration of the inference in seconds.
    pub fn seconds(&self) -> f64 {
        self.elapsed.seconds()
    }

    /// Returns the CPU time of the inference in seconds.
    pub fn cpu_seconds(&self) -> Option<f64> {
        self.elapsed.cpu_seconds()
    }

    /// Returns the programs, with the places where fences can be put.
    pub fn problems(&self) -> &[Problem] {
        &self.prepared.problems
    }

    /// For a litmus test, returns the property that the repair must establish, as a sentence.
    pub fn condition(&self) -> Option<&str> {
        self.prepared.condition.as_deref()
    }

    /// Whether a repair was found that is verified, or verified up to a bound if `accept_bounded`
    /// is set.
    pub fn is_accepted(&self, accept_bounded: bool) -> bool {
        match &self.inference {
            Inference::Repaired(repair) => match repair.sufficiency {
                Sufficiency::Verified => true,
                Sufficiency::Bounded(_) => accept_bounded,
            },
            Inference::Unrepairable(_) | Inference::GaveUp(_) => false,
        }
    }

    /// Returns the argument for the functions of [`fencepost_report::repair`].
    pub fn subject(&self) -> Subject<'_> {
        let PreparedRepair { request, problems, fences, candidates, .. } = &self.prepared;
        Subject {
            file: request.source.name(),
            model: &request.model,
            method: request.repair.method.name(),
            engine: self.engine,
            definition: request.repair.verifier.engine().robust_definition(),
            problems,
            candidates,
            fences,
            reductions: request.options.settings.reductions,
        }
    }

    /// Returns the fences that would prevent a run if every fence kind were allowed at every place.
    pub fn fences_anywhere(&self, shown: &FencedRun<'_>) -> Vec<Atom> {
        let PreparedRepair { request, problems, fences, candidates, .. } = &self.prepared;
        let offered = offered_fences(&request.model, fences);
        let costs = FenceCosts::effective(&request.model, offered);
        let anywhere = Restrictions::default();
        let all = Candidates::new(problems, &costs, &anywhere, candidates.written);
        let Some(rows) = shown.trace_rows() else { return Vec::new() };
        let blocking = clause::blocking_clause(&shown.problem, &request.model, &rows.run, &all);
        clause::atoms(&blocking, &all).collect()
    }

    /// Computes the transition system of each program without new fences, with the avoid formula of
    /// each state, as in \[KVY10\] Fig. 3. The result is that of [`Method::Fixpoint`]; another
    /// method gives none.
    pub fn state_graphs(&self) -> Vec<Result<StateGraph, NoDrawing>> {
        let PreparedRepair { request, problems, candidates, .. } = &self.prepared;
        let Repair { repair, options, control, model, .. } = request;
        let Method::Fixpoint(abstraction) = repair.method else { return Vec::new() };
        let abstracted = abstraction.and_then(|(domain, k)| model.abstracted(domain, k, true));
        let draw = |problem: &Problem| {
            let none = Placement::default();
            let program = placement::fenced(&problem.program, &none, candidates.written);
            let problem = Problem { program, ..problem.clone() };
            let task = Task { problem: &problem, model };
            let settings = options.settings;
            control.run(options, |budget| draw_states(task, abstracted, settings, budget)).0
        };
        problems.iter().map(draw).collect()
    }

    /// Returns the headline and the diff as text.
    pub fn summary(&self, paint: Paint) -> String {
        let head = repair::headline(&self.subject(), &self.inference, paint);
        format!("{head}{}", diff::painted(&self.diff.text, paint))
    }

    /// Returns the report for JSON output.
    pub fn report(&self, extras: &ReportExtras) -> InferReport {
        InferReport::new(&self.subject(), &self.inference, &ModelSpec::SC, extras)
    }

    /// Returns the run that each fence prevents, or the run that no fence prevents. An entry is
    /// `None` if there is no run.
    pub fn prevented_runs(&self) -> Vec<Option<PreventedRun>> {
        let model = &self.prepared.request.model;
        let violations: Vec<(Option<usize>, Placement, ModelSpec)> = match &self.inference {
            Inference::Repaired(repair) => (repair.needed_for.iter())
                .map(|need| {
                    let mut fewer = repair.placements[0].clone();
                    fewer.atoms.remove(&need.atom);
                    let problem = need.violation.as_ref().map(|(problem, _)| *problem);
                    (problem, fewer, model.clone())
                })
                .collect(),
            Inference::Unrepairable(Unrepairable::ViolatedUnderSc { problem, .. }) => {
                vec![(Some(*problem), Placement::default(), ModelSpec::SC)]
            }
            Inference::Unrepairable(Unrepairable::NotPreventable {
                problem, placement, ..
            }) => {
                vec![(Some(*problem), placement.clone(), model.clone())]
            }
            Inference::Unrepairable(Unrepairable::NoWitness { .. }) | Inference::GaveUp(_) => {
                Vec::new()
            }
        };
        let run = |(problem, placement, model): (Option<usize>, Placement, ModelSpec)| {
            let problem = problem?;
            let original = self.prepared.original();
            let changes = original.insert_placement(&placement, self.prepared.candidates.written);
            let mut changes = changes.expect(STILL_COMPILES);
            // The condition of the stored litmus test must forbid the outcome of the run.
            let source = &self.prepared.request.source;
            let text = changes.main_text(source.text());
            let forbidding = self.prepared.condition.as_ref().and_then(|_| forbid_in_text(text));
            if let Some(text) = forbidding {
                changes = changes.with_main_text((source.name(), source.text()), text);
            }
            let file = self.trace_file(&changes, problem, &model)?;
            let client = self.prepared.problems[problem].name.clone();
            Some(PreventedRun { client, model, file })
        };
        violations.into_iter().map(run).collect()
    }

    /// Returns the trace of a violation of the source with changes. Searches for it again, because the programs with
    /// places differ from the program that the stored source compiles to.
    fn trace_file(
        &self,
        changes: &Changes,
        problem: usize,
        model: &ModelSpec,
    ) -> Option<TraceFile> {
        let Repair { source, options, control, .. } = &self.prepared.request;
        let compiled: Result<Vec<Problem>, EditError> = self.prepared.original().compile(changes);
        let compiled = compiled.expect(STILL_COMPILES).swap_remove(problem);
        let required = compiled.clone().with_requirements_of(&self.prepared.problems[problem]);
        let task = Task { problem: &required, model };
        let settings = options.settings;
        let (answer, _) = control.run(options, |budget| Explicit.run(task, settings, budget));
        let evidence = answer.verdict.into_evidence()?;
        // `fencepost replay` also checks all properties of the file.
        let run = model.replay(&compiled, settings.reductions, evidence.trace()?).ok()?;
        let rows = TraceRows::new(&compiled, Cow::Owned(run));
        let message = describe_claim(&compiled, claim_of_run(&rows)?, Some(&rows));
        let file = TraceFile::new(
            env!("CARGO_PKG_VERSION"),
            (source.name(), changes.main_text(source.text())),
            (model, settings.reductions),
            &rows,
            message,
        );
        Some(TraceFile { preprocessing: source.changed_preprocessing(changes), ..file })
    }
}

impl EngineChoice {
    /// Returns the engine that decides robustness by all methods.
    pub fn robust(definition: RobustDefinition) -> EngineChoice {
        EngineChoice::Robust { method: RobustMethod::Auto, definition }
    }
}
