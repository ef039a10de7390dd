//! The syntax tree of a litmus test.

use fencepost_ir::{Quantifier, Span};
use std::fmt;

use super::c::ast::Function;
use super::x86::ast::Column;

/// The language of a test's program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arch {
    /// 32-bit x86 in Intel's order of operands.
    X86,
    /// 64-bit x86 in the order of the AT&T syntax.
    X86_64,
    /// The C dialect of herd.
    C,
}

impl Arch {
    /// As the first word of a file.
    pub fn name(self) -> &'static str {
        match self {
            Arch::X86 => "X86",
            Arch::X86_64 => "X86_64",
            Arch::C => "C",
        }
    }
}

/// A test.
#[derive(Clone, Debug)]
pub struct File {
    /// The language of its program.
    pub arch: Arch,
    /// Its name.
    pub name: String,
    /// The text in quotes after the name.
    pub doc: Option<String>,
    /// Lines `Key=value` of the header.
    pub metadata: Vec<(String, String)>,
    /// The initial state.
    pub init: Vec<Init>,
    /// The program.
    pub body: Body,
    /// What is asked.
    pub constraint: Constraint,
}

/// A program.
#[derive(Clone, Debug)]
pub enum Body {
    /// Columns of instructions.
    X86(Vec<Column>),
    /// Functions.
    C(Vec<Function>),
}

/// A location or register of the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Spot {
    /// A register of a thread.
    Register(u32, String),
    /// An element of an array.
    Element(String, u32),
    /// A location.
    Global(String),
}

/// As conditions and states show it, without brackets around a location.
impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spot::Register(thread, name) => write!(f, "{thread}:{name}"),
            Spot::Element(name, at) => write!(f, "{name}[{at}]"),
            Spot::Global(name) => f.write_str(name),
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
    /// The address of an array's element.
    Element(String, u32),
}

/// An item of the initial state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Init {
    /// What it is about.
    pub spot: Spot,
    /// The type, if one is written.
    pub ty: Option<String>,
    /// Whether it is a pointer.
    pub pointer: bool,
    /// The number of elements, if it is an array.
    pub len: Option<u32>,
    /// The values, one for each element; what is not listed is 0.
    pub values: Vec<Constant>,
    /// Where.
    pub span: Span,
}

/// What is asked of a test.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Further locations and registers to show.
    pub locations: Vec<(Spot, Span)>,
    /// Only states that satisfy this count.
    pub filter: Option<Prop>,
    /// How the condition is meant.
    pub quantifier: Quantifier,
    /// The condition.
    pub prop: Prop,
    /// Where it is.
    pub span: Span,
    /// Whether a part of it could not be read.
    pub lost: bool,
}

/// The right side of an equation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Right {
    /// A constant.
    Constant(Constant),
    /// What another location or register holds.
    Spot(Spot),
    /// One of several constants.
    Among(Vec<Constant>),
}

/// A condition about a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Prop {
    /// An equation.
    Equal(Spot, Right, Span),
    /// Negation.
    Not(Box<Prop>),
    /// All of these; `true` when there are none.
    And(Vec<Prop>),
    /// Some of these; `false` when there are none.
    Or(Vec<Prop>),
    /// If the first, then the second.
    Implies(Box<Prop>, Box<Prop>),
}

impl Prop {
    /// Calls `visit` with every equation.
    pub fn for_each(&self, visit: &mut impl FnMut(&Spot, &Right, Span)) {
        match self {
            Prop::Equal(spot, right, span) => visit(spot, right, *span),
            Prop::Not(inner) => inner.for_each(visit),
            Prop::And(all) | Prop::Or(all) => all.iter().for_each(|p| p.for_each(visit)),
            Prop::Implies(a, b) => {
                a.for_each(visit);
                b.for_each(visit);
            }
        }
    }
}
