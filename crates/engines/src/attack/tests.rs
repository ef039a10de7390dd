//! Small handwritten programs with locations `x`, `y`, `z` and a pool of two records.

use super::*;
use crate::happens_before::cycle;
use fencepost_ir::Violation;
use fencepost_ir::op::{Address, Update};
use fencepost_ir::program::{Location, Pool, Program, Register, Stmt, Thread};
use fencepost_ir::spin_loops::spin_assume;
use fencepost_ir::{
    BinOp, Expr, FenceKinds, Label, Loc, Op, Pc, PoolId, Property, Reg, Type, Value,
};
use fencepost_models::replay::{ReplayedRun, replay};
use fencepost_models::{MemoryModel, ModelSpec, Reductions, Visitor};
use fencepost_search::{Cancel, Progress};
use std::num::NonZeroUsize;

const X: Loc = Loc(0);
const Y: Loc = Loc(1);
const Z: Loc = Loc(2);
const R: Reg = Reg(0);
const S: Reg = Reg(1);
const FULL: Op = Op::Fence(FenceKinds::FULL);

fn store(loc: Loc, value: Value) -> Op {
    Op::Store { to: Address::fixed(loc), value: Expr::Const(value) }
}

fn load(reg: Reg, loc: Loc) -> Op {
    Op::Load { reg, from: Address::fixed(loc) }
}

fn cas(loc: Loc, expected: Value) -> Op {
    let update = Update::cas(Expr::Const(expected), Expr::Const(2));
    Op::Update { reg: None, at: Address::fixed(loc), update }
}

fn drain(loc: Loc) -> Op {
    Op::Drain(Address::fixed(loc))
}

fn new() -> Op {
    Op::New { reg: R, pool: PoolId(0) }
}

fn is(reg: Reg, value: Value) -> Expr<Reg> {
    Expr::Binary(BinOp::Eq, Box::new(Expr::Var(reg)), Box::new(Expr::Const(value)))
}

/// Jumps to `then` if the condition holds, otherwise to `otherwise`.
fn branch(cond: Expr<Reg>, then: u32, otherwise: u32) -> Op {
    Op::Branch { cond, then: Pc(then), otherwise: Pc(otherwise) }
}

fn again() -> Op {
    branch(Expr::Const(1), 0, 0)
}

/// Builds a problem. In each thread, a statement is followed by the next one, and the last by a
/// halt.
fn problem(threads: &[&[Op]]) -> Problem {
    let int = || Type::Int { range: None };
    let named = |name: &str| Location { name: name.into(), ty: int(), init: 0 };
    let thread = |(number, ops): (usize, &&[Op])| {
        let stmt = |(at, op): (usize, Op)| Stmt {
            label: Label((number * 100 + at) as u32),
            critical: op == Op::Leave,
            op,
            next: Pc::from_index(at + 1),
        };
        let registers = ["r", "s"].map(|name| Register { name: name.into(), ty: int() });
        let code = ops.iter().cloned().chain([Op::Halt]).enumerate().map(stmt).collect();
        Thread { name: format!("p{number}"), registers: registers.into(), code }
    };
    let program = Program {
        locations: ["x", "y", "z", "f", "f"].map(named).into(),
        pools: vec![Pool {
            name: "pool".into(),
            base: Loc(3),
            cells: 2,
            stride: 1,
            yields_null: false,
            is_local: false,
        }],
        threads: threads.iter().enumerate().map(thread).collect(),
        ..Program::default()
    };
    Problem { program, properties: vec![Property::Assertions], ..Problem::default() }
}

fn search_attack(problem: &Problem, check_properties: bool, threads: usize) -> AttackSearchResult {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let threads = NonZeroUsize::new(threads).expect("at least one");
    let settings = Settings { threads, ..Settings::default() };
    attack(&spin_assume(problem, false), check_properties, Effort::Proof, settings, budget)
}

/// Replays a trace on the model of this name.
fn replay_on(problem: &Problem, model: &str, trace: &Trace) -> ReplayedRun {
    struct Replayer<'a>(&'a Problem, &'a Trace);
    impl Visitor for Replayer<'_> {
        type Output = ReplayedRun;
        fn visit<M: MemoryModel>(self, model: M) -> ReplayedRun {
            let machine = Machine::new(self.0, model, Reductions::ALL);
            replay(&machine, self.1).expect("the trace must replay")
        }
    }
    let spec = ModelSpec::by_name(model).expect("a built-in model");
    spec.visit(MAX_PENDING, Replayer(problem, trace))
}

