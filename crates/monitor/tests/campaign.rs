//! Random executions: the monitor against the relations, event by event; explanations; going back.

use crate::common::{Owned, answers, execution, random_action};
use fencepost_monitor::{Action, Borderline, Model, Monitor, Mutation, Reason, Step};
use fencepost_testkit::{Random, caught, compared, seeds};

fn random_events(random: &mut Random) -> (usize, usize, Vec<(usize, Owned)>) {
    let (threads, addresses) = (2 + random.below(5) / 2, 1 + random.below(3));
    let length = 2 + random.below(13);
    let events = (0..length).map(|_| {
        let thread = random.below(threads);
        (thread, random_action(random, addresses))
    });
    (threads, addresses, events.collect())
}

fn random_model(random: &mut Random) -> Model {
    if random.below(2) == 0 { Model::Tso } else { Model::Pso }
}

/// Whether the monitor asks about the event: under TSO not about every one.
fn is_asked(model: Model, events: &[(usize, Owned)], at: usize) -> bool {
    let direct = |event: &(usize, Owned)| matches!(event.1.action(), Action::Direct(_));
    let load = matches!(events[at].1.action(), Action::Load(_));
    model == Model::Pso || load || events[..=at].iter().any(direct)
}

fn row(model: Model, action: Action<'_>) -> usize {
    let kind = match action {
        Action::Load(_) => 0,
        Action::Store(_) => 1,
        Action::Update { writes: true, .. } => 2,
        Action::Update { writes: false, .. } => 3,
        Action::Direct(_) => 4,
        Action::Block(accesses) if accesses.len() < 2 => 5,
        Action::Block(_) => 6,
        Action::Fence { .. } | Action::Drain(_) => 7,
    };
    match model {
        Model::Tso => kind,
        Model::Pso => 8 + kind,
    }
}

#[test]
fn random_executions_are_judged_as_by_the_relations() {
    let (mut found, mut drawn) = ([0; 16], 0);
    for seed in seeds(8_000) {
        drawn += 1;
        let mut random = Random::new(seed);
        let model = random_model(&mut random);
        let (threads, addresses, events) = random_events(&mut random);
        let told = answers(&mut Monitor::new(model, threads, addresses), &events);
        let execution = execution(model, &events);
        for (at, answer) in told.iter().enumerate() {
            let about = || format!("seed {seed}, event {at} of {model:?} {events:?}");
            if !is_asked(model, &events, at) {
                assert_eq!(*answer, None, "{}", about());
                continue;
            }
            let possible = execution.borderline(at);
            match answer {
                None => assert!(possible.is_empty(), "{possible:?} {}", about()),
                Some(Borderline { event, before }) => {
                    assert_eq!(*event, at);
                    assert!(possible.contains(before), "{before} {possible:?} {}", about());
                    found[row(model, events[at].1.action())] += 1;
                }
            }
        }
    }
    compared("executions: monitor and relations", drawn);
    // In a hundred thousand.
    let enough = [700, 70, 5, 5, 100, 5, 150, 0, 1000, 1000, 120, 200, 120, 30, 700, 0];
    for (row, (found, enough)) in found.iter().zip(enough).enumerate() {
        assert!(found * 100_000 >= enough * drawn, "only {found} borderline events of kind {row}");
    }
    assert_eq!((found[7], found[15]), (0, 0), "fences and drains are never borderline");
}

/// Whether the monitor, with an error or not, and the relations differ about an execution; or about what comes
/// after going back.
fn differs(seed: u64, mutation: Mutation) -> bool {
    let mut random = Random::new(seed);
    let model = random_model(&mut random);
    let (threads, addresses, events) = random_events(&mut random);
    let mut monitor = Monitor::new(model, threads, addresses).with_mutation(mutation);
    let start = monitor.mark();
    let told = answers(&mut monitor, &events);
    monitor.undo(start);
    let execution = execution(model, &events);
    let wrong = |(at, answer): (usize, &Option<Borderline>)| match answer {
        None => is_asked(model, &events, at) && !execution.borderline(at).is_empty(),
        Some(found) => !execution.borderline(at).contains(&found.before),
    };
    told.iter().enumerate().any(wrong) || answers(&mut monitor, &events) != told
}

#[test]
fn every_mutation_of_the_monitor_is_noticed() {
    for mutation in [
        Mutation::NoForwarding,
        Mutation::ReadersForgotten,
        Mutation::StoreLoadIgnored,
        Mutation::StoreStoreIgnored,
        Mutation::DrainIgnored,
        Mutation::UpdatesTorn,
        Mutation::BlocksTriedOnce,
        Mutation::WritesKept,
    ] {
        // A monitor with an error may also lose track of its clocks and panic.
        let notices = |seed| caught(|| Ok(differs(seed, mutation))).unwrap_or(true);
        let noticed = (0..8_000).any(notices);
        assert!(noticed, "{mutation:?} goes unnoticed");
    }
}

