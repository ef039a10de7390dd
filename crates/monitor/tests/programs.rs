//! Whole programs: some SC execution has a borderline event exactly if the machine with store
//! buffers has a run that is not SC.
//!
//! The programs are random and have no branches. Values are ignored: a run is its reads-from
//! relation and its coherence order. The machine is written from the tables of the book and uses
//! neither clocks nor relaxed orders. So this test checks the theorem, with all extensions of the
//! paper.

use std::collections::HashSet;

use crate::common::{OwnedAction, random_action};
use fencepost_monitor::{Access, Action, Model, Monitor};
use fencepost_testkit::{Random, report_comparisons, seeds};

type Program = Vec<Vec<OwnedAction>>;
/// A statement: its thread and its number in the thread.
type StatementId = (usize, usize);

/// A pending store.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PendingStore {
    address: u32,
    store: StatementId,
    /// The number of store-store fences before the store.
    epoch: u32,
    /// Whether a store-load fence follows the store.
    before_barrier: bool,
}

#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct ThreadState {
    next: usize,
    pending: Vec<PendingStore>,
    epoch: u32,
}

/// A state of the machine, with all reads and writes of the run.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<ThreadState>,
    /// For each address: the committed writes in coherence order.
    written: Vec<Vec<StatementId>>,
    /// The reader, the address, and the write that it reads. `None` is the initial value.
    reads: Vec<(StatementId, u32, Option<StatementId>)>,
}

impl State {
    /// Makes an access to memory.
    fn access_memory(&mut self, statement: StatementId, access: Access) {
        let written = &mut self.written[access.address as usize];
        if access.reads {
            self.reads.push((statement, access.address, written.last().copied()));
        }
        if access.writes {
            written.push(statement);
        }
    }

    /// Executes the next statement of a thread. Returns `None` if it is not enabled.
    fn execute_statement(&self, model: Model, program: &Program, thread: usize) -> Option<State> {
        let mut state = self.clone();
        let own = &mut state.threads[thread];
        let statement = (thread, own.next);
        let action = program[thread].get(own.next)?.action();
        own.next += 1;
        let is_drained = own.pending.is_empty();
        let has_pending = |address| own.pending.iter().any(|store| store.address == address);
        let before_load_fence = own.pending.iter().any(|store| store.before_barrier);
        let before_store_fence = own.pending.iter().any(|store| store.epoch < own.epoch);
        match action {
            Action::Load(address) if !before_load_fence => {
                let forwarded = own
                    .pending
                    .iter()
                    .rfind(|store| store.address == address)
                    .map(|store| store.store);
                match forwarded {
                    Some(store) => state.reads.push((statement, address, Some(store))),
                    None => state.access_memory(statement, Access::read(address)),
                }
            }
            Action::Store(address) => {
                let epoch = own.epoch;
                own.pending.push(PendingStore {
                    address,
                    store: statement,
                    epoch,
                    before_barrier: false,
                });
            }
            Action::Update { address, writes }
                if match model {
                    Model::Tso => is_drained,
                    Model::Pso => {
                        !has_pending(address) && !before_load_fence && !before_store_fence
                    }
                } =>
            {
                state.access_memory(statement, Access { address, reads: true, writes });
            }
            Action::Direct(address) if !has_pending(address) => {
                state.access_memory(statement, Access::update(address))
            }
            Action::Block(accesses) if is_drained => {
                accesses.iter().for_each(|&access| state.access_memory(statement, access));
            }
            Action::Fence { store_store, store_load } => {
                own.epoch += u32::from(store_store && model == Model::Pso);
                own.pending.iter_mut().for_each(|store| store.before_barrier |= store_load);
            }
            Action::Drain(address) if !has_pending(address) => {}
            Action::Load(_)
            | Action::Update { .. }
            | Action::Direct(_)
            | Action::Block(_)
            | Action::Drain(_) => return None,
        }
        Some(state)
    }

    /// Returns the states after each possible commit of a thread.
    fn commits(&self, model: Model, thread: usize) -> Vec<State> {
        let pending = &self.threads[thread].pending;
        let may_commit = |at: usize| match model {
            Model::Tso => at == 0,
            Model::Pso => {
                let differs = |store: &PendingStore| store.address != pending[at].address;
                pending[..at].iter().all(differs)
                    && pending.iter().all(|store| store.epoch >= pending[at].epoch)
            }
        };
        let commit = |at: usize| {
            let mut state = self.clone();
            let committed = state.threads[thread].pending.remove(at);
            state.access_memory(committed.store, Access::write(committed.address));
            state
        };
        (0..pending.len()).filter(|&at| may_commit(at)).map(commit).collect()
    }

    /// Returns whether a complete run is SC: its happens-before has no cycle.
    fn is_sequentially_consistent(&self, program: &Program) -> bool {
        let events: Vec<StatementId> =
            (0..program.len()).flat_map(|t| (0..program[t].len()).map(move |i| (t, i))).collect();
        let mut edges: HashSet<(StatementId, StatementId)> = HashSet::new();
        for &(thread, number) in events.iter().filter(|event| event.1 > 0) {
            edges.insert(((thread, number - 1), (thread, number)));
        }
        for written in &self.written {
            edges.extend(written.windows(2).map(|pair| (pair[0], pair[1])));
        }
        for &(reader, address, from) in &self.reads {
            let written = &self.written[address as usize];
            edges.extend(from.map(|from| (from, reader)));
            let next = from.map_or(0, |from| {
                1 + written.iter().position(|&write| write == from).expect("the store is committed")
            });
            edges.extend(written.get(next).filter(|&&to| to != reader).map(|&to| (reader, to)));
        }
        let mut remaining: Vec<StatementId> = events;
        loop {
            let is_source = |event: &StatementId| {
                !remaining.iter().any(|&from| edges.contains(&(from, *event)))
            };
            let (sources, others): (Vec<StatementId>, Vec<StatementId>) =
                remaining.iter().copied().partition(is_source);
            if sources.is_empty() {
                return others.is_empty();
            }
            remaining = others;
        }
    }
}

