//! Robustness against TSO without bounds: a search for an *attack* among sequentially consistent states.
//!
//! Source: Bouajjani, Derevenetc, Meyer, "Checking and enforcing robustness against TSO" \[BDM13\]. A program that is not
//! robust has a run on TSO in which only one thread, the attacker, ever delays a store, and which goes like this:
//! 1. All is *calm*: threads run as under SC. Then the attacker issues a store that stays in its buffer.
//! 2. The attacker is *delaying*: its further stores stay in the buffer, too; its loads see the buffer, then memory.
//!    At last it makes *the* access: a load from memory, or a `new`, which overtakes the delayed stores.
//! 3. It is *frozen*. The others go on under SC, and what they do happens after the access, until one of them
//!    touches a location that is in the buffer. When the buffer is committed then, the
//!    first delayed store to that location happens after the access, which it comes before in program order.
//!
//! Why one attacker is enough: take a run with a happens-before cycle and the first moment at which for some thread step 3 is
//! over. No other thread needs its delays up to there: what happens after their early accesses has touched none
//! of their delayed stores yet, and what does not happen after them can be moved to before the stores were
//! issued. For the same reason others need not do anything while a thread is delaying or frozen unless
//! it happens after the thread's accesses. That keeps the search near the sequentially consistent states.
//!
//! Attacker, store and access are chosen on the way, so that one search tries them all. The buffer keeps the
//! youngest value for each location, which is all that the attacker can see of it: it needs no bound.
//!
//! Direction: exact, for programs that do not `free`. A round of a wait is not taken when it leads back; the loads of one that has
//! only begun count. DIVERGENCE from the paper, which has loads, stores, fences and updates: `new` overtakes like a
//! load and counts as a write of the pool's allocator; atomic blocks wait like updates; `drain` and fences that are
//! not full are as in the book. The paper transforms the program for every pair of store and load; here the
//! machine stays the same and a few bytes of state are added.
//!
//! - [`part`]: those bytes: the phase, the buffer, what happens after the access.
//! - [`hope`]: from where a delaying thread can still come to an access.
//! - [`system`]: the steps.

mod hope;
mod part;
mod system;
#[cfg(test)]
mod tests;

use crate::engine::{Budget, Settings, Statistics};
use crate::path::options;
use crate::sc::sc_machine;
use fencepost_ir::Problem;
use fencepost_ir::waits::Waiting;
use fencepost_models::buffered::Buffered;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::INITIAL;
use fencepost_models::mutation::Mutated;
use fencepost_models::replay::Trace;
use fencepost_models::tso::Tso;
use fencepost_models::{Action, Machine, Step, Taken};
use fencepost_search::{Coverage, Exploration, Target, TransitionSystem, explore};
use system::{Attacks, Made, Outcome, Start, TARGET};

/// More stores than this are never pending in a run that is shown.
const ROOM: u32 = 1 << 20;

/// What a search for attacks has found out.
#[derive(Clone, Debug)]
pub(crate) struct Attacked {
    /// How much was seen. If everything and nothing was found, the program is robust.
    pub(crate) coverage: Coverage,
    /// Figures.
    pub(crate) statistics: Statistics,
    /// What was found.
    pub(crate) found: Option<Raid>,
}

/// What a search for attacks can find.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Raid {
    /// A run under SC that breaks a property.
    Trouble(Trace),
    /// A run on TSO that is not sequentially consistent.
    Attack {
        /// The choices of `init`.
        init: Vec<u32>,
        /// Statements in the order of time; whether the store, if it is one, stays in the buffer.
        steps: Vec<(Step, bool)>,
    },
}

/// Searches for an attack; with `judge`, also for runs under SC that break a property. Such a run ends the
/// search, as an attack does. Without `judge` a step that goes wrong is not taken.
pub(crate) fn attack(
    waiting: &Waiting,
    judge: bool,
    settings: Settings,
    budget: Budget<'_>,
) -> Attacked {
    let machine = sc_machine(&waiting.problem, settings.reductions);
    let attacks = Attacks::new(&machine, waiting, judge);
    let found = explore(&attacks, options(settings, budget, settings.limits, Some(TARGET)));
    let raid = found.target(TARGET).map(|target| raid(&attacks, &found, target));
    Attacked { coverage: found.coverage, statistics: Statistics::of(&found), found: raid }
}

