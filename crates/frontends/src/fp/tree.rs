//! The checked tree. Names are resolved, every expression has a type, every jump has a target.
//!
//! The checker visits each body once. Lowering then visits a body once for each thread that runs
//! the body. Lowering reports only size limits and warnings.

use fencepost_ir::{
    BinOp, CasResult, Consistency, FenceKinds, PoolId, Quantifier, Span, UnOp, Value,
};

use super::names::Attributes;
use super::types::{EnumInfo, LocalId, ProcId, SharedId, TemplateId, Ty, VarTy};
use crate::orders::MemoryOrder;

/// A checked file.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Enums.
    pub enums: Vec<EnumInfo>,
    /// Records, each with its pool. The index is the pool id.
    pub records: Vec<Record>,
    /// Shared variables.
    pub shared: Vec<Shared>,
    /// Procedures and operations.
    pub procs: Vec<Procedure>,
    /// The `init` block.
    pub init: Option<Body>,
    /// The `finally` block and its keyword.
    pub finally: Option<(Body, Span)>,
    /// Thread templates.
    pub templates: Vec<Template>,
    /// Clients.
    pub clients: Vec<Client>,
    /// Properties and conditions, in order.
    pub claims: Vec<Claim>,
    /// The expressions of `observe`.
    pub observe: Vec<Expr>,
    /// Whether the file contains an `assert`.
    pub asserts: bool,
}

/// A record and its pool.
#[derive(Clone, Debug)]
pub struct Record {
    /// The name.
    pub name: String,
    /// The fields.
    pub fields: Vec<Field>,
    /// The number of cells of the pool.
    pub cells: u32,
}

impl Record {
    /// Returns the number of locations of one cell.
    pub fn stride(&self) -> u32 {
        self.fields.iter().map(|f| elements(&f.dims)).sum()
    }

    /// Returns the number of locations before a field in a cell.
    pub fn offset(&self, field: usize) -> u32 {
        self.fields[..field].iter().map(|f| elements(&f.dims)).sum()
    }
}

/// Returns the number of locations or registers of a variable with these dimensions.
pub fn elements(dims: &[u32]) -> u32 {
    dims.iter().product()
}

/// Returns the indices of an element as they print: `[1][0]`. Empty if `dims` is empty.
pub fn element_suffix(dims: &[u32], at: u32) -> String {
    let mut rest = at;
    let mut parts: Vec<String> = Vec::new();
    for len in dims.iter().rev() {
        parts.push(format!("[{}]", rest % len));
        rest /= len;
    }
    parts.into_iter().rev().collect()
}

/// A field of a record.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The type of the location, or of each element of an array.
    pub ty: VarTy,
    /// The number of elements of each dimension of an array. Empty if this is not an array.
    pub dims: Vec<u32>,
}

/// A shared variable, or one field of a shared variable that holds records.
///
/// The elements of one field are neighbours, so that the locations which an unknown index may
/// denote are those of this field.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The name.
    pub name: String,
    /// For a field of a variable that holds records: the name of the field, and how many of `dims`
    /// belong to the variable.
    pub field: Option<(String, usize)>,
    /// The type of the location, or of each element of an array.
    pub ty: VarTy,
    /// The number of elements of each dimension of an array. Empty if this is not an array.
    pub dims: Vec<u32>,
    /// The initial value of each element. One value if the variable is not an array.
    pub init: Vec<Value>,
}

impl Shared {
    /// Returns the name of an element: `x`, `a[1]`, `m[0][1]`, `ring[2].slot[0]`.
    pub fn element_name(&self, at: u32) -> String {
        match &self.field {
            None => format!("{}{}", self.name, element_suffix(&self.dims, at)),
            Some((field, outer)) => {
                let (outer, inner) = self.dims.split_at(*outer);
                let size = elements(inner);
                let (cell, element) = (at / size, at % size);
                let cell = element_suffix(outer, cell);
                format!("{}{cell}.{field}{}", self.name, element_suffix(inner, element))
            }
        }
    }
}

/// A procedure or operation.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// The name.
    pub name: String,
    /// The result type. `None` for `void`.
    pub returns: Option<VarTy>,
    /// The number of parameters. Parameters are the first locals of the body.
    pub params: usize,
    /// The letter of an operation in clients.
    pub letter: Option<char>,
    /// The attributes of an operation.
    pub attributes: Attributes,
    /// The body.
    pub body: Body,
}

/// A thread template.
#[derive(Clone, Debug)]
pub struct Template {
    /// The name.
    pub name: String,
    /// The first and last value of the parameter.
    pub param: Option<(Value, Value)>,
    /// The body.
    pub body: Body,
}

