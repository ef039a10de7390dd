//! Which values a register or a location can hold: one interval each, for the whole run.
//!
//! Declared ranges, booleans, enums and references are limited by their types (a value outside is a
//! fault, so it never arrives). For other integers an interval is computed from what the program
//! assigns, ignoring control flow; one that keeps growing becomes the full 32 bits. The result is an
//! over-approximation: state packing relies on it, and checks it when it packs.

use crate::expr::{BinOp, Expr, UnOp};
use crate::flow;
use crate::ids::{Loc, Reg};
use crate::op::{Address, Op, Update};
use crate::program::{Program, Thread};
use crate::value::Value;

/// The smallest and the largest value, both included.
pub type Range = (Value, Value);

/// Everything.
pub const FULL: Range = (Value::MIN, Value::MAX);

/// The ranges of a program's registers and locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ranges {
    /// By location.
    pub locations: Vec<Range>,
    /// By thread and register.
    pub registers: Vec<Vec<Range>>,
    /// By register of the `init` block.
    pub init: Vec<Range>,
}

/// How often an interval may grow before it becomes [`FULL`]. Arrays of small counters settle in a
/// few rounds; anything longer is a loop that counts.
const ROUNDS: usize = 24;

/// Computes the ranges of a program.
pub fn ranges(program: &Program) -> Ranges {
    let mut ranges = Ranges {
        locations: program.locations.iter().map(|l| (l.init, l.init)).collect(),
        registers: program.threads.iter().map(|t| vec![(0, 0); t.registers.len()]).collect(),
        init: program.init.iter().flat_map(|t| vec![(0, 0); t.registers.len()]).collect(),
    };
    for round in 0.. {
        let before = ranges.clone();
        let widen = round >= ROUNDS;
        if let Some(init) = &program.init {
            let mut registers = std::mem::take(&mut ranges.init);
            pass(program, init, &mut registers, &mut ranges.locations, widen);
            ranges.init = registers;
        }
        for (id, thread) in program.threads.iter().enumerate() {
            let mut registers = std::mem::take(&mut ranges.registers[id]);
            pass(program, thread, &mut registers, &mut ranges.locations, widen);
            ranges.registers[id] = registers;
        }
        if ranges == before {
            break;
        }
    }
    ranges
}

fn pass(
    program: &Program,
    thread: &Thread,
    registers: &mut [Range],
    locations: &mut [Range],
    widen: bool,
) {
    let put = |slot: &mut Range, limits: Option<Range>, new: Range| {
        let new = match limits {
            Some((lo, hi)) => (new.0.max(lo), new.1.min(hi)),
            None => new,
        };
        if new.0 > new.1 {
            return; // nothing legal arrives
        }
        let (lo, hi) = *slot;
        let grown = (lo.min(new.0), hi.max(new.1));
        if grown != *slot {
            let widened = (
                if grown.0 < lo && widen { Value::MIN } else { grown.0 },
                if grown.1 > hi && widen { Value::MAX } else { grown.1 },
            );
            *slot = match limits {
                Some((lo, hi)) => (widened.0.max(lo), widened.1.min(hi)),
                None => widened,
            };
        }
    };
    for stmt in &thread.code {
        let target_limits =
            |reg: Reg| program.limits(&thread.registers[reg.index()].ty);
        match &stmt.op {
            Op::Assign { reg, expr } => {
                let new = interval(expr, registers);
                put(&mut registers[reg.index()], target_limits(*reg), new);
            }
            Op::Choose { reg, lo, hi } => {
                put(&mut registers[reg.index()], target_limits(*reg), (*lo, *hi));
            }
            Op::New { reg, pool } => {
                let cells = program.pool(*pool).cells as Value;
                put(&mut registers[reg.index()], target_limits(*reg), (1, cells.max(1)));
            }
            Op::Load { reg, from } => {
                for loc in footprint(program, from) {
                    let new = locations[loc.index()];
                    put(&mut registers[reg.index()], target_limits(*reg), new);
                }
            }
            Op::Store { to, value } => {
                let new = interval(value, registers);
                for loc in footprint(program, to) {
                    let limits = program.limits(&program.location(loc).ty);
                    put(&mut locations[loc.index()], limits, new);
                }
            }
            Op::Update { reg, at, update } => {
                for loc in footprint(program, at) {
                    let old = locations[loc.index()];
                    let (new, yields) = match update {
                        Update::Cas { new, .. } => (interval(new, registers), (0, 1)),
                        Update::Swap { new } => (interval(new, registers), old),
                        Update::Add { by } => {
                            (binary(BinOp::Add, old, interval(by, registers)), old)
                        }
                        Update::Bits { op, by } => {
                            (binary(*op, old, interval(by, registers)), old)
                        }
                    };
                    let limits = program.limits(&program.location(loc).ty);
                    put(&mut locations[loc.index()], limits, new);
                    if let Some(reg) = reg {
                        put(&mut registers[reg.index()], target_limits(*reg), yields);
                    }
                }
            }
            Op::Skip
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Halt => {}
        }
        debug_assert!(flow::uses(&stmt.op).iter().all(|r| r.index() < registers.len()));
    }
}

