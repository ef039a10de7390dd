//! Small executions with known answers: the paper's figure, Dekker, and each kind of fence under
//! each model.

use fencepost_monitor::{Access, Action, Borderline, Edge, EdgeKind, Execution, Model, Monitor};

const X: u32 = 0;
const Y: u32 = 1;
const Z: u32 = 2;

const STORE_LOAD: Action<'static> = Action::Fence { store_store: false, store_load: true };
const STORE_STORE: Action<'static> = Action::Fence { store_store: true, store_load: false };
const FULL: Action<'static> = Action::Block(&[]);

/// Returns the answers for an execution as pairs of a borderline event and the write that it
/// overtakes.
fn borderline_events(model: Model, events: &[(usize, Action<'_>)]) -> Vec<(usize, usize)> {
    let mut monitor = Monitor::new(model, 3, 3);
    let answers = events.iter().filter_map(|&(thread, action)| monitor.add_event(thread, action));
    answers.map(|Borderline { event, before }| (event, before)).collect()
}

/// Store buffering: each of two threads stores to one address and loads the other, with the actions
/// `between` in between.
fn store_buffering(model: Model, between: [&[Action<'_>]; 2]) -> Vec<(usize, usize)> {
    let mut events = vec![(0, Action::Store(X))];
    events.extend(between[0].iter().map(|&action| (0, action)));
    events.push((0, Action::Load(Y)));
    events.push((1, Action::Store(Y)));
    events.extend(between[1].iter().map(|&action| (1, action)));
    events.push((1, Action::Load(X)));
    borderline_events(model, &events)
}

/// Message passing: one thread stores to X, then to Y; the other loads Y, then X.
fn message_passing(model: Model, between: &[Action<'_>]) -> Vec<(usize, usize)> {
    let mut events = vec![(0, Action::Store(X))];
    events.extend(between.iter().map(|&action| (0, action)));
    events.extend([(0, Action::Store(Y)), (1, Action::Load(Y)), (1, Action::Load(X))]);
    borderline_events(model, &events)
}

#[test]
fn the_execution_of_figure_1b_is_borderline() {
    for model in [Model::Tso, Model::Pso] {
        assert_eq!(store_buffering(model, [&[], &[]]), [(3, 0)]);
    }
}

#[test]
fn dekker_needs_full_fences() {
    // Thread 0 sets its flag, reads the other flag as unset, enters and leaves the critical
    // section. Then thread 1 runs.
    let events = [
        (0, Action::Store(X)),
        (0, Action::Load(Y)),
        (0, Action::Store(X)),
        (1, Action::Store(Y)),
        (1, Action::Load(X)),
    ];
    assert_eq!(
        borderline_events(Model::Tso, &events),
        [(4, 0)],
        "the load overtakes the first store to the flag"
    );
    let fenced = [
        (0, Action::Store(X)),
        (0, FULL),
        (0, Action::Load(Y)),
        (0, Action::Store(X)),
        (1, Action::Store(Y)),
        (1, FULL),
        (1, Action::Load(X)),
    ];
    // The store after thread 0's load is not ordered before that load, so it causes no cycle.
    assert_eq!(borderline_events(Model::Tso, &fenced), []);
}

#[test]
fn store_buffering_needs_a_store_load_fence_in_both_threads() {
    for model in [Model::Tso, Model::Pso] {
        assert_eq!(store_buffering(model, [&[FULL], &[FULL]]), [], "both");
        assert_eq!(store_buffering(model, [&[STORE_LOAD], &[STORE_LOAD]]), [], "both");
        assert_eq!(store_buffering(model, [&[], &[STORE_LOAD]]), [(4, 0)], "second only");
        assert_eq!(store_buffering(model, [&[STORE_LOAD], &[]]), [(4, 0)], "first only");
        assert_eq!(store_buffering(model, [&[STORE_STORE], &[STORE_STORE]]), [(5, 0)]);
        let drain = [Action::Drain(X), Action::Drain(Y)];
        assert_eq!(store_buffering(model, [&drain[..1], &drain[1..]]), [], "own address");
        assert_eq!(store_buffering(model, [&drain[1..], &drain[..1]]), [(5, 0)], "other address");
        let update = [Action::Update { address: Z, writes: false }];
        let with_update = store_buffering(model, [&update, &update]);
        match model {
            Model::Tso => assert_eq!(with_update, [], "an update waits for all stores"),
            Model::Pso => assert_eq!(with_update, [(5, 0)], "an update waits for its own address"),
        }
    }
}

#[test]
fn a_drain_commits_older_stores_only_under_tso() {
    // The drained store is younger than the store to X: only a single queue orders the two stores.
    let both: [&[Action<'_>]; 2] =
        [&[Action::Store(Z), Action::Drain(Z)], &[Action::Store(Z), Action::Drain(Z)]];
    assert_eq!(store_buffering(Model::Tso, both), []);
    assert!(store_buffering(Model::Pso, both).contains(&(7, 0)));
}

#[test]
fn message_passing_needs_a_store_store_fence_under_pso() {
    assert_eq!(message_passing(Model::Tso, &[]), []);
    assert_eq!(message_passing(Model::Pso, &[]), [(3, 0)]);
    assert_eq!(message_passing(Model::Pso, &[STORE_STORE]), []);
    assert_eq!(message_passing(Model::Pso, &[STORE_LOAD]), [(4, 0)]);
    assert_eq!(message_passing(Model::Pso, &[Action::Drain(X)]), []);
    assert_eq!(message_passing(Model::Pso, &[Action::Drain(Y)]), [(4, 0)]);
    assert_eq!(message_passing(Model::Pso, &[FULL]), []);
    assert_eq!(
        message_passing(Model::Pso, &[STORE_LOAD, Action::Load(Z)]),
        [],
        "a load after the fence"
    );
}

#[test]
fn direct_accesses_overtake_pending_stores() {
    let program = |between: &[Action<'static>]| {
        let mut events = vec![(0, Action::Store(X))];
        events.extend(between.iter().map(|&action| (0, action)));
        events.extend([(0, Action::Direct(Y)), (1, Action::Direct(Y)), (1, Action::Load(X))]);
        events
    };
    for model in [Model::Tso, Model::Pso] {
        assert_eq!(borderline_events(model, &program(&[])), [(3, 0)]);
        assert_eq!(
            borderline_events(model, &program(&[STORE_LOAD])),
            [(4, 0)],
            "no fence for loads"
        );
        assert_eq!(borderline_events(model, &program(&[STORE_LOAD, Action::Load(Z)])), []);
        assert_eq!(borderline_events(model, &program(&[Action::Drain(X)])), []);
        assert_eq!(borderline_events(model, &program(&[FULL])), []);
    }
}

#[test]
fn a_store_is_not_moved_between_an_update_and_the_write_it_reads() {
    let program = |last: Action<'static>| {
        [(0, last), (0, Action::Load(Y)), (1, Action::Store(Y)), (1, Action::Store(X))]
    };
    assert_eq!(borderline_events(Model::Pso, &program(Action::Store(X))), [(3, 0)]);
    assert_eq!(
        borderline_events(Model::Pso, &program(Action::Update { address: X, writes: true })),
        []
    );
    // The same holds for a block that reads X. A store can be moved before a block that only
    // writes X.
    let block = |access: Access| {
        let accesses = [access, Access::read(Y)];
        let events = [(0, Action::Block(&accesses)), (1, Action::Store(Y)), (1, Action::Store(X))];
        borderline_events(Model::Pso, &events)
    };
    assert_eq!(block(Access::update(X)), []);
    assert_eq!(block(Access::write(X)), [(2, 0)]);
}

#[test]
fn a_block_moves_with_all_its_addresses() {
    // The block reads the old X and the new Y. Under PSO this is possible without another event
    // of its thread.
    let accesses = [Access::read(X), Access::read(Y)];
    let events = [(0, Action::Store(X)), (0, Action::Store(Y)), (1, Action::Block(&accesses))];
    assert_eq!(borderline_events(Model::Pso, &events), [(2, 0)]);
    let mut fenced = events.to_vec();
    fenced.insert(1, (0, STORE_STORE));
    assert_eq!(borderline_events(Model::Pso, &fenced), []);
}

#[test]
fn immediate_edges_have_the_right_kinds() {
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
    let edge = |from, to, kind| Edge { from, to, kind };
    let expected = [
        edge(0, 1, EdgeKind::ReadsFrom),
        edge(0, 3, EdgeKind::ProgramOrder),
        edge(1, 3, EdgeKind::FromRead),
        edge(3, 4, EdgeKind::Coherence),
        edge(3, 5, EdgeKind::ProgramOrder),
    ];
    assert_eq!(execution.edges(), expected);
}

#[test]
fn the_explanation_is_a_shortest_cycle_and_a_valid_order() {
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
    let edge = |from, to, kind| Edge { from, to, kind };
    let expected = [
        edge(4, 0, EdgeKind::FromRead),
        edge(0, 2, EdgeKind::ProgramOrder),
        edge(2, 3, EdgeKind::FromRead),
        edge(3, 4, EdgeKind::ProgramOrder),
    ];
    assert_eq!(execution.cycle(4, 0), expected);
    assert_eq!(execution.reordered(4, 0), [2, 3, 4, 0, 1]);
    assert!(execution.cycle(4, 3).is_empty() && execution.reordered(4, 3).is_empty());
}
