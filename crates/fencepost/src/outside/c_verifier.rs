//! CBMC and GenMC on the C translation.
//!
//! Spin loops are cut first (exact, see [`spin_loops`](fencepost_ir::spin_loops)). CBMC explores
//! choices symbolically and reports whether a loop has more iterations than it unrolled. GenMC
//! explores choices as races and does not report that, so a loop without a known bound is a gap of
//! its verdict. The end of the program must be reachable in both. Otherwise the tool has explored
//! no run to its end, and the verdict is inconclusive.
//!
//! The tools report a violation, but no run that we can replay. Our own search of the same
//! translation finds the run. If it finds none, the tool and our search disagree: an error.

use super::temp_build::{TempBuild, ToolError};
use super::{Query, Tool};
use crate::requests::translate::simulation::simulate;
use crate::requests::translate::verifiers::CBMC_OPTIONS;
use fencepost_engines::explicit::Explicit;
use fencepost_engines::translate::{lift, lift_witness};
use fencepost_engines::verdict::{Explored, Findings, InconclusiveReason, ReplayResult, judge};
use fencepost_engines::{Engine, Evidence, Statistics, Task, Unsupported, Verdict, Witness};
use fencepost_ir::spin_loops::spin_assume;
use fencepost_ir::{Problem, Span};
use fencepost_models::{Fidelity, ModelSpec};
use fencepost_translate::Translation;
use fencepost_translate::export::Export;
use fencepost_translate::export::c::report::Report;
use fencepost_translate::export::c::{c, witness_macro};
use fencepost_translate::loop_bounds::loop_bounds;

/// The file name of the C program.
const PROGRAM: &str = "program.c";

/// The number of unrollings of loops without a known bound.
const DEFAULT_UNROLLINGS: u32 = 4;

/// The definition that makes the end of the program fail.
const REACHABLE: &str = "-DFENCEPOST_REACHABLE";

/// The C program, in its directory.
struct CProgram {
    build: TempBuild,
    /// How often the tool unrolls each loop.
    unrollings: u32,
    /// Whether no loop has more iterations.
    is_bounded: bool,
}