/// Replays an attack and checks that it is not sequentially consistent.
fn replay_attack(problem: &Problem, attack_result: &AttackResult) -> ReplayedRun {
    let AttackResult::Attack { init, steps } = attack_result else {
        panic!("expected an attack, found {attack_result:?}")
    };
    let trace = attack_trace(problem, Settings::default(), init, steps);
    let run = replay_on(problem, "tso", &trace);
    assert!(cycle(problem, &run).is_some(), "an attack is not sequentially consistent");
    run
}

/// Returns whether the program is robust. Replays the attack if it is not.
fn is_robust(threads: &[&[Op]]) -> bool {
    let mut problem = problem(threads);
    problem.allow_hangs();
    let one = search_attack(&problem, true, 1);
    let two = search_attack(&problem, true, 2);
    assert_eq!((one.statistics.states, &one.found), (two.statistics.states, &two.found));
    match one.found {
        Some(attack_result) => {
            let run = replay_attack(&problem, &attack_result);
            assert_eq!(run.violation, None);
            assert!(run.steps.last().is_some_and(|last| last.pending.iter().all(Vec::is_empty)));
            false
        }
        None => {
            assert_eq!(one.coverage, Coverage::Exhaustive);
            true
        }
    }
}

#[test]
fn a_load_may_overtake_a_store() {
    let (one, other) = ([store(X, 1), load(R, Y)], [store(Y, 1), load(R, X)]);
    assert!(!is_robust(&[&one, &other]));
    let fenced = [store(X, 1), FULL, load(R, Y)];
    assert!(!is_robust(&[&fenced, &other]));
    assert!(is_robust(&[&fenced, &[store(Y, 1), FULL, load(R, X)]]));
    // Updates and failed updates wait for the buffer.
    for found in [0, 7] {
        let [one, other] = [(X, Y), (Y, X)].map(|(x, y)| [store(x, 1), cas(Z, found), load(R, y)]);
        assert!(is_robust(&[&one, &other]));
    }
}

#[test]
fn only_loads_overtake_stores() {
    let read = [load(R, Y), load(S, X)];
    assert!(is_robust(&[&[store(X, 1), store(Y, 1)], &read]));
    assert!(is_robust(&[&[store(X, 1), store(Y, 1)], &[store(Y, 2), store(X, 2)]]));
    assert!(is_robust(&[&[load(R, X), store(Y, 1)], &[load(R, Y), store(X, 1)]]));
    // A location that no other thread writes always has the same value.
    assert!(is_robust(&[&[store(X, 1), load(R, Z)], &[store(Y, 1), load(R, X)]]));
}

#[test]
fn loops_need_no_bound() {
    let [one, other] = [(X, Y), (Y, X)].map(|(x, y)| [store(x, 1), load(R, y), again()]);
    assert!(!is_robust(&[&one, &other]));
    let [one, other] = [(X, Y), (Y, X)].map(|(x, y)| [store(x, 1), FULL, load(R, y), again()]);
    assert!(is_robust(&[&one, &other]));
}

#[test]
fn a_load_of_an_own_store_is_forwarded() {
    let one = [store(X, 1), load(R, X), load(S, Y)];
    assert!(!is_robust(&[&one, &[store(Y, 2), store(X, 2)]]));
    // The forwarded load reads nothing that another thread can change.
    let one = [store(X, 1), load(R, X)];
    assert!(is_robust(&[&one, &[store(Y, 2), store(X, 2)]]));
    // A forwarded load reads the youngest store of its thread.
    let one =
        |value| [store(X, 1), store(X, 2), load(R, X), branch(is(R, value), 4, 5), load(S, Y)];
    assert!(!is_robust(&[&one(2), &[store(Y, 1), load(R, X)]]));
    assert!(is_robust(&[&one(1), &[store(Y, 1), load(R, X)]]));
}

#[test]
fn a_drain_waits_for_its_own_location() {
    let other = [store(Y, 1), FULL, load(R, X)];
    assert!(is_robust(&[&[store(X, 1), drain(X), load(R, Y)], &other]));
    assert!(!is_robust(&[&[store(X, 1), drain(Z), load(R, Y)], &other]));
    // FIFO: committing the younger store commits the older one first.
    assert!(is_robust(&[&[store(X, 1), store(Z, 1), drain(Z), load(R, Y)], &other]));
    assert!(!is_robust(&[&[store(Z, 1), store(X, 1), drain(Z), load(R, Y)], &other]));
}

#[test]
fn only_store_load_fences_block_loads() {
    let other = [store(Y, 1), FULL, load(R, X)];
    for (kinds, robust) in [
        (FenceKinds::STORE_LOAD, true),
        (FenceKinds::STORE_STORE, false),
        (FenceKinds::ACQUIRE, false),
    ] {
        let one = [store(X, 1), Op::Fence(kinds), load(R, Y)];
        assert_eq!(is_robust(&[&one, &other]), robust, "{}", kinds.name());
    }
    // An allocation on one branch may overtake. A load on the other branch may not.
    let either = [Op::Choose { reg: S, lo: 0, hi: 1 }, branch(is(S, 1), 4, 6)];
    let ways = [load(R, Y), branch(Expr::Const(1), 7, 7), new()];
    let one = [&[store(X, 1), Op::Fence(FenceKinds::STORE_LOAD)], &either[..], &ways].concat();
    assert!(is_robust(&[&one, &other, &[new()]]));
}

