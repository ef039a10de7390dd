//! When an atomic block can be entered, for a language in which a block that has begun cannot be taken back.
//!
//! A false `assume` disables a whole atomic block. Promela has no such thing: what blocks inside `atomic` lets others
//! go on in the middle of it. So the block must not be entered unless it runs to its end. [`paths`] executes the
//! block symbolically from its beginning to where neither an `assume` nor a `choose` lies ahead. It splits at every
//! branch and every `choose` before that. Each [`Path`] has a guard, which is about the state before the block, and
//! names the `choose` alternatives it takes; exactly those whose guards hold are the steps that the block has.
//!
//! Direction: exact. What faults, or fails an assertion, before a later `assume` is asked, is a path that fails.
//! The rest of a path is without choices, and runs as it is written.

use super::checks::{Facts, both, is_true};
use super::expr::negation;
use super::steps::{Action, Env, Leaf, View};
use crate::Unsupported;
use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Pc, Reg, Thread, Value, flow};

/// One way through the part of a block that may be disabled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// When it is taken.
    pub guard: Expr<Leaf>,
    /// The alternatives of `choose` on it, counted from 0.
    pub choices: Vec<u32>,
    /// The statements on it that do something, in order; `choose` has become an assignment.
    pub prefix: Vec<(Pc, Op)>,
    /// Where plain execution goes on; none when the path ends in a fault or a failed assertion.
    pub rest: Option<Pc>,
}

/// How many paths a block may have.
pub const PATHS: usize = 4_096;

/// How long a path may be.
const LENGTH: usize = 10_000;

/// The paths of the block that begins at this statement.
pub fn paths(thread: &Thread, begin: Pc, facts: &Facts<'_>) -> Result<Vec<Path>, Unsupported> {
    let mut execution = Execution { thread, facts, ahead: ahead(thread), found: Vec::new() };
    let state = State {
        at: thread.stmt(begin).next,
        env: Env::default(),
        writes: Vec::new(),
        path: Path { guard: Expr::Const(1), choices: Vec::new(), prefix: Vec::new(), rest: None },
        length: 0,
    };
    execution.run(state)?;
    Ok(execution.found)
}

/// By program counter: whether an `assume` or a `choose` is at it or ahead of it in the same block.
fn ahead(thread: &Thread) -> Vec<bool> {
    let mut ahead: Vec<bool> = thread
        .code
        .iter()
        .map(|stmt| matches!(stmt.op, Op::Assume(_) | Op::Choose { .. }))
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (at, stmt) in thread.code.iter().enumerate().rev() {
            if !ahead[at]
                && !matches!(stmt.op, Op::AtomicEnd)
                && flow::successors(stmt).any(|next| ahead[next.index()])
            {
                ahead[at] = true;
                changed = true;
            }
        }
    }
    ahead
}

/// A path in the making.
#[derive(Clone)]
struct State {
    at: Pc,
    /// What registers hold, where that is not what they held before the block.
    env: Env,
    /// What was written, oldest first: where (as in [`Leaf::Element`], or alone), and what.
    writes: Vec<(Leaf, Expr<Leaf>)>,
    path: Path,
    length: usize,
}

impl State {
    /// What is read there now.
    fn found(&self, place: Leaf) -> Expr<Leaf> {
        let mut value = Expr::Var(place.clone());
        for (written, new) in &self.writes {
            let same = same_place(&place, written);
            value = match same.as_const() {
                Some(0) => value,
                Some(_) => new.clone(),
                None => Expr::Select(Box::new(same), Box::new(new.clone()), Box::new(value)),
            };
        }
        value
    }

    fn set(&mut self, reg: Reg, value: Expr<Leaf>) {
        self.env.registers.insert(reg, value);
    }
}

impl View for State {
    fn value(&self, expr: &Expr<Reg>) -> Expr<Leaf> {
        self.env.value(expr)
    }

    fn place(&self, at: &Address) -> Leaf {
        self.env.place(at)
    }

    fn read(&self, at: &Address) -> Expr<Leaf> {
        self.found(self.place(at))
    }
}

/// When two places are the same location.
fn same_place(a: &Leaf, b: &Leaf) -> Expr<Leaf> {
    let parts = |place: &Leaf| match place {
        Leaf::Reg(_) => unreachable!("registers are no places"),
        Leaf::Loc(loc) => (*loc, 1, Expr::Const(0)),
        Leaf::Element(base, len, index) => (*base, *len, (**index).clone()),
    };
    let ((one, many, at), (other, more, there)) = (parts(a), parts(b));
    if one.0 + many <= other.0 || other.0 + more <= one.0 {
        return Expr::Const(0);
    }
    if one == other && at == there {
        return Expr::Const(1);
    }
    let shifted = |base: Loc, index: Expr<Leaf>| {
        let shift = Expr::Const((base.0 - one.0.min(other.0)) as Value);
        Expr::Binary(BinOp::Add, Box::new(index), Box::new(shift)).fold()
    };
    let (at, there) = (shifted(one, at), shifted(other, there));
    Expr::Binary(BinOp::Eq, Box::new(at), Box::new(there)).fold()
}

struct Execution<'a> {
    thread: &'a Thread,
    facts: &'a Facts<'a>,
    ahead: Vec<bool>,
    found: Vec<Path>,
}

