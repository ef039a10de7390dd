//! Long executions: the streaming monitor gives the answers of the monitor with undo and of the
//! oracle, and does not keep more with every event.

use crate::common::{OwnedAction, execution, random_block};
use fencepost_monitor::{
    Access, Action, Borderline, DroppedHistory, Model, Monitor, Mutation, Retained, StreamMonitor,
};
use fencepost_testkit::{Random, catch_panic, report_comparisons, seeds};

type Events = Vec<(usize, OwnedAction)>;

/// The frequencies of actions, and how long a thread runs before the next one.
struct Mix {
    model: Model,
    threads: usize,
    addresses: usize,
    fences: usize,
    updates: usize,
    drains: usize,
    blocks: usize,
    directs: usize,
    turn: usize,
}

impl Mix {
    fn random(random: &mut Random) -> Mix {
        let rarely = |random: &mut Random, weight| usize::from(random.below(4) == 0) * weight;
        let most = [5, 30][random.below(2)];
        Mix {
            model: if random.below(4) == 0 { Model::Tso } else { Model::Pso },
            threads: 2 + random.below(6),
            addresses: 1 + random.below(most),
            fences: random.below(20),
            updates: random.below(20),
            drains: rarely(random, 10),
            blocks: rarely(random, 3),
            directs: rarely(random, 3),
            turn: 1 + random.below(20),
        }
    }

    fn action(&self, random: &mut Random) -> OwnedAction {
        let address = random.below(self.addresses) as u32;
        let weights = [28, 32, self.fences, self.updates, self.drains, self.blocks, self.directs];
        let mut number = random.below(weights.iter().sum());
        let kind = weights.iter().position(|&weight| {
            let selected = number < weight;
            number = number.saturating_sub(weight);
            selected
        });
        OwnedAction::Plain(match kind {
            Some(0) => Action::Load(address),
            Some(1) => Action::Store(address),
            Some(2) if random.below(4) == 0 => Action::Block(&[]),
            Some(2) => {
                Action::Fence { store_store: random.below(3) > 0, store_load: random.below(2) > 0 }
            }
            Some(3) => Action::Update { address, writes: random.below(3) > 0 },
            Some(4) => Action::Drain(address),
            Some(5) if random.below(2) == 0 => {
                return OwnedAction::Block(vec![Access::update(address)]);
            }
            Some(5) => return OwnedAction::Block(random_block(random, self.addresses.min(3))),
            _ => Action::Direct(address),
        })
    }

    fn events(&self, random: &mut Random, length: usize) -> Events {
        let mut thread = 0;
        let event = |_| {
            if random.below(self.turn) == 0 {
                thread = random.below(self.threads);
            }
            (thread, self.action(random))
        };
        (0..length).map(event).collect()
    }
}

/// Returns the answers of a streaming monitor, up to a block that it cannot check.
fn stream_answers(mut monitor: StreamMonitor, events: &Events) -> Vec<Option<Borderline>> {
    let answers = events.iter().map(|(thread, action)| monitor.add_event(*thread, action.action()));
    answers.map_while(|answer| answer.ok()).collect()
}

/// Returns the answers of the monitor with undo.
fn expected_answers(mix: &Mix, events: &Events) -> Vec<Option<Borderline>> {
    let mut monitor = Monitor::new(mix.model, mix.threads, mix.addresses);
    events.iter().map(|(thread, action)| monitor.add_event(*thread, action.action())).collect()
}

#[test]
fn random_long_executions_get_the_same_answers_without_their_history() {
    let (mut compared, mut found, mut all) = (0, 0, 0);
    for seed in seeds(2_000) {
        let mut random = Random::new(7_000_000 + seed);
        let mix = Mix::random(&mut random);
        let length = if random.below(20) == 0 { 1_000 } else { 20 + random.below(150) };
        let events = mix.events(&mut random, length);
        let expected = expected_answers(&mix, &events);
        let eager = stream_answers(StreamMonitor::new(mix.model).dropping_eagerly(), &events);
        assert_eq!(eager, expected[..eager.len()], "seed {seed}");
        let usual = stream_answers(StreamMonitor::new(mix.model), &events);
        assert_eq!(usual, eager, "seed {seed}");
        let complete = stream_answers(StreamMonitor::with_all_writes(mix.model), &events);
        assert_eq!(complete, expected, "seed {seed}");
        compared += 1;
        all += u64::from(eager.len() == events.len());
        found += eager.iter().flatten().count();
    }
    report_comparisons("long executions: streaming monitor and monitor", compared);
    assert!(found as u64 > compared && 2 * all > compared, "{found} {all} of {compared}");
}

#[test]
fn random_executions_with_many_addresses_get_the_same_answers_from_the_oracle() {
    let (mut compared, mut found) = (0, 0);
    for seed in seeds(500) {
        let mut random = Random::new(8_000_000 + seed);
        let mix = Mix { model: Model::Pso, addresses: 10, blocks: 0, ..Mix::random(&mut random) };
        let length = 20 + random.below(25);
        let events = mix.events(&mut random, length);
        let answers = stream_answers(StreamMonitor::new(Model::Pso).dropping_eagerly(), &events);
        let execution = execution(Model::Pso, &events);
        // The oracle is slow: a few events of each execution.
        for at in (0..length).filter(|at| answers[*at].is_some() || *at + 3 > length).rev().take(6)
        {
            let expected = execution.borderline(at);
            let answer = answers[at].map(|found| found.before);
            let context = || format!("seed {seed}, event {at}: {answer:?} {expected:?}");
            match answer {
                None => assert!(expected.is_empty(), "{}", context()),
                Some(before) => {
                    assert!(expected.contains(&before), "{}", context());
                    let cycle = execution.cycle(at, before);
                    assert_eq!((cycle[0].from, cycle[0].to), (at, before));
                    found += 1;
                }
            }
            compared += 1;
        }
    }
    report_comparisons("events of long executions: streaming monitor and relations", compared);
    assert!(4 * found > compared && 4 * (compared - found) > compared, "{found} of {compared}");
}

