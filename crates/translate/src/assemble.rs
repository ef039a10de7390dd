//! Writing code: statements one after another, with labels to jump to.
//!
//! ```
//! use fencepost_ir::{Expr, Label, Op, Type};
//! use fencepost_translate::assemble::Assembler;
//! let mut code = Assembler::new(Vec::new());
//! let r = code.register("r", Type::INT);
//! code.at(Label(0), false);
//! let again = code.here();
//! code.op(Op::Choose { reg: r, lo: 0, hi: 1 });
//! code.jump_if(Expr::Var(r), again);
//! code.op(Op::Halt);
//! assert_eq!(code.finish().1.len(), 3);
//! ```

use fencepost_ir::{Expr, Label, Op, Pc, Reg, Register, Stmt, Type};

/// A place in the code, known or not yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot(usize);

/// Code in the making.
#[derive(Clone, Debug)]
pub struct Assembler {
    registers: Vec<Register>,
    code: Vec<Stmt>,
    /// By statement: where it goes next, and for a branch, when its condition does not hold.
    targets: Vec<(Target, Target)>,
    /// By spot: where it is.
    spots: Vec<Option<usize>>,
    label: Label,
    critical: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    /// The statement that is written next.
    Next,
    Spot(Spot),
}

impl Assembler {
    /// No code yet, and these registers.
    pub fn new(registers: Vec<Register>) -> Self {
        let (code, targets, spots) = (Vec::new(), Vec::new(), Vec::new());
        Assembler { registers, code, targets, spots, label: Label(0), critical: false }
    }

    /// A new register.
    pub fn register(&mut self, name: &str, ty: Type) -> Reg {
        self.registers.push(Register { name: name.into(), ty });
        Reg::from_index(self.registers.len() - 1)
    }

    /// What follows belongs to this source statement.
    pub fn at(&mut self, label: Label, critical: bool) {
        self.label = label;
        self.critical = critical;
    }

    /// How many statements there are.
    pub fn len(&self) -> usize {
        self.code.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.code.is_empty()
    }

    /// A place that is not known yet.
    pub fn spot(&mut self) -> Spot {
        self.spots.push(None);
        Spot(self.spots.len() - 1)
    }

    /// The place is here: before the statement that is written next.
    pub fn place(&mut self, spot: Spot) {
        debug_assert!(self.spots[spot.0].is_none(), "a spot is in one place");
        self.spots[spot.0] = Some(self.code.len());
    }

    /// A new place, here.
    pub fn here(&mut self) -> Spot {
        let spot = self.spot();
        self.place(spot);
        spot
    }

    /// A statement; the next one follows it. Branches are written by [`Self::branch`] and its friends.
    pub fn op(&mut self, op: Op) {
        self.write(op, Target::Next, Target::Next);
    }

    /// A statement that is followed by this place.
    pub fn op_then(&mut self, op: Op, next: Spot) {
        self.write(op, Target::Spot(next), Target::Next);
    }

    /// Goes to one of two places.
    pub fn branch(&mut self, cond: Expr<Reg>, then: Spot, otherwise: Spot) {
        self.write(branch(cond), Target::Spot(then), Target::Spot(otherwise));
    }

    /// Goes there if the condition holds, else on.
    pub fn jump_if(&mut self, cond: Expr<Reg>, then: Spot) {
        self.write(branch(cond), Target::Spot(then), Target::Next);
    }

    /// Goes on if the condition holds, else there.
    pub fn jump_unless(&mut self, cond: Expr<Reg>, otherwise: Spot) {
        self.write(branch(cond), Target::Next, Target::Spot(otherwise));
    }

    fn write(&mut self, op: Op, first: Target, second: Target) {
        let (label, critical) = (self.label, self.critical);
        self.code.push(Stmt { label, op, next: Pc(0), critical });
        self.targets.push((first, second));
    }

    /// The registers and the code. Every place that is jumped to is known by now, and the last statement
    /// does not go on.
    pub fn finish(self) -> (Vec<Register>, Vec<Stmt>) {
        let Assembler { registers, mut code, targets, spots, .. } = self;
        let last = code.len().saturating_sub(1);
        for (at, (stmt, (first, second))) in code.iter_mut().zip(&targets).enumerate() {
            let resolve = |target: &Target| match target {
                Target::Next => Pc::from_index((at + 1).min(last)),
                Target::Spot(spot) => {
                    Pc::from_index(spots[spot.0].expect("a spot that is used has its place"))
                }
            };
            let (first, second) = (resolve(first), resolve(second));
            if let Op::Branch { then, otherwise, .. } = &mut stmt.op {
                (*then, *otherwise) = (first, second);
            } else if stmt.op.goes_on() {
                stmt.next = first;
            }
        }
        (registers, code)
    }
}

fn branch(cond: Expr<Reg>) -> Op {
    Op::Branch { cond, then: Pc(0), otherwise: Pc(0) }
}
