//! Random programs: the outcomes of a check are those of a search over all states of a machine that
//! is written from the definitions of the models, without reductions.

use fencepost_test::sync::Mutex as CheckedMutex;
use fencepost_test::sync::atomic::{AtomicU32, Ordering, fence};
use fencepost_test::{Checker, Model, thread};
use fencepost_testkit::Random;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const VARIABLES: usize = 2;
/// The seeds of the random programs. They include a program that needs the footprints of failed
/// compare-exchanges.
const SEEDS: Range<u64> = 110..220;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Step {
    Load(usize),
    Store(usize, u32, Ordering),
    Add(usize, Ordering),
    CompareExchange(usize, u32, u32, Ordering),
    Fence(Ordering),
    Lock,
    TryLock,
    Unlock,
}

type Program = Vec<Vec<Step>>;
type Outcomes = BTreeSet<Vec<u32>>;

/// A store that is not committed, or `None` for a fence that orders stores.
type Pending = Option<(usize, u32, Ordering)>;

/// A state of the machine. The pending stores of a thread are in program order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    memory: [u32; VARIABLES],
    owner: Option<usize>,
    next: Vec<usize>,
    pending: Vec<Vec<Pending>>,
    results: Vec<Vec<u32>>,
}

impl State {
    /// Returns whether the pending store at `at` may commit.
    fn may_commit(&self, model: Model, thread: usize, at: usize) -> bool {
        let pending = &self.pending[thread];
        let Some((variable, _, order)) = pending[at] else { return false };
        match model {
            Model::Sc | Model::Tso => at == 0,
            Model::Pso => pending[..at].iter().all(|earlier| {
                earlier.is_some_and(|(other, _, _)| other != variable && order != Release)
            }),
        }
    }

    fn commit(&mut self, thread: usize, at: usize) {
        if let Some((variable, value, _)) = self.pending[thread].remove(at) {
            self.memory[variable] = value;
        }
        while self.pending[thread].first() == Some(&None) {
            self.pending[thread].remove(0);
        }
    }

    /// Returns whether nothing is pending that an update with this order waits for.
    fn is_drained(&self, model: Model, thread: usize, variable: usize, order: Ordering) -> bool {
        let pending = &self.pending[thread];
        match (model, order) {
            (Model::Pso, Relaxed | Acquire) => {
                let fence = pending.iter().any(Option::is_none);
                // A leading fence is removed, so stores are before each fence.
                !fence && pending.iter().flatten().all(|(other, _, _)| *other != variable)
            }
            _ => pending.is_empty(),
        }
    }

    /// Returns the state after the next step of a thread, if it is enabled.
    fn after(&self, model: Model, program: &Program, thread: usize) -> Option<State> {
        let mut state = self.clone();
        let step = *program[thread].get(self.next[thread])?;
        state.next[thread] += 1;
        let results = &mut state.results[thread];
        match step {
            Step::Load(variable) => {
                let mut own = self.pending[thread].iter().rev().flatten();
                let forwarded = own.find(|(other, _, _)| *other == variable);
                results.push(forwarded.map_or(self.memory[variable], |(_, value, _)| *value));
            }
            Step::Store(variable, value, order) => {
                if model == Model::Sc || order == SeqCst {
                    if !self.pending[thread].is_empty() {
                        return None;
                    }
                    state.memory[variable] = value;
                } else {
                    state.pending[thread].push(Some((variable, value, order)));
                }
            }
            Step::Add(variable, order) => {
                if !self.is_drained(model, thread, variable, order) {
                    return None;
                }
                results.push(self.memory[variable]);
                state.memory[variable] += 1;
            }
            Step::CompareExchange(variable, expected, new, order) => {
                if !self.is_drained(model, thread, variable, order) {
                    return None;
                }
                results.push(self.memory[variable]);
                if self.memory[variable] == expected {
                    state.memory[variable] = new;
                }
            }
            Step::Fence(SeqCst) => {
                if !self.pending[thread].is_empty() {
                    return None;
                }
            }
            Step::Fence(Release | AcqRel) if model == Model::Pso => {
                if !self.pending[thread].is_empty() {
                    state.pending[thread].push(None);
                }
            }
            Step::Fence(_) => {}
            Step::Lock | Step::TryLock => {
                if !self.is_drained(model, thread, VARIABLES, Acquire) {
                    return None;
                }
                if self.owner.is_some() {
                    if step == Step::Lock {
                        return None;
                    }
                    results.push(0);
                } else {
                    state.owner = Some(thread);
                    if step == Step::TryLock {
                        results.push(1);
                    }
                }
            }
            Step::Unlock if self.owner == Some(thread) => {
                if !self.pending[thread].is_empty() {
                    return None;
                }
                state.owner = None;
            }
            // The attempt to lock the mutex failed.
            Step::Unlock => {}
        }
        Some(state)
    }
}

