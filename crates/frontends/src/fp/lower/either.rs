//! Lowers `either`: chooses a branch, evaluates its guard, and chooses again if the guard does not
//! hold.
//!
//! A branch whose guard does not hold is thus not taken, and a thread without a guard that holds
//! repeats the choice. It waits like a thread at `await`. Code that runs in one step (`atomic`,
//! `init`) cannot repeat a choice. There the guard is an assumption: a combination of choices with
//! a false guard does not exist.

use fencepost_ir::{BinOp, Expr, Op, Span, Value};

use super::labels::Kind;
use super::thread::Lowerer;
use crate::fp::tree::EitherBranch;
use crate::fp::types::{Ty, VarTy};

impl<'a> Lowerer<'_, 'a> {
    /// Lowers `either`. `word` is the position of the keyword.
    pub(super) fn either(&mut self, branches: &'a [EitherBranch], word: Span) {
        let (start, done) = (self.code.target(), self.code.target());
        self.code.bind(start);
        let chosen = (branches.len() > 1).then(|| {
            let reg = self.temporary(VarTy::plain(Ty::Int), word);
            let hi = branches.len() as Value - 1;
            self.emit(Op::Choose { reg, lo: 0, hi }, word, Kind::Choose);
            reg
        });
        for (at, branch) in branches.iter().enumerate() {
            let (here, next) = (self.code.target(), self.code.target());
            if let Some(chosen) = chosen.filter(|_| at + 1 < branches.len()) {
                let number = Box::new(Expr::Const(at as Value));
                let is_chosen = Expr::Binary(BinOp::Eq, Box::new(Expr::Var(chosen)), number);
                self.emit_branch(is_chosen, here, next, word);
            }
            self.code.bind(here);
            match &branch.guard {
                Some((guard, span)) if self.atomic || self.isolated => {
                    let cond = self.value(guard);
                    if cond.as_const().is_none_or(|value| value == 0) {
                        self.emit(Op::Assume(cond), *span, Kind::Assume);
                    }
                }
                Some((guard, span)) => {
                    let taken = self.code.target();
                    self.frame.awaiting = Some(*span);
                    self.branch(guard, taken, start, *span);
                    self.frame.awaiting = None;
                    self.code.bind(taken);
                }
                None => {}
            }
            self.stmts(&branch.body);
            self.emit_jump(done, word);
            self.code.bind(next);
        }
        self.code.bind(done);
    }
}