impl Template {
    /// Returns the number of threads of the template.
    pub fn instances(&self) -> u64 {
        self.param.map_or(1, |(lo, hi)| (hi - lo + 1).max(0) as u64)
    }
}

/// A client: the operations of the initial part, of each thread, and after the threads.
#[derive(Clone, Debug)]
pub struct Client {
    /// The source text, without spaces.
    pub text: String,
    /// The position in the file. The start of the file for a client from the command line.
    pub span: Span,
    /// The operations that run before the threads. The span is the position of the letter, or of
    /// the operation's name for a client from the command line.
    pub first: Vec<(ProcId, Span)>,
    /// The operations of each thread.
    pub threads: Vec<Vec<(ProcId, Span)>>,
    /// The operations that run after the threads.
    pub last: Vec<(ProcId, Span)>,
}

/// A property or condition of a file.
#[derive(Clone, Debug)]
pub enum Claim {
    /// `property mutual_exclusion;`
    MutualExclusion,
    /// `property deadlock_free;`
    DeadlockFree,
    /// `property may_hang;`
    MayHang,
    /// `property progress;`
    Progress,
    /// `final exists COND;`
    Final(Quantifier, Expr),
    /// `invariant COND;`
    Invariant(Expr),
    /// `property linearizable operations;` and its position.
    Operations(Consistency, Span),
}

/// The body of a thread, of a procedure, of `init`, or of `finally`.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// The registers. The parameters of a procedure come first.
    pub locals: Vec<Local>,
    /// The labels.
    pub labels: Vec<LabelName>,
    /// The statements.
    pub code: Vec<Stmt>,
    /// The closing brace.
    pub close: Span,
}

/// A label of a body.
#[derive(Clone, Debug)]
pub struct LabelName {
    /// The name.
    pub name: String,
    /// The position of the name.
    pub span: Span,
    /// Whether the label is in an `atomic` block.
    pub in_atomic: bool,
}

/// A register of a body.
#[derive(Clone, Debug)]
pub struct Local {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: VarTy,
    /// The position of the first occurrence.
    pub span: Span,
    /// Whether a statement assigns to the register. Argument passing does not count.
    pub assigned: bool,
    /// Whether a declaration introduces the register, not its first assignment.
    pub declared: bool,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The kind of the statement and its parts.
    pub kind: StmtKind,
    /// The position in the source.
    pub span: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A sequence of statements.
    Block(Vec<Stmt>),
    /// An unbraced body of `if` or a loop, with the gaps before and after it.
    Unbraced(Option<Gap>, Box<Stmt>, Option<Gap>),
    /// A position for a fence. Has no effect.
    Gap(Gap),
    /// A label, the gap after the label, and the labelled statement.
    Label(usize, Option<Gap>, Box<Stmt>),
    /// A declaration without a value: sets the register to 0. In a thread this matters only if the
    /// declaration can run twice.
    Reset(LocalId),
    /// Assigns to a register.
    Assign(LocalId, Expr),
    /// Assigns to a register with a range that blocks: waits while the value is outside the range.
    AssignWaiting(LocalId, Expr, (Value, Value)),
    /// Assigns to an element of a local array.
    AssignElement(Element, Expr),
    /// `r += e` on a register.
    Modify(LocalId, BinOp, Expr),
    /// Stores to a location.
    Store(Place, Expr),
    /// `x += e` on a location: a load and a store.
    StoreModify(Place, BinOp, Expr),
    /// A call or an update whose result is not used.
    Eval(Expr),
    /// `if`. The span is the head.
    If(Expr, Span, Box<Stmt>, Option<Box<Stmt>>),
    /// `while`, `loop`, and `for` without its initial statement.
    While {
        /// The condition. `None` for an endless loop.
        cond: Option<Expr>,
        /// The position of the condition with its keyword.
        head: Span,
        /// The body.
        body: Box<Stmt>,
        /// Runs after the body, also after `continue`.
        step: Option<Box<Stmt>>,
    },
    /// `do ... while`.
    DoWhile(Box<Stmt>, Expr, Span),
    /// `switch`. The span is the head.
    Switch(Expr, Span, Vec<Case>),
    /// `break`.
    Break,
    /// `continue`.
    Continue,
    /// `goto`. The flag is set if the label is outside all `critical` blocks of the body.
    Goto(usize, bool),
    /// `return`.
    Return(Option<Expr>),
    /// `skip`.
    Skip,
    /// `fence`. The `head` of the gap is the fence with its semicolon.
    Fence(FenceKinds, Gap),
    /// `drain`.
    Drain(Place),
    /// `assume`.
    Assume(Expr),
    /// `await`.
    Await(Expr),
    /// `assert`.
    Assert(Expr),
    /// `free`.
    Free(PoolId, Expr),
    /// `critical`. The span is the closing brace.
    Critical(Vec<Stmt>, Span),
    /// `atomic`. The span is the closing brace.
    Atomic(Vec<Stmt>, Span),
    /// `either`. The span is the keyword.
    Either(Vec<EitherBranch>, Span),
}

