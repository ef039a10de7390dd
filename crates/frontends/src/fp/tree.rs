//! The checked source: names are resolved, every expression has a type, jumps go somewhere.
//!
//! Checking happens once for each body; lowering then walks a body once for each thread that runs
//! it, and has nothing left to complain about but sizes.

use fencepost_ir::{BinOp, Consistency, FenceKinds, PoolId, Quantifier, Span, UnOp, Value};

use super::names::Attributes;
use super::types::{EnumInfo, LocalId, ProcId, SharedId, TemplateId, Ty, VarTy};

/// A checked file.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Enums.
    pub enums: Vec<EnumInfo>,
    /// Records, each with its pool: the position is the pool's id.
    pub records: Vec<Record>,
    /// Shared variables.
    pub shared: Vec<Shared>,
    /// Procedures and operations.
    pub procs: Vec<Procedure>,
    /// The `init` block.
    pub init: Option<Body>,
    /// Thread templates.
    pub templates: Vec<Template>,
    /// Clients.
    pub clients: Vec<Client>,
    /// `property` lines and conditions, in order.
    pub claims: Vec<Claim>,
    /// What to observe.
    pub observe: Vec<Expr>,
    /// Whether some `assert` exists.
    pub asserts: bool,
}

/// A record and its pool.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Field>,
    /// How many cells its pool has.
    pub cells: u32,
}

impl Record {
    /// How many locations one cell takes.
    pub fn stride(&self) -> u32 {
        self.fields.iter().map(|f| f.len.unwrap_or(1)).sum()
    }

    /// How many locations of a cell come before a field.
    pub fn offset(&self, field: usize) -> u32 {
        self.fields[..field].iter().map(|f| f.len.unwrap_or(1)).sum()
    }
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type, or that of its elements.
    pub ty: VarTy,
    /// Its length, if it is an array.
    pub len: Option<u32>,
}

/// A shared variable.
#[derive(Clone, Debug)]
pub struct Shared {
    /// Its name.
    pub name: String,
    /// Its type, or that of its elements.
    pub ty: VarTy,
    /// Its length, if it is an array.
    pub len: Option<u32>,
    /// The initial value of each element (of the only one, when it is no array).
    pub init: Vec<Value>,
}

/// A procedure.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// What it returns.
    pub returns: Option<VarTy>,
    /// How many parameters it has; they are its first locals.
    pub params: usize,
    /// The letter clients call it by.
    pub letter: Option<char>,
    /// What else is said of an operation.
    pub attributes: Attributes,
    /// Its body.
    pub body: Body,
}

/// A thread template.
#[derive(Clone, Debug)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// The first and the last value of its parameter.
    pub param: Option<(Value, Value)>,
    /// Its body.
    pub body: Body,
}

impl Template {
    /// How many threads it makes.
    pub fn instances(&self) -> u64 {
        self.param.map_or(1, |(lo, hi)| (i64::from(hi) - i64::from(lo) + 1).max(0) as u64)
    }
}

/// A client: the operations that run first, then those of each thread.
#[derive(Clone, Debug)]
pub struct Client {
    /// As written, without spaces.
    pub text: String,
    /// Where it stands; the beginning of the file if it does not stand there.
    pub span: Span,
    /// The operations that run first, each with the place of its letter, or of its name if the client
    /// does not stand in the file.
    pub first: Vec<(ProcId, Span)>,
    /// The operations of each thread.
    pub threads: Vec<Vec<(ProcId, Span)>>,
}

/// What a file claims.
#[derive(Clone, Debug)]
pub enum Claim {
    /// `property mutual_exclusion;`
    MutualExclusion,
    /// `property deadlock_free;`
    DeadlockFree,
    /// `final exists COND;`
    Final(Quantifier, Expr),
    /// `invariant COND;`
    Invariant(Expr),
    /// `property linearizable operations;`, and where it stands.
    Operations(Consistency, Span),
}

/// The body of a thread, of a procedure, or of `init`.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Its registers; parameters of a procedure come first.
    pub locals: Vec<Local>,
    /// How many labels it has.
    pub labels: usize,
    /// Its statements.
    pub code: Vec<Stmt>,
    /// The brace that ends it.
    pub close: Span,
}