#[test]
fn every_mutation_of_the_streaming_monitor_is_detected() {
    for mutation in [Mutation::WritesDroppedTooEarly, Mutation::CoversDroppedTooEarly] {
        let differs = |seed| {
            let mut random = Random::new(seed);
            let mix = Mix::random(&mut random);
            let events = mix.events(&mut random, 100);
            let expected = expected_answers(&mix, &events);
            let monitor = StreamMonitor::new(mix.model).with_mutation(mutation);
            let answers = stream_answers(monitor.dropping_eagerly(), &events);
            answers != expected[..answers.len()]
        };
        let detects = |seed| catch_panic(|| Ok(differs(seed))).unwrap_or(true);
        assert!((0..2_000).any(detects), "no test detects {mutation:?}");
    }
}

#[test]
fn a_drain_waits_for_a_store_that_another_thread_has_overwritten() {
    let [x, y, a] = [0, 1, 2];
    let events = [
        (0, Action::Store(x)),
        (0, Action::Fence { store_store: true, store_load: false }),
        (0, Action::Store(a)),
        (2, Action::Store(a)),
        (0, Action::Drain(a)),
        (0, Action::Load(y)),
        (1, Action::Store(y)),
        (1, Action::Fence { store_store: false, store_load: true }),
        (1, Action::Load(x)),
    ];
    let last = |mut monitor: StreamMonitor| {
        events.map(|(thread, action)| monitor.add_event(thread, action))[8]
    };
    let monitor = || StreamMonitor::new(Model::Pso).dropping_eagerly();
    assert_eq!(last(monitor()), Ok(None));
    let mutated = last(monitor().with_mutation(Mutation::OverwrittenStoresDropped));
    assert_eq!(mutated, Ok(Some(Borderline { event: 8, before: 0 })));
}

/// Returns what the monitor keeps after some random events, and after four times as many.
fn retained(mix: &Mix, length: usize) -> [Retained; 2] {
    let mut random = Random::new(1);
    let mut monitor = StreamMonitor::new(mix.model);
    [length, 3 * length].map(|more| {
        for (thread, action) in mix.events(&mut random, more) {
            monitor.add_event(thread, action.action()).expect("no block has several addresses");
        }
        monitor.retained()
    })
}

#[test]
fn the_memory_of_the_streaming_monitor_does_not_grow_with_the_events() {
    for model in [Model::Tso, Model::Pso] {
        for (threads, addresses, fences) in [(2, 4, 0), (4, 100, 5), (8, 500, 0), (8, 500, 20)] {
            let mix = Mix {
                model,
                threads,
                addresses,
                fences,
                updates: fences,
                drains: fences / 4,
                blocks: 0,
                directs: 0,
                turn: 3,
            };
            let [short, long] = retained(&mix, 50_000);
            let context = format!("{model:?} {threads} {addresses} {fences}: {short:?} {long:?}");
            assert_eq!(short.clock_numbers, long.clock_numbers, "{context}");
            // Most clocks are at most some multiple of the number of addresses old.
            let limit = 40_000 + 40 * addresses * threads;
            assert!(long.writes + long.covers < limit, "{context}");
            assert!(long.bytes() < 10_000_000, "{context}");
        }
    }
}

#[test]
fn an_idle_thread_keeps_one_write_of_each_thread_and_address() {
    for model in [Model::Tso, Model::Pso] {
        let mut monitor = StreamMonitor::new(model).dropping_eagerly();
        let mut add = |thread, action| monitor.add_event(thread, action).expect("no block");
        // Thread 2 has one event at the start and one at the end.
        assert_eq!(add(0, Action::Store(0)), None);
        assert_eq!(add(2, Action::Load(0)), None);
        for _ in 0..2_000 {
            add(0, Action::Store(0));
            add(0, Action::Store(1));
            add(1, Action::Load(1));
            add(1, Action::Store(0));
        }
        assert_eq!(add(2, Action::Load(0)), None);
        let retained = monitor.retained();
        assert!(retained.writes < 20 && retained.covers < 40, "{retained:?}");
    }
}

#[test]
fn a_block_with_several_addresses_needs_all_writes_under_pso() {
    let accesses = [Access::read(0), Access::read(1)];
    let events = [(0, Action::Store(0)), (0, Action::Store(1)), (1, Action::Block(&accesses))];
    let add = |mut monitor: StreamMonitor| {
        events.map(|(thread, action)| monitor.add_event(thread, action))[2]
    };
    assert_eq!(add(StreamMonitor::new(Model::Pso)), Err(DroppedHistory));
    let found = Borderline { event: 2, before: 0 };
    assert_eq!(add(StreamMonitor::with_all_writes(Model::Pso)), Ok(Some(found)));
    assert_eq!(add(StreamMonitor::new(Model::Tso)), Ok(None));
}
