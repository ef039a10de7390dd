//! Range analysis: one interval for each register and location, valid for the whole run.
//!
//! The types of booleans, enums, references and ranged integers limit their values: a value outside
//! the type is a fault and is never stored. For other integers the analysis is a data-flow
//! fixpoint. The interval of a register is computed along the control flow of its thread and
//! narrowed by branch conditions. The interval of a location is the join of all values stored to
//! it. An interval that keeps growing is widened to the limits of the type, which are 32 bits for an
//! integer without a declared range.
//!
//! The result is an over-approximation under every memory model: a load returns the initial value
//! or a stored value, and a branch waits for the values of its condition. Assertions and faults
//! narrow nothing, because later accesses can overtake them. State packing relies on the ranges and
//! checks every value that it packs.
//!
//! A search that changes the values of some variables ([`crate::counters`]) needs ranges that do not
//! depend on these variables: [`ranges_with_free`] lets them have any value at any time.
//!
//! Under a model that guesses the directions of branches, statements behind a branch may be executed
//! before its condition is known ([`ranges_with_guesses`]). Then no edge is infeasible, and only a
//! condition on a single register narrows: nothing is computed from that register before the
//! condition is known.

use crate::expr::{BinOp, Expr};
use crate::flow;
use crate::ids::{Loc, Pc, Reg, ThreadId};
pub use crate::interval::Range;
use crate::interval::{FULL, binary, interval, join, meet, refine};
use crate::op::{Address, CasResult, Op, Update};
use crate::program::{Location, Program, Stmt, Thread};
use crate::property::Observable;
use crate::value::{INT_LIMITS, Type, Value};

/// The ranges of a program's registers and locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ranges {
    /// Indexed by location.
    pub locations: Vec<Range>,
    /// Indexed by thread and register. Every range contains 0: registers start as 0 and may be
    /// cleared.
    pub registers: Vec<Vec<Range>>,
    /// Indexed by thread and program counter: the locations that the statement may access, in
    /// ascending order.
    pub footprints: Vec<Vec<Vec<Loc>>>,
}

/// How often the ranges at one point may grow before widening. Loops over small arrays reach their
/// fixpoint earlier.
const WIDENING_DELAY: u32 = 40;

/// Computes the ranges of a program, if branches wait for the values of their conditions.
pub fn ranges(program: &Program) -> Ranges {
    compute_ranges(program, false, &|_| false)
}

/// Computes the ranges of a program in which the variables that `is_free` accepts have any value at
/// any time.
pub fn ranges_with_free(program: &Program, is_free: &dyn Fn(Observable) -> bool) -> Ranges {
    compute_ranges(program, false, is_free)
}

/// Computes the ranges of a program, if the directions of branches may be guessed.
pub fn ranges_with_guesses(program: &Program) -> Ranges {
    compute_ranges(program, true, &|_| false)
}

/// Returns whether an access to an address never faults, if registers have these ranges: it is to a
/// location, or to an element of an array whose index is a register within the bounds.
pub fn is_safe(address: &Address, registers: &[Range]) -> bool {
    let is_inside = match &address.index {
        None => true,
        Some((len, Expr::Var(reg))) => {
            let (low, high) = registers[reg.index()];
            low >= 0 && high < Value::from(*len)
        }
        Some((len, Expr::Const(at))) => (0..Value::from(*len)).contains(at),
        Some(_) => false,
    };
    address.pointer.is_none() && address.cell.is_none() && is_inside
}

fn compute_ranges(
    program: &Program,
    guesses: bool,
    is_free: &dyn Fn(Observable) -> bool,
) -> Ranges {
    let initial = |(at, location): (usize, &Location)| {
        let is_free = is_free(Observable::Loc(Loc::from_index(at)));
        let range = if is_free { FULL } else { (location.init, location.init) };
        Slot { range, grown: 0 }
    };
    let mut locations: Vec<Slot> = program.locations.iter().enumerate().map(initial).collect();
    let in_init = program.init.iter().map(|init| Analysis::new(program, init, guesses, Vec::new()));
    let in_threads = program.threads.iter().enumerate().map(|(t, thread)| {
        let all = (0..thread.registers.len()).map(Reg::from_index);
        let free = all.filter(|reg| is_free(Observable::Reg(ThreadId::from_index(t), *reg)));
        Analysis::new(program, thread, guesses, free.collect())
    });
    let mut threads: Vec<Analysis<'_>> = in_init.chain(in_threads).collect();
    // Terminates: ranges of locations only grow, and widening bounds how often.
    loop {
        let before: Vec<Range> = locations.iter().map(|slot| slot.range).collect();
        for thread in &mut threads {
            thread.run(&mut locations);
        }
        if locations.iter().map(|slot| slot.range).eq(before) {
            break;
        }
    }
    let init = program.init.iter().len();
    Ranges {
        locations: locations.iter().map(|slot| slot.range).collect(),
        registers: threads[init..].iter().map(Analysis::registers).collect(),
        footprints: threads[init..].iter().map(Analysis::footprints).collect(),
    }
}

