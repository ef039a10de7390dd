//! Computes rows about fences: avoid formulas \[KVY10\], the cheapest fences, and fences that
//! enforce a formula under an abstraction \[KVY11\].

use super::{Limit, Subject, number};
use crate::reproduce::paper::{FenceChoice, InferEngine};
use fencepost_engines::{Auto, Engine, Explicit, Settings, Task, Verdict};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::fence_costs::{FenceCosts, FenceKind};
use fencepost_infer::fixpoint::{
    Avoidance, NoFormula, compute_abstract_avoidance, compute_avoidance,
};
use fencepost_infer::lazy::{self, Query};
use fencepost_infer::place_for_constraints::{NoPlacement, place_for_constraints};
use fencepost_infer::repair::{Inference, Sufficiency};
use fencepost_ir::{
    Atom, Barrier, FenceKinds, LabelInfo, Problem, Program, WrittenFences, placement,
};
use fencepost_report::reproduction::{Figure, Figures};
use fencepost_search::{Limits, Stop};
use std::cmp::Ordering;

/// A bound on windows that no client without spin loops reaches.
const LARGE_WINDOW: u32 = 32;
/// The message if a limit stops the proof of a placement.
const UNPROVED: &str = "there is no proof that the fences suffice";

impl Subject<'_> {
    /// Computes the avoid formula by exact search.
    pub(super) fn formula(&self) -> Result<Avoidance, Limit> {
        let bound = self.entry.row.buffer;
        // If the paper has no bound, one search with a large bound is faster than several with
        // growing bounds. A window also contains the access that is being performed, hence `bound +
        // 1`.
        let default = self.settings.fixed_buffer.unwrap_or(LARGE_WINDOW);
        let fixed_buffer = Some(bound.map_or(default, |bound| bound + 1));
        let settings = Settings { fixed_buffer, ..self.settings };
        match compute_avoidance(self.task(), settings, self.budget) {
            // If the paper has no bound, reaching our bound counts as a limit.
            Ok(found) if found.bound.is_some() && bound.is_none() => {
                Err("Windows can contain more accesses than the search allows.".into())
            }
            Ok(found) => Ok(found),
            Err(NoFormula::Stopped(stop)) => Err(stop.into()),
            Err(NoFormula::TooManyConstraints(_)) => Err("There are too many constraints.".into()),
        }
    }

    pub(super) fn formula_figures(&self, found: &Avoidance) -> Result<Figures, Limit> {
        let fewest = found.fewest(self.budget.cancel)?.filter(|_| self.model.name != "sc");
        let figures = Figures::new()
            .with("states", Figure::Number(found.states))
            .with("edges", Figure::Number(found.edges))
            .with("constraints", fewest.map(number));
        Ok(figures)
    }

    fn candidates(&self, fences: FenceChoice) -> Candidates {
        let costs = match fences {
            FenceChoice::Model => FenceCosts::for_model(&self.model),
            FenceChoice::Full => {
                FenceCosts::with_default_costs(&[FenceKind::Fence(FenceKinds::FULL)])
            }
        };
        Candidates::new(&self.problems, &costs, &Restrictions::default(), WrittenFences::Kept)
    }

    /// Finds the cheapest fences. `constraints` is `None` if the clients have no formulas,
    /// `Some(None)` if a limit stopped one of the formulas, and otherwise the smallest number of
    /// constraints that satisfies all formulas.
    pub(super) fn infer(
        &self,
        choice: InferEngine,
        fences: FenceChoice,
        constraints: Option<Option<usize>>,
    ) -> Result<Figures, Limit> {
        let engine: &(dyn Engine + Sync) = match choice {
            InferEngine::Explicit => &Explicit,
            InferEngine::Auto => &Auto,
        };
        let query = Query {
            problems: &self.problems,
            model: &self.model,
            candidates: &self.candidates(fences),
            engine,
            settings: self.settings,
            all: false,
            abstraction: None,
        };
        let repair = match lazy::infer(query, self.budget) {
            Inference::Repaired(repair) => repair,
            Inference::GaveUp(gave_up) => {
                let why = gave_up.undecided.first().map(|(_, why)| why.reason().into());
                return Err(why.unwrap_or("a limit stopped the inference".into()));
            }
            Inference::Unrepairable(_) => return Err("no fences repair the program".into()),
        };
        let is_verified = match repair.sufficiency {
            Sufficiency::Verified => true,
            Sufficiency::Bounded(_) if choice == InferEngine::Auto => return Err(UNPROVED.into()),
            Sufficiency::Bounded(_) => false,
        };
        if constraints == Some(None) {
            return Err("A limit stopped a client, so the conjunction is unknown.".into());
        }
        let atoms = &repair.placements[0].atoms;
        let program = &self.problems[0].program;
        Ok(Figures::new()
            .with("result", Figure::Word("optimal".into()))
            .with("fences", number(atoms.len()))
            .with("cost", Figure::Number(repair.cost.into()))
            .with("constraints", constraints.flatten().map(number))
            .with("verified", Figure::Flag(is_verified))
            .with("states", Figure::Number(repair.statistics[0].states))
            .with("places", Figure::List(atoms.iter().map(|a| place(program, a)).collect()))
            .with("lines", Figure::List(atoms.iter().map(|a| self.figure_line(a)).collect())))
    }

    /// Returns the comment on the line of a barrier, which names a line of the paper's figure, and
    /// the kind of the barrier: `take:5 store_load`.
    fn figure_line(&self, atom: &Atom) -> String {
        let (info, kind) = placed(&self.problems[0].program, atom);
        let line = self.source.lines().nth(info.span.line as usize - 1).unwrap_or_default();
        let comment = line.split_once("//").map_or("", |(_, comment)| comment.trim());
        format!("{} {kind}", comment.replace(' ', ":"))
    }

    /// Runs the method of \[KVY11\] under one abstraction.
    pub(super) fn enforce(&self, gibibytes: u64, fewest: usize) -> Result<Figures, Limit> {
        let limits = self.settings.limits;
        let limits = Limits { bytes: limits.bytes.min(gibibytes << 30), ..limits };
        let settings = Settings { limits, ..self.settings };
        let (domain, k) = self.entry.abstraction();
        let abstracted = self.model.abstracted(domain, k, true);
        let abstracted = abstracted.expect("the models of the tables have abstractions");
        let avoidance = compute_abstract_avoidance(self.task(), abstracted, settings, self.budget)
            .map_err(|why| match why {
                NoFormula::Stopped(Stop::Memory) => {
                    Limit(format!("more than {gibibytes} GiB, or more than the memory limit"))
                }
                NoFormula::Stopped(stop) => stop.into(),
                NoFormula::TooManyConstraints(count) => {
                    Limit(format!("{count} constraints are too many"))
                }
            })?;
        let candidates = self.candidates(FenceChoice::Full);
        let enforced = match avoidance.is_unavoidable {
            true => None,
            false => {
                let cancel = self.budget.cancel;
                match place_for_constraints(&self.problems, &avoidance, &candidates, 1, cancel) {
                    Ok(enforced) => Some(enforced),
                    Err(NoPlacement::Unenforceable(_)) => None,
                    Err(NoPlacement::Stopped(stop)) => return Err(stop.into()),
                }
            }
        };
        let fewest_constraints = avoidance.fewest(self.budget.cancel)?;
        let figures = |result: &str| {
            Figures::new()
                .with("result", Figure::Word(result.into()))
                .with("constraints", fewest_constraints.map(number))
                .with("states", Figure::Number(avoidance.states))
        };
        let Some(enforced) = enforced else { return Ok(figures("unfixable")) };
        let placement =
            enforced.placements.into_iter().next().expect("one placement was requested");
        let program = placement::fenced(&self.problem().program, &placement, candidates.written);
        let fenced = Problem { program, ..self.problem().clone() };
        let task = Task { problem: &fenced, model: &self.model };
        match Auto.run(task, settings, self.budget).verdict {
            Verdict::Verified(_) => {}
            Verdict::Violated(_) => {
                unreachable!("fences that enforce the formula make the abstraction correct")
            }
            Verdict::Inconclusive(_) => return Err(UNPROVED.into()),
        }
        let result = match placement.atoms.len().cmp(&fewest) {
            Ordering::Equal => "optimal",
            Ordering::Greater => "sub-optimal",
            Ordering::Less => unreachable!("fewer than the fewest fences do not suffice"),
        };
        Ok(figures(result)
            .with("fences", number(placement.atoms.len()))
            .with("verified", Figure::Flag(true)))
    }
}

/// Returns the label at which a barrier is placed, and the name of its kind.
fn placed<'p>(program: &'p Program, atom: &Atom) -> (&'p LabelInfo, String) {
    let info = program.label(program.place(atom.place).label);
    let kind = match atom.barrier {
        Barrier::Fence(kinds) => kinds.name(),
        Barrier::Drain(_) => FenceKind::Drain.name(),
        Barrier::Order(_) => "order".into(),
    };
    (info, kind)
}

/// Returns function, line and kind of a barrier: `take:17 full`.
fn place(program: &Program, atom: &Atom) -> String {
    let (info, kind) = placed(program, atom);
    format!("{}:{} {kind}", info.function, info.span.line)
}
