//! Random executions: compares each answer of the monitor with the oracle, and checks
//! explanations and undo.

use crate::common::{OwnedAction, answers, execution, random_action};
use fencepost_monitor::{Access, Action, Borderline, Edge, EdgeKind, Model, Monitor, Mutation};
use fencepost_testkit::{Random, catch_panic, report_comparisons, seeds};

fn random_events(random: &mut Random) -> (usize, usize, Vec<(usize, OwnedAction)>) {
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

/// Returns whether the monitor checks the event. Under TSO it does not check every event.
fn is_checked(model: Model, events: &[(usize, OwnedAction)], at: usize) -> bool {
    let direct = |event: &(usize, OwnedAction)| matches!(event.1.action(), Action::Direct(_));
    let load = matches!(events[at].1.action(), Action::Load(_));
    model == Model::Pso || load || events[..=at].iter().any(direct)
}

/// Returns the index of the model and the kind of action in the table of counts.
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
fn random_executions_get_the_same_answers_from_the_oracle() {
    let (mut found, mut executions) = ([0; 16], 0);
    for seed in seeds(8_000) {
        executions += 1;
        let mut random = Random::new(seed);
        let model = random_model(&mut random);
        let (threads, addresses, events) = random_events(&mut random);
        let answers = answers(&mut Monitor::new(model, threads, addresses), &events);
        let execution = execution(model, &events);
        for (at, answer) in answers.iter().enumerate() {
            let context = || format!("seed {seed}, event {at} of {model:?} {events:?}");
            if !is_checked(model, &events, at) {
                assert_eq!(*answer, None, "{}", context());
                continue;
            }
            let expected = execution.borderline(at);
            match answer {
                None => assert!(expected.is_empty(), "{expected:?} {}", context()),
                Some(Borderline { event, before }) => {
                    assert_eq!(*event, at);
                    assert!(expected.contains(before), "{before} {expected:?} {}", context());
                    found[row(model, events[at].1.action())] += 1;
                }
            }
        }
    }
    report_comparisons("executions: monitor and relations", executions);
    // The minimal numbers of borderline events for 100,000 executions.
    let minimums = [700, 70, 5, 5, 100, 5, 150, 0, 1000, 1000, 120, 200, 120, 30, 700, 0];
    for (row, (found, minimum)) in found.iter().zip(minimums).enumerate() {
        assert!(
            found * 100_000 >= minimum * executions,
            "only {found} borderline events of kind {row}"
        );
    }
    assert_eq!((found[7], found[15]), (0, 0), "fences and drains are never borderline");
}

/// Returns the accesses of an action.
fn accesses(action: Action<'_>) -> Vec<Access> {
    match action {
        Action::Load(address) => vec![Access::read(address)],
        Action::Store(address) => vec![Access::write(address)],
        Action::Update { address, writes } => vec![Access { address, reads: true, writes }],
        Action::Direct(address) => vec![Access::update(address)],
        Action::Block(accesses) => accesses.to_vec(),
        Action::Fence { .. } | Action::Drain(_) => Vec::new(),
    }
}

/// Returns whether two events may be exchanged without changing happens-before.
fn are_independent(one: &(usize, OwnedAction), other: &(usize, OwnedAction)) -> bool {
    let conflict = |a: &Access, b: &Access| a.address == b.address && (a.writes || b.writes);
    let (ours, theirs) = (accesses(one.1.action()), accesses(other.1.action()));
    one.0 != other.0 && !ours.iter().any(|a| theirs.iter().any(|b| conflict(a, b)))
}

#[test]
fn random_orders_with_the_same_happens_before_have_the_same_borderline_events() {
    let (mut moved, mut found) = (0, 0);
    for seed in seeds(4_000) {
        let mut random = Random::new(seed);
        let model = random_model(&mut random);
        let (threads, addresses, mut events) = random_events(&mut random);
        // Under TSO, a direct access makes the monitor check more events after it in the order.
        events.retain(|(_, action)| !matches!(action.action(), Action::Direct(_)));
        let borderline = |events: &[(usize, OwnedAction)]| {
            answers(&mut Monitor::new(model, threads, addresses), events)
        };
        let mut order: Vec<usize> = (0..events.len()).collect();
        for _ in 0..3 * events.len() {
            let at = random.below(events.len().max(2) - 1);
            let (Some(one), Some(other)) = (order.get(at), order.get(at + 1)) else { continue };
            if are_independent(&events[*one], &events[*other]) {
                order.swap(at, at + 1);
                moved += 1;
            }
        }
        let reordered: Vec<_> = order.iter().map(|event| events[*event].clone()).collect();
        let first = borderline(&events);
        for (answer, event) in borderline(&reordered).iter().zip(&order) {
            let expected = first[*event].is_some();
            assert_eq!(answer.is_some(), expected, "seed {seed}, {model:?} {events:?} {order:?}");
            found += u64::from(expected);
        }
    }
    println!("{moved} exchanges, {found} borderline events");
    assert!(moved > 1_000 && found > 50, "{moved} exchanges, {found} borderline events");
}

/// Returns whether a monitor with a mutation and the oracle give different answers for an
/// execution, or whether the monitor gives different answers after undo.
fn differs(seed: u64, mutation: Mutation) -> bool {
    let mut random = Random::new(seed);
    let model = random_model(&mut random);
    let (threads, addresses, events) = random_events(&mut random);
    let mut monitor = Monitor::new(model, threads, addresses).with_mutation(mutation);
    let start = monitor.mark();
    let first_answers = answers(&mut monitor, &events);
    monitor.undo(start);
    // Another execution must leave no trace, either.
    let reversed: Vec<_> = events.iter().rev().cloned().collect();
    answers(&mut monitor, &reversed);
    monitor.undo(start);
    let execution = execution(model, &events);
    let wrong = |(at, answer): (usize, &Option<Borderline>)| match answer {
        None => is_checked(model, &events, at) && !execution.borderline(at).is_empty(),
        Some(found) => !execution.borderline(at).contains(&found.before),
    };
    first_answers.iter().enumerate().any(wrong) || answers(&mut monitor, &events) != first_answers
}

#[test]
fn every_mutation_of_the_monitor_is_detected() {
    for mutation in [
        Mutation::NoForwarding,
        Mutation::ReadersIgnored,
        Mutation::StoreLoadIgnored,
        Mutation::StoreStoreIgnored,
        Mutation::DrainIgnored,
        Mutation::UpdatesNotAtomic,
        Mutation::BlocksMovedToEarliestOnly,
        Mutation::WritesNotUndone,
        Mutation::CoversNotUndone,
    ] {
        // A mutation may also corrupt the clocks and make the monitor panic.
        let detects = |seed| catch_panic(|| Ok(differs(seed, mutation))).unwrap_or(true);
        let detected = (0..8_000).any(detects);
        assert!(detected, "no test detects {mutation:?}");
    }
}

#[test]
fn random_borderline_events_have_valid_explanations() {
    let mut explained = 0;
    for seed in seeds(4_000) {
        let mut random = Random::new(1_000_000 + seed);
        let model = random_model(&mut random);
        let (threads, addresses, events) = random_events(&mut random);
        let execution = execution(model, &events);
        let answers = answers(&mut Monitor::new(model, threads, addresses), &events);
        for Borderline { event, before } in answers.into_iter().flatten() {
            explained += 1;
            let order = execution.reordered(event, before);
            let position = |event| order.iter().position(|&other| other == event);
            let accesses = events[..=event].iter().filter(|(_, action)| {
                !matches!(action.action(), Action::Fence { .. } | Action::Drain(_))
            });
            assert_eq!(order.len(), accesses.count());
            assert!(position(event) < position(before));
            for (from, to) in execution.relaxed_edges(event, before) {
                assert!(position(from).is_some() && position(from) < position(to));
            }
            let cycle = execution.cycle(event, before);
            assert_eq!((cycle[0].from, cycle[0].to), (event, before));
            assert_eq!(cycle.last().map(|edge| edge.to), Some(event));
            assert!(cycle.windows(2).all(|pair| pair[0].to == pair[1].from));
            for edge in &cycle[1..] {
                check_edge(&events, event, edge);
            }
        }
    }
    report_comparisons("explanations", explained);
    assert!(explained > 160, "{explained}");
}

/// Checks that an edge of a cycle is an edge of the original execution. The order of the events
/// is not checked for edges to the moved event.
fn check_edge(events: &[(usize, OwnedAction)], moved: usize, edge: &Edge) {
    /// The address, whether it is read, and whether it is written.
    type AddressAccess = (u32, bool, bool);
    let accesses = |event: usize| -> Vec<AddressAccess> {
        match events[event].1.action() {
            Action::Load(a) => vec![(a, true, false)],
            Action::Store(a) => vec![(a, false, true)],
            Action::Update { address, writes } => vec![(address, true, writes)],
            Action::Direct(a) => vec![(a, true, true)],
            Action::Block(accesses) => accesses
                .iter()
                .map(|access| (access.address, access.reads, access.writes))
                .collect(),
            Action::Fence { .. } | Action::Drain(_) => Vec::new(),
        }
    };
    let any_pair = |matches: &dyn Fn(AddressAccess, AddressAccess) -> bool| {
        let (first, second) = (accesses(edge.from), accesses(edge.to));
        first.iter().any(|&f| second.iter().any(|&s| f.0 == s.0 && matches(f, s)))
    };
    if edge.to != moved {
        assert!(edge.from < edge.to, "{edge:?}");
    }
    match edge.kind {
        EdgeKind::ProgramOrder => {
            assert!(edge.from < edge.to && events[edge.from].0 == events[edge.to].0);
        }
        EdgeKind::ReadsFrom => assert!(any_pair(&|first, second| first.2 && second.1)),
        EdgeKind::FromRead => assert!(any_pair(&|first, second| first.1 && second.2)),
        EdgeKind::Coherence => assert!(any_pair(&|first, second| first.2 && second.2)),
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
                // Adds a different event and undoes it.
                let (thread, other) =
                    (random.below(threads), random_action(&mut random, addresses));
                monitor.add_event(thread, other.action());
                monitor.undo(marks[back]);
                assert_eq!(monitor.len(), back);
                undone += 1;
            } else {
                let at = monitor.len();
                let (thread, action) = &events[at];
                assert_eq!(
                    monitor.add_event(*thread, action.action()),
                    expected[at],
                    "seed {seed}"
                );
                marks.push(monitor.mark());
            }
        }
    }
    report_comparisons("steps undone", undone);
    assert!(undone > 2_000, "{undone}");
}

/// Under TSO the monitor does not check stores: a store can be borderline, but then a load of
/// another execution is borderline too. The oracle checks stores. The litmus test `R` is an
/// example.
#[test]
fn borderline_tso_stores_are_detected_by_a_load_of_another_execution() {
    let (x, y) = (0, 1);
    let events =
        [(0, Action::Store(x)), (0, Action::Load(y)), (1, Action::Store(y)), (1, Action::Store(x))]
            .map(|(thread, action)| (thread, OwnedAction::Plain(action)));
    assert_eq!(execution(Model::Tso, &events).borderline(3), [0]);
    let answers_to_stores = answers(&mut Monitor::new(Model::Tso, 2, 2), &events);
    assert_eq!(answers_to_stores, [None; 4]);
    let other =
        [(1, Action::Store(y)), (1, Action::Store(x)), (0, Action::Store(x)), (0, Action::Load(y))]
            .map(|(thread, action)| (thread, OwnedAction::Plain(action)));
    let answers_to_load = answers(&mut Monitor::new(Model::Tso, 2, 2), &other);
    assert_eq!(answers_to_load[3], Some(Borderline { event: 3, before: 0 }));
}