/// A range and the number of times it has grown.
#[derive(Clone, Copy, Debug)]
struct Slot {
    range: Range,
    grown: u32,
}

impl Slot {
    /// Extends the range to include `new`, within the limits of its type.
    fn grow(&mut self, new: Range, limits: Range) {
        let grown = join(self.range, new);
        if grown == self.range {
            return;
        }
        self.grown += 1;
        let widened = widen(self.range, grown, self.grown, limits);
        self.range = meet(widened, limits).unwrap_or(widened);
    }
}

/// Replaces each bound that still moves by a limit of the type, once the range has grown too often.
fn widen(old: Range, new: Range, grown: u32, limits: Range) -> Range {
    if grown <= WIDENING_DELAY {
        return new;
    }
    let lo = if new.0 < limits.0 { Value::MIN } else { limits.0 };
    let hi = if new.1 > limits.1 { Value::MAX } else { limits.1 };
    (if new.0 < old.0 { lo } else { new.0 }, if new.1 > old.1 { hi } else { new.1 })
}

/// Returns the limits of a type.
fn limits(program: &Program, ty: &Type) -> Range {
    program.limits(ty).unwrap_or(INT_LIMITS)
}

/// The analysis of one thread: the ranges of its registers at every program counter.
struct Analysis<'p> {
    program: &'p Program,
    thread: &'p Thread,
    /// `None` for a program counter that is not reached so far.
    at: Vec<Option<Vec<Range>>>,
    grown: Vec<u32>,
    /// Whether the directions of branches may be guessed.
    guesses: bool,
    /// The registers that have any value at any time.
    free: Vec<Reg>,
}

impl<'p> Analysis<'p> {
    fn new(program: &'p Program, thread: &'p Thread, guesses: bool, free: Vec<Reg>) -> Self {
        let grown = vec![0; thread.code.len()];
        let mut analysis =
            Analysis { program, thread, at: vec![None; grown.len()], grown, guesses, free };
        let mut entry = vec![(0, 0); thread.registers.len()];
        analysis.forget_free(&mut entry);
        if let Some(first) = analysis.at.first_mut() {
            *first = Some(entry);
        }
        analysis
    }

    /// Drops what is known about the free registers.
    fn forget_free(&self, registers: &mut [Range]) {
        self.free.iter().for_each(|reg| registers[reg.index()] = FULL);
    }

    /// Narrows the ranges of the registers to those with which a condition holds or does not hold.
    /// Returns false if this is impossible.
    fn narrow(&self, cond: &Expr<Reg>, holds: bool, registers: &mut [Range]) -> bool {
        if !self.guesses {
            return refine(cond, holds, registers);
        }
        let mut mentioned: Option<Reg> = None;
        let mut is_single = true;
        cond.for_each_var(&mut |reg| is_single &= *mentioned.get_or_insert(*reg) == *reg);
        let mut narrowed = registers.to_vec();
        if is_single && refine(cond, holds, &mut narrowed) {
            registers.copy_from_slice(&narrowed);
        }
        true
    }

    /// Runs the worklist algorithm to a fixpoint, starting from the current ranges of locations.
    fn run(&mut self, locations: &mut [Slot]) {
        let mut work: Vec<Pc> = (0..self.at.len())
            .rev()
            .filter(|at| self.at[*at].is_some())
            .map(Pc::from_index)
            .collect();
        while let Some(pc) = work.pop() {
            let stmt = self.thread.stmt(pc);
            let Some(registers) = self.at[pc.index()].clone() else {
                continue;
            };
            for next in flow::successors(stmt) {
                let mut after = registers.clone();
                let is_feasible = self.step(stmt, next, &mut after, locations);
                self.forget_free(&mut after);
                if is_feasible && self.join_at(next, &after) {
                    work.push(next);
                }
            }
        }
    }

    /// Joins `registers` into the ranges at `pc`. Returns whether those ranges changed.
    fn join_at(&mut self, pc: Pc, registers: &[Range]) -> bool {
        let grown = &mut self.grown[pc.index()];
        let Some(known) = &mut self.at[pc.index()] else {
            self.at[pc.index()] = Some(registers.to_vec());
            return true;
        };
        let joined: Vec<Range> =
            known.iter().zip(registers).map(|(old, new)| join(*old, *new)).collect();
        if joined == *known {
            return false;
        }
        *grown += 1;
        let types = self.thread.registers.iter().map(|register| &register.ty);
        for ((old, new), ty) in known.iter_mut().zip(joined).zip(types) {
            *old = widen(*old, new, *grown, limits(self.program, ty));
        }
        true
    }

