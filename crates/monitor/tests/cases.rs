//! Small executions by hand: the paper's figure, Dekker, and each kind of fence under each model.

use fencepost_monitor::{Access, Action, Borderline, Execution, Model, Monitor, Reason, Step};

const X: u32 = 0;
const Y: u32 = 1;
const Z: u32 = 2;

const STORE_LOAD: Action<'static> = Action::Fence { store_store: false, store_load: true };
const STORE_STORE: Action<'static> = Action::Fence { store_store: true, store_load: false };
const FULL: Action<'static> = Action::Block(&[]);

/// The answers to an execution, as the pairs (event, write it could have come before).
fn asked(model: Model, events: &[(usize, Action<'_>)]) -> Vec<(usize, usize)> {
    let mut monitor = Monitor::new(model, 3, 3);
    let answers = events.iter().filter_map(|&(thread, action)| monitor.event(thread, action));
    answers.map(|Borderline { event, before }| (event, before)).collect()
}

/// Two threads that store to one address and load the other, with something between the two.
fn store_then_load(model: Model, between: [&[Action<'_>]; 2]) -> Vec<(usize, usize)> {
    let mut events = vec![(0, Action::Store(X))];
    events.extend(between[0].iter().map(|&action| (0, action)));
    events.push((0, Action::Load(Y)));
    events.push((1, Action::Store(Y)));
    events.extend(between[1].iter().map(|&action| (1, action)));
    events.push((1, Action::Load(X)));
    asked(model, &events)
}

/// A thread stores to X, then to Y; the other one sees Y and looks at X.
fn message(model: Model, between: &[Action<'_>]) -> Vec<(usize, usize)> {
    let mut events = vec![(0, Action::Store(X))];
    events.extend(between.iter().map(|&action| (0, action)));
    events.extend([(0, Action::Store(Y)), (1, Action::Load(Y)), (1, Action::Load(X))]);
    asked(model, &events)
}

#[test]
fn figure_1b() {
    for model in [Model::Tso, Model::Pso] {
        assert_eq!(store_then_load(model, [&[], &[]]), [(3, 0)]);
    }
}

#[test]
fn dekker_with_a_contended_flag() {
    // Thread 0 raises its flag, sees the other one down, enters, leaves; only then thread 1 looks.
    let events = [
        (0, Action::Store(X)),
        (0, Action::Load(Y)),
        (0, Action::Store(X)),
        (1, Action::Store(Y)),
        (1, Action::Load(X)),
    ];
    assert_eq!(asked(Model::Tso, &events), [(4, 0)], "the flag goes down later");
    let fenced = [
        (0, Action::Store(X)),
        (0, FULL),
        (0, Action::Load(Y)),
        (0, Action::Store(X)),
        (1, Action::Store(Y)),
        (1, FULL),
        (1, Action::Load(X)),
    ];
    // What follows the load is not before it: nothing makes thread 1 wait for that.
    assert_eq!(asked(Model::Tso, &fenced), []);
}

#[test]
fn fences_between_store_and_load() {
    for model in [Model::Tso, Model::Pso] {
        assert_eq!(store_then_load(model, [&[FULL], &[FULL]]), [], "both");
        assert_eq!(store_then_load(model, [&[STORE_LOAD], &[STORE_LOAD]]), [], "both");
        assert_eq!(store_then_load(model, [&[], &[STORE_LOAD]]), [(4, 0)], "second only");
        assert_eq!(store_then_load(model, [&[STORE_LOAD], &[]]), [(4, 0)], "first only");
        assert_eq!(store_then_load(model, [&[STORE_STORE], &[STORE_STORE]]), [(5, 0)]);
        let drain = [Action::Drain(X), Action::Drain(Y)];
        assert_eq!(store_then_load(model, [&drain[..1], &drain[1..]]), [], "own address");
        assert_eq!(store_then_load(model, [&drain[1..], &drain[..1]]), [(5, 0)], "the other's");
        let update = [Action::Update { address: Z, writes: false }];
        let through = store_then_load(model, [&update, &update]);
        match model {
            Model::Tso => assert_eq!(through, [], "an update waits for all stores"),
            Model::Pso => assert_eq!(through, [(5, 0)], "an update waits for its own address"),
        }
    }
}

#[test]
fn drains_and_queues() {
    // The drained store is behind the one that matters: only a single queue orders them.
    let both: [&[Action<'_>]; 2] =
        [&[Action::Store(Z), Action::Drain(Z)], &[Action::Store(Z), Action::Drain(Z)]];
    assert_eq!(store_then_load(Model::Tso, both), []);
    assert!(store_then_load(Model::Pso, both).contains(&(7, 0)));
}

#[test]
fn fences_between_stores() {
    assert_eq!(message(Model::Tso, &[]), []);
    assert_eq!(message(Model::Pso, &[]), [(3, 0)]);
    assert_eq!(message(Model::Pso, &[STORE_STORE]), []);
    assert_eq!(message(Model::Pso, &[STORE_LOAD]), [(4, 0)]);
    assert_eq!(message(Model::Pso, &[Action::Drain(X)]), []);
    assert_eq!(message(Model::Pso, &[Action::Drain(Y)]), [(4, 0)]);
    assert_eq!(message(Model::Pso, &[FULL]), []);
    assert_eq!(message(Model::Pso, &[STORE_LOAD, Action::Load(Z)]), [], "a load after the fence");
}

#[test]
fn direct_accesses_overtake() {
    let program = |between: &[Action<'static>]| {
        let mut events = vec![(0, Action::Store(X))];
        events.extend(between.iter().map(|&action| (0, action)));
        events.extend([(0, Action::Direct(Y)), (1, Action::Direct(Y)), (1, Action::Load(X))]);
        events
    };
    for model in [Model::Tso, Model::Pso] {
        assert_eq!(asked(model, &program(&[])), [(3, 0)]);
        assert_eq!(asked(model, &program(&[STORE_LOAD])), [(4, 0)], "no fence for loads");
        assert_eq!(asked(model, &program(&[STORE_LOAD, Action::Load(Z)])), []);
        assert_eq!(asked(model, &program(&[Action::Drain(X)])), []);
        assert_eq!(asked(model, &program(&[FULL])), []);
    }
}

#[test]
fn stores_do_not_part_an_update_from_what_it_read() {
    let program = |last: Action<'static>| {
        [(0, last), (0, Action::Load(Y)), (1, Action::Store(Y)), (1, Action::Store(X))]
    };
    assert_eq!(asked(Model::Pso, &program(Action::Store(X))), [(3, 0)]);
    assert_eq!(asked(Model::Pso, &program(Action::Update { address: X, writes: true })), []);
    // Nor a block from what it read; one that only writes may be overwritten by what comes later in time.
    let block = |access: Access| {
        let accesses = [access, Access::read(Y)];
        let events = [(0, Action::Block(&accesses)), (1, Action::Store(Y)), (1, Action::Store(X))];
        asked(Model::Pso, &events)
    };
    assert_eq!(block(Access::update(X)), []);
    assert_eq!(block(Access::write(X)), [(2, 0)]);
}

#[test]
fn blocks_move_with_all_their_addresses() {
    // The block reads both: the old X with the new Y is possible under PSO, and nothing of its own thread is needed.
    let accesses = [Access::read(X), Access::read(Y)];
    let events = [(0, Action::Store(X)), (0, Action::Store(Y)), (1, Action::Block(&accesses))];
    assert_eq!(asked(Model::Pso, &events), [(2, 0)]);
    let mut fenced = events.to_vec();
    fenced.insert(1, (0, STORE_STORE));
    assert_eq!(asked(Model::Pso, &fenced), []);
}

#[test]
fn neighbours_and_reasons() {
    let mut execution = Execution::new(Model::Tso);
    assert!(execution.is_empty() && execution.edges().is_empty());
    for (thread, action) in [
        (0, Action::Store(X)),
        (1, Action::Load(X)),
        (0, STORE_LOAD),
        (0, Action::Store(X)),
        (2, Action::Store(X)),
        (0, Action::Load(Y)),
    ] {
        execution.push(thread, action);
    }
    assert_eq!(execution.len(), 6);
    let step = |from, to, reason| Step { from, to, reason };
    let expected = [
        step(0, 1, Reason::ReadsFrom),
        step(0, 3, Reason::ProgramOrder),
        step(1, 3, Reason::ReadsBefore),
        step(3, 4, Reason::Overwrites),
        step(3, 5, Reason::ProgramOrder),
    ];
    assert_eq!(execution.edges(), expected);
}

#[test]
fn an_explanation_reads_well() {
    let mut execution = Execution::new(Model::Tso);
    for (thread, action) in [
        (0, Action::Store(X)),
        (0, Action::Store(Z)),
        (0, Action::Load(Y)),
        (1, Action::Store(Y)),
        (1, Action::Load(X)),
    ] {
        execution.push(thread, action);
    }
    assert_eq!(execution.borderline(4), [0]);
    let step = |from, to, reason| Step { from, to, reason };
    let expected = [
        step(4, 0, Reason::ReadsBefore),
        step(0, 2, Reason::ProgramOrder),
        step(2, 3, Reason::ReadsBefore),
        step(3, 4, Reason::ProgramOrder),
    ];
    assert_eq!(execution.cycle(4, 0), expected);
    assert_eq!(execution.order(4, 0), [2, 3, 4, 0, 1]);
    assert!(execution.cycle(4, 3).is_empty() && execution.order(4, 3).is_empty());
}