/// Returns whether the machine has a run of the program that is not SC.
fn machine_leaves_sc(model: Model, program: &Program, addresses: usize) -> bool {
    let start = State {
        threads: vec![ThreadState::default(); program.len()],
        written: vec![Vec::new(); addresses],
        reads: Vec::new(),
    };
    let mut seen = HashSet::new();
    let mut stack = vec![start];
    while let Some(state) = stack.pop() {
        let mut next = Vec::new();
        for thread in 0..program.len() {
            next.extend(state.execute_statement(model, program, thread));
            next.extend(state.commits(model, thread));
        }
        if next.is_empty() {
            let ended =
                state.threads.iter().zip(program).all(|(state, code)| state.next == code.len());
            assert!(ended, "no state of the machine is a deadlock");
            if !state.is_sequentially_consistent(program) {
                return true;
            }
        }
        for mut state in next {
            state.reads.sort_unstable();
            if seen.insert(state.clone()) {
                stack.push(state);
            }
        }
    }
    false
}

/// Returns whether some SC execution of the rest of the program has a borderline event.
fn monitor_finds_borderline(monitor: &mut Monitor, program: &Program, next: &mut [usize]) -> bool {
    for thread in 0..program.len() {
        let Some(action) = program[thread].get(next[thread]) else { continue };
        let mark = monitor.mark();
        next[thread] += 1;
        let found = monitor.add_event(thread, action.action()).is_some()
            || monitor_finds_borderline(monitor, program, next);
        next[thread] -= 1;
        monitor.undo(mark);
        if found {
            return true;
        }
    }
    false
}

/// Returns whether the machine leaves SC, and whether the monitor finds a borderline event.
fn machine_and_monitor(model: Model, program: &Program, addresses: usize) -> [bool; 2] {
    let mut monitor = Monitor::new(model, program.len(), addresses);
    let found = monitor_finds_borderline(&mut monitor, program, &mut vec![0; program.len()]);
    [machine_leaves_sc(model, program, addresses), found]
}

/// Returns a program without blocks.
fn program_without_blocks(threads: &[&[Action<'static>]]) -> Program {
    let owned = |thread: &&[Action<'static>]| {
        thread.iter().map(|&action| OwnedAction::Plain(action)).collect()
    };
    threads.iter().map(owned).collect()
}

#[test]
fn random_programs_are_robust_exactly_if_no_execution_is_borderline() {
    let mut counts = [[0; 2]; 2];
    for seed in seeds(PROGRAMS) {
        let mut random = Random::new(5_000_000 + seed);
        let threads = 2 + random.below(2);
        let addresses = 2 + random.below(4) / 3;
        let longest = if threads == 2 { 4 } else { 3 };
        let program: Program = (0..threads)
            .map(|_| {
                let length = 1 + random.below(longest);
                (0..length).map(|_| random_action(&mut random, addresses)).collect()
            })
            .collect();
        for (row, model) in [Model::Tso, Model::Pso].into_iter().enumerate() {
            let [leaves, found] = machine_and_monitor(model, &program, addresses);
            assert_eq!(leaves, found, "machine, monitor; seed {seed}: {model:?} {program:?}");
            counts[row][usize::from(found)] += 1;
        }
    }
    report_comparisons("programs: monitor and machine", counts.iter().flatten().sum());
    assert!(counts.iter().flatten().all(|&count| count > 20), "{counts:?}");
}

/// The number of random programs.
const PROGRAMS: u64 = 500;

#[test]
fn a_forwarded_load_may_overtake_older_writes() {
    let (x, y) = (0, 1);
    let n6 = program_without_blocks(&[
        &[Action::Store(x), Action::Load(x), Action::Load(y)],
        &[Action::Store(y), Action::Store(x)],
    ]);
    assert_eq!(machine_and_monitor(Model::Tso, &n6, 2), [true, true]);
}

#[test]
fn after_a_direct_access_tso_stores_must_be_checked() {
    let (x, a) = (0, 1);
    let program = program_without_blocks(&[
        &[Action::Store(x), Action::Direct(a)],
        &[Action::Direct(a), Action::Store(x)],
    ]);
    assert_eq!(machine_and_monitor(Model::Tso, &program, 2), [true, true]);
}

#[test]
fn under_pso_a_block_can_be_the_only_borderline_event() {
    let (x, y) = (0, 1);
    let program = vec![
        program_without_blocks(&[&[Action::Store(x), Action::Store(y)]]).remove(0),
        vec![OwnedAction::Plain(Action::Load(y)), OwnedAction::Block(vec![Access::read(x)])],
    ];
    assert_eq!(machine_and_monitor(Model::Pso, &program, 2), [true, true]);
    assert_eq!(machine_and_monitor(Model::Tso, &program, 2), [false, false]);
}