/// A register of a body.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: VarTy,
    /// Where it first stands.
    pub span: Span,
    /// Whether some statement assigns to it (a parameter gets its value without one).
    pub assigned: bool,
    /// Whether a declaration introduces it, rather than its first assignment.
    pub declared: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// One after another.
    Block(Vec<Stmt>),
    /// A statement where a block could stand, with the gaps before and after it.
    Alone(Option<Gap>, Box<Stmt>, Option<Gap>),
    /// Where a fence may be put; nothing in itself.
    Gap(Gap),
    /// A place for `goto`, and the gap between it and the statement.
    Label(usize, Option<Gap>, Box<Stmt>),
    /// A declaration without a value: the register is 0 again. In a thread that matters only
    /// where it can be reached twice.
    Reset(LocalId),
    /// Assigns to a register.
    Assign(LocalId, Expr),
    /// `r += e` on a register.
    Modify(LocalId, BinOp, Expr),
    /// Stores to a location.
    Store(Place, Expr),
    /// `x += e` on a location: loads, computes, stores.
    StoreModify(Place, BinOp, Expr),
    /// A call or an update whose value is not wanted.
    Eval(Expr),
    /// `if`; the span is that of its head.
    If(Expr, Span, Box<Stmt>, Option<Box<Stmt>>),
    /// `while`, and `for` without the first part.
    While {
        /// The condition; `None` for ever.
        cond: Option<Expr>,
        /// Where the condition stands, with its keyword.
        head: Span,
        /// The body.
        body: Box<Stmt>,
        /// Runs after the body, also after `continue`.
        step: Option<Box<Stmt>>,
    },
    /// `do ... while`.
    DoWhile(Box<Stmt>, Expr, Span),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `goto`; the flag tells whether the label is outside of all `critical` blocks of the body.
    Goto(usize, bool),
    /// `return`.
    Return(Option<Expr>),
    /// `skip`.
    Skip,
    /// `fence`, which is a gap that is filled: its `head` is the statement with its semicolon.
    Fence(FenceKinds, Gap),
    /// `drain`.
    Drain(Place),
    /// `assume`.
    Assume(Expr),
    /// `assert`.
    Assert(Expr),
    /// `free`.
    Free(PoolId, Expr),
    /// `critical`; the span is that of its closing brace.
    Critical(Vec<Stmt>, Span),
    /// `atomic`; the span is that of its closing brace.
    Atomic(Vec<Stmt>, Span),
}

/// A gap between statements of the source, where a fence may be put.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// The empty stretch where the text of a fence goes.
    pub at: Span,
    /// What follows: a statement, only its beginning if it has parts, or a closing brace.
    pub head: Span,
    /// Whether it is the end of a block.
    pub at_end: bool,
    /// The statement with its semicolon that needs braces when a fence is put here.
    pub wrap: Option<Span>,
}

/// Something that is stored in shared memory.
#[derive(Clone, Debug)]
pub struct Place {
    /// Which variable or field.
    pub root: Root,
    /// The index, when it is an element of an array.
    pub index: Option<Box<Expr>>,
    /// The type of what is there.
    pub ty: VarTy,
    /// Where it stands.
    pub span: Span,
}

/// What a place is (an element of).
#[derive(Clone, Debug)]
pub enum Root {
    /// A shared variable.
    Shared(SharedId),
    /// A field of a record.
    Field {
        /// The record's pool.
        pool: PoolId,
        /// The position of the field.
        field: usize,
        /// The reference.
        of: Box<Expr>,
    },
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Ty,
    /// Where it stands.
    pub span: Span,
    /// Whether it reads only registers and constants.
    pub pure: bool,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Const(Value),
    /// A register of the body.
    Local(LocalId),
    /// The parameter of the thread template.
    Param,
    /// A load.
    Load(Place),
    /// A unary operator.
    Unary(UnOp, Box<Expr>),
    /// A binary operator.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// An update.
    Update(Place, Update),
    /// Any value from the first to the second, the second left out unless the flag is set.
    ChooseRange(Box<Expr>, Box<Expr>, bool),
    /// Any value of the list.
    ChooseList(Vec<Expr>),
    /// A fresh record.
    New(PoolId),
    /// A call.
    Call(ProcId, Vec<Expr>),
    /// In a condition: a register of a thread, given by template, value of the parameter and local.
    ThreadRegister(TemplateId, Option<Value>, LocalId),
    /// In a condition: what the n-th use (from 1) of an operation in a client returned.
    ClientResult(ProcId, u32),
    /// In `observe`: all elements of an array.
    WholeArray(SharedId),
}

/// How an update changes its location.
#[derive(Clone, Debug)]
pub enum Update {
    /// `cas(x, expected, new)`
    Cas(Box<Expr>, Box<Expr>),
    /// `swap(x, new)`
    Swap(Box<Expr>),
    /// `fetch_add(x, by)`
    Add(Box<Expr>),
    /// `fetch_sub(x, by)`
    Sub(Box<Expr>),
    /// `fetch_and`, `fetch_or`, `fetch_xor`
    Bits(BinOp, Box<Expr>),
}
