//! Computes when an atomic block can be entered, for languages in which a block cannot be rolled
//! back.
//!
//! A false `assume` disables a whole atomic block. Promela has no such construct: a statement that
//! blocks inside `atomic` lets other processes interleave. So a block must not be entered unless it
//! can run to its end. [`paths`] executes the block symbolically from its beginning to the first
//! statement from which neither an `assume` nor a `choose` is reachable. It splits at every branch
//! and every `choose` before that statement. Each [`Path`] has a guard over the state before the
//! block, and the `choose` alternatives that it takes. The paths whose guards hold are exactly the
//! steps of the block.
//!
//! Direction: exact. A fault or a failed assertion before a later `assume` is a path that fails.
//! The rest of a path has no choices and is executed as written.

use super::actions::{Action, Env, Leaf, StateView};
use super::checks::{RangeFacts, conjunction, is_true};
use super::expr::logical_not;
use crate::Unsupported;
use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Pc, Reg, Thread, Value, flow};

/// A path through the part of a block that may be disabled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// The condition under which the path is taken.
    pub guard: Expr<Leaf>,
    /// The alternatives of `choose` on the path, from 0.
    pub choices: Vec<u32>,
    /// The statements on the path that have an effect, in order. A `choose` is replaced by an
    /// assignment.
    pub prefix: Vec<(Pc, Op)>,
    /// The statement where deterministic execution continues; `None` if the path ends in a fault or
    /// a failed assertion.
    pub rest: Option<Pc>,
}

/// The largest number of paths of a block.
pub const MAX_PATHS: usize = 4_096;

/// The largest number of statements of a path.
const MAX_PATH_LENGTH: usize = 10_000;

/// Returns the paths of the block that begins at this statement.
pub fn paths(thread: &Thread, begin: Pc, facts: &RangeFacts<'_>) -> Result<Vec<Path>, Unsupported> {
    let mut execution = SymbolicExecution {
        thread,
        facts,
        reaches_assume_or_choose: reaches_assume_or_choose(thread),
        found: Vec::new(),
    };
    let state = SymbolicState {
        at: thread.stmt(begin).next,
        env: Env::default(),
        writes: Vec::new(),
        path: Path { guard: Expr::Const(1), choices: Vec::new(), prefix: Vec::new(), rest: None },
        length: 0,
    };
    execution.run(state)?;
    Ok(execution.found)
}

/// Returns, by program counter, whether an `assume` or a `choose` is reachable in the same block,
/// the statement itself included.
fn reaches_assume_or_choose(thread: &Thread) -> Vec<bool> {
    let mut reaches_assume_or_choose: Vec<bool> = thread
        .code
        .iter()
        .map(|stmt| matches!(stmt.op, Op::Assume(_) | Op::Choose { .. }))
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (at, stmt) in thread.code.iter().enumerate().rev() {
            if !reaches_assume_or_choose[at]
                && !matches!(stmt.op, Op::AtomicEnd)
                && flow::successors(stmt).any(|next| reaches_assume_or_choose[next.index()])
            {
                reaches_assume_or_choose[at] = true;
                changed = true;
            }
        }
    }
    reaches_assume_or_choose
}

/// A symbolic state, with the path so far.
#[derive(Clone)]
struct SymbolicState {
    at: Pc,
    /// The values of registers that changed since the beginning of the block.
    env: Env,
    /// The writes so far, oldest first: place and value.
    writes: Vec<(Leaf, Expr<Leaf>)>,
    path: Path,
    length: usize,
}