impl Execution<'_> {
    fn run(&mut self, mut state: State) -> Result<(), Unsupported> {
        loop {
            state.length += 1;
            if self.found.len() > PATHS || state.length > LENGTH {
                return Err(Unsupported::ManyPaths {
                    thread: self.thread.name.clone(),
                    paths: PATHS,
                    length: LENGTH,
                });
            }
            if state.path.guard.as_const() == Some(0) {
                return Ok(());
            }
            if !self.ahead[state.at.index()] {
                state.path.rest = Some(state.at);
                self.found.push(state.path);
                return Ok(());
            }
            self.step(&mut state)?;
        }
    }

    /// What must hold, or else the path ends here in a failure.
    fn require(&mut self, state: &mut State, condition: Expr<Leaf>) {
        let wrong = both(state.path.guard.clone(), negation(condition.clone()));
        if wrong.as_const() != Some(0) {
            let path = Path { guard: wrong, rest: None, ..state.path.clone() };
            self.found.push(path);
        }
        state.path.guard = both(state.path.guard.clone(), condition);
    }

    fn step(&mut self, state: &mut State) -> Result<(), Unsupported> {
        let at = state.at;
        let stmt = self.thread.stmt(at);
        let mut next = stmt.next;
        let mut keeps = true;
        let action = Action::of(&stmt.op, state);
        let right = self.facts.right(&action, self.thread)?;
        if !is_true(&right) {
            self.require(state, right);
        }
        match action {
            Action::Assign { reg, value } | Action::Load { reg, value, .. } => {
                state.set(reg, value);
            }
            Action::Store { to, value } => state.writes.push((to, value)),
            Action::Update(change) => {
                if let Some(reg) = change.reg {
                    state.set(reg, change.yields());
                }
                let after = change.after();
                state.writes.push((change.at, after));
            }
            Action::Choose { reg, lo, hi } => {
                for (alternative, value) in (lo..=hi).enumerate() {
                    let mut chosen = state.clone();
                    chosen.path.choices.push(alternative as u32);
                    let op = Op::Assign { reg, expr: Expr::Const(value) };
                    chosen.path.prefix.push((at, op));
                    chosen.set(reg, Expr::Const(value));
                    chosen.at = next;
                    if value < hi {
                        self.run(chosen)?;
                    } else {
                        *state = chosen;
                    }
                }
                return Ok(());
            }
            Action::Branch { cond, then, otherwise } => {
                keeps = false;
                let mut holds = state.clone();
                holds.path.guard = both(holds.path.guard, cond.clone());
                holds.at = then;
                self.run(holds)?;
                state.path.guard = both(state.path.guard.clone(), negation(cond));
                next = otherwise;
            }
            Action::Assume(cond) => {
                keeps = false;
                state.path.guard = both(state.path.guard.clone(), cond);
            }
            Action::Assert(cond) => {
                keeps = false;
                self.require(state, cond);
            }
            Action::Nothing | Action::Fence | Action::Drain(_) => keeps = false,
        }
        if keeps {
            state.path.prefix.push((at, stmt.op.clone()));
        }
        state.at = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::assemble::Assembler;
    use fencepost_ir::range::ranges;
    use fencepost_ir::{Label, Location, Program, Type};

    const R: Reg = Reg(0);

    /// The paths of a block that begins like this, in a program with the locations `m0` and `m1`.
    fn paths_of(ops: Vec<Op>) -> Vec<Path> {
        let mut code = Assembler::new(Vec::new());
        code.register("r", Type::INT);
        code.at(Label(0), false);
        code.op(Op::AtomicBegin);
        ops.into_iter().for_each(|op| code.op(op));
        code.op(Op::AtomicEnd);
        code.op(Op::Halt);
        let (registers, code) = code.finish();
        let thread = Thread { name: "t".into(), registers, code };
        let location = |name: &str| Location { name: name.into(), ty: Type::INT, init: 0 };
        let program = Program {
            locations: vec![location("x"), location("y")],
            threads: vec![thread.clone()],
            ..Program::default()
        };
        let ranges = ranges(&program);
        let registers = &ranges.registers[0];
        let facts = Facts { program: &program, ranges: &ranges, registers };
        paths(&thread, Pc(0), &facts).expect("a few paths")
    }

    fn is(value: Value) -> Expr<Reg> {
        Expr::Binary(BinOp::Eq, Box::new(Expr::Var(R)), Box::new(Expr::Const(value)))
    }

    fn load(loc: u32) -> Op {
        Op::Load { reg: R, from: Address::fixed(Loc(loc)) }
    }

    #[test]
    fn a_guard_is_about_the_state_before_the_block() {
        let store = Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(7) };
        let found = paths_of(vec![load(1), Op::Assume(is(3)), store.clone(), load(0)]);
        let y = Expr::Var(Leaf::Loc(Loc(1)));
        let guard = Expr::Binary(BinOp::Eq, Box::new(y), Box::new(Expr::Const(3)));
        assert_eq!((found.len(), &found[0].guard, found[0].rest), (1, &guard, Some(Pc(3))));
        // What the block has written, it reads.
        let found = paths_of(vec![store.clone(), load(0), Op::Assume(is(7))]);
        assert!(found.len() == 1 && is_true(&found[0].guard), "{found:?}");
        assert_eq!(paths_of(vec![store, load(0), Op::Assume(is(6))]), []);
    }

    #[test]
    fn every_choice_is_a_path() {
        let found = paths_of(vec![Op::Choose { reg: R, lo: 2, hi: 4 }]);
        let choices: Vec<&[u32]> = found.iter().map(|path| path.choices.as_slice()).collect();
        assert_eq!(choices, [[0], [1], [2]]);
        let choose = Op::Choose { reg: R, lo: 2, hi: 4 };
        let found = paths_of(vec![choose, Op::Assume(is(3))]);
        assert_eq!(found.iter().map(|path| path.choices[0]).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn what_fails_before_an_assumption_fails() {
        let found = paths_of(vec![load(0), Op::Assert(is(1)), load(1), Op::Assume(is(1))]);
        let ends: Vec<bool> = found.iter().map(|path| path.rest.is_some()).collect();
        assert_eq!(ends, [false, true]);
    }
}
