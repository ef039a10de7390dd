//! A program as Promela, for SPIN.
//!
//! One Promela statement, or one `d_step`, is one step of the program: an access with the local computations around
//! it. A value that is read only to be tested is tested where it is, as a person would write it. A `d_step` is not
//! entered unless it runs to its end: see [`guards`](super::guards). Every alternative of a `choose` has a line of its own, so that
//! a trail, which names lines, tells which one was taken.
//!
//! Direction: exact. What faults becomes an assertion that fails; declared ranges and array bounds are asserted
//! wherever the ranges of values do not show that they are kept. Registers that nobody reads any more are
//! set to 0, and those that hold nothing between steps are not part of the state (`hidden`).
//!
//! | property | in Promela |
//! |---|---|
//! | assertions, faults | `assert` |
//! | invariants | `assert` in every step that writes what they mention |
//! | on final states | `init` waits for all threads and asserts |
//! | `final exists` | the negation is asserted there: what SPIN calls an error is the witness |
//! | deadlock freedom | SPIN's invalid end states; when it is not asked for, `pan -E` does not look for them |

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
use plan::Plan;

/// A Promela model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Promela {
    /// The text.
    pub text: String,
    /// What lines stand for steps of the program, in the order of the lines.
    pub steps: Vec<Line>,
    /// The lines, counted from 1, on which an error is the witness of a `final exists`: with its position
    /// among the properties, and the macro that leaves it out (`spin -DNAME=1`).
    pub witnesses: Vec<(u32, usize, String)>,
    /// Whether invalid end states are errors; else `pan` is to be run with `-E`.
    pub deadlock_free: bool,
    /// How many bytes of a state `pan` must be ready for (`cc -DVECTORSZ=N`).
    pub vector: u32,
}

/// A line that stands for a step. Steps that change nothing have none (fences, the ends of critical sections where nobody
/// asks, loads whose value nobody reads): who follows a trail takes them when they are in the way, and in the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Counted from 1.
    pub line: u32,
    /// The thread; none for `init`.
    pub thread: Option<ThreadId>,
    /// The statement at the beginning of the step.
    pub pc: Pc,
    /// Which alternatives of `choose` are taken in it, counted from 0.
    pub choices: Vec<u32>,
}

/// What every part of the printer needs.
struct Model<'a> {
    export: Export<'a>,
    lowered: &'a Lowered,
    problem: &'a Problem,
    ranges: &'a Ranges,
    names: &'a Names,
    /// Registers that conditions mention, with the names of the variables they are.
    globals: &'a [((ThreadId, Reg), String)],
    /// Registers that hold nothing between steps, with the names of the variables they are.
    hidden: &'a [((ThreadId, Reg), String)],
}

/// The program as Promela.
pub fn promela(export: &Export<'_>) -> Result<Promela, Unsupported> {
    let lowered = lower(export.problem)?;
    let problem = &lowered.problem;
    if problem.program.threads.len() > 250 {
        return Err(Unsupported::ManyProcesses);
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
    // The first writing is to see where steps begin and end; the second one knows what is dead there.
    let unknown: Vec<Plan> = problem.program.threads.iter().map(|_| Plan::default()).collect();
    let (_, seen) = model.write(&unknown)?;
    let plans: Vec<Plan> = problem
        .program
        .thread_ids()
        .zip(seen)
        .map(|(t, seen)| Plan::new(problem, t, &seen))
        .collect();
    let mut names = names.clone();
    let hidden = declare::hidden(problem, &plans, &mut names);
    let model = Model { names: &names, hidden: &hidden, ..model };
    let (out, _) = model.write(&plans)?;
    let deadlock_free = problem.properties.contains(&Property::DeadlockFree);
    let Out { text, steps, witnesses, .. } = out;
    let vector = declare::vector(&model);
    Ok(Promela { text, steps, witnesses, deadlock_free, vector })
}

impl Model<'_> {
    fn write(&self, plans: &[Plan]) -> Result<(Out, Vec<plan::Seen>), Unsupported> {
        let mut seen = Vec::new();
        let mut bodies = Vec::new();
        for (t, plan) in self.problem.program.thread_ids().zip(plans) {
            let (body, found) = code::thread(self, t, plan)?;
            bodies.push(body);
            seen.push(found);
        }
        let needs_init = self.needs_init();
        let mut out = Out::default();
        declare::heading(self, &mut out);
        let (mut first, mut init_keeps) = (Out::default(), false);
        if needs_init {
            first.line("");
            first.line("init {");
            init_keeps = code::init(self, &mut first)?;
            declare::final_conditions(self, &mut first)?;
            first.line("}");
        }
        declare::variables(self, &seen, init_keeps, &mut out);
        for (t, body) in self.problem.program.thread_ids().zip(bodies) {
            declare::process(self, t, needs_init, plans, &seen, &mut out);
            out.append(body);
            out.line("}");
        }
        out.append(first);
        Ok((out, seen))
    }

    /// Whether something is to be done before or after the threads.
    fn needs_init(&self) -> bool {
        let looks = |property: &Property| match property {
            Property::Invariant(_) => true,
            Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::Assertions
            | Property::MutualExclusion
            | Property::DeadlockFree
            | Property::Operations(_) => false,
        };
        self.problem.program.init.is_some()
            || self.problem.finals().next().is_some()
            || self.problem.properties.iter().any(looks)
    }
}
