//! Compares the cheapest placements with brute force over all placements.

use super::*;
use crate::candidates::Restrictions;
use crate::fence_costs::{FenceCosts, FenceKind};
use crate::hitting_set::Cost;
use fencepost_ir::{Address, Expr, LabelInfo, Loc, Place, Reg, Span, Stmt, Update};
use fencepost_testkit::{Random, report_comparisons, seeds};

fn load() -> Op {
    Op::Load { reg: Reg(0), from: Address::fixed(Loc(0)) }
}

fn store() -> Op {
    Op::Store { to: Address::fixed(Loc(1)), value: Expr::Const(1) }
}

fn update() -> Op {
    let update = Update::Swap { new: Expr::Const(1) };
    Op::Update { reg: None, at: Address::fixed(Loc(2)), update }
}

fn branch(then: usize, otherwise: usize) -> Op {
    let (then, otherwise) = (Pc::from_index(then), Pc::from_index(otherwise));
    Op::Branch { cond: Expr::Var(Reg(0)), then, otherwise }
}

/// Returns a problem with one thread that runs these operations. Every `skip` is a place. The label
/// of a statement is its position.
fn problem(ops: Vec<Op>) -> Problem {
    let labels = ops.len();
    let mut places = Vec::new();
    let mut code = Vec::new();
    for (at, op) in ops.into_iter().enumerate() {
        let label = Label(at as u32);
        let (offset, at_end, wrap, loops) = (at as u32, false, None, 0);
        let (written, order) = (None, None);
        if matches!(op, Op::Skip) {
            places.push(Place { label, offset, at_end, wrap, loops, written, order });
        }
        code.push(Stmt { label, op, next: Pc::from_index(at + 1), critical: false });
    }
    let info = LabelInfo { span: Span::default(), text: String::new(), function: "p".into() };
    let thread = Thread { name: "p".into(), registers: Vec::new(), code };
    let labels = vec![info; labels];
    let program = Program { threads: vec![thread], labels, places, ..Program::default() };
    Problem { program, ..Problem::default() }
}

fn random_problem(draw: &mut Random) -> Problem {
    let length = 6 + draw.below(7);
    let mut places = 0;
    let mut ops: Vec<Op> = Vec::new();
    for _ in 0..length {
        ops.push(match draw.below(12) {
            0..=2 if places < 4 => {
                places += 1;
                Op::Skip
            }
            0..=3 => load(),
            4..=6 => store(),
            7 => update(),
            8..=10 => branch(draw.below(length), draw.below(length)),
            _ => Op::Fence(FenceKinds::LOAD_LOAD),
        });
    }
    ops.push(Op::Halt);
    problem(ops)
}

/// Returns a random formula over the accesses of a problem.
fn random_formula(problem: &Problem, draw: &mut Random) -> Avoidance {
    let code = &problem.program.threads[0].code;
    let accesses: Vec<Label> =
        code.iter().filter(|s| s.op.access().is_some()).map(|s| s.label).collect();
    let mut constraints = BTreeSet::new();
    for _ in 0..if accesses.is_empty() { 0 } else { 1 + draw.below(4) } {
        let before = accesses[draw.below(accesses.len())];
        constraints.insert(Constraint { before, after: accesses[draw.below(accesses.len())] });
    }
    let constraints: Vec<Constraint> = constraints.into_iter().collect();
    let mut formula = Clauses::new(constraints.len());
    for _ in 0..if constraints.is_empty() { 0 } else { 1 + draw.below(3) } {
        let size = 1 + draw.below(2);
        formula.add(Set::of(constraints.len(), (0..size).map(|_| draw.below(constraints.len()))));
    }
    avoidance_of(constraints, formula)
}

fn avoidance_of(constraints: Vec<Constraint>, formula: Clauses) -> Avoidance {
    let (states, edges, bound) = (0, 0, None);
    let (acyclic, is_unavoidable) = (true, false);
    Avoidance { constraints, formula, states, edges, bound, acyclic, is_unavoidable }
}

/// Returns whether the fenced program has no path between the two statements without a suitable
/// fence.
fn has_no_unfenced_path(program: &Program, constraint: Constraint) -> bool {
    let code = &program.threads[0].code;
    let is_reachable = |at: usize| {
        let mut seen = BTreeSet::from([0]);
        let mut stack = vec![0];
        while let Some(at) = stack.pop() {
            for next in flow::successors(&code[at]) {
                if seen.insert(next.index()) {
                    stack.push(next.index());
                }
            }
        }
        seen.contains(&at)
    };
    for (from, first) in code.iter().enumerate().filter(|(_, s)| s.label == constraint.before) {
        let Some(before) = first.op.access().filter(|_| is_reachable(from)) else { continue };
        let mut seen = BTreeSet::new();
        let mut stack: Vec<Pc> = flow::successors(first).collect();
        while let Some(pc) = stack.pop() {
            let stmt = &code[pc.index()];
            let after =
                code[constraint.after.index()].op.access().expect("a constraint relates accesses");
            if matches!(stmt.op, Op::Fence(kinds) if kinds.orders(before, after))
                || !seen.insert(pc)
            {
                continue;
            }
            if stmt.label == constraint.after {
                return false;
            }
            stack.extend(flow::successors(stmt));
        }
    }
    true
}

