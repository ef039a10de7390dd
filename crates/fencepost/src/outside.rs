//! Outside tools as engines: SPIN, CBMC and GenMC on a translation of the program.
//!
//! - `spin`: Promela; an error trail becomes a run of the original program.
//! - `c_verifier`: C for CBMC and GenMC. Our own search of the same translation must confirm a
//!   violation or a witness that they report, and gives its run. A disagreement is an error.
//! - `temp_build`: the temporary directory, and processes that stop with the search.

mod c_verifier;
mod spin;
mod temp_build;

use crate::requests::translate::simulation::Simulation;
use fencepost_engines::verdict::{Explored, Findings, judge};
use fencepost_engines::{
    self as engines, Answer, Bound, Budget, Decider, Engine, Settings, Statistics, Task,
};
use fencepost_models::Fidelity;
use fencepost_models::machine::can_start;
use fencepost_report::verdict_line::{CBMC, GENMC, SPIN};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use temp_build::{TempBuild, ToolError, ToolOutput, is_installed};

/// A tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tool {
    /// The model checker SPIN, on Promela.
    Spin,
    /// The bounded model checker CBMC, on C.
    Cbmc,
    /// The stateless model checker GenMC, on C.
    GenMc,
}

impl Tool {
    /// Returns the name of the engine, which is also the name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Spin => SPIN,
            Tool::Cbmc => CBMC,
            Tool::GenMc => GENMC,
        }
    }

    fn decider(self) -> Decider {
        match self {
            Tool::Spin => Decider::Spin,
            Tool::Cbmc => Decider::Cbmc,
            Tool::GenMc => Decider::GenMc,
        }
    }

    /// Returns the programs that the tool needs, with advice on how to get them.
    fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Tool::Spin => &[
                ("spin", "install it (on Debian and Ubuntu: `apt install spin`)"),
                ("cc", "SPIN needs a C compiler (on Debian and Ubuntu: `apt install gcc`)"),
            ],
            Tool::Cbmc => {
                &[("cbmc", "install CBMC 6 (on Debian 13 and later: `apt install cbmc`)")]
            }
            Tool::GenMc => {
                &[("genmc", "build GenMC 0.10 or later from its sources (MPI-SWS/genmc on GitHub)")]
            }
        }
    }

    /// Returns the language that the tool reads.
    fn language(self) -> &'static str {
        match self {
            Tool::Spin => "promela",
            Tool::Cbmc | Tool::GenMc => "c",
        }
    }
}

/// An external program that is not installed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissingTool {
    program: &'static str,
    advice: &'static str,
    language: &'static str,
}

impl fmt::Display for MissingTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingTool { program, advice, language } = self;
        write!(
            f,
            "`{program}` is not installed: {advice}, or write the program with --to {language}"
        )
    }
}

impl std::error::Error for MissingTool {}

/// An outside tool as an engine.
#[derive(Debug)]
pub struct Outside {
    tool: Tool,
    simulation: Simulation,
    /// The number of unrollings of loops, if the user fixes it.
    unrollings: Option<u32>,
    /// The message of the last failure.
    failure: Mutex<Option<String>>,
}

impl Outside {
    /// Creates the engine, if the tool is installed.
    pub fn new(tool: Tool, simulation: Simulation) -> Result<Self, MissingTool> {
        for (program, advice) in tool.programs() {
            if !is_installed(program) {
                return Err(MissingTool { program, advice, language: tool.language() });
            }
        }
        Ok(Outside { tool, simulation, unrollings: None, failure: Mutex::new(None) })
    }

    /// Sets how often CBMC and GenMC unroll each loop. The default is computed from the program.
    #[must_use]
    pub fn unrollings(mut self, unrollings: Option<u32>) -> Self {
        self.unrollings = unrollings;
        self
    }

    /// Returns the message of the last failure.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the coverage of a complete search that finds no error.
    fn explored(&self) -> Explored {
        match self.simulation {
            Simulation::Plain => Explored::Everything,
            Simulation::Contexts(_, bound) => Explored::Within(Bound::Contexts(bound)),
            Simulation::Buffers(_, capacity) => Explored::Within(Bound::BuffersUpTo(capacity)),
        }
    }
}

impl Engine for Outside {
    fn name(&self) -> &'static str {
        self.tool.name()
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let mut statistics = Statistics::default();
        let query = Query { outside: self, task, settings, budget };
        let verdict = match self.tool {
            Tool::Spin => query.spin(&mut statistics),
            Tool::Cbmc => query.cbmc(&mut statistics),
            Tool::GenMc => query.genmc(&mut statistics),
        };
        let verdict = verdict.unwrap_or_else(|error| {
            let explored = match error {
                ToolError::Stopped(stop) => Explored::UntilLimit(stop),
                ToolError::Broken(message) => {
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
            decider: self.tool.decider(),
            spurious_run: None,
            growing: None,
            runs: None,
            abstracted_values: None,
        }
    }

    /// Returns no outcomes, because the tools do not report final states.
    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.run(task, settings, budget)
    }
}

/// The program to check, with settings and budget.
struct Query<'a> {
    outside: &'a Outside,
    task: Task<'a>,
    settings: Settings,
    budget: Budget<'a>,
}

impl Query<'_> {
    /// Returns why the program is not verified: no run starts, or a property that the tools do not
    /// check. They do not detect threads that wait in a loop.
    fn gap(&self) -> Option<engines::Unsupported> {
        let problem = self.task.problem;
        let may_hang = !problem.may_hang && problem.program.may_wait_forever();
        if !can_start(problem) {
            Some(engines::Unsupported::NoInitialState)
        } else if problem.requires_progress() {
            Some(engines::Unsupported::Progress)
        } else {
            may_hang.then_some(engines::Unsupported::HangsUnchecked)
        }
    }

    /// Runs a program of the tool until it exits or the search is cancelled.
    fn tool(
        &self,
        build: &TempBuild,
        program: &str,
        arguments: &[String],
    ) -> Result<ToolOutput, ToolError> {
        build.run(program, arguments, self.budget.cancel)
    }
}