/// A part of a `switch`.
#[derive(Clone, Debug)]
pub struct Case {
    /// The constants of the `case` labels, with their positions.
    pub values: Vec<(Value, Span)>,
    /// Whether the part has the label `default`.
    pub default: bool,
    /// The statements. Control continues with the next part.
    pub body: Vec<Stmt>,
}

/// An element of a local array.
#[derive(Clone, Debug)]
pub struct Element {
    /// The register of the first element.
    pub first: LocalId,
    /// The number of elements of each dimension.
    pub dims: Vec<u32>,
    /// The indices, one for each dimension.
    pub indices: Vec<Expr>,
    /// The type of the element.
    pub ty: VarTy,
}

/// A branch of `either`.
#[derive(Clone, Debug)]
pub struct EitherBranch {
    /// The condition under which the branch may be taken, with the position of the `when`.
    pub guard: Option<(Expr, Span)>,
    /// The statements after the guard.
    pub body: Vec<Stmt>,
}

/// A gap between statements of the source, where a fence can be inserted.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// The empty span where the text of a fence is inserted.
    pub at: Span,
    /// The following code: a statement, the head of a compound statement, or a closing brace.
    pub head: Span,
    /// Whether the gap is at the end of a block.
    pub at_end: bool,
    /// The statement (with its semicolon) that needs braces if a fence is inserted here.
    pub wrap: Option<Span>,
}

/// An expression that denotes a shared location.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable or field.
    pub root: Root,
    /// The indices, one for each dimension of the variable or field.
    pub indices: Vec<Expr>,
    /// The type of the location.
    pub ty: VarTy,
    /// The memory order of the access. Relaxed for a plain access, which has no fences.
    pub order: MemoryOrder,
    /// The memory order of a compare-and-exchange that fails.
    pub failure: MemoryOrder,
    /// The positions of the orders in the source. Empty for a plain access, for a default order, and
    /// where no other order is allowed.
    pub written_orders: Vec<Span>,
    /// The position in the source.
    pub span: Span,
}

/// The variable or field that contains a location.
#[derive(Clone, Debug)]
pub enum Root {
    /// A shared variable.
    Shared(SharedId),
    /// A field of a record.
    Field {
        /// The record's pool.
        pool: PoolId,
        /// The index of the field.
        field: usize,
        /// The reference.
        of: Box<Expr>,
    },
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of the expression and its parts.
    pub kind: ExprKind,
    /// The type.
    pub ty: Ty,
    /// The position in the source.
    pub span: Span,
    /// Whether the expression reads only registers and constants.
    pub pure: bool,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A constant.
    Const(Value),
    /// A register of the body.
    Local(LocalId),
    /// An element of a local array.
    LocalElement(Element),
    /// The value modulo the size of a range: the number of the range that is congruent to it.
    Wrap(Box<Expr>, (Value, Value)),
    /// A fixed-width integer as an `int`. A number outside 32 bits is a fault.
    ToInt(Box<Expr>),
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
    /// Any value of a range: the bounds, and whether the upper bound is included.
    ChooseRange(Box<Expr>, Box<Expr>, bool),
    /// Any value of a list.
    ChooseList(Vec<Expr>),
    /// A newly allocated record.
    New(PoolId),
    /// A call.
    Call(ProcId, Vec<Expr>),
    /// In a condition: a register of a thread (template, value of the parameter, local).
    ThreadRegister(TemplateId, Option<Value>, LocalId),
    /// In an invariant: whether a thread (template, value of the parameter) is at a label.
    At(TemplateId, Option<Value>, usize),
    /// In a condition: the result of the n-th use (from 1) of an operation in a client.
    ClientResult(ProcId, u32),
    /// In `observe`: all elements of an array.
    WholeArray(SharedId),
}

/// The kind of an update and its operands.
#[derive(Clone, Debug)]
pub enum Update {
    /// `cas(x, expected, new)` or `cmpxchg(x, expected, new)`
    Cas(Box<Expr>, Box<Expr>, CasResult),
    /// `swap(x, new)`
    Swap(Box<Expr>),
    /// `fetch_add(x, by)`
    Add(Box<Expr>),
    /// `fetch_sub(x, by)`
    Sub(Box<Expr>),
    /// `fetch_and`, `fetch_or`, `fetch_xor`
    Bits(BinOp, Box<Expr>),
}
