//! Whole programs: the monitor answers in some sequentially consistent execution exactly when the machine of the
//! book, with its store buffers, has a run that is not sequentially consistent.
//!
//! The programs are random and without branches; values are left aside, a run is who reads from whom and the order of
//! writes. The machine is written from the tables of the book and knows nothing of clocks or relaxed orders. So
//! this is the test of the theory, with all that was added to the paper.

use std::collections::HashSet;

use crate::common::{Owned, random_action};
use fencepost_monitor::{Access, Action, Model, Monitor};
use fencepost_testkit::{Random, compared, seeds};

type Program = Vec<Vec<Owned>>;
/// A statement: its thread and its number there.
type Place = (usize, usize);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Pending {
    address: u32,
    store: Place,
    epoch: u32,
    before_barrier: bool,
}

#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct ThreadState {
    next: usize,
    pending: Vec<Pending>,
    epoch: u32,
}

/// A state of the machine with all that the run so far has read and written.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    threads: Vec<ThreadState>,
    written: Vec<Vec<Place>>,
    reads: Vec<(Place, u32, Option<Place>)>,
}

impl State {
    fn act(&mut self, place: Place, access: Access) {
        let written = &mut self.written[access.address as usize];
        if access.reads {
            self.reads.push((place, access.address, written.last().copied()));
        }
        if access.writes {
            written.push(place);
        }
    }

    /// The next statement of a thread, if it is enabled.
    fn statement(&self, model: Model, program: &Program, thread: usize) -> Option<State> {
        let mut state = self.clone();
        let me = &mut state.threads[thread];
        let place = (thread, me.next);
        let action = program[thread].get(me.next)?.action();
        me.next += 1;
        let idle = me.pending.is_empty();
        let has = |address| me.pending.iter().any(|it| it.address == address);
        let barred = me.pending.iter().any(|it| it.before_barrier);
        let older = me.pending.iter().any(|it| it.epoch < me.epoch);
        match action {
            Action::Load(address) if !barred => {
                let own = me.pending.iter().rfind(|it| it.address == address).map(|it| it.store);
                match own {
                    Some(store) => state.reads.push((place, address, Some(store))),
                    None => state.act(place, Access::read(address)),
                }
            }
            Action::Store(address) => {
                let epoch = me.epoch;
                me.pending.push(Pending { address, store: place, epoch, before_barrier: false });
            }
            Action::Update { address, writes }
                if match model {
                    Model::Tso => idle,
                    Model::Pso => !has(address) && !barred && !older,
                } =>
            {
                state.act(place, Access { address, reads: true, writes });
            }
            Action::Direct(address) if !has(address) => state.act(place, Access::update(address)),
            Action::Block(accesses) if idle => {
                accesses.iter().for_each(|&access| state.act(place, access));
            }
            Action::Fence { store_store, store_load } => {
                me.epoch += u32::from(store_store && model == Model::Pso);
                me.pending.iter_mut().for_each(|it| it.before_barrier |= store_load);
            }
            Action::Drain(address) if !has(address) => {}
            Action::Load(_)
            | Action::Update { .. }
            | Action::Direct(_)
            | Action::Block(_)
            | Action::Drain(_) => return None,
        }
        Some(state)
    }

    /// All commits of a thread.
    fn commits(&self, model: Model, thread: usize) -> Vec<State> {
        let pending = &self.threads[thread].pending;
        let may = |at: usize| match model {
            Model::Tso => at == 0,
            Model::Pso => {
                let first = |it: &Pending| it.address != pending[at].address;
                pending[..at].iter().all(first)
                    && pending.iter().all(|it| it.epoch >= pending[at].epoch)
            }
        };
        let commit = |at: usize| {
            let mut state = self.clone();
            let gone = state.threads[thread].pending.remove(at);
            state.act(gone.store, Access::write(gone.address));
            state
        };
        (0..pending.len()).filter(|&at| may(at)).map(commit).collect()
    }

