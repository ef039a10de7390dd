//! SPIN as an engine: the translation is written as Promela, searched by the verifier that SPIN makes, and a trail is
//! read as a run of the program.

mod workshop;

use crate::requests::translate::simulation::{Simulation, simulate};
use fencepost_engines::translate::{Reported, lift, lift_witness, retrace};
use fencepost_engines::verdict::{Explored, Findings, Met, judge};
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
use workshop::{Failed, Said, Workshop, is_installed};

/// The file that the model is in.
const MODEL: &str = "model.pml";

/// How long paths may become; the second number is for those that are longer.
const DEPTHS: [u32; 2] = [1_000_000, 20_000_000];

/// SPIN as an engine.
#[derive(Debug)]
pub struct Spin {
    simulation: Simulation,
    /// What kept it from answering.
    failure: Mutex<Option<String>>,
}

/// An outside program that is not installed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissingTool {
    program: &'static str,
    what: &'static str,
}

impl fmt::Display for MissingTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingTool { program, what } = self;
        write!(f, "`{program}` is not installed: {what}, or write the model with --to promela")
    }
}

impl std::error::Error for MissingTool {}

/// Why there is no answer.
enum Stuck {
    /// Something stopped it.
    Stopped(Stop),
    /// It cannot be asked.
    Broken(String),
}

impl From<Failed> for Stuck {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Stopped(stop) => Stuck::Stopped(stop),
            Failed::Broken(message) => Stuck::Broken(message),
        }
    }
}

impl Spin {
    /// SPIN, if it is there.
    pub fn new(simulation: Simulation) -> Result<Self, MissingTool> {
        for (program, what) in [
            ("spin", "install it (on Debian and Ubuntu: `apt install spin`)"),
            ("cc", "SPIN needs a C compiler (on Debian and Ubuntu: `apt install gcc`)"),
        ] {
            if !is_installed(program) {
                return Err(MissingTool { program, what });
            }
        }
        Ok(Spin { simulation, failure: Mutex::new(None) })
    }

    /// What kept it from answering, if anything did.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a search without an error has explored.
    fn explored(&self) -> Explored {
        match self.simulation {
            Simulation::Plain => Explored::Everything,
            Simulation::Contexts(_, bound) => Explored::Within(Bound::Contexts(bound)),
            Simulation::Buffers(_, room) => Explored::Within(Bound::BuffersUpTo(room)),
        }
    }
}

impl Engine for Spin {
    fn name(&self) -> &'static str {
        SPIN
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let mut statistics = Statistics::default();
        let asking = Asking { spin: self, task, settings, budget };
        let verdict = asking.ask(&mut statistics).unwrap_or_else(|stuck| {
            let explored = match stuck {
                Stuck::Stopped(stop) => Explored::UntilLimit(stop),
                Stuck::Broken(message) => {
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
            })
        });
        Answer {
            verdict,
            others: Vec::new(),
            statistics,
            outcomes: BTreeSet::new(),
            outcomes_complete: false,
            by: Decider::Spin,
            suspect: None,
            growing: None,
        }
    }

    /// SPIN does not tell final states.
    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.run(task, settings, budget)
    }
}

/// What a trail shows.
enum Trail {
    Violation(Box<Evidence>),
    Witness(Box<Witness>),
}

/// One question.
struct Asking<'a> {
    spin: &'a Spin,
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
}