/// All locations an address may mean.
pub fn footprint(program: &Program, address: &Address) -> impl Iterator<Item = Loc> + use<> {
    let (cells, stride, first) = match &address.cell {
        None => (1, 0, 0),
        Some((pool, reference)) => {
            let pool = program.pool(*pool);
            match reference.as_const() {
                Some(cell) if cell >= 1 && cell as u32 <= pool.cells => {
                    (1, pool.stride, cell as u32 - 1)
                }
                Some(_) => (0, pool.stride, 0),
                None => (pool.cells, pool.stride, 0),
            }
        }
    };
    let (elements, start) = match &address.index {
        None => (1, 0),
        Some((len, index)) => match index.as_const() {
            Some(at) if at >= 0 && (at as u32) < *len => (1, at as u32),
            Some(_) => (0, 0),
            None => (*len, 0),
        },
    };
    let base = address.base.0;
    (first..first + cells).flat_map(move |cell| {
        (start..start + elements).map(move |at| Loc(base + cell * stride + at))
    })
}

fn interval(expr: &Expr<Reg>, registers: &[Range]) -> Range {
    match expr {
        Expr::Const(value) => (*value, *value),
        Expr::Var(reg) => registers[reg.index()],
        Expr::Unary(UnOp::Not, _) => (0, 1),
        Expr::Unary(UnOp::Neg, a) => {
            let (lo, hi) = interval(a, registers);
            (hi.checked_neg().unwrap_or(Value::MAX), lo.checked_neg().unwrap_or(Value::MAX))
        }
        Expr::Unary(UnOp::BitNot, a) => {
            let (lo, hi) = interval(a, registers);
            (!hi, !lo)
        }
        Expr::Binary(op, a, b) => binary(*op, interval(a, registers), interval(b, registers)),
        Expr::Select(_, a, b) => {
            let (a, b) = (interval(a, registers), interval(b, registers));
            (a.0.min(b.0), a.1.max(b.1))
        }
    }
}

/// The results an operator can give on two intervals; results outside 32 bits fault and are left
/// out.
fn binary(op: BinOp, a: Range, b: Range) -> Range {
    let clamp = |lo: i64, hi: i64| {
        let (min, max) = (i64::from(Value::MIN), i64::from(Value::MAX));
        (lo.clamp(min, max) as Value, hi.clamp(min, max) as Value)
    };
    let (a0, a1) = (i64::from(a.0), i64::from(a.1));
    let (b0, b1) = (i64::from(b.0), i64::from(b.1));
    match op {
        BinOp::Add => clamp(a0 + b0, a1 + b1),
        BinOp::Sub => clamp(a0 - b1, a1 - b0),
        BinOp::Mul => {
            let corners = [a0 * b0, a0 * b1, a1 * b0, a1 * b1];
            clamp(*corners.iter().min().expect("four"), *corners.iter().max().expect("four"))
        }
        // The quotient is no larger than the dividend, the remainder smaller than the divisor.
        BinOp::Div => {
            let most = a0.abs().max(a1.abs());
            clamp(if a0 < 0 || b0 < 0 { -most } else { 0 }, if a1 > 0 || b0 < 0 { most } else { 0 })
        }
        BinOp::Rem => {
            let most = (b0.abs().max(b1.abs()) - 1).max(0).min(a0.abs().max(a1.abs()));
            clamp(if a0 < 0 { -most } else { 0 }, if a1 > 0 { most } else { 0 })
        }
        BinOp::Eq
        | BinOp::Ne
        | BinOp::Lt
        | BinOp::Le
        | BinOp::Gt
        | BinOp::Ge
        | BinOp::And
        | BinOp::Or => (0, 1),
        BinOp::BitAnd if a0 >= 0 && b0 >= 0 => (0, a.1.min(b.1)),
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => bits(a0.min(b0), a1.max(b1)),
        BinOp::Shl => FULL,
        BinOp::Shr => (a.0.min(0), a.1.max(0)),
    }
}

/// The smallest interval of numbers of as many bits as the ends need.
fn bits(lo: i64, hi: i64) -> Range {
    let mut bound: i64 = 1;
    while lo < -bound || hi >= bound {
        bound *= 2;
    }
    ((if lo < 0 { -bound } else { 0 }) as Value, (bound - 1) as Value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_contains_every_result() {
        let ops = [
            BinOp::Add,
            BinOp::Sub,
            BinOp::Mul,
            BinOp::Div,
            BinOp::Rem,
            BinOp::Eq,
            BinOp::BitAnd,
            BinOp::BitOr,
            BinOp::BitXor,
            BinOp::Shl,
            BinOp::Shr,
        ];
        let ends = -5..=5;
        for op in ops {
            for (a0, a1, b0, b1) in ends.clone().flat_map(|a0| {
                let ends = -5..=5;
                ends.flat_map(move |a1| {
                    [(-5, -2), (-3, 0), (-1, 4), (0, 3), (2, 5), (0, 0)]
                        .into_iter()
                        .map(move |(b0, b1)| (a0, a1, b0, b1))
                })
            }) {
                if a0 > a1 {
                    continue;
                }
                let (lo, hi) = binary(op, (a0, a1), (b0, b1));
                for a in a0..=a1 {
                    for b in b0..=b1 {
                        if let Ok(value) = op.apply(a, b) {
                            let shown = format!("{a} {} {b} = {value}", op.symbol());
                            assert!(lo <= value && value <= hi, "{shown} not in {lo}..={hi}");
                        }
                    }
                }
            }
        }
    }
}