/// Returns the outcomes of the machine.
fn machine_outcomes(model: Model, program: &Program) -> Outcomes {
    let threads = program.len();
    let mut outcomes = Outcomes::new();
    let mut seen = HashSet::new();
    let mut open = vec![State {
        memory: [0; VARIABLES],
        owner: None,
        next: vec![0; threads],
        pending: vec![Vec::new(); threads],
        results: vec![Vec::new(); threads],
    }];
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let mut is_final = true;
        for thread in 0..threads {
            open.extend(state.after(model, program, thread));
            is_final &= state.next[thread] == program[thread].len();
            for at in 0..state.pending[thread].len() {
                is_final = false;
                if state.may_commit(model, thread, at) {
                    let mut after = state.clone();
                    after.commit(thread, at);
                    open.push(after);
                }
            }
        }
        if is_final {
            outcomes.insert([state.results.concat(), state.memory.to_vec()].concat());
        }
    }
    outcomes
}

/// Runs a thread of a program as code.
fn run_thread(steps: &[Step], x: &AtomicU32, y: &AtomicU32, mutex: &CheckedMutex<()>) -> Vec<u32> {
    let variables = [x, y];
    let mut results = Vec::new();
    let mut guard = None;
    for step in steps {
        match *step {
            Step::Load(variable) => results.push(variables[variable].load(Acquire)),
            Step::Store(variable, value, order) => variables[variable].store(value, order),
            Step::Add(variable, order) => results.push(variables[variable].fetch_add(1, order)),
            Step::CompareExchange(variable, expected, new, order) => {
                let result = variables[variable].compare_exchange(expected, new, order, Relaxed);
                results.push(result.unwrap_or_else(|old| old));
            }
            Step::Fence(order) => fence(order),
            Step::Lock => guard = Some(mutex.lock().unwrap()),
            Step::TryLock => {
                guard = mutex.try_lock().ok();
                results.push(u32::from(guard.is_some()));
            }
            Step::Unlock => drop(guard.take()),
        }
    }
    results
}

/// Returns the outcomes of a check.
fn checked_outcomes(checker: &Checker, program: &Program) -> Outcomes {
    let seen = Arc::new(Mutex::new(Outcomes::new()));
    let (collected, program) = (Arc::clone(&seen), program.clone());
    let report = checker.run(move || {
        let (x, y) = (AtomicU32::new(0), AtomicU32::new(0));
        let mutex = CheckedMutex::new(());
        let mut outcome = thread::scope(|scope| {
            let (x, y, mutex) = (&x, &y, &mutex);
            let mut handles = Vec::new();
            for steps in &program {
                handles.push(scope.spawn(move || run_thread(steps, x, y, mutex)));
            }
            let results = handles.into_iter().map(|handle| handle.join().unwrap());
            results.collect::<Vec<_>>().concat()
        });
        outcome.extend([x.load(Relaxed), y.load(Relaxed)]);
        collected.lock().unwrap().insert(outcome);
    });
    assert!(report.is_verified(), "{report}");
    seen.lock().unwrap().clone()
}

fn random_program(random: &mut Random) -> Program {
    let threads = random.within(2, 3);
    let steps = if threads == 2 { 4 } else { 3 };
    let prefers_updates = random.percent(35);
    let thread = |random: &mut Random| {
        let mut steps: Vec<Step> =
            (0..random.within(1, steps)).map(|_| step(random, prefers_updates)).collect();
        if steps.len() > 1 && random.percent(25) {
            let from = random.below(steps.len());
            steps.insert(from, if random.percent(60) { Step::Lock } else { Step::TryLock });
            let to = random.within(from + 1, steps.len());
            steps.insert(to, Step::Unlock);
        }
        steps
    };
    (0..threads).map(|_| thread(random)).collect()
}

fn step(random: &mut Random, prefers_updates: bool) -> Step {
    let variable = random.below(VARIABLES);
    let value = random.within(1, 2) as u32;
    let update_order = [Relaxed, Acquire, Release, AcqRel, SeqCst][random.below(5)];
    let kind = if prefers_updates { random.within(3, 17) } else { random.below(14) };
    match kind {
        0..=4 => {
            let orders = [Relaxed, Relaxed, Relaxed, Relaxed, Release, SeqCst];
            Step::Store(variable, value, orders[random.below(6)])
        }
        5..=10 => Step::Load(variable),
        11 => Step::Add(variable, update_order),
        12 | 14.. => Step::CompareExchange(variable, random.below(2) as u32, value, update_order),
        _ => Step::Fence([Acquire, Release, AcqRel, SeqCst][random.below(4)]),
    }
}

#[test]
fn random_programs_have_the_outcomes_of_the_machine() {
    let mut weak = 0;
    for seed in SEEDS {
        let program = random_program(&mut Random::new(seed));
        let mut sizes = Vec::new();
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let expected = machine_outcomes(model, &program);
            let checked = checked_outcomes(&Checker::new().model(model), &program);
            assert_eq!(checked, expected, "seed {seed}, {model}: {program:?}");
            sizes.push(expected.len());
        }
        weak += usize::from(sizes[0] < sizes[2]);
    }
    assert!(weak >= 2, "only {weak} programs have outcomes that are not sequentially consistent");
}