    /// Whether the run, now at its end, could be one without buffers: its happens-before has no cycle.
    fn is_sequentially_consistent(&self, program: &Program) -> bool {
        let events: Vec<Place> =
            (0..program.len()).flat_map(|t| (0..program[t].len()).map(move |i| (t, i))).collect();
        let mut edges: HashSet<(Place, Place)> = HashSet::new();
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
                1 + written.iter().position(|&it| it == from).expect("the store is in memory")
            });
            edges.extend(written.get(next).filter(|&&to| to != reader).map(|&to| (reader, to)));
        }
        let mut left: Vec<Place> = events;
        loop {
            let free = |event: &Place| !left.iter().any(|&from| edges.contains(&(from, *event)));
            let (gone, kept): (Vec<Place>, Vec<Place>) = left.iter().copied().partition(free);
            if gone.is_empty() {
                return kept.is_empty();
            }
            left = kept;
        }
    }
}

/// Whether the machine has a run of the program that is not sequentially consistent.
fn machine_leaves(model: Model, program: &Program, addresses: usize) -> bool {
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
            next.extend(state.statement(model, program, thread));
            next.extend(state.commits(model, thread));
        }
        if next.is_empty() {
            let ended = state.threads.iter().zip(program).all(|(it, of)| it.next == of.len());
            assert!(ended, "nothing here waits for ever");
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

/// Whether the monitor answers in some sequentially consistent execution of the rest of the program.
fn monitor_finds(monitor: &mut Monitor, program: &Program, next: &mut [usize]) -> bool {
    for thread in 0..program.len() {
        let Some(action) = program[thread].get(next[thread]) else { continue };
        let mark = monitor.mark();
        next[thread] += 1;
        let found = monitor.event(thread, action.action()).is_some()
            || monitor_finds(monitor, program, next);
        next[thread] -= 1;
        monitor.undo(mark);
        if found {
            return true;
        }
    }
    false
}

fn both(model: Model, program: &Program, addresses: usize) -> [bool; 2] {
    let mut monitor = Monitor::new(model, program.len(), addresses);
    let found = monitor_finds(&mut monitor, program, &mut vec![0; program.len()]);
    [machine_leaves(model, program, addresses), found]
}

fn plain(threads: &[&[Action<'static>]]) -> Program {
    let owned = |thread: &&[Action<'static>]| thread.iter().map(|&it| Owned::Plain(it)).collect();
    threads.iter().map(owned).collect()
}

#[test]
fn random_programs_are_robust_for_both_or_neither() {
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
            let [leaves, found] = both(model, &program, addresses);
            assert_eq!(leaves, found, "machine, monitor; seed {seed}: {model:?} {program:?}");
            counts[row][usize::from(found)] += 1;
        }
    }
    compared("programs: monitor and machine", counts.iter().flatten().sum());
    assert!(counts.iter().flatten().all(|&count| count > 20), "{counts:?}");
}

const PROGRAMS: u64 = 500;

#[test]
fn a_forwarded_load_may_overtake_older_writes() {
    let (x, y) = (0, 1);
    let n6 = plain(&[
        &[Action::Store(x), Action::Load(x), Action::Load(y)],
        &[Action::Store(y), Action::Store(x)],
    ]);
    assert_eq!(both(Model::Tso, &n6, 2), [true, true]);
}

#[test]
fn after_a_direct_access_a_tso_store_must_be_asked_about() {
    let (x, a) = (0, 1);
    let program =
        plain(&[&[Action::Store(x), Action::Direct(a)], &[Action::Direct(a), Action::Store(x)]]);
    assert_eq!(both(Model::Tso, &program, 2), [true, true]);
}

#[test]
fn under_pso_a_block_can_be_all_that_is_left_to_move() {
    let (x, y) = (0, 1);
    let program = vec![
        plain(&[&[Action::Store(x), Action::Store(y)]]).remove(0),
        vec![Owned::Plain(Action::Load(y)), Owned::Block(vec![Access::read(x)])],
    ];
    assert_eq!(both(Model::Pso, &program, 2), [true, true]);
    assert_eq!(both(Model::Tso, &program, 2), [false, false]);
}