#[test]
fn random_executions_are_explained() {
    let mut explained = 0;
    for seed in seeds(4_000) {
        let mut random = Random::new(1_000_000 + seed);
        let model = random_model(&mut random);
        let (threads, addresses, events) = random_events(&mut random);
        let execution = execution(model, &events);
        let told = answers(&mut Monitor::new(model, threads, addresses), &events);
        for Borderline { event, before } in told.into_iter().flatten() {
            explained += 1;
            let order = execution.order(event, before);
            let position = |wanted| order.iter().position(|&it| it == wanted);
            let accesses = events[..=event].iter().filter(|(_, action)| {
                !matches!(action.action(), Action::Fence { .. } | Action::Drain(_))
            });
            assert_eq!(order.len(), accesses.count());
            assert!(position(event) < position(before));
            for (from, to) in execution.relaxed(event, before) {
                assert!(position(from).is_some() && position(from) < position(to));
            }
            let cycle = execution.cycle(event, before);
            assert_eq!((cycle[0].from, cycle[0].to), (event, before));
            assert_eq!(cycle.last().map(|step| step.to), Some(event));
            assert!(cycle.windows(2).all(|pair| pair[0].to == pair[1].from));
            for step in &cycle[1..] {
                check_step(&events, event, step);
            }
        }
    }
    compared("explanations", explained);
    assert!(explained > 160, "{explained}");
}

/// A step of a cycle that was so in the execution itself; those that touch the moved event are only looked at
/// roughly.
fn check_step(events: &[(usize, Owned)], moved: usize, step: &Step) {
    type Touch = (u32, bool, bool);
    let touches = |event: usize| -> Vec<Touch> {
        match events[event].1.action() {
            Action::Load(a) => vec![(a, true, false)],
            Action::Store(a) => vec![(a, false, true)],
            Action::Update { address, writes } => vec![(address, true, writes)],
            Action::Direct(a) => vec![(a, true, true)],
            Action::Block(accesses) => {
                accesses.iter().map(|it| (it.address, it.reads, it.writes)).collect()
            }
            Action::Fence { .. } | Action::Drain(_) => Vec::new(),
        }
    };
    let meets = |wanted: &dyn Fn(Touch, Touch) -> bool| {
        let (first, second) = (touches(step.from), touches(step.to));
        first.iter().any(|&f| second.iter().any(|&s| f.0 == s.0 && wanted(f, s)))
    };
    if step.to != moved {
        assert!(step.from < step.to, "{step:?}");
    }
    match step.reason {
        Reason::ProgramOrder => {
            assert!(step.from < step.to && events[step.from].0 == events[step.to].0);
        }
        Reason::ReadsFrom => assert!(meets(&|first, second| first.2 && second.1)),
        Reason::ReadsBefore => assert!(meets(&|first, second| first.1 && second.2)),
        Reason::Overwrites => assert!(meets(&|first, second| first.2 && second.2)),
    }
}

#[test]
fn random_executions_can_be_undone() {
    let mut undone = 0;
    for seed in seeds(2_000) {
        let mut random = Random::new(2_000_000 + seed);
        let model = random_model(&mut random);
        let (threads, addresses, events) = random_events(&mut random);
        let expected = answers(&mut Monitor::new(model, threads, addresses), &events);
        let mut monitor = Monitor::new(model, threads, addresses);
        let mut marks = vec![monitor.mark()];
        let mut steps = 0;
        while monitor.len() < events.len() {
            steps += 1;
            if random.below(4) == 0 && steps < 100 {
                let back = random.below(marks.len());
                monitor.undo(marks[back]);
                marks.truncate(back + 1);
                // Something else on the way, and back again.
                let (thread, other) =
                    (random.below(threads), random_action(&mut random, addresses));
                monitor.event(thread, other.action());
                monitor.undo(marks[back]);
                assert_eq!(monitor.len(), back);
                undone += 1;
            } else {
                let at = monitor.len();
                let (thread, action) = &events[at];
                assert_eq!(monitor.event(*thread, action.action()), expected[at], "seed {seed}");
                marks.push(monitor.mark());
            }
        }
    }
    compared("steps undone", undone);
    assert!(undone > 2_000, "{undone}");
}

/// Stores under TSO are not asked about because some load of another execution tells as much; not because they
/// could not be moved. The litmus test `R` is an example, so the relations find some.
#[test]
fn tso_stores_can_be_moved_too() {
    let (x, y) = (0, 1);
    let events =
        [(0, Action::Store(x)), (0, Action::Load(y)), (1, Action::Store(y)), (1, Action::Store(x))]
            .map(|(thread, action)| (thread, Owned::Plain(action)));
    assert_eq!(execution(Model::Tso, &events).borderline(3), [0]);
    let asked = answers(&mut Monitor::new(Model::Tso, 2, 2), &events);
    assert_eq!(asked, [None; 4]);
    let other =
        [(1, Action::Store(y)), (1, Action::Store(x)), (0, Action::Store(x)), (0, Action::Load(y))]
            .map(|(thread, action)| (thread, Owned::Plain(action)));
    let asked = answers(&mut Monitor::new(Model::Tso, 2, 2), &other);
    assert_eq!(asked[3], Some(Borderline { event: 3, before: 0 }));
}