#[test]
fn an_allocation_may_overtake_a_store() {
    let other = [new(), load(R, X)];
    assert!(!is_robust(&[&[store(X, 1), new()], &other]));
    assert!(!is_robust(&[&[store(X, 1), Op::Fence(FenceKinds::STORE_LOAD), new()], &other]));
    assert!(is_robust(&[&[store(X, 1), FULL, new()], &other]));
    assert!(is_robust(&[&[store(X, 1), new()], &[load(R, X)]]));
}

#[test]
fn happens_before_goes_through_several_threads() {
    let (one, three) = ([store(X, 1), load(R, Y)], [load(R, Z), load(S, X)]);
    assert!(!is_robust(&[&one, &[store(Y, 1), store(Z, 1)], &three]));
    assert!(is_robust(&[&one, &[store(Z, 1), store(Y, 1)], &three]));
    // An atomic block is one event.
    let block = [Op::AtomicBegin, store(Z, 1), store(Y, 1), Op::AtomicEnd];
    assert!(!is_robust(&[&one, &block, &three]));
}

#[test]
fn helpers_may_have_to_move_while_the_attacker_delays() {
    let (y_changes, end) = (load(S, Y), 6);
    let one = |z| {
        let first = [store(X, 1), load(R, Y), branch(is(R, 0), 3, end)];
        [&first[..], &[y_changes.clone(), branch(is(S, 1), 5, end), load(R, z)]].concat()
    };
    let three = [store(Z, 1), FULL, load(R, X)];
    assert!(!is_robust(&[&one(Z), &[store(Y, 1)], &three]));
    assert!(is_robust(&[&one(Y), &[store(Y, 1)], &three]));
}

#[test]
fn a_failed_spin_iteration_is_no_event() {
    let wait = [store(X, 1), load(R, Y), branch(is(R, 0), 1, 3)];
    assert!(is_robust(&[&wait, &[store(Y, 1), load(R, X)]]));
    // Two threads that wait for each other in an infinite loop: the core of most locks.
    let lock = |fence: Op, x, y| {
        [store(x, 1), fence, load(R, y), branch(is(R, 0), 4, 2), store(x, 0), again()]
    };
    assert!(!is_robust(&[&lock(Op::Skip, X, Y), &lock(Op::Skip, Y, X)]));
    assert!(is_robust(&[&lock(FULL, X, Y), &lock(FULL, Y, X)]));
}

#[test]
fn assertion_failures_under_sc_are_reported() {
    let (one, other) = ([store(X, 1), load(R, Y)], [store(Y, 1), load(R, X), Op::Assert(is(R, 1))]);
    let fails = problem(&[&one, &other]);
    let found = search_attack(&fails, true, 1).found;
    let Some(AttackResult::Violation(trace)) = found else {
        panic!("expected a violation, found {found:?}")
    };
    assert!(matches!(replay_on(&fails, "sc", &trace).violation, Some(Violation::Assertion(..))));
    // Without `check_properties`, the failing run shows the attack.
    let attack_result = search_attack(&fails, false, 1).found.expect("an attack");
    assert!(matches!(
        replay_attack(&fails, &attack_result).violation,
        Some(Violation::Assertion(..))
    ));
}

#[test]
fn property_violations_under_sc_are_reported() {
    let section = [store(X, 1), FULL, Op::Leave];
    let mut overlap = problem(&[&section, &section]);
    assert_eq!(search_attack(&overlap, true, 1).found, None);
    overlap.properties.push(Property::MutualExclusion);
    let mut stuck = problem(&[&[load(R, X), Op::Assume(is(R, 1))], &[store(X, 1)]]);
    assert_eq!(search_attack(&stuck, true, 1).found, None);
    stuck.properties.push(Property::DeadlockFree);
    let mut waiting = problem(&[&[load(R, X), branch(is(R, 0), 0, 2)], &[store(Y, 1)]]);
    for broken in [overlap, stuck, waiting.clone()] {
        let found = search_attack(&broken, true, 1).found;
        let Some(AttackResult::Violation(trace)) = found else {
            panic!("expected a violation, found {found:?}")
        };
        assert!(replay_on(&broken, "sc", &trace).violation.is_some());
        assert_eq!(search_attack(&broken, false, 1).found, None);
    }
    waiting.allow_hangs();
    assert_eq!(search_attack(&waiting, true, 1).found, None);
}
