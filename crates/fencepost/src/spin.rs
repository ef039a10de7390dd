//! SPIN as an engine. The translated program is written as Promela, the verifier that SPIN
//! generates searches it, and an error trail becomes a run of the original program.

mod temp_build;

use crate::requests::translate::simulation::{Simulation, simulate};
use fencepost_engines::translate::{ReportedStep, lift, lift_witness, trace_from_reported_steps};
use fencepost_engines::verdict::{Explored, Findings, ReplayResult, judge};
use fencepost_engines::{
    self as engines, Answer, Bound, Budget, Decider, Engine, Evidence, Settings, Statistics, Task,
    Verdict, Witness,
};
use fencepost_ir::Span;
use fencepost_models::Fidelity;
use fencepost_report::verdict_line::SPIN;
use fencepost_search::Stop;
use fencepost_translate::export::Export;
use fencepost_translate::export::promela::spin::Report;
use fencepost_translate::export::promela::{Promela, promela};
use fencepost_translate::{Translation, Unsupported};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use temp_build::{TempBuild, ToolError, ToolOutput, is_installed};

/// The file name of the Promela model.
const MODEL: &str = "model.pml";

/// The depth limits of the search; the second one is used if the first one is reached.
const DEPTHS: [u32; 2] = [1_000_000, 20_000_000];

/// SPIN as an engine.
#[derive(Debug)]
pub struct Spin {
    simulation: Simulation,
    /// The message of the last failure.
    failure: Mutex<Option<String>>,
}

/// An external program that is not installed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissingTool {
    program: &'static str,
    advice: &'static str,
}

impl fmt::Display for MissingTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingTool { program, advice } = self;
        write!(f, "`{program}` is not installed: {advice}, or write the model with --to promela")
    }
}

impl std::error::Error for MissingTool {}

/// The reason why there is no verdict.
enum SpinError {
    /// A limit or a cancellation stopped the search.
    Stopped(Stop),
    /// SPIN cannot run on the program.
    Broken(String),
}

impl From<ToolError> for SpinError {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Stopped(stop) => SpinError::Stopped(stop),
            ToolError::Broken(message) => SpinError::Broken(message),
        }
    }
}

impl Spin {
    /// Creates the engine, if SPIN and a C compiler are installed.
    pub fn new(simulation: Simulation) -> Result<Self, MissingTool> {
        for (program, advice) in [
            ("spin", "install it (on Debian and Ubuntu: `apt install spin`)"),
            ("cc", "SPIN needs a C compiler (on Debian and Ubuntu: `apt install gcc`)"),
        ] {
            if !is_installed(program) {
                return Err(MissingTool { program, advice });
            }
        }
        Ok(Spin { simulation, failure: Mutex::new(None) })
    }

    /// Returns the message of the last failure.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the coverage of a search that finds no error.
    fn explored(&self) -> Explored {
        match self.simulation {
            Simulation::Plain => Explored::Everything,
            Simulation::Contexts(_, bound) => Explored::Within(Bound::Contexts(bound)),
            Simulation::Buffers(_, capacity) => Explored::Within(Bound::BuffersUpTo(capacity)),
        }
    }
}

impl Engine for Spin {
    fn name(&self) -> &'static str {
        SPIN
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let mut statistics = Statistics::default();
        let query = Query { spin: self, task, settings, budget };
        let verdict = query.run(&mut statistics).unwrap_or_else(|error| {
            let explored = match error {
                SpinError::Stopped(stop) => Explored::UntilLimit(stop),
                SpinError::Broken(message) => {
                    let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                    *failure = Some(message);
                    Explored::Unsupported(engines::Unsupported::Tool)
                }
            };
            judge(Findings {
                fidelity: Fidelity::Exact,
                explored,
                violation: None,
                witnesses: Vec::new(),
                gap: None,
            })
        });
        Answer {
            verdict,
            others: Vec::new(),
            statistics,
            outcomes: BTreeSet::new(),
            outcomes_complete: false,
            decider: Decider::Spin,
            spurious_run: None,
            growing: None,
            runs: None,
            abstracted_values: None,
        }
    }

    /// Returns no outcomes, because SPIN does not report final states.
    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.run(task, settings, budget)
    }
}

/// A trail of SPIN as a run of the program.
enum Trail {
    Violation(Box<Evidence>),
    Witness(Box<Witness>),
}

/// The program to check, with settings and budget.
struct Query<'a> {
    spin: &'a Spin,
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
}

impl Query<'_> {
    fn run(&self, statistics: &mut Statistics) -> Result<Verdict, SpinError> {
        let unsupported = |reason: Unsupported| SpinError::Broken(reason.to_string());
        let translation =
            simulate(self.task.problem, self.spin.simulation, false).map_err(unsupported)?;
        let line = |span: Span| (span.line > 0).then_some(span.line);
        let export = Export { problem: &translation.problem, about: &[], line: &line };
        let model = promela(&export).map_err(unsupported)?;
        let build = TempBuild::new().map_err(|error| {
            SpinError::Broken(format!("cannot create a temporary directory: {error}"))
        })?;
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
                        Err(SpinError::Stopped(Stop::Memory))
                    }
                    Some(words) if words.contains("depth") => Err(SpinError::Stopped(Stop::Depth)),
                    Some(words) => Err(SpinError::Broken(format!("SPIN: {words}"))),
                    None => Ok(judge(Findings {
                        fidelity: Fidelity::Exact,
                        explored: self.spin.explored(),
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

    /// Returns why the program is not verified: SPIN does not detect threads that wait in a loop.
    fn gap(&self) -> Option<engines::Unsupported> {
        let problem = self.task.problem;
        let may_hang = !problem.may_hang && problem.program.may_wait_forever();
        if problem.requires_progress() {
            Some(engines::Unsupported::Progress)
        } else {
            may_hang.then_some(engines::Unsupported::HangsUnchecked)
        }
    }

    /// Generates a verifier, compiles it and runs it.
    fn verify(
        &self,
        build: &TempBuild,
        model: &Promela,
        disabled: &[String],
    ) -> Result<Report, SpinError> {
        let mut arguments = disabled.to_vec();
        arguments.extend(["-a".into(), MODEL.into()]);
        let generated = self.tool(build, "spin", &arguments)?;
        if !generated.success || !build.has("pan.c") {
            return Err(SpinError::Broken(format!("SPIN rejects the model: {}", generated.text)));
        }
        let megabytes = (self.settings.limits.bytes >> 20).clamp(64, 1 << 20);
        let mut arguments: Vec<String> =
            ["-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c"].map(String::from).into();
        arguments.push(format!("-DMEMLIM={megabytes}"));
        arguments.push(format!("-DVECTORSZ={}", model.state_vector_bytes));
        let compiled = self.tool(build, "cc", &arguments)?;
        if !compiled.success {
            let text = compiled.text;
            return Err(SpinError::Broken(format!("SPIN's verifier does not compile: {text}")));
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
    ) -> Result<Trail, SpinError> {
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

    fn tool(
        &self,
        build: &TempBuild,
        program: &str,
        arguments: &[String],
    ) -> Result<ToolOutput, SpinError> {
        Ok(build.run(program, arguments, self.budget.cancel)?)
    }
}
