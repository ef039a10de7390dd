//! SPIN. The translated program is written as Promela, the verifier that SPIN generates searches
//! it, and an error trail becomes a run of the original program.

use super::Query;
use super::temp_build::{TempBuild, ToolError};
use crate::requests::translate::simulation::simulate;
use fencepost_engines::translate::{ReportedStep, lift, lift_witness, trace_from_reported_steps};
use fencepost_engines::verdict::{Findings, ReplayResult, judge};
use fencepost_engines::{Evidence, Statistics, Verdict, Witness};
use fencepost_ir::Span;
use fencepost_models::Fidelity;
use fencepost_search::Stop;
use fencepost_translate::export::Export;
use fencepost_translate::export::promela::spin::Report;
use fencepost_translate::export::promela::{Promela, promela};
use fencepost_translate::{Translation, Unsupported};
use std::sync::atomic::Ordering;

/// The file name of the Promela model.
const MODEL: &str = "model.pml";

/// The depth limits of the search; the second one is used if the first one is reached.
const DEPTHS: [u32; 2] = [1_000_000, 20_000_000];

/// A trail of SPIN as a run of the program.
enum Trail {
    Violation(Box<Evidence>),
    Witness(Box<Witness>),
}

impl Query<'_> {
    /// Checks the program with SPIN.
    pub(super) fn spin(&self, statistics: &mut Statistics) -> Result<Verdict, ToolError> {
        let unsupported = |reason: Unsupported| ToolError::Broken(reason.to_string());
        let translation =
            simulate(self.task.problem, self.outside.simulation, false).map_err(unsupported)?;
        let line = |span: Span| (span.line > 0).then_some(span.line);
        let export = Export { problem: &translation.problem, about: &[], line: &line };
        let model = promela(&export).map_err(unsupported)?;
        let build = TempBuild::new()?;
        build.write(MODEL, &model.text)?;
        // The model reports an error for each `final exists` that is reached. After a witness is
        // found, a definition disables its error.
        let conditions = self.task.problem.sometimes.len();
        let mut found: Vec<Option<ReplayResult<Witness>>> = vec![None; conditions];
        loop {
            let disabled: Vec<String> = (model.witnesses.iter())
                .filter(|(_, at, _)| found[*at].is_some())
                .map(|(_, _, name)| format!("-D{name}=1"))
                .collect();
            let report = self.verify(&build, &model, &disabled)?;
            statistics.states += report.states;
            statistics.transitions += report.transitions;
            statistics.depth = statistics.depth.max(report.depth as u32);
            statistics.bytes = statistics.bytes.max((report.megabytes * 1e6) as u64);
            self.budget.progress.states.store(statistics.states, Ordering::Relaxed);
            if report.errors == 0 {
                return match report.incomplete {
                    Some(words) if words.contains("memory") || words.contains("MEMLIM") => {
                        Err(ToolError::Stopped(Stop::Memory))
                    }
                    Some(words) if words.contains("depth") => Err(ToolError::Stopped(Stop::Depth)),
                    Some(words) => Err(ToolError::Broken(format!("SPIN: {words}"))),
                    None => Ok(judge(Findings {
                        fidelity: Fidelity::Exact,
                        explored: self.outside.explored(),
                        violation: None,
                        witnesses: found,
                        gap: self.gap(),
                    })),
                };
            }
            match self.trail(&build, &model, &translation, &disabled)? {
                Trail::Violation(evidence) => return Ok(judge(Findings::violation(*evidence))),
                Trail::Witness(witness) => {
                    let at = witness.condition();
                    found[at] = Some(ReplayResult::Confirmed(*witness));
                }
            }
        }
    }

    /// Generates a verifier, compiles it and runs it.
    fn verify(
        &self,
        build: &TempBuild,
        model: &Promela,
        disabled: &[String],
    ) -> Result<Report, ToolError> {
        let mut arguments = disabled.to_vec();
        arguments.extend(["-a".into(), MODEL.into()]);
        let generated = self.tool(build, "spin", &arguments)?;
        if !generated.success || !build.has("pan.c") {
            return Err(ToolError::Broken(format!("SPIN rejects the model: {}", generated.text)));
        }
        let megabytes = (self.settings.limits.bytes >> 20).clamp(64, 1 << 20);
        let mut arguments: Vec<String> =
            ["-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c"].map(String::from).into();
        arguments.push(format!("-DMEMLIM={megabytes}"));
        arguments.push(format!("-DVECTORSZ={}", model.state_vector_bytes));
        let compiled = self.tool(build, "cc", &arguments)?;
        if !compiled.success {
            let text = compiled.text;
            return Err(ToolError::Broken(format!("SPIN's verifier does not compile: {text}")));
        }
        let mut report = Report::default();
        for depth in DEPTHS {
            let mut arguments = vec![format!("-m{depth}"), "-c1".into()];
            if !model.deadlock_free {
                arguments.push("-E".into());
            }
            report = Report::parse(&self.tool(build, "./pan", &arguments)?.text);
            let too_deep = report.incomplete.as_ref().is_some_and(|why| why.contains("depth"));
            if report.errors > 0 || !too_deep {
                break;
            }
        }
        Ok(report)
    }

    /// Returns the violation, or the witness of a `final exists`, that the trail shows.
    fn trail(
        &self,
        build: &TempBuild,
        model: &Promela,
        translation: &Translation,
        disabled: &[String],
    ) -> Result<Trail, ToolError> {
        let mut arguments = disabled.to_vec();
        arguments.extend(["-t", "-p", "-T", MODEL].map(String::from));
        let printed = self.tool(build, "spin", &arguments)?;
        let trail = model.trail(&printed.text);
        let witness =
            model.witnesses.iter().find(|(line, _, _)| trail.failed_assertion_line == Some(*line));
        let witness = witness.map(|(_, at, _)| *at);
        let steps: Vec<ReportedStep> = (trail.steps.into_iter())
            .filter_map(|step| Some((step.thread?, step.pc, step.choices)))
            .collect();
        let reductions = self.settings.reductions;
        let trace =
            trace_from_reported_steps(&translation.problem, reductions, &trail.init, &steps);
        let lifted = trace.and_then(|trace| match witness {
            None => {
                let evidence = lift(self.task, translation, reductions, &trace).ok()?;
                Some(Trail::Violation(Box::new(evidence)))
            }
            Some(at) => {
                let witness = lift_witness(self.task, translation, reductions, &trace, at).ok()?;
                Some(Trail::Witness(Box::new(witness)))
            }
        });
        let not_a_run = || panic!("SPIN's trail is not a run of the program:\n{}", printed.text);
        Ok(lifted.unwrap_or_else(not_a_run))
    }
}