#[test]
fn random_formulas_get_the_cheapest_placements() {
    let fence_costs = FenceCosts::with_default_costs(&[
        FenceKind::Fence(FenceKinds::FULL),
        FenceKind::Fence(FenceKinds::STORE_STORE),
        FenceKind::Fence(FenceKinds::LOAD_STORE),
    ]);
    let (mut placed, mut refused, mut fenced_programs) = (0, 0, 0);
    for seed in seeds(300) {
        let mut draw = Random::new(seed);
        let problems = [random_problem(&mut draw)];
        let avoidance = random_formula(&problems[0], &mut draw);
        let restrictions = Restrictions::default();
        let candidates =
            Candidates::new(&problems, &fence_costs, &restrictions, WrittenFences::Kept);
        assert!(candidates.len() <= 12, "brute force tries all subsets");
        let mut best: Option<(Cost, usize)> = None;
        for bits in 0..1_usize << candidates.len() {
            let chosen = (0..candidates.len()).filter(|n| bits >> n & 1 == 1);
            let set = Set::of(candidates.len(), chosen);
            let cost = Clauses::cost(&set, &candidates.weights);
            if best.is_some_and(|(lowest, _)| lowest < cost) {
                continue;
            }
            let program = &problems[0].program;
            let fenced =
                placement::fenced(program, &candidates.placement(&set), WrittenFences::Kept);
            let is_enforced = |clause: &Set| {
                clause.iter().any(|at| has_no_unfenced_path(&fenced, avoidance.constraints[at]))
            };
            if avoidance.formula.iter().all(is_enforced) {
                let equally_cheap =
                    best.map_or(0, |(lowest, n)| if lowest == cost { n } else { 0 });
                best = Some((cost, equally_cheap + 1));
            }
        }
        match (
            place_for_constraints(
                &problems,
                &avoidance,
                &candidates,
                usize::MAX,
                &Cancel::default(),
            ),
            best,
        ) {
            (Ok(found), Some((cost, count))) => {
                assert_eq!(found.placements.len(), count, "seed {seed}");
                for placement in &found.placements {
                    let positions = placement.atoms.iter().filter_map(|a| candidates.position(*a));
                    let set = Set::of(candidates.len(), positions);
                    assert_eq!(Clauses::cost(&set, &candidates.weights), cost, "seed {seed}");
                }
                placed += 1;
                fenced_programs += u64::from(cost > 0);
            }
            (Err(_), None) => refused += 1,
            (found, best) => panic!("seed {seed}: found {found:?}, brute force {best:?}"),
        }
    }
    report_comparisons("placements for formulas: brute force", placed + refused);
    assert!(
        placed > 100 && refused > 20 && fenced_programs > 20,
        "{placed} {refused} {fenced_programs}"
    );
}

fn candidates_of(problems: &[Problem], kinds: &[FenceKind]) -> Candidates {
    Candidates::new(
        problems,
        &FenceCosts::with_default_costs(kinds),
        &Restrictions::default(),
        WrittenFences::Kept,
    )
}

fn single_constraint(before: u32, after: u32) -> Avoidance {
    let constraint = Constraint { before: Label(before), after: Label(after) };
    let mut formula = Clauses::new(1);
    formula.add(Set::of(1, [0]));
    avoidance_of(vec![constraint], formula)
}

#[test]
fn a_drain_orders_only_its_own_store() {
    let problems = [problem(vec![store(), Op::Skip, store(), load(), Op::Halt])];
    let candidates = candidates_of(&problems, &[FenceKind::Drain]);
    let found = place_for_constraints(
        &problems,
        &single_constraint(0, 3),
        &candidates,
        1,
        &Cancel::default(),
    )
    .expect("the drain is sufficient");
    let barriers: Vec<Barrier> = found.placements[0].atoms.iter().map(|a| a.barrier).collect();
    assert_eq!(barriers, [Barrier::Drain(Label(0))]);
    let refused = place_for_constraints(
        &problems,
        &single_constraint(2, 3),
        &candidates,
        1,
        &Cancel::default(),
    )
    .expect_err("the drain does not order the second store");
    let constraints = vec![Constraint { before: Label(2), after: Label(3) }];
    assert_eq!(refused, NoPlacement::Unenforceable(Unenforceable { constraints }));
}

#[test]
fn an_atomic_block_on_the_path_orders_accesses() {
    let with_block = vec![store(), Op::AtomicBegin, load(), Op::AtomicEnd, load(), Op::Halt];
    let problems = [problem(with_block)];
    let candidates = candidates_of(&problems, &[FenceKind::Fence(FenceKinds::FULL)]);
    for (before, after) in [(0, 4), (0, 2), (2, 4)] {
        let found = place_for_constraints(
            &problems,
            &single_constraint(before, after),
            &candidates,
            1,
            &Cancel::default(),
        );
        let found = found.expect("the two accesses are never pending together");
        assert!(found.placements[0].atoms.is_empty());
    }
    let without_block = [problem(vec![store(), load(), Op::Halt])];
    assert!(
        place_for_constraints(
            &without_block,
            &single_constraint(0, 1),
            &candidates,
            1,
            &Cancel::default()
        )
        .is_err()
    );
}
