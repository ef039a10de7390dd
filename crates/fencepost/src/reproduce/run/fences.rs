//! Rows about fences: avoid formulas \[KVY10\], the cheapest fences, and fences that enforce a formula under an
//! abstraction \[KVY11\].

use super::{Limit, Subject, number};
use crate::reproduce::paper::{FenceChoice, InferBy};
use fencepost_engines::{Auto, Engine, Explicit, Settings, Task, Verdict};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::enforce::enforce;
use fencepost_infer::fixpoint::{Avoidance, GaveUp, abstract_avoidance, avoidance};
use fencepost_infer::lazy::{self, Question};
use fencepost_infer::menu::{Dish, Menu};
use fencepost_infer::repair::{Inference, Sufficiency};
use fencepost_ir::{Atom, Barrier, FenceKinds, LabelInfo, Problem, Program, Written, placement};
use fencepost_report::reproduction::{Figure, Figures};
use fencepost_search::{Limits, Stop};
use std::cmp::Ordering;

/// A bound on windows that no client without loops that spin reaches.
const ROOMY: u32 = 32;
/// The proof of a placement met a limit.
const UNPROVED: &str = "it was not proved that the fences are enough";

impl Subject<'_> {
    pub(super) fn formula(&self) -> Result<Avoidance, Limit> {
        let bound = self.entry.row.buffer;
        // Where the paper needs no bound, one search with a roomy one is faster than several that grow. A window also holds
        // the access that is being performed.
        let own = self.settings.fixed_buffer.unwrap_or(ROOMY);
        let fixed_buffer = Some(bound.map_or(own, |bound| bound + 1));
        let settings = Settings { fixed_buffer, ..self.settings };
        match avoidance(self.task(), settings, self.budget) {
            // Without a bound in the paper, one of ours is a limit.
            Ok(found) if found.bound.is_some() && bound.is_none() => {
                Err("Windows can hold more accesses than could be looked at.".into())
            }
            Ok(found) => Ok(found),
            Err(GaveUp::Stopped(stop)) => Err(stop.into()),
            Err(GaveUp::Constraints(_)) => Err("There are too many constraints.".into()),
        }
    }

    pub(super) fn formula_figures(&self, found: &Avoidance) -> Figures {
        let fewest = found.fewest().filter(|_| self.model.name != "sc");
        Figures::new()
            .with("states", Figure::Number(found.states))
            .with("edges", Figure::Number(found.edges))
            .with("constraints", fewest.map(number))
    }

    fn candidates(&self, fences: FenceChoice) -> Candidates {
        let menu = match fences {
            FenceChoice::Model => Menu::of(&self.model),
            FenceChoice::Full => Menu::only(&[Dish::Fence(FenceKinds::FULL)]),
        };
        Candidates::new(&self.problems, &menu, &Restrictions::default(), Written::Kept)
    }

    /// The cheapest fences. `constraints` is about the formulas of the clients, if there are any: the fewest constraints
    /// that satisfy all of them, if they are known.
    pub(super) fn infer(
        &self,
        by: InferBy,
        fences: FenceChoice,
        constraints: Option<Option<usize>>,
    ) -> Result<Figures, Limit> {
        let engine: &(dyn Engine + Sync) = match by {
            InferBy::Explicit => &Explicit,
            InferBy::Auto => &Auto,
        };
        let question = Question {
            problems: &self.problems,
            model: &self.model,
            candidates: &self.candidates(fences),
            engine,
            settings: self.settings,
            all: false,
            abstraction: None,
        };
        let repair = match lazy::infer(question, self.budget) {
            Inference::Repaired(repair) => repair,
            Inference::GaveUp(gave_up) => {
                let why = gave_up.undecided.first().map(|(_, why)| why.reason().into());
                return Err(why.unwrap_or("a limit was met".into()));
            }
            Inference::Unrepairable(_) => return Err("no fences help".into()),
        };
        let is_verified = match repair.sufficiency {
            Sufficiency::Verified => true,
            Sufficiency::Bounded(_) if by == InferBy::Auto => return Err(UNPROVED.into()),
            Sufficiency::Bounded(_) => false,
        };
        if constraints == Some(None) {
            return Err("A client met a limit, so the conjunction is not known.".into());
        }
        let atoms = &repair.placements[0].atoms;
        let program = &self.problems[0].program;
        Ok(Figures::new()
            .with("result", Figure::Word("optimal".into()))
            .with("fences", number(atoms.len()))
            .with("cost", Figure::Number(repair.price.into()))
            .with("constraints", constraints.flatten().map(number))
            .with("verified", Figure::Flag(is_verified))
            .with("states", Figure::Number(repair.statistics[0].states))
            .with("places", Figure::List(atoms.iter().map(|a| place(program, a)).collect()))
            .with("lines", Figure::List(atoms.iter().map(|a| self.figure_line(a)).collect())))
    }

    /// The comment on the line of a barrier, which names a line of the paper's figure, and its kind: `take:5 store_load`.
    fn figure_line(&self, atom: &Atom) -> String {
        let (info, kind) = placed(&self.problems[0].program, atom);
        let line = self.source.lines().nth(info.span.line as usize - 1).unwrap_or_default();
        let comment = line.split_once("//").map_or("", |(_, comment)| comment.trim());
        format!("{} {kind}", comment.replace(' ', ":"))
    }

    /// The method of \[KVY11\] under one abstraction.
    pub(super) fn enforce(&self, gibibytes: u64, fewest: usize) -> Result<Figures, Limit> {
        let limits = self.settings.limits;
        let limits = Limits { bytes: limits.bytes.min(gibibytes << 30), ..limits };
        let settings = Settings { limits, ..self.settings };
        let (domain, k) = self.entry.abstraction();
        let abstracted = self.model.abstracted(domain, k, true);
        let abstracted = abstracted.expect("the models of the tables have abstractions");
        let avoidance = abstract_avoidance(self.task(), abstracted, settings, self.budget)
            .map_err(|why| match why {
                GaveUp::Stopped(Stop::Memory) => {
                    Limit(format!("more than {gibibytes} GiB, or than there is"))
                }
                GaveUp::Stopped(stop) => stop.into(),
                GaveUp::Constraints(count) => Limit(format!("{count} orderings are too many")),
            })?;
        let candidates = self.candidates(FenceChoice::Full);
        let enforced = match avoidance.unavoidable {
            true => None,
            false => enforce(&self.problems, &avoidance, &candidates, 1).ok(),
        };
        let figures = |result: &str| {
            Figures::new()
                .with("result", Figure::Word(result.into()))
                .with("constraints", avoidance.fewest().map(number))
                .with("states", Figure::Number(avoidance.states))
        };
        let Some(enforced) = enforced else { return Ok(figures("unfixable")) };
        let placement = enforced.placements.into_iter().next().expect("one was asked for");
        let program = placement::fenced(&self.problem().program, &placement, candidates.written);
        let fenced = Problem { program, ..self.problem().clone() };
        let task = Task { problem: &fenced, model: &self.model };
        match Auto.run(task, settings, self.budget).verdict {
            Verdict::Verified(_) => {}
            Verdict::Violated(_) => {
                unreachable!("a formula that is kept keeps the abstraction right")
            }
            Verdict::Inconclusive(_) => return Err(UNPROVED.into()),
        }
        let result = match placement.atoms.len().cmp(&fewest) {
            Ordering::Equal => "optimal",
            Ordering::Greater => "sub-optimal",
            Ordering::Less => unreachable!("fewer than the fewest fences are not enough"),
        };
        Ok(figures(result)
            .with("fences", number(placement.atoms.len()))
            .with("verified", Figure::Flag(true)))
    }
}

/// Where a barrier is put, and the name of its kind.
fn placed<'p>(program: &'p Program, atom: &Atom) -> (&'p LabelInfo, String) {
    let info = program.label(program.place(atom.place).label);
    let kind = match atom.barrier {
        Barrier::Fence(kinds) => kinds.name(),
        Barrier::Drain(_) => Dish::Drain.name(),
    };
    (info, kind)
}

/// Function, line and kind of a barrier: `take:17 full`.
fn place(program: &Program, atom: &Atom) -> String {
    let (info, kind) = placed(program, atom);
    format!("{}:{} {kind}", info.function, info.span.line)
}