impl SymbolicState {
    /// Returns the current value at a place.
    fn read_place(&self, place: Leaf) -> Expr<Leaf> {
        let mut value = Expr::Var(place.clone());
        for (written, new) in &self.writes {
            let same = same_location_condition(&place, written);
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

impl StateView for SymbolicState {
    fn value(&self, expr: &Expr<Reg>) -> Expr<Leaf> {
        self.env.value(expr)
    }

    fn place(&self, at: &Address) -> Leaf {
        self.env.place(at)
    }

    fn read(&self, at: &Address) -> Expr<Leaf> {
        self.read_place(self.place(at))
    }
}

/// Returns the condition under which two places are the same location.
fn same_location_condition(a: &Leaf, b: &Leaf) -> Expr<Leaf> {
    let parts = |place: &Leaf| match place {
        Leaf::Reg(_) => unreachable!("a register is not a place in memory"),
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

struct SymbolicExecution<'a> {
    thread: &'a Thread,
    facts: &'a RangeFacts<'a>,
    reaches_assume_or_choose: Vec<bool>,
    found: Vec<Path>,
}

impl SymbolicExecution<'_> {
    fn run(&mut self, mut state: SymbolicState) -> Result<(), Unsupported> {
        loop {
            state.length += 1;
            if self.found.len() > MAX_PATHS || state.length > MAX_PATH_LENGTH {
                return Err(Unsupported::TooManyPaths {
                    thread: self.thread.name.clone(),
                    paths: MAX_PATHS,
                    length: MAX_PATH_LENGTH,
                });
            }
            if state.path.guard.as_const() == Some(0) {
                return Ok(());
            }
            if !self.reaches_assume_or_choose[state.at.index()] {
                state.path.rest = Some(state.at);
                self.found.push(state.path);
                return Ok(());
            }
            self.step(&mut state)?;
        }
    }

    /// Adds a condition to the guard. Its negation becomes a path that fails here.
    fn require(&mut self, state: &mut SymbolicState, condition: Expr<Leaf>) {
        let failure_guard = conjunction(state.path.guard.clone(), logical_not(condition.clone()));
        if failure_guard.as_const() != Some(0) {
            let path = Path { guard: failure_guard, rest: None, ..state.path.clone() };
            self.found.push(path);
        }
        state.path.guard = conjunction(state.path.guard.clone(), condition);
    }

    fn step(&mut self, state: &mut SymbolicState) -> Result<(), Unsupported> {
        let at = state.at;
        let stmt = self.thread.stmt(at);
        let mut next = stmt.next;
        let mut has_effect = true;
        let action = Action::of(&stmt.op, state);
        let precondition = self.facts.precondition(&action, self.thread)?;
        if !is_true(&precondition) {
            self.require(state, precondition);
        }
        match action {
            Action::Assign { reg, value } | Action::Load { reg, value, .. } => {
                state.set(reg, value);
            }
            Action::Store { to, value } => state.writes.push((to, value)),
            Action::Update(update_action) => {
                if let Some(reg) = update_action.reg {
                    state.set(reg, update_action.result());
                }
                let after = update_action.value_after();
                state.writes.push((update_action.at, after));
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
                has_effect = false;
                let mut holds = state.clone();
                holds.path.guard = conjunction(holds.path.guard, cond.clone());
                holds.at = then;
                self.run(holds)?;
                state.path.guard = conjunction(state.path.guard.clone(), logical_not(cond));
                next = otherwise;
            }
            Action::Assume(cond) => {
                has_effect = false;
                state.path.guard = conjunction(state.path.guard.clone(), cond);
            }
            Action::Assert(cond) => {
                has_effect = false;
                self.require(state, cond);
            }
            Action::Nothing | Action::Fence | Action::Drain(_) => has_effect = false,
        }
        if has_effect {
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

    /// Returns the paths of a block with these operations, in a program with locations `x` and `y`.
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
        let facts = RangeFacts { program: &program, ranges: &ranges, registers };
        paths(&thread, Pc(0), &facts).expect("the block has few paths")
    }

    fn is(value: Value) -> Expr<Reg> {
        Expr::Binary(BinOp::Eq, Box::new(Expr::Var(R)), Box::new(Expr::Const(value)))
    }

    fn load(loc: u32) -> Op {
        Op::Load { reg: R, from: Address::fixed(Loc(loc)) }
    }

    #[test]
    fn guards_refer_to_the_state_before_the_block() {
        let store = Op::Store { to: Address::fixed(Loc(0)), value: Expr::Const(7) };
        let found = paths_of(vec![load(1), Op::Assume(is(3)), store.clone(), load(0)]);
        let y = Expr::Var(Leaf::Loc(Loc(1)));
        let guard = Expr::Binary(BinOp::Eq, Box::new(y), Box::new(Expr::Const(3)));
        assert_eq!((found.len(), &found[0].guard, found[0].rest), (1, &guard, Some(Pc(3))));
        // A block reads its own writes.
        let found = paths_of(vec![store.clone(), load(0), Op::Assume(is(7))]);
        assert!(found.len() == 1 && is_true(&found[0].guard), "{found:?}");
        assert_eq!(paths_of(vec![store, load(0), Op::Assume(is(6))]), []);
    }

    #[test]
    fn every_alternative_of_a_choose_is_a_path() {
        let found = paths_of(vec![Op::Choose { reg: R, lo: 2, hi: 4 }]);
        let choices: Vec<&[u32]> = found.iter().map(|path| path.choices.as_slice()).collect();
        assert_eq!(choices, [[0], [1], [2]]);
        let choose = Op::Choose { reg: R, lo: 2, hi: 4 };
        let found = paths_of(vec![choose, Op::Assume(is(3))]);
        assert_eq!(found.iter().map(|path| path.choices[0]).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn a_failure_before_an_assume_is_a_failing_path() {
        let found = paths_of(vec![load(0), Op::Assert(is(1)), load(1), Op::Assume(is(1))]);
        let ends: Vec<bool> = found.iter().map(|path| path.rest.is_some()).collect();
        assert_eq!(ends, [false, true]);
    }
}