    /// Applies the effect of a statement on the edge to `next`. Returns false if that edge is
    /// infeasible.
    fn step(&self, stmt: &Stmt, next: Pc, registers: &mut [Range], locations: &mut [Slot]) -> bool {
        let program = self.program;
        let declared = |reg: Reg| program.limits(&self.thread.registers[reg.index()].ty);
        // If no value is legal, the statement always faults, so any range is sound.
        let set = |registers: &mut [Range], reg: Reg, new: Option<Range>| {
            let legal = new.and_then(|new| declared(reg).map_or(Some(new), |l| meet(new, l)));
            registers[reg.index()] = legal.unwrap_or((0, 0));
        };
        let store = |locations: &mut [Slot], loc: Loc, new: Range| {
            let limits = limits(program, &program.location(loc).ty);
            if let Some(legal) = meet(new, limits) {
                locations[loc.index()].grow(legal, limits);
            }
        };
        match &stmt.op {
            Op::Assign { reg, expr } => {
                let new = interval(expr, registers);
                set(registers, *reg, Some(new));
            }
            Op::Choose { reg, lo, hi } => set(registers, *reg, Some((*lo, *hi))),
            Op::New { reg, pool } => {
                let pool = program.pool(*pool);
                let least = if pool.yields_null { 0 } else { 1 };
                set(registers, *reg, Some((least, pool.cells.max(1) as Value)));
            }
            Op::Load { reg, from } => {
                let found = footprint_within(program, from, registers);
                let found = found.map(|loc| locations[loc.index()].range).reduce(join);
                set(registers, *reg, found);
            }
            Op::Store { to, value } => {
                let new = interval(value, registers);
                for loc in footprint_within(program, to, registers) {
                    store(locations, loc, new);
                }
            }
            Op::Update { reg, at, update } => {
                let mut yielded: Option<Range> = None;
                for loc in footprint_within(program, at, registers) {
                    let old = locations[loc.index()].range;
                    let (new, result) = match update {
                        Update::Cas { new, result, .. } => {
                            let yields = match result {
                                CasResult::Success => (0, 1),
                                CasResult::Old => old,
                            };
                            (interval(new, registers), yields)
                        }
                        Update::Swap { new } => (interval(new, registers), old),
                        Update::Add { wrap: Some(range), .. } => (*range, old),
                        Update::Add { by, wrap: None } => {
                            (binary(BinOp::Add, old, interval(by, registers)), old)
                        }
                        Update::Bits { op, by } => (binary(*op, old, interval(by, registers)), old),
                    };
                    store(locations, loc, new);
                    yielded = Some(yielded.map_or(result, |so_far| join(so_far, result)));
                }
                if let Some(reg) = reg {
                    set(registers, *reg, yielded);
                }
            }
            Op::Branch { cond, then, otherwise } => {
                return then == otherwise || self.narrow(cond, next == *then, registers);
            }
            Op::Assume(cond) => return self.narrow(cond, true, registers),
            Op::Invoke { seen } => {
                for (other, reg) in seen {
                    let code = program.thread(*other).code.iter();
                    let most = code.filter(|stmt| matches!(stmt.op, Op::Return { .. })).count();
                    set(registers, *reg, Some((0, most as Value)));
                }
            }
            Op::SectionBegin { held, index, .. } => {
                let limits = declared(*held).unwrap_or((0, 0));
                match index {
                    None => {
                        let (lo, hi) = registers[held.index()];
                        set(registers, *held, Some((lo.saturating_add(1), hi.saturating_add(1))));
                    }
                    Some(index) => {
                        set(registers, *held, Some(limits));
                        set(registers, *index, Some((0, limits.1.count_ones() as Value)));
                    }
                }
            }
            Op::SectionEnd { held, index, .. } => {
                let (lo, hi) = registers[held.index()];
                let less = (lo.saturating_sub(1).max(0), hi.saturating_sub(1).max(0));
                set(registers, *held, if index.is_some() { declared(*held) } else { Some(less) });
            }
            // The register is not 0 while the thread stays at the statement.
            Op::GracePeriod { seen, .. } => set(registers, *seen, declared(*seen)),
            Op::Assert(_)
            | Op::Skip
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Return { .. }
            | Op::Join
            | Op::Halt => {}
        }
        true
    }

    /// Returns the join over all program counters, for each register.
    fn registers(&self) -> Vec<Range> {
        let mut all = vec![(0, 0); self.thread.registers.len()];
        for registers in self.at.iter().flatten() {
            for (all, here) in all.iter_mut().zip(registers) {
                *all = join(*all, *here);
            }
        }
        all
    }

