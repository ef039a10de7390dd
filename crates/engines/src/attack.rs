//! Robustness against TSO without bounds: a search for an *attack* among SC states.
//!
//! Source: Bouajjani, Derevenetc, Meyer, "Checking and enforcing robustness against TSO" \[BDM13\].
//! A program that is not robust has a TSO run in which only one thread, the attacker, delays
//! stores. The run has three phases:
//! 1. *No attack*: threads run as under SC. Then the attacker issues a store that stays in its
//!    buffer.
//! 2. *Delaying*: further stores of the attacker stay in the buffer, too. Its loads read the
//!    buffer, then memory. The phase ends with *the* access: a load from memory, or a `new`, that
//!    overtakes the delayed stores.
//! 3. *Frozen*: the attacker stops. The other threads (the helpers) continue under SC with steps
//!    that happen after the access, until one of them touches a location that is in the buffer.
//!    When the buffer is then committed, the first delayed store to that location happens after the
//!    access, although the store comes first in program order.
//!
//! One attacker is enough. Take a run with a happens-before cycle, and the first point at which
//! phase 3 ends for some thread. Up to this point, no other thread needs its delays: the events
//! that happen after its early accesses have not touched its delayed stores yet, and all other
//! events can be moved before the point where these stores were issued. For the same reason, while
//! a thread is delaying or frozen, other threads need to take only steps that happen after the
//! accesses of that thread. This keeps the search close to the SC states.
//!
//! Attacker, store and access are chosen during the search, so one search covers them all. The
//! buffer keeps only the youngest value for each location, because the attacker can read nothing
//! else of it. It needs no bound.
//!
//! Direction: exact, for programs that do not `free`. Where spin loops are cut, failed iterations are
//! not taken, but the loads of an unfinished iteration count.
//!
//! DIVERGENCE: the paper has loads, stores, fences and updates. Here `new` overtakes like a load
//! and counts as a write of the allocator of its pool. Atomic blocks wait like updates. `drain` and
//! fences that are not full are as in the book. The paper transforms the program for every pair of
//! store and load. Here the machine is unchanged, and each state has a few bytes more.
//!
//! - [`attack_state`]: these bytes: the phase, the buffer, what happens after the access.
//! - [`useful_delay`]: from where a delaying thread can still reach an access.
//! - [`system`]: the steps.

mod attack_state;
mod system;
#[cfg(test)]
mod tests;
mod useful_delay;

use crate::engine::{Budget, Settings, Statistics};
use crate::path::options;
use crate::sc::sc_machine;
use fencepost_ir::Problem;
use fencepost_ir::spin_loops::SpinAssumed;
use fencepost_models::buffered::Buffered;
use fencepost_models::machine::choice::Choices;
use fencepost_models::machine::system::INIT_DETAIL;
use fencepost_models::mutation::Mutated;
use fencepost_models::replay::Trace;
use fencepost_models::tso::Tso;
use fencepost_models::{Action, Machine, Step, StepResult};
use fencepost_search::{
    Coverage, Exploration, Limits, Options, Target, TransitionSystem, WorkLimits, dive, explore,
};
use system::{Attacks, Outcome, SearchStep, Start, TARGET, UNDECIDED_HANG};

/// A bound on pending stores that no attack reaches.
const MAX_PENDING: u32 = 1 << 20;

/// The states of the depth-first searches for an attack.
const DIVE_STATES: u64 = 1_000;

/// The purpose of a search for an attack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effort {
    /// To find an attack quickly, or nothing.
    Violations,
    /// To find out whether there is an attack.
    Proof,
}

/// The result of a search for attacks.
#[derive(Clone, Debug)]
pub(crate) struct AttackSearchResult {
    /// The coverage. If it is exhaustive and nothing was found, the program is robust.
    pub(crate) coverage: Coverage,
    /// Statistics of the search.
    pub(crate) statistics: Statistics,
    /// The violation or attack that was found.
    pub(crate) found: Option<AttackResult>,
    /// Whether it is not decided for some state whether it is a hang.
    pub(crate) undecided_hang: bool,
}

/// A finding of a search for attacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AttackResult {
    /// An SC run that violates a property.
    Violation(Trace),
    /// A TSO run that is not sequentially consistent.
    Attack {
        /// The choices of `init`.
        init: Vec<u32>,
        /// The statements in order of time. The flag marks a store that stays in the buffer.
        steps: Vec<(Step, bool)>,
    },
}

/// Searches for an attack. With `check_properties`, also searches for SC runs that violate a
/// property; such a run ends the search, as an attack does. Without `check_properties`, failing
/// steps are not taken.
pub(crate) fn attack(
    spin_assumed: &SpinAssumed,
    check_properties: bool,
    effort: Effort,
    settings: Settings,
    budget: Budget<'_>,
) -> AttackSearchResult {
    let cancel = budget.of_search();
    let budget = Budget { cancel: &cancel, ..budget };
    let limits = || WorkLimits::of_search(&cancel, settings.limits);
    let machine = sc_machine(&spin_assumed.problem, settings.reductions).within(limits());
    let original = sc_machine(&spin_assumed.original, settings.reductions).within(limits());
    let attacks = Attacks::new(&machine, &original, spin_assumed, check_properties);
    let found = search(&attacks, effort, settings, budget);
    let attack_result =
        found.target(TARGET).and_then(|target| build_attack_result(&attacks, &found, target));
    AttackSearchResult {
        coverage: cancel.reason().map_or(found.coverage, Coverage::Cut),
        statistics: Statistics::from_search(&found),
        found: attack_result,
        undecided_hang: found.target(UNDECIDED_HANG).is_some(),
    }
}

