//! Exports a program as Promela, for SPIN.
//!
//! One Promela statement, or one `d_step`, is one step of the program: an access with the local
//! computations around it. A value that is only read to be tested is tested in place. A `d_step` is
//! entered only if it can run to its end: see [`guards`](super::guards). Every alternative of a
//! `choose` has its own line, because a trail names lines and must show the alternative that was
//! taken.
//!
//! Direction: exact. A fault becomes a failing assertion. Declared ranges and array bounds are
//! asserted unless range analysis proves them. Dead registers are set to 0. Registers whose values
//! are not used across steps are not part of the state (`hidden`).
//!
//! | property | in Promela |
//! |---|---|
//! | assertions, faults | `assert` |
//! | invariants | `assert` in every step that writes a location they mention |
//! | conditions on final states | `init` waits for all threads and asserts |
//! | `final exists` | the negation is asserted: an error that SPIN reports is the witness |
//! | deadlock freedom | SPIN's invalid end states; `pan -E` disables the check if the property is absent |

mod block;
mod code;
mod declare;
mod group;
mod out;
mod plan;
pub mod spin;

use super::Export;
use super::lower::{Lowered, lower};
use super::names::Names;
use crate::Unsupported;
use fencepost_ir::range::{Ranges, ranges};
use fencepost_ir::{Pc, Problem, Property, Reg, ThreadId};
use out::Out;
use plan::RegisterPlan;

/// A Promela model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promela {
    /// The text of the model.
    pub text: String,
    /// The lines that stand for steps of the program, in order.
    pub steps: Vec<StepLine>,
    /// The lines, from 1, on which an error is the witness of a `final exists`, with the index of
    /// the `final exists` and the macro that disables the assertion (`spin -DNAME=1`).
    pub witnesses: Vec<(u32, usize, String)>,
    /// Whether invalid end states are errors; else run `pan` with `-E`.
    pub deadlock_free: bool,
    /// The size of the state vector in bytes that `pan` needs (`cc -DVECTORSZ=N`).
    pub state_vector_bytes: u32,
}

/// A line that stands for a step.
///
/// Steps without an effect have no line: fences, the end of a critical section if mutual exclusion
/// is not a property, loads of dead values. A replay of a trail takes such steps when another step
/// of the thread needs them, and at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StepLine {
    /// The line number, from 1.
    pub line: u32,
    /// The thread; `None` for `init`.
    pub thread: Option<ThreadId>,
    /// The statement at which the step begins.
    pub pc: Pc,
    /// The alternatives of `choose` that the step takes, from 0.
    pub choices: Vec<u32>,
}

/// The data that all parts of the printer share.
struct Model<'a> {
    export: Export<'a>,
    lowered: &'a Lowered,
    problem: &'a Problem,
    ranges: &'a Ranges,
    names: &'a Names,
    /// The registers that conditions mention, with the names of their global variables.
    globals: &'a [((ThreadId, Reg), String)],
    /// The registers whose values are not used across steps, with the names of their hidden
    /// variables.
    hidden: &'a [((ThreadId, Reg), String)],
}

/// Exports the program as Promela.
pub fn promela(export: &Export<'_>) -> Result<Promela, Unsupported> {
    let lowered = lower(export.problem)?;
    let problem = &lowered.problem;
    if problem.program.threads.len() > 250 {
        return Err(Unsupported::TooManyProcesses);
    }
    let ranges = ranges(&problem.program);
    let mut names = Names::new(&problem.program, &declare::reserved(&problem.program));
    declare::check_lists(&problem.program, &names)?;
    let globals = declare::globals(problem, &mut names);
    let model = Model {
        export: *export,
        lowered: &lowered,
        problem,
        ranges: &ranges,
        names: &names,
        globals: &globals,
        hidden: &[],
    };
    // The first pass finds the boundaries of steps. The second pass uses the registers that are
    // dead there.
    let unknown: Vec<RegisterPlan> =
        problem.program.threads.iter().map(|_| RegisterPlan::default()).collect();
    let (_, records) = model.write(&unknown)?;
    let plans: Vec<RegisterPlan> = problem
        .program
        .thread_ids()
        .zip(records)
        .map(|(t, records)| RegisterPlan::new(problem, t, &records))
        .collect();
    let mut names = names.clone();
    let hidden = declare::hidden(problem, &plans, &mut names);
    let model = Model { names: &names, hidden: &hidden, ..model };
    let (out, _) = model.write(&plans)?;
    let deadlock_free = problem.properties.contains(&Property::DeadlockFree);
    let Out { text, steps, witnesses, .. } = out;
    let state_vector_bytes = declare::state_vector_bytes(&model);
    Ok(Promela { text, steps, witnesses, deadlock_free, state_vector_bytes })
}

impl Model<'_> {
    fn write(&self, plans: &[RegisterPlan]) -> Result<(Out, Vec<plan::PassRecord>), Unsupported> {
        let mut records = Vec::new();
        let mut bodies = Vec::new();
        for (t, plan) in self.problem.program.thread_ids().zip(plans) {
            let (body, found) = code::thread(self, t, plan)?;
            bodies.push(body);
            records.push(found);
        }
        let needs_init = self.needs_init();
        let mut out = Out::default();
        declare::heading(self, &mut out);
        let (mut first, mut init_uses_old_value) = (Out::default(), false);
        if needs_init {
            first.line("");
            first.line("init {");
            init_uses_old_value = code::init(self, &mut first)?;
            declare::final_conditions(self, &mut first)?;
            first.line("}");
        }
        declare::variables(self, &records, init_uses_old_value, &mut out);
        for (t, body) in self.problem.program.thread_ids().zip(bodies) {
            declare::process(self, t, needs_init, plans, &records, &mut out);
            out.append(body);
            out.line("}");
        }
        out.append(first);
        Ok((out, records))
    }

    /// Returns whether `init` must act before or after the threads.
    fn needs_init(&self) -> bool {
        let is_invariant = |property: &Property| match property {
            Property::Invariant(_) => true,
            Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::Assertions
            | Property::MutualExclusion
            | Property::DeadlockFree
            | Property::Progress
            | Property::Operations(_) => false,
        };
        self.problem.program.init.is_some()
            || self.problem.finals().next().is_some()
            || self.problem.properties.iter().any(is_invariant)
    }
}
