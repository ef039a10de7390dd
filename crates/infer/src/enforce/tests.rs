//! The cheapest placement compared with brute force over all of them.

use super::*;
use crate::candidates::Restrictions;
use crate::hitting::Cost;
use crate::menu::{Dish, Menu};
use fencepost_ir::{Address, Expr, LabelInfo, Loc, Place, Reg, Span, Stmt, Update};
use fencepost_testkit::{Random, compared, seeds};

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

/// One thread of these operations, one after another; every `skip` is a place, and statements are
/// labelled by their positions.
fn problem(ops: Vec<Op>) -> Problem {
    let labels = ops.len();
    let mut places = Vec::new();
    let mut code = Vec::new();
    for (at, op) in ops.into_iter().enumerate() {
        let label = Label(at as u32);
        let (offset, at_end, wrap, loops, written) = (at as u32, false, None, 0, None);
        if matches!(op, Op::Skip) {
            places.push(Place { label, offset, at_end, wrap, loops, written });
        }
        code.push(Stmt { label, op, next: Pc::from_index(at + 1), critical: false });
    }
    let info = LabelInfo { span: Span::default(), text: String::new(), function: "p".into() };
    let thread = Thread { name: "p".into(), registers: Vec::new(), code };
    let labels = vec![info; labels];
    let program = Program { threads: vec![thread], labels, places, ..Program::default() };
    Problem { program, ..Problem::default() }
}

fn random(draw: &mut Random) -> Problem {
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

/// A formula over the accesses of a problem.
fn formula(problem: &Problem, draw: &mut Random) -> Avoidance {
    let code = &problem.program.threads[0].code;
    let accesses: Vec<Label> =
        code.iter().filter(|s| s.op.access().is_some()).map(|s| s.label).collect();
    let mut constraints = BTreeSet::new();
    for _ in 0..if accesses.is_empty() { 0 } else { 1 + draw.below(4) } {
        let before = accesses[draw.below(accesses.len())];
        constraints.insert(Constraint { before, after: accesses[draw.below(accesses.len())] });
    }
    let constraints: Vec<Constraint> = constraints.into_iter().collect();
    let mut formula = Clauses::over(constraints.len());
    for _ in 0..if constraints.is_empty() { 0 } else { 1 + draw.below(3) } {
        let size = 1 + draw.below(2);
        formula.add(Set::of(constraints.len(), (0..size).map(|_| draw.below(constraints.len()))));
    }
    avoidance(constraints, formula)
}

fn avoidance(constraints: Vec<Constraint>, formula: Clauses) -> Avoidance {
    let (states, edges, bound, passes) = (0, 0, None, 1);
    let (acyclic, unavoidable) = (true, false);
    Avoidance { constraints, formula, states, edges, bound, acyclic, passes, unavoidable }
}

/// Whether the fenced program has no way from one statement to the other without a fence, by trying all.
fn has_no_way(program: &Program, constraint: Constraint) -> bool {
    let code = &program.threads[0].code;
    let alive = |at: usize| {
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
        let Some(before) = first.op.access().filter(|_| alive(from)) else { continue };
        let mut seen = BTreeSet::new();
        let mut stack: Vec<Pc> = flow::successors(first).collect();
        while let Some(pc) = stack.pop() {
            let stmt = &code[pc.index()];
            let after = code[constraint.after.index()].op.access().expect("an access");
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
    let menu = Menu::only(&[
        Dish::Fence(FenceKinds::FULL),
        Dish::Fence(FenceKinds::STORE_STORE),
        Dish::Fence(FenceKinds::LOAD_STORE),
    ]);
    let (mut solved, mut refused, mut costly) = (0, 0, 0);
    for seed in seeds(300) {
        let mut draw = Random::new(seed);
        let problems = [random(&mut draw)];
        let wanted = formula(&problems[0], &mut draw);
        let restrictions = Restrictions::default();
        let candidates = Candidates::new(&problems, &menu, &restrictions, Written::Kept);
        assert!(candidates.len() <= 12, "few enough to try all subsets");
        let mut best: Option<(Cost, usize)> = None;
        for bits in 0..1_usize << candidates.len() {
            let chosen = (0..candidates.len()).filter(|n| bits >> n & 1 == 1);
            let set = Set::of(candidates.len(), chosen);
            let cost = Clauses::cost(&set, &candidates.costs);
            if best.is_some_and(|(known, _)| known < cost) {
                continue;
            }
            let program = &problems[0].program;
            let fenced = placement::fenced(program, &candidates.placement(&set), Written::Kept);
            let keeps =
                |clause: &Set| clause.iter().any(|at| has_no_way(&fenced, wanted.constraints[at]));
            if wanted.formula.iter().all(keeps) {
                let as_cheap = best.map_or(0, |(known, n)| if known == cost { n } else { 0 });
                best = Some((cost, as_cheap + 1));
            }
        }
        match (enforce(&problems, &wanted, &candidates, usize::MAX), best) {
            (Ok(found), Some((cost, number))) => {
                assert_eq!(found.placements.len(), number, "seed {seed}");
                for placement in &found.placements {
                    let numbers = placement.atoms.iter().filter_map(|a| candidates.number(*a));
                    let set = Set::of(candidates.len(), numbers);
                    assert_eq!(Clauses::cost(&set, &candidates.costs), cost, "seed {seed}");
                }
                solved += 1;
                costly += u64::from(cost > 0);
            }
            (Err(_), None) => refused += 1,
            (found, best) => panic!("seed {seed}: {found:?} but {best:?}"),
        }
    }
    compared("placements for formulas: brute force", solved + refused);
    assert!(solved > 100 && refused > 20 && costly > 20, "{solved} {refused} {costly}");
}

fn full(problems: &[Problem], dishes: &[Dish]) -> Candidates {
    Candidates::new(problems, &Menu::only(dishes), &Restrictions::default(), Written::Kept)
}

fn one(before: u32, after: u32) -> Avoidance {
    let constraint = Constraint { before: Label(before), after: Label(after) };
    let mut formula = Clauses::over(1);
    formula.add(Set::of(1, [0]));
    avoidance(vec![constraint], formula)
}

#[test]
fn a_drain_keeps_what_comes_after_behind_its_own_store_only() {
    let problems = [problem(vec![store(), Op::Skip, store(), load(), Op::Halt])];
    let candidates = full(&problems, &[Dish::Drain]);
    let found = enforce(&problems, &one(0, 3), &candidates, 1).expect("the drain is enough");
    let barriers: Vec<Barrier> = found.placements[0].atoms.iter().map(|a| a.barrier).collect();
    assert_eq!(barriers, [Barrier::Drain(Label(0))]);
    let refused = enforce(&problems, &one(2, 3), &candidates, 1).expect_err("another store");
    assert_eq!(refused.constraints, [Constraint { before: Label(2), after: Label(3) }]);
}

#[test]
fn an_atomic_block_on_the_way_is_enough() {
    let inside = vec![store(), Op::AtomicBegin, load(), Op::AtomicEnd, load(), Op::Halt];
    let problems = [problem(inside)];
    let candidates = full(&problems, &[Dish::Fence(FenceKinds::FULL)]);
    for (before, after) in [(0, 4), (0, 2), (2, 4)] {
        let found = enforce(&problems, &one(before, after), &candidates, 1);
        let found = found.expect("nothing of it is ever pending together");
        assert!(found.placements[0].atoms.is_empty());
    }
    let no_block = [problem(vec![store(), load(), Op::Halt])];
    assert!(enforce(&no_block, &one(0, 1), &candidates, 1).is_err());
}
