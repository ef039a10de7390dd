//! The reasons why the values of a program cannot be abstracted.

use fencepost_ir::{Loc, Program};
use std::fmt;

/// The reason why values cannot be abstracted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CannotAbstract {
    /// The text is not of the form `x, y: {0, 1, many}`; the reason.
    Syntax(String),
    /// There is no location with this name.
    UnknownLocation(String),
    /// The name is that of a register.
    Register(String),
    /// The location is a field of a record.
    Field(String),
    /// The location has a type other than `int` without a range.
    NotInt(String),
    /// An access with a variable index may be to abstracted elements and others.
    PartOfArray(Loc),
    /// An abstract value is stored to this location, which is not abstracted.
    Reaches(Loc),
    /// An abstract value is assigned to this register of a thread, whose type is not `int`.
    ReachesRegister(String, String),
    /// An abstract value is used as an index or a reference.
    Index,
    /// A divisor or the amount of a shift is not a constant, in an expression with an abstract
    /// value.
    Divisor,
    /// An expression is too large.
    TooLarge,
    /// A condition combines an abstract value with arithmetic that may fault.
    Condition,
    /// The program has a property of the results of operations.
    Operations,
    /// The program has read-side sections or grace periods.
    GracePeriods,
}

impl CannotAbstract {
    /// Describes the reason in one sentence, and what to do.
    pub fn describe(&self, program: &Program) -> String {
        let name = |loc: &Loc| program.location(*loc).name.clone();
        match self {
            CannotAbstract::PartOfArray(loc) => {
                let array = name(loc);
                let array = array.split('[').next().unwrap_or_default().to_string();
                format!(
                    "`{array}` is accessed with a variable index; abstract the whole array `{array}`"
                )
            }
            CannotAbstract::Reaches(loc) => {
                let name = name(loc);
                format!("an abstracted value is stored to `{name}`; abstract `{name}`, too")
            }
            CannotAbstract::Syntax(_)
            | CannotAbstract::UnknownLocation(_)
            | CannotAbstract::Register(_)
            | CannotAbstract::Field(_)
            | CannotAbstract::NotInt(_)
            | CannotAbstract::ReachesRegister(..)
            | CannotAbstract::Index
            | CannotAbstract::Divisor
            | CannotAbstract::TooLarge
            | CannotAbstract::Condition
            | CannotAbstract::Operations
            | CannotAbstract::GracePeriods => self.to_string(),
        }
    }
}

impl fmt::Display for CannotAbstract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotAbstract::Syntax(reason) => {
                write!(
                    f,
                    "{reason}; write, for example, 'x: {{0, 1, many}}' or 'x, y: {{0..4, many}}'"
                )
            }
            CannotAbstract::UnknownLocation(name) => write!(f, "there is no location `{name}`"),
            CannotAbstract::Register(name) => {
                write!(f, "`{name}` is a register; name the location whose values it holds")
            }
            CannotAbstract::Field(name) => {
                write!(f, "`{name}` is a field of a record; fields cannot be abstracted")
            }
            CannotAbstract::NotInt(name) => {
                write!(f, "`{name}` is not an `int` without a range; its values are already finite")
            }
            CannotAbstract::PartOfArray(_) => f.write_str("a part of an array is abstracted"),
            CannotAbstract::Reaches(_) => {
                f.write_str("an abstracted value is stored to another location")
            }
            CannotAbstract::ReachesRegister(thread, register) => write!(
                f,
                "an abstracted value is assigned to `{thread}.{register}`, which has a range or is \
                 not an `int`; declare it as `int`"
            ),
            CannotAbstract::Index => {
                f.write_str("an abstracted value is used as an index or a reference")
            }
            CannotAbstract::Divisor => f.write_str(
                "an abstracted value is divided or shifted, and the right operand is not a \
                 positive constant",
            ),
            CannotAbstract::TooLarge => {
                f.write_str("an expression with an abstracted value is too large")
            }
            CannotAbstract::Condition => f.write_str(
                "a condition combines an abstracted value with arithmetic; compare the value with \
                 constants and variables only",
            ),
            CannotAbstract::Operations => {
                f.write_str("properties of operations are not supported with abstracted values")
            }
            CannotAbstract::GracePeriods => {
                f.write_str("RCU is not supported with abstracted values")
            }
        }
    }
}