/// Searches for a target. Unless a shortest run is wanted at any price, short depth-first searches come
/// first. They find most attacks at once: from the first delayed store on, few steps are left.
fn search(
    attacks: &Attacks<'_, '_>,
    effort: Effort,
    settings: Settings,
    budget: Budget<'_>,
) -> Exploration {
    let search_within = |states: u64, search: fn(&_, Options<'_>) -> Exploration| {
        let limits = Limits { states: settings.limits.states.min(states), ..settings.limits };
        search(attacks, options(settings, budget, limits, Some(TARGET)))
    };
    let shorten_states = if settings.shortest { settings.shorten_states } else { Some(0) };
    let Some(shorten_states) = shorten_states else { return search_within(u64::MAX, explore) };
    let first = search_within(DIVE_STATES, dive);
    match (first.coverage, effort) {
        (Coverage::Found, _) if shorten_states > 0 => {
            let shorter = search_within(shorten_states, explore);
            if shorter.coverage == Coverage::Found { shorter } else { first }
        }
        (Coverage::Found, _) | (_, Effort::Violations) => first,
        (_, Effort::Proof) => search_within(u64::MAX, explore),
    }
}

/// Reconstructs the run to a target by taking all steps of the states on the path again. Returns
/// `None` if the search was cancelled: then the steps of a state may be incomplete.
fn build_attack_result(
    attacks: &Attacks<'_, '_>,
    found: &Exploration,
    target: Target,
) -> Option<AttackResult> {
    let is_cancelled = || attacks.is_cancelled();
    let path = if target.detail == INIT_DETAIL { Vec::new() } else { found.path(target.state) };
    let mut scratch = attacks.scratch();
    let mut choices = Choices::default();
    let mut steps = Vec::new();
    loop {
        let matching = match (attacks.start(&mut choices, &mut scratch, &mut steps), path.first()) {
            (Start::Violation, None) => true,
            (Start::At(state), Some(first)) => state == *first,
            (Start::Violation | Start::Infeasible, _) | (Start::At(_), None) => false,
        };
        if matching {
            break;
        }
        if is_cancelled() {
            return None;
        }
        assert!(choices.advance(), "a path must start at an initial state");
    }
    let init = choices.script().to_vec();
    let mut steps: Vec<(Step, bool)> = steps.into_iter().map(|step| (step, false)).collect();
    for pair in path.windows(2) {
        let mut matching = None;
        attacks.for_each_step(pair[0], &mut scratch, |_, search_step, outcome| {
            if matching.is_none() && outcome == Outcome::Next(pair[1]) {
                matching = Some(machine_steps(search_step));
            }
        });
        if is_cancelled() {
            return None;
        }
        steps.extend(matching.expect("neighbours on a path must be one step apart"));
    }
    let mut has_succeeded = false;
    if let Some(last) = path.last() {
        attacks.for_each_step(last, &mut scratch, |number, search_step, outcome| {
            if number == target.detail {
                has_succeeded = outcome == Outcome::Success;
                steps.extend(machine_steps(search_step));
            }
        });
        if is_cancelled() {
            return None;
        }
    }
    Some(if has_succeeded {
        AttackResult::Attack { init, steps }
    } else {
        let steps = steps.into_iter().map(|(step, _)| step).collect();
        AttackResult::Violation(Trace { init, steps, bound: None })
    })
}

/// Returns the machine steps of a step of the search.
fn machine_steps(search_step: SearchStep<'_>) -> Vec<(Step, bool)> {
    let step = |number| {
        let script = if number == 0 { search_step.script.to_vec() } else { Vec::new() };
        (
            Step { thread: search_step.thread, action: Action::Run(script) },
            search_step.delayed && number == 0,
        )
    };
    (0..search_step.steps).map(step).collect()
}

/// Converts an attack into a trace of the TSO machine. Stores that are not delayed are committed
/// immediately. Delayed stores are committed at the end, unless the run fails before.
pub(crate) fn attack_trace(
    problem: &Problem,
    settings: Settings,
    init: &[u32],
    steps: &[(Step, bool)],
) -> Trace {
    let tso = Buffered(Tso { bound: MAX_PENDING, mutated: Mutated::default() });
    let machine = Machine::new(problem, tso, settings.reductions);
    let mut state = machine.blank();
    let started = machine.start(&mut state, &mut Choices::scripted(init), &mut ());
    assert_eq!(started, Ok(true), "an attack must start at an initial state");
    let mut trace = Trace { init: init.to_vec(), ..Trace::default() };
    let mut has_delayed = vec![false; machine.shape.threads.len()];
    for (at, (step, delayed)) in steps.iter().enumerate() {
        trace.steps.push(step.clone());
        match machine.take_step(&mut state, step, &mut ()) {
            Ok(StepResult::Taken) => {}
            Ok(StepResult::Blocked | StepResult::BoundReached) => {
                unreachable!("TSO must allow every step of an attack")
            }
            Err(_) if at + 1 == steps.len() => return trace,
            Err(_) => unreachable!("only the last step of an attack may fail"),
        }
        let t = step.thread;
        has_delayed[t.index()] |= delayed;
        let internal = || machine.attempt_internal_steps(&state, t);
        let commits = if has_delayed[t.index()] { Vec::new() } else { internal() };
        assert!(commits.len() <= 1, "at most the store just issued may be pending");
        for commit in commits {
            trace.steps.push(commit.step);
            state = commit.after;
        }
    }
    for t in problem.program.thread_ids() {
        while let Some(commit) = machine.attempt_internal_steps(&state, t).pop() {
            trace.steps.push(commit.step);
            state = commit.after;
        }
    }
    trace
}
