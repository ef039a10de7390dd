//! The syntax tree of a litmus test.

use fencepost_ir::{Quantifier, Span};
use std::fmt;

use super::c::ast::Function;
use super::{aarch64, x86};

/// The language of a test's program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arch {
    /// 32-bit x86 with Intel operand order (destination first).
    X86,
    /// 64-bit x86 with AT&T operand order (source first).
    X86_64,
    /// 64-bit ARM.
    AArch64,
    /// herd's C dialect.
    C,
}

impl Arch {
    /// Returns the name of the language, which is the first word of a file.
    pub fn name(self) -> &'static str {
        match self {
            Arch::X86 => "X86",
            Arch::X86_64 => "X86_64",
            Arch::AArch64 => "AArch64",
            Arch::C => "C",
        }
    }
}

/// The syntax tree of a litmus test file.
#[derive(Clone, Debug)]
pub struct File {
    /// The language of the program.
    pub arch: Arch,
    /// The name of the test.
    pub name: String,
    /// The quoted text after the name.
    pub doc: Option<String>,
    /// The `Key=value` lines of the header.
    pub metadata: Vec<(String, String)>,
    /// The initial state.
    pub init: Vec<Init>,
    /// The program.
    pub body: Body,
    /// The `locations`, the filter and the quantified condition.
    pub constraint: Constraint,
}

/// A program.
#[derive(Clone, Debug)]
pub enum Body {
    /// Columns of x86 instructions, one for each thread.
    X86(Vec<x86::ast::Column>),
    /// Columns of AArch64 instructions, one for each thread.
    AArch64(Vec<aarch64::ast::Column>),
    /// Functions, one for each thread.
    C(Vec<Function>),
}

/// A component of a state: a register of a thread, a location, or an element of an array.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StateVar {
    /// A register of a thread.
    Register(u32, String),
    /// An element of an array.
    Element(String, u32),
    /// A location.
    Global(String),
}

/// Formats the variable as in a condition, without brackets around a location.
impl fmt::Display for StateVar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateVar::Register(thread, name) => write!(f, "{thread}:{name}"),
            StateVar::Element(name, at) => write!(f, "{name}[{at}]"),
            StateVar::Global(name) => f.write_str(name),
        }
    }
}

/// A constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Constant {
    /// A number.
    Int(i128),
    /// The address of a location.
    Address(String),
    /// The address of an array element.
    Element(String, u32),
}

/// An item of the initial state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Init {
    /// The register or location that the item initialises.
    pub var: StateVar,
    /// The type, if the item has one.
    pub ty: Option<String>,
    /// Whether the variable is a pointer.
    pub pointer: bool,
    /// The number of elements of an array; `None` for a scalar.
    pub len: Option<u32>,
    /// The values of the first elements. The other elements are 0.
    pub values: Vec<Constant>,
    /// The span of the item.
    pub span: Span,
}

/// The constraint of a test: everything after the program.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The variables listed in `locations [...]`. States show them in addition to those of the
    /// condition.
    pub locations: Vec<(StateVar, Span)>,
    /// The filter. Final states that do not satisfy the filter are ignored.
    pub filter: Option<Prop>,
    /// The quantifier of the condition.
    pub quantifier: Quantifier,
    /// The condition.
    pub prop: Prop,
    /// The span of the quantified condition.
    pub span: Span,
    /// Whether a part of the constraint is invalid and was left out.
    pub incomplete: bool,
}

/// The right side of an equation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Right {
    /// A constant.
    Constant(Constant),
    /// The value of another location or register.
    StateVar(StateVar),
    /// A set of constants: the left side equals one of them.
    Among(Vec<Constant>),
}

/// A proposition about a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Prop {
    /// An equation.
    Equal(StateVar, Right, Span),
    /// Negation.
    Not(Box<Prop>),
    /// Conjunction; `true` if the list is empty.
    And(Vec<Prop>),
    /// Disjunction; `false` if the list is empty.
    Or(Vec<Prop>),
    /// Implication: the first proposition implies the second.
    Implies(Box<Prop>, Box<Prop>),
}

impl Prop {
    /// Calls `visit` with every equation, from left to right.
    pub fn for_each(&self, visit: &mut impl FnMut(&StateVar, &Right, Span)) {
        match self {
            Prop::Equal(var, right, span) => visit(var, right, *span),
            Prop::Not(inner) => inner.for_each(visit),
            Prop::And(all) | Prop::Or(all) => all.iter().for_each(|p| p.for_each(visit)),
            Prop::Implies(a, b) => {
                a.for_each(visit);
                b.for_each(visit);
            }
        }
    }
}