    /// Returns the locations that each statement may access.
    fn footprints(&self) -> Vec<Vec<Loc>> {
        let at = |(stmt, registers): (&Stmt, &Option<Vec<Range>>)| {
            let (Some(address), Some(registers)) = (stmt.op.address(), registers) else {
                return Vec::new();
            };
            let mut found: Vec<Loc> = footprint_within(self.program, address, registers).collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        self.thread.code.iter().zip(&self.at).map(at).collect()
    }
}

/// Returns every location that an address may denote.
pub fn footprint(program: &Program, address: &Address) -> impl Iterator<Item = Loc> + use<> {
    footprint_with(program, address, &|expr| match expr.as_const() {
        Some(value) => (value, value),
        None => FULL,
    })
}

/// Returns every location that an address may denote if its registers are in these ranges.
fn footprint_within(
    program: &Program,
    address: &Address,
    registers: &[Range],
) -> impl Iterator<Item = Loc> + use<> {
    footprint_with(program, address, &|expr| interval(expr, registers))
}

/// Returns every location that an address may denote. `range` returns the range of a reference or an
/// index.
fn footprint_with(
    program: &Program,
    address: &Address,
    range: &dyn Fn(&Expr<Reg>) -> Range,
) -> impl Iterator<Item = Loc> + use<> {
    let pointer = address.pointer.as_ref();
    let targets = pointer.map(|pointer| (pointer.targets.clone(), range(&pointer.value)));
    let count = targets.as_ref().map_or(0, |(targets, _)| targets.len());
    let pointed = (0..count).filter_map(move |at| {
        let (targets, (least, greatest)) = targets.as_ref()?;
        let (value, loc) = targets[at];
        (value >= *least && value <= *greatest).then_some(loc)
    });
    // The values of an expression that are at least `first` and less than `end`, counted from `first`.
    let within = |expr: &Expr<Reg>, (first, count): (Value, u32)| {
        let legal = meet(range(expr), (first, first + Value::from(count) - 1));
        legal.map_or(0..0, |(lo, hi)| (lo - first) as u32..(hi - first) as u32 + 1)
    };
    let (cells, stride) = match &address.cell {
        None => (0..1, 0),
        Some((pool, reference)) => {
            let pool = program.pool(*pool);
            (within(reference, (1, pool.cells)), pool.stride)
        }
    };
    let elements = match &address.index {
        None => 0..1,
        Some((len, index)) => within(index, (0, *len)),
    };
    let base = address.base.0;
    let cells = if pointer.is_some() { 0..0 } else { cells };
    let computed =
        cells.flat_map(move |cell| elements.clone().map(move |at| Loc(base + cell * stride + at)));
    pointed.chain(computed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Label, Register};

    /// `r = 0; while (r < 3) { x = r; r = r + step; }`
    fn counting(step: Value) -> Program {
        let reg = || Box::new(Expr::Var(Reg(0)));
        let ops = [
            (Op::Assign { reg: Reg(0), expr: Expr::Const(0) }, 1),
            (
                Op::Branch {
                    cond: Expr::Binary(BinOp::Lt, reg(), Box::new(Expr::Const(3))),
                    then: Pc(2),
                    otherwise: Pc(4),
                },
                1,
            ),
            (Op::Store { to: Address::fixed(Loc(0)), value: Expr::Var(Reg(0)) }, 3),
            (
                Op::Assign {
                    reg: Reg(0),
                    expr: Expr::Binary(BinOp::Add, reg(), Box::new(Expr::Const(step))),
                },
                1,
            ),
            (Op::Halt, 4),
        ];
        let code = ops
            .map(|(op, next)| Stmt { label: Label(0), op, next: Pc(next), critical: false })
            .to_vec();
        let registers = vec![Register { name: "r".into(), ty: Type::INT }];
        Program {
            locations: vec![Location { name: "x".into(), ty: Type::INT, init: 0 }],
            threads: vec![Thread { name: "t".into(), registers, code }],
            ..Program::default()
        }
    }

    #[test]
    fn a_loop_with_a_bound_has_a_finite_range() {
        let ranges = ranges(&counting(1));
        assert_eq!((ranges.registers[0][0], ranges.locations[0]), ((0, 3), (0, 2)));
    }

    #[test]
    fn the_range_of_an_index_limits_the_footprint() {
        let mut program = counting(1);
        let x = program.locations[0].clone();
        program.locations.resize(5, x);
        let index = Some((5, Expr::Var(Reg(0))));
        let to = Address { index, ..Address::fixed(Loc(0)) };
        program.threads[0].code[2].op = Op::Store { to, value: Expr::Const(1) };
        assert_eq!(ranges(&program).footprints[0][2], [Loc(0), Loc(1), Loc(2)]);
    }

    #[test]
    fn an_unbounded_loop_is_widened() {
        let ranges = ranges(&counting(-1));
        assert_eq!(ranges.locations[0], (INT_LIMITS.0, 0));
    }
}