impl Asking<'_> {
    fn ask(&self, statistics: &mut Statistics) -> Result<Verdict, Stuck> {
        let unsupported = |why: Unsupported| Stuck::Broken(why.to_string());
        let translation =
            simulate(self.task.problem, self.spin.simulation, false).map_err(unsupported)?;
        let line = |span: Span| (span.line > 0).then_some(span.line);
        let export = Export { problem: &translation.problem, about: &[], line: &line };
        let model = promela(&export).map_err(unsupported)?;
        let workshop =
            Workshop::new().map_err(|error| Stuck::Broken(format!("no place to work: {error}")))?;
        workshop.write(MODEL, &model.text)?;
        // Each `final exists` has its error left out when its witness is found.
        let conditions = self.task.problem.sometimes.len();
        let mut found: Vec<Option<Met<Witness>>> = vec![None; conditions];
        loop {
            let left_out: Vec<String> = (model.witnesses.iter())
                .filter(|(_, at, _)| found[*at].is_some())
                .map(|(_, _, name)| format!("-D{name}=1"))
                .collect();
            let report = self.verify(&workshop, &model, &left_out)?;
            statistics.states += report.states;
            statistics.transitions += report.transitions;
            statistics.depth = statistics.depth.max(report.depth as u32);
            statistics.bytes = statistics.bytes.max((report.megabytes * 1e6) as u64);
            self.budget.progress.states.store(statistics.states, Ordering::Relaxed);
            if report.errors == 0 {
                return match report.incomplete {
                    Some(words) if words.contains("memory") || words.contains("MEMLIM") => {
                        Err(Stuck::Stopped(Stop::Memory))
                    }
                    Some(words) if words.contains("depth") => Err(Stuck::Stopped(Stop::Depth)),
                    Some(words) => Err(Stuck::Broken(format!("SPIN: {words}"))),
                    None => Ok(judge(Findings {
                        fidelity: Fidelity::Exact,
                        explored: self.spin.explored(),
                        violation: None,
                        witnesses: found,
                    })),
                };
            }
            match self.trail(&workshop, &model, &translation, &left_out)? {
                Trail::Violation(evidence) => return Ok(judge(Findings::violation(*evidence))),
                Trail::Witness(witness) => {
                    let at = witness.condition();
                    found[at] = Some(Met::Replayed(*witness));
                }
            }
        }
    }

    /// Makes a verifier and runs it.
    fn verify(
        &self,
        workshop: &Workshop,
        model: &Promela,
        left_out: &[String],
    ) -> Result<Report, Stuck> {
        let mut arguments = left_out.to_vec();
        arguments.extend(["-a".into(), MODEL.into()]);
        let made = self.tool(workshop, "spin", &arguments)?;
        if !made.success || !workshop.has("pan.c") {
            return Err(Stuck::Broken(format!("SPIN does not take the model: {}", made.text)));
        }
        let megabytes = (self.settings.limits.bytes >> 20).clamp(64, 1 << 20);
        let mut arguments: Vec<String> =
            ["-O2", "-DSAFETY", "-w", "-o", "pan", "pan.c"].map(String::from).into();
        arguments.push(format!("-DMEMLIM={megabytes}"));
        arguments.push(format!("-DVECTORSZ={}", model.vector));
        let compiled = self.tool(workshop, "cc", &arguments)?;
        if !compiled.success {
            let text = compiled.text;
            return Err(Stuck::Broken(format!("the verifier does not compile: {text}")));
        }
        let mut report = Report::default();
        for depth in DEPTHS {
            let mut arguments = vec![format!("-m{depth}"), "-c1".into()];
            if !model.deadlock_free {
                arguments.push("-E".into());
            }
            report = Report::of(&self.tool(workshop, "./pan", &arguments)?.text);
            let shallow = report.incomplete.as_ref().is_some_and(|why| why.contains("depth"));
            if report.errors > 0 || !shallow {
                break;
            }
        }
        Ok(report)
    }

    /// What the trail shows: a violation, or the witness of a `final exists`.
    fn trail(
        &self,
        workshop: &Workshop,
        model: &Promela,
        translation: &Translation,
        left_out: &[String],
    ) -> Result<Trail, Stuck> {
        let mut arguments = left_out.to_vec();
        arguments.extend(["-t", "-p", "-T", MODEL].map(String::from));
        let told = self.tool(workshop, "spin", &arguments)?;
        let trail = model.trail(&told.text);
        let witness = model.witnesses.iter().find(|(line, _, _)| trail.fails == Some(*line));
        let witness = witness.map(|(_, at, _)| *at);
        let steps: Vec<Reported> = (trail.steps.into_iter())
            .filter_map(|step| Some((step.thread?, step.pc, step.choices)))
            .collect();
        let reductions = self.settings.reductions;
        let trace = retrace(&translation.problem, reductions, &trail.init, &steps);
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
        let wrong = || panic!("the trail of SPIN is not a run of the program:\n{}", told.text);
        Ok(lifted.unwrap_or_else(wrong))
    }

    fn tool(
        &self,
        workshop: &Workshop,
        program: &str,
        arguments: &[String],
    ) -> Result<Said, Stuck> {
        Ok(workshop.run(program, arguments, self.budget.cancel)?)
    }
}
