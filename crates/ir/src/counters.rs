//! Counters: variables whose numbers only matter in relation to each other.
//!
//! A *counter class* is a set of locations and registers that are connected by data flow: copies,
//! loads, stores, updates, sums with constants, comparisons with each other. The program uses them
//! in no other way, except that it may take them modulo a small constant. So the behaviour of the
//! program depends only on the differences of the numbers, and a search can merge states
//! (`engines::counters`). This file finds the classes and says what a search may merge:
//!
//! - A class *wraps* if all members have the same fixed-width type, every sum is taken modulo its
//!   size, and numbers are only compared for equality and with each other. Then adding the same
//!   number to all of them, modulo the size, changes nothing.
//! - A class is *ordered* if all members are integers of 32 bits whose overflow is a fault. They
//!   may be compared in any way and with constants, and constants may be assigned. Then a large
//!   difference can be replaced by another large one. [`Ordered::spread`] says what is large.
//!
//! Classes are components of a graph over all locations and registers, without regard to control
//! flow. So a register that is used for different purposes may exclude a class that could be
//! handled. Only classes with a member whose range is large are returned.
//!
//! Direction: a class that is returned has the properties above; classes may be missing.
//!
//! Rejected: to find the classes in the source. The temporary registers of the front ends take part
//! in the flow of values.

mod facts;
mod flow;
mod form;

use crate::ids::{Loc, Reg, ThreadId};
use crate::program::Problem;
use crate::property::{Observable, Property};
use crate::range::{Range, ranges};
use crate::value::{INT_LIMITS, Value};
use crate::{grace_period, op::Op};
use flow::Components;
use form::Checker;

/// A range with at least this many values is large.
pub const LARGE_SPAN: u64 = 1 << 16;
/// The largest constant that a number may be taken modulo, and the largest common multiple.
const MAX_MODULUS: Value = 64;
/// The largest distance of two constants that an ordered class is compared with.
const MAX_ANCHOR_SPAN: u64 = 64;
/// The largest spread of an ordered class.
const MAX_SPREAD: Value = 8;

/// A class of counters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterClass {
    /// The locations, in ascending order.
    pub locations: Vec<Loc>,
    /// The registers, in ascending order.
    pub registers: Vec<(ThreadId, Reg)>,
    /// How the numbers may be changed.
    pub kind: CounterKind,
    /// The program depends on the remainders of the numbers modulo this number. 1 if it does not.
    pub modulus: Value,
}

/// How the numbers of a class may be changed without changing the behaviour of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CounterKind {
    /// All by the same amount, modulo the size of this range, which is a power of two.
    Wrapping(Range),
    /// Large differences may be replaced by other large differences.
    Ordered(Ordered),
}

/// What the behaviour of a program depends on, for an ordered class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ordered {
    /// The smallest and largest constant that a member is compared with or becomes.
    pub anchors: Option<Range>,
    /// In one step, every comparison and every new value is about `u + c` for numbers `u` of the
    /// state or constants, and constants `c`. This is the largest difference of two such `c`.
    pub spread: Value,
    /// Whether some register can become the sum of itself and a constant without an access in
    /// between. Then steps must not be fused, because `spread` is about single statements.
    pub accumulates: bool,
}

/// Returns the classes of counters with a member whose range has at least `span` values, usually
/// [`LARGE_SPAN`].
pub fn counter_classes(problem: &Problem, span: u64) -> Vec<CounterClass> {
    if !is_supported(problem) {
        return Vec::new();
    }
    let program = &problem.program;
    let computed = ranges(program);
    let mut components = Components::of(problem);
    let range = |what: Observable| match what {
        Observable::Loc(loc) => computed.locations[loc.index()],
        Observable::Reg(t, reg) => computed.registers[t.index()][reg.index()],
        Observable::At(..) => (0, 1),
    };
    let is_large = |(lo, hi): Range| hi.abs_diff(lo) >= span.saturating_sub(1);
    let candidates = components.select(|members| members.iter().any(|what| is_large(range(*what))));
    let mut checker = Checker::new(program, components, candidates.len());
    checker.check(problem);
    let mut found = Vec::new();
    for (class, members) in candidates.into_iter().enumerate() {
        let starts_outside = members.iter().any(|what| starts_outside(problem, *what));
        let non_negative = members.iter().all(|what| range(*what).0 >= 0);
        let types: Vec<Option<Range>> =
            members.iter().map(|what| declared(problem, *what)).collect();
        let kind = checker.facts(class).kind(&types, non_negative);
        let Some((kind, modulus)) = kind.filter(|_| !starts_outside) else { continue };
        let mut locations = Vec::new();
        let mut registers = Vec::new();
        for what in members {
            match what {
                Observable::Loc(loc) => locations.push(loc),
                Observable::Reg(t, reg) => registers.push((t, reg)),
                Observable::At(..) => {}
            }
        }
        found.push(CounterClass { locations, registers, kind, modulus });
    }
    found
}

/// Returns whether the analysis knows all uses of numbers. It does not know how operations of a
/// client are compared, and references and sections are no numbers.
fn is_supported(problem: &Problem) -> bool {
    let program = &problem.program;
    let is_operations = |property: &Property| matches!(property, Property::Operations(_));
    let invokes = program
        .threads
        .iter()
        .flat_map(|thread| &thread.code)
        .any(|stmt| matches!(stmt.op, Op::Invoke { .. } | Op::New { .. } | Op::Free { .. }));
    !grace_period::occurs(program)
        && program.pools.is_empty()
        && !problem.properties.iter().any(is_operations)
        && !invokes
}

/// Returns whether a location has an initial value outside of its range. A front end marks locations
/// without an initial value in this way, and reading one is a fault.
fn starts_outside(problem: &Problem, what: Observable) -> bool {
    let (Observable::Loc(loc), Some((lo, hi))) = (what, declared(problem, what)) else {
        return false;
    };
    !(lo..=hi).contains(&problem.program.location(loc).init)
        || problem.program.uninitialised.contains(&loc)
}

/// Returns the declared range of a variable, or that of an `int`.
fn declared(problem: &Problem, what: Observable) -> Option<Range> {
    let program = &problem.program;
    let ty = match what {
        Observable::Loc(loc) => &program.location(loc).ty,
        Observable::Reg(t, reg) => program.register_type(t, reg),
        Observable::At(..) => return None,
    };
    Some(program.limits(ty).unwrap_or(INT_LIMITS))
}

#[cfg(test)]
mod tests;