impl Query<'_> {
    /// Checks the program with CBMC.
    pub(super) fn cbmc(&self, statistics: &mut Statistics) -> Result<Verdict, ToolError> {
        let program = self.write_c()?;
        let mut arguments: Vec<String> = vec![PROGRAM.into(), REACHABLE.into()];
        arguments.extend(CBMC_OPTIONS.map(String::from));
        arguments.extend(["--unwind".into(), program.unrollings.to_string()]);
        arguments.push("--unwinding-assertions".into());
        let output = self.tool(&program.build, Tool::Cbmc.name(), &arguments)?;
        let report = Report::parse_cbmc(&output.text)
            .map_err(|why| ToolError::Broken(format!("CBMC did not answer: {why}")))?;
        statistics.states = report.count;
        self.verdict(&report, report.exceeds_unrolling.then_some(program.unrollings))
    }

    /// Checks the program with GenMC. It stops at the first failed assertion, so each witness of a
    /// condition and the end of the program need a run of their own.
    pub(super) fn genmc(&self, statistics: &mut Statistics) -> Result<Verdict, ToolError> {
        let program = self.write_c()?;
        let mut options = vec!["--sc".to_string()];
        if !program.is_bounded {
            options.push(format!("--unroll={}", program.unrollings));
        }
        options.extend(["--", "-DFENCEPOST_VERIFIER"].map(String::from));
        let run = |definitions: &[String]| {
            let mut arguments = options.clone();
            arguments.extend_from_slice(definitions);
            arguments.push(PROGRAM.into());
            let output = self.tool(&program.build, Tool::GenMc.name(), &arguments)?;
            Report::parse_genmc(&output.text)
                .map_err(|why| ToolError::Broken(format!("GenMC did not answer: {why}")))
        };
        let mut found = Report::default();
        let mut definitions: Vec<String> = Vec::new();
        loop {
            let report = run(&definitions)?;
            statistics.states += report.count;
            found.violation = report.violation;
            let Some(at) = report.witnesses.first().filter(|_| found.violation.is_none()) else {
                break;
            };
            if !found.witnesses.insert(*at) {
                return Err(ToolError::Broken("GenMC reports the same witness twice".into()));
            }
            definitions.push(format!("-D{}", witness_macro(*at)));
        }
        if found.violation.is_none() {
            definitions.push(REACHABLE.into());
            let report = run(&definitions)?;
            found.reaches_end = report.reaches_end;
            found.violation = report.violation;
        }
        self.verdict(&found, (!program.is_bounded).then_some(program.unrollings))
    }

    /// Writes the C program into a new directory.
    fn write_c(&self) -> Result<CProgram, ToolError> {
        let broken =
            |reason: fencepost_translate::Unsupported| ToolError::Broken(reason.to_string());
        let cut = spin_assume(self.task.problem, false).problem;
        let translation = simulate(&cut, self.outside.simulation, false).map_err(broken)?;
        let bounds = loop_bounds(&translation, &cut).map_err(broken)?;
        let line = |span: Span| (span.line > 0).then_some(span.line);
        let export = Export { problem: &translation.problem, about: &[], line: &line };
        let text = c(&export).map_err(broken)?;
        let needed = bounds.unrollings();
        let default = match bounds.unbounded.is_empty() {
            true => needed,
            false => needed.max(DEFAULT_UNROLLINGS),
        };
        let unrollings = self.outside.unrollings.unwrap_or(default);
        let build = TempBuild::new()?;
        build.write(PROGRAM, &text)?;
        let is_bounded = bounds.unbounded.is_empty() && unrollings >= needed;
        Ok(CProgram { build, unrollings, is_bounded })
    }

    /// Reaches a verdict from the report of a tool. `exceeded` is the number of unrollings, if some
    /// loop may have more iterations.
    fn verdict(&self, report: &Report, exceeded: Option<u32>) -> Result<Verdict, ToolError> {
        let unsupported =
            |reason: fencepost_translate::Unsupported| ToolError::Broken(reason.to_string());
        let translation =
            simulate(self.task.problem, self.outside.simulation, false).map_err(unsupported)?;
        if let Some(reported) = &report.violation {
            return match self.confirm_violation(&translation, reported)? {
                Some(evidence) => Ok(judge(Findings::violation(evidence))),
                None => Ok(judge(Findings::unsupported(Unsupported::Unconfirmed))),
            };
        }
        let mut witnesses: Vec<Option<ReplayResult<Witness>>> = Vec::new();
        for at in 0..self.task.problem.sometimes.len() {
            let witness = match report.witnesses.contains(&at) {
                true => match self.confirm_witness(&translation, at)? {
                    Some(witness) => Some(ReplayResult::Confirmed(witness)),
                    None => return Ok(judge(Findings::unsupported(Unsupported::Unconfirmed))),
                },
                false => None,
            };
            witnesses.push(witness);
        }
        // What the tool did not explore. It decides nothing then, not even that a witness is missing.
        let unexplored = match (report.reaches_end, exceeded) {
            (_, Some(unrollings)) => Some(Unsupported::Unrolled(unrollings)),
            (false, None) => Some(Unsupported::NoEndReached),
            (true, None) => None,
        };
        let explored = match (self.outside.explored(), &unexplored) {
            (Explored::Everything, Some(reason)) => Explored::Unsupported(reason.clone()),
            (explored, _) => explored,
        };
        Ok(judge(Findings {
            fidelity: Fidelity::Exact,
            explored,
            violation: None,
            witnesses,
            gap: unexplored.or_else(|| self.gap()),
        }))
    }

    /// Searches the translation for a violation that the tool reports. None if a limit ends the
    /// search.
    fn confirm_violation(
        &self,
        translation: &Translation,
        reported: &str,
    ) -> Result<Option<Evidence>, ToolError> {
        let verdict = self.search(&translation.problem.safety());
        let evidence = verdict.evidence().and_then(Evidence::trace).map(|trace| {
            let evidence = lift(self.task, translation, self.settings.reductions, trace);
            evidence.expect("a run of the translation must be a run of the original")
        });
        self.confirmed(evidence, &verdict, reported)
    }

    /// Searches the translation for a witness that the tool reports. See
    /// [`confirm_violation`](Self::confirm_violation).
    fn confirm_witness(
        &self,
        translation: &Translation,
        at: usize,
    ) -> Result<Option<Witness>, ToolError> {
        let mut problem = translation.problem.without_requirements();
        problem.sometimes = vec![translation.problem.sometimes[at].clone()];
        let verdict = self.search(&problem);
        let witness = match &verdict {
            Verdict::Verified(verified) => verified.witness().map(|witness| {
                let trace = &witness.run().trace;
                let reductions = self.settings.reductions;
                let witness = lift_witness(self.task, translation, reductions, trace, at);
                witness.expect("a run of the translation must be a run of the original")
            }),
            Verdict::Violated(_) | Verdict::Inconclusive(_) => None,
        };
        self.confirmed(witness, &verdict, "a witness of `final exists`")
    }

    fn search(&self, problem: &Problem) -> Verdict {
        let model = ModelSpec::SC;
        Explicit.run(Task { problem, model: &model }, self.settings, self.budget).verdict
    }

    /// Returns what our search found. None if a limit ended it.
    fn confirmed<T>(
        &self,
        found: Option<T>,
        verdict: &Verdict,
        reported: &str,
    ) -> Result<Option<T>, ToolError> {
        if found.is_some() {
            return Ok(found);
        }
        if let Some(InconclusiveReason::Limit(_)) = verdict.inconclusive_reason() {
            return Ok(None);
        }
        let tool = self.outside.tool.name();
        Err(ToolError::Broken(format!(
            "{tool} and our search of the same translation disagree: {tool} reports `{reported}`, \
             our search does not find it. One of them has a bug: please report it"
        )))
    }
}