/// The run to a target, found by taking all steps of the states on the way again.
fn raid(attacks: &Attacks<'_, '_>, found: &Exploration, target: Target) -> Raid {
    let path = if target.detail == INITIAL { Vec::new() } else { found.path(target.state) };
    let mut scratch = attacks.scratch();
    let mut choices = Choices::default();
    let mut steps = Vec::new();
    loop {
        let right = match (attacks.start(&mut choices, &mut scratch, &mut steps), path.first()) {
            (Start::Trouble, None) => true,
            (Start::At(state), Some(first)) => state == *first,
            (Start::Trouble | Start::Nowhere, _) | (Start::At(_), None) => false,
        };
        if right {
            break;
        }
        assert!(choices.advance(), "a path begins at an initial state");
    }
    let init = choices.script().to_vec();
    let mut steps: Vec<(Step, bool)> = steps.into_iter().map(|step| (step, false)).collect();
    for pair in path.windows(2) {
        let mut right = None;
        attacks.each(pair[0], &mut scratch, |_, made, outcome| {
            if right.is_none() && outcome == Outcome::Next(pair[1]) {
                right = Some(taken(made));
            }
        });
        steps.extend(right.expect("neighbours on a path are a step apart"));
    }
    let mut attacked = false;
    if let Some(last) = path.last() {
        attacks.each(last, &mut scratch, |number, made, outcome| {
            if number == target.detail {
                attacked = outcome == Outcome::Success;
                steps.extend(taken(made));
            }
        });
    }
    if attacked {
        Raid::Attack { init, steps }
    } else {
        let steps = steps.into_iter().map(|(step, _)| step).collect();
        Raid::Trouble(Trace { init, steps, bound: None })
    }
}

/// The steps of the machine that a step of the search stands for.
fn taken(made: Made<'_>) -> Vec<(Step, bool)> {
    let step = |number| {
        let script = if number == 0 { made.script.to_vec() } else { Vec::new() };
        (Step { thread: made.thread, action: Action::Run(script) }, made.delayed && number == 0)
    };
    (0..made.steps).map(step).collect()
}

/// An attack as a trace of the TSO machine: stores that are not delayed are committed at once, the others in the
/// end, unless the run ends in an error before.
pub(crate) fn attack_trace(
    problem: &Problem,
    settings: Settings,
    init: &[u32],
    steps: &[(Step, bool)],
) -> Trace {
    let tso = Buffered(Tso { bound: ROOM, mutated: Mutated::default() });
    let machine = Machine::new(problem, tso, settings.reductions);
    let mut state = machine.blank();
    let started = machine.start(&mut state, &mut Choices::scripted(init), &mut ());
    assert_eq!(started, Ok(true), "an attack begins at an initial state");
    let mut trace = Trace { init: init.to_vec(), ..Trace::default() };
    let mut holds = vec![false; machine.shape.threads.len()];
    for (at, (step, delayed)) in steps.iter().enumerate() {
        trace.steps.push(step.clone());
        match machine.take(&mut state, step, &mut ()) {
            Ok(Taken::Yes) => {}
            Ok(Taken::Blocked | Taken::Bounded) => unreachable!("TSO can follow an attack"),
            Err(_) if at + 1 == steps.len() => return trace,
            Err(_) => unreachable!("only the last step of an attack may go wrong"),
        }
        let t = step.thread;
        holds[t.index()] |= delayed;
        let internal = || machine.internals(&state, t);
        let commits = if holds[t.index()] { Vec::new() } else { internal() };
        assert!(commits.len() <= 1, "there is the store that was just issued, or nothing");
        for commit in commits {
            trace.steps.push(commit.step);
            state = commit.after;
        }
    }
    for t in problem.program.thread_ids() {
        while let Some(commit) = machine.internals(&state, t).pop() {
            trace.steps.push(commit.step);
            state = commit.after;
        }
    }
    trace
}
