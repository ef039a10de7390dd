//! Classes of a thread that repeats `r = x; x = <value>` for ever.

use super::*;
use crate::op::Address;
use crate::program::{Location, Program, Register, Stmt, Thread};
use crate::{BinOp, Expr, Label, Pc, Type};

fn classes(ty: &Type, value: Expr<Reg>) -> Vec<CounterClass> {
    let x = || Address::fixed(Loc(0));
    let ops = [
        (Op::Load { reg: Reg(0), from: x() }, 1),
        (Op::Store { to: x(), value }, 0),
        (Op::Halt, 2),
    ];
    let code = ops
        .map(|(op, next)| Stmt { label: Label(0), op, next: Pc(next), critical: false })
        .to_vec();
    let registers = vec![Register { name: "r".into(), ty: ty.clone() }];
    let program = Program {
        locations: vec![Location { name: "x".into(), ty: ty.clone(), init: 0 }],
        threads: vec![Thread { name: "t".into(), registers, code }],
        ..Program::default()
    };
    counter_classes(&Problem { program, ..Problem::default() }, LARGE_SPAN)
}

fn binary(op: BinOp, a: Expr<Reg>, b: Value) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(Expr::Const(b)))
}

fn incremented() -> Expr<Reg> {
    binary(BinOp::Add, Expr::Var(Reg(0)), 1)
}

#[test]
fn a_number_that_is_only_incremented_is_ordered() {
    let found = classes(&Type::INT, incremented());
    let ordered = Ordered { anchors: None, spread: 1, accumulates: false };
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, CounterKind::Ordered(ordered));
    assert_eq!((&found[0].locations[..], found[0].registers.len()), (&[Loc(0)][..], 1));
}

#[test]
fn a_number_that_is_reduced_wraps() {
    let range = (0, 0xffff_ffff);
    let ty = Type::Int { range: Some(range) };
    let found = classes(&ty, binary(BinOp::BitAnd, incremented(), range.1));
    assert_eq!(found[0].kind, CounterKind::Wrapping(range));
    assert!(classes(&ty, incremented()).is_empty(), "a value outside of the range is a fault");
}

#[test]
fn other_arithmetic_excludes_a_class() {
    for op in [BinOp::Mul, BinOp::Div, BinOp::BitOr, BinOp::Shl] {
        assert!(classes(&Type::INT, binary(op, incremented(), 3)).is_empty(), "{op:?}");
    }
}
