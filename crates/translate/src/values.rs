//! Value abstraction: replaces the values of some locations by a few kept values and `many`, the
//! set of all other values.
//!
//! Source: \[KVY11\] section 4.1 mentions that its abstraction of buffers can be combined with one
//! of values. Direction: over-approximation. Every run of the exact program, with each value of an
//! abstracted variable replaced by its abstract value, is a run of the result. So a safety property
//! that holds for the result holds for the exact program.
//!
//! - An abstracted location holds one of the kept values or `many`, which is encoded as one more
//!   number. 0 and 1 are always kept, so truth values stay exact. All abstracted locations share
//!   the kept values. More kept values are only more precise.
//! - The registers that hold such values follow: [`taint`] finds them. They hold abstract values,
//!   too. A value that reaches another location must be 0 or 1 (a comparison); otherwise that
//!   location must be abstracted as well.
//! - An expression over abstract values is evaluated exactly if no operand is `many`. Otherwise its
//!   result is chosen: any abstract value, or 0 or 1 ([`formula`]). `many` differs from every kept
//!   value, so comparisons of a variable with a kept value need no choice.
//! - An update guesses the old value, computes the new one, and takes effect as a compare-and-swap.
//!   A wrong guess changes nothing and is repeated ([`code`]).
//!
//! DIVERGENCE from the exact program:
//!
//! - An overflow of a result that has an operand `many` is not found. Verdicts must say so.
//! - A hang is found only if the statements with which threads wait read no abstract value. An
//!   abstract thread can choose a value with which it goes on. [`Abstracted::hides_hangs`] says
//!   whether hangs may be missed.
//!
//! The added statements branch on registers. Under a model with windows, later stores would wait
//! for these branches, and runs would be lost. So the result is an over-approximation only if loads
//! are performed in order (SC, TSO, PSO).

mod code;
mod error;
mod formula;
mod spec;
mod taint;

use fencepost_ir::{
    Address, Condition, Loc, Observable, Op, Problem, Property, Reg, Thread, Type, Value, flow,
    grace_period,
};

pub use error::CannotAbstract;
pub use spec::Values;

use formula::Formulas;
use taint::Taint;

/// The abstract values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Domain {
    /// The kept values, in increasing order. 0 and 1 are among them.
    pub(crate) kept: Vec<Value>,
    /// The number that encodes `many`.
    pub(crate) many: Value,
}

impl Domain {
    /// Returns the abstract value of a value.
    fn abstraction(&self, value: Value) -> Value {
        if self.kept.binary_search(&value).is_ok() { value } else { self.many }
    }

    /// Returns all abstract values, in increasing order.
    pub(crate) fn all(&self) -> Vec<Value> {
        let mut all = self.kept.clone();
        all.push(self.many);
        all.sort_unstable();
        all
    }

    /// Returns the type of abstract values. Its range makes a wrong translation a fault.
    fn ty(&self) -> Type {
        let all = self.all();
        Type::Int { range: all.first().copied().zip(all.last().copied()) }
    }
}

/// A problem with abstract values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Abstracted {
    /// The problem. Its first registers and its locations are those of the exact problem.
    pub problem: Problem,
    /// Whether the exact problem may have hangs that the abstract problem does not have.
    pub hides_hangs: bool,
    /// By location: whether its values are abstracted.
    locations: Vec<bool>,
    domain: Domain,
}

impl Abstracted {
    /// Returns the abstract value of a location or register of the exact problem.
    pub fn abstraction(&self, exact: &Problem, what: Observable, value: Value) -> Value {
        let is_abstract = match what {
            Observable::Loc(loc) => self.locations[loc.index()],
            Observable::Reg(thread, reg) => {
                let ty = self.problem.program.register_type(thread, reg);
                *ty != *exact.program.register_type(thread, reg)
            }
            Observable::At(..) => false,
        };
        if is_abstract { self.domain.abstraction(value) } else { value }
    }
}

/// Abstracts the values of the locations that `values` names.
pub fn abstract_values(problem: &Problem, values: &Values) -> Result<Abstracted, CannotAbstract> {
    if grace_period::occurs(&problem.program) {
        return Err(CannotAbstract::GracePeriods);
    }
    let locations = values.locations(&problem.program)?;
    let domain = values.domain();
    let mut result = problem.clone();
    let program = &mut result.program;
    for (location, _) in program.locations.iter_mut().zip(&locations).filter(|(_, is)| **is) {
        location.init = domain.abstraction(location.init);
        location.ty = domain.ty();
    }
    let mut taints = Vec::new();
    let mut hides_hangs = false;
    for thread in &mut program.threads {
        let taint = Taint::new(thread, &locations)?;
        hides_hangs |= may_wait_for_choice(thread, &taint, &domain);
        *thread = code::abstract_thread(thread, &taint, &domain, false)?;
        taints.push(taint);
    }
    if let Some(init) = &mut program.init {
        let taint = Taint::new(init, &locations)?;
        *init = code::abstract_thread(init, &taint, &domain, true)?;
    }
    let is_abstract = |what: &Observable| match what {
        Observable::Loc(loc) => locations[loc.index()],
        Observable::Reg(thread, reg) => taints[thread.index()].registers[reg.index()],
        Observable::At(..) => false,
    };
    let formulas = Formulas::new(&domain, &is_abstract);
    let with = |condition: &Condition, can: bool| {
        formulas.check(&condition.expr)?;
        formulas.check_no_fault(&condition.expr)?;
        let expr = formulas.can(&condition.expr, can);
        let expr = if can { expr } else { formula::not(expr) };
        Ok(Condition { expr: formulas.finish(expr)?, ..condition.clone() })
    };
    for property in &mut result.properties {
        match property {
            // Every concrete state must satisfy the condition.
            Property::FinalForall(condition) | Property::Invariant(condition) => {
                *condition = with(condition, false)?;
            }
            Property::FinalNever(condition) => *condition = with(condition, true)?,
            Property::Operations(_) => return Err(CannotAbstract::Operations),
            Property::Assertions
            | Property::MutualExclusion
            | Property::DeadlockFree
            | Property::Progress => {}
        }
    }
    for condition in &mut result.sometimes {
        *condition = with(condition, true)?;
    }
    Ok(Abstracted { problem: result, hides_hangs, locations, domain })
}

/// Returns whether a thread may wait at a statement whose result the abstract thread chooses.
fn may_wait_for_choice(thread: &Thread, taint: &Taint, domain: &Domain) -> bool {
    let is_abstract = |reg: &Reg| taint.registers[reg.index()];
    let formulas = Formulas::new(domain, &is_abstract);
    let is_chosen = |at: usize| {
        let op = &thread.code[at].op;
        let mut is_determined = true;
        flow::for_each_expr(op, &mut |expr| is_determined &= formulas.is_determined(expr));
        !is_determined || (taint.accesses[at] && matches!(op, Op::Update { .. }))
    };
    let may_wait = flow::may_wait_forever(thread);
    (0..thread.code.len()).any(|at| may_wait[at] && is_chosen(at))
}

/// Returns whether the locations of an address are abstracted. All elements of an array are, or
/// none.
fn is_abstracted(at: &Address, locations: &[bool]) -> Result<bool, CannotAbstract> {
    if at.cell.is_some() {
        return Ok(false);
    }
    let length = at.index.as_ref().map_or(1, |(length, _)| *length);
    let first = locations[at.base.index()];
    let rest = (at.base.0..at.base.0 + length).map(Loc);
    match rest.map(|loc| locations[loc.index()]).all(|is| is == first) {
        true => Ok(first),
        false => Err(CannotAbstract::PartOfArray(at.base)),
    }
}
