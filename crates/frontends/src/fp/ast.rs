//! The syntax tree. Names are text, parentheses are kept, nothing is resolved.
//!
//! The checker translates the syntax tree to the typed [`tree`](super::tree). The formatter prints
//! the syntax tree. Spans never include a closing semicolon.

use std::collections::BTreeSet;

use fencepost_ir::{BinOp, Quantifier, Span, UnOp};

/// A name and its position.
#[derive(Clone, Debug)]
pub struct Name {
    /// The text of the name.
    pub text: String,
    /// The position in the source.
    pub span: Span,
}

/// A source file.
#[derive(Clone, Debug)]
pub struct File {
    /// The items, in order.
    pub items: Vec<Item>,
    /// The names in the parts that were left out because of syntax errors. `None` if there is no
    /// such part.
    pub unparsed_names: Option<BTreeSet<String>>,
}

/// A top-level item of a file.
#[derive(Clone, Debug)]
pub struct Item {
    /// The kind of the item and its parts.
    pub kind: ItemKind,
    /// The position in the source.
    pub span: Span,
}

/// The kind of an item.
#[derive(Clone, Debug)]
pub enum ItemKind {
    /// `const N = 3;`
    Const(Name, Expr),
    /// `enum State { idle, busy }`
    Enum(Name, Vec<Name>),
    /// `record Node { int value; Node next; }`
    Record(Name, Vec<Field>),
    /// `pool Node[4];`
    Pool(Name, Expr),
    /// `shared int x = 5, y;`
    Shared(TypeName, Vec<Declarator>),
    /// `init { ... }`
    Init(Block),
    /// `finally { ... }`
    Finally(Block),
    /// `proc int f(int a) { ... }`, or an operation, which also has a letter.
    Procedure(Procedure),
    /// `client e(ed|d);`
    Client(Client),
    /// `thread p(i in 0..2) { ... }`
    Thread(Thread),
    /// `property mutual_exclusion;`, `property linearizable operations;`
    Property(Name, Option<Name>),
    /// `final exists COND;`
    Final(Quantifier, Expr),
    /// `invariant COND;`
    Invariant(Expr),
    /// `observe x, p(0).r;`
    Observe(Vec<Expr>),
}

/// A field of a record.
#[derive(Clone, Debug)]
pub struct Field {
    /// The type.
    pub ty: TypeName,
    /// The name.
    pub name: Name,
    /// The number of elements of each dimension of an array. Empty if this is not an array.
    pub dims: Vec<Expr>,
}

/// A variable of a `shared` declaration, or a register of a declaration in a body.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// The name.
    pub name: Name,
    /// The number of elements of each dimension of an array. Empty if this is not an array.
    pub dims: Vec<Expr>,
    /// The initial value.
    pub init: Option<Initial>,
}

/// An initial value.
#[derive(Clone, Debug)]
pub enum Initial {
    /// `= 7`: the initial value of the location, or of all elements of the array.
    One(Expr),
    /// `= {1, 2, 3}`, or `= {{1, 2}, {3, 4}}` for two dimensions.
    List(Vec<Initial>, Span),
}

/// A procedure or operation.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// The result type. `None` for `void`.
    pub returns: Option<TypeName>,
    /// The name.
    pub name: Name,
    /// The parameters.
    pub params: Vec<(TypeName, Name)>,
    /// The letter of an operation in clients.
    pub letter: Option<Name>,
    /// The attributes of an operation.
    pub attributes: Vec<Attribute>,
    /// The body.
    pub body: Block,
}

/// An attribute of an operation.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The kind of the attribute.
    pub kind: AttributeKind,
    /// The position of the keyword.
    pub span: Span,
}

/// The kind of an attribute.
#[derive(Clone, Debug)]
pub enum AttributeKind {
    /// `owner`: only the first thread of a client may use the operation.
    Owner,
    /// `repeats`: the operation may return its result without changing memory.
    Repeats,
    /// `aborts E`: the operation may have no effect and return `E`.
    Aborts(Expr),
}

impl AttributeKind {
    /// Returns the keyword.
    pub fn word(&self) -> &'static str {
        match self {
            AttributeKind::Owner => "owner",
            AttributeKind::Repeats => "repeats",
            AttributeKind::Aborts(_) => "aborts",
        }
    }
}

/// A client: the letters of the initial part, the letters of each thread, and the letters after the
/// threads.
#[derive(Clone, Debug)]
pub struct Client {
    /// The letters before the parenthesis.
    pub first: Option<Name>,
    /// Whether the threads are in parentheses.
    pub parens: bool,
    /// The letters of each thread.
    pub threads: Vec<Name>,
    /// The letters after the parenthesis.
    pub last: Option<Name>,
}

/// A thread template.
#[derive(Clone, Debug)]
pub struct Thread {
    /// The name.
    pub name: Name,
    /// The parameter and its range.
    pub param: Option<(Name, Range)>,
    /// The body.
    pub body: Block,
}

/// `0..2` or `0..=2`.
#[derive(Clone, Debug)]
pub struct Range {
    /// The first value.
    pub lo: Box<Expr>,
    /// Whether the range includes `hi`.
    pub inclusive: bool,
    /// The upper bound.
    pub hi: Box<Expr>,
}

/// A type in the source.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// The kind of the type.
    pub kind: TypeKind,
    /// The position in the source.
    pub span: Span,
}

/// The kind of a type.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `int(0..4)`, or `int(0..4, wrap)` with the treatment of values outside the range.
    Ranged(Range, Option<Name>),
    /// The name of an enum, a record or a fixed-width integer.
    Named(Name),
}

/// Statements in braces.
#[derive(Clone, Debug)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// From brace to brace.
    pub span: Span,
    /// The closing brace.
    pub close: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The kind of the statement and its parts.
    pub kind: StmtKind,
    /// The position in the source, without the semicolon.
    pub span: Span,
    /// The empty span after the statement and its semicolon.
    pub end: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `{ ... }`
    Block(Block),
    /// `L: s`
    Label(Name, Box<Stmt>),
    /// `int r = 1, s, a[3];`
    Declare(TypeName, Vec<Declarator>),
    /// `x = e;` or, with an operator, `x += e;`
    Assign(Expr, Option<BinOp>, Expr),
    /// `x++;` (`Add`) or `x--;` (`Sub`)
    Step(Expr, BinOp),
    /// A call or an update whose result is not used.
    Eval(Expr),
    /// `if (c) s else s`
    If {
        /// The condition.
        cond: Expr,
        /// From the keyword to the closing parenthesis.
        head: Span,
        /// Runs if the condition holds.
        then: Box<Stmt>,
        /// Runs if the condition does not hold.
        otherwise: Option<Box<Stmt>>,
    },
    /// `while (c) s`
    While {
        /// The condition.
        cond: Expr,
        /// From the keyword to the closing parenthesis.
        head: Span,
        /// The body.
        body: Box<Stmt>,
    },
    /// `do s while (c);`
    DoWhile {
        /// The body.
        body: Box<Stmt>,
        /// The condition.
        cond: Expr,
        /// From `while` to the closing parenthesis.
        head: Span,
    },
    /// `for (init; c; step) s`
    For {
        /// Runs first.
        init: Option<Box<Stmt>>,
        /// The condition.
        cond: Option<Expr>,
        /// Runs after each iteration.
        step: Option<Box<Stmt>>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `loop s`
    Loop(Box<Stmt>),
    /// `switch (e) { case 1: ... default: ... }`
    Switch {
        /// The value that selects a case.
        value: Expr,
        /// From the keyword to the closing parenthesis.
        head: Span,
        /// The cases, in order.
        cases: Vec<Case>,
        /// The closing brace.
        close: Span,
    },
    /// `critical { ... }`
    Critical(Block),
    /// `atomic { ... }`
    Atomic(Block),
    /// `either { ... } or { ... }`
    Either(Vec<Block>),
    /// `when(c);`, only as the first statement of a branch of `either`.
    When(Expr),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `goto L;`
    Goto(Name),
    /// `return e;`
    Return(Option<Expr>),
    /// `skip;`
    Skip,
    /// `fence store_load, load_load;`
    Fence(Vec<Name>),
    /// `drain x;`
    Drain(Expr),
    /// `assume(c);`
    Assume(Expr),
    /// `await(c);`
    Await(Expr),
    /// `assert(c);`
    Assert(Expr),
    /// `free(n);`
    Free(Expr),
    /// `;`
    Empty,
}

/// A part of a `switch`: its labels and the statements up to the next label.
#[derive(Clone, Debug)]
pub struct Case {
    /// The labels, at least one.
    pub labels: Vec<CaseLabel>,
    /// The statements.
    pub stmts: Vec<Stmt>,
}

/// `case 1:` or `default:`
#[derive(Clone, Debug)]
pub struct CaseLabel {
    /// The constant. `None` for `default`.
    pub value: Option<Expr>,
    /// The position with the colon.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The kind of the expression and its parts.
    pub kind: ExprKind,
    /// The position in the source.
    pub span: Span,
    /// The height of the expression tree. The parser limits the height, so that recursive passes
    /// need little stack.
    pub height: u16,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A non-negative number.
    Number(u64),
    /// `true` or `false`.
    Bool(bool),
    /// `null`
    Null,
    /// A name.
    Name(String),
    /// `(e)`
    Paren(Box<Expr>),
    /// `!e`
    Unary(UnOp, Box<Expr>),
    /// `a + b`
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// `c ? a : b`
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `n.field`
    Field(Box<Expr>, Name),
    /// `f(a, b)`, `cas(x, 0, 1)`, or `p(0)` in conditions.
    Call(Name, Vec<Expr>),
    /// `x.load(acquire)`. A memory order is a [`ExprKind::Name`] that may contain `::`.
    Method(Box<Expr>, Name, Vec<Expr>),
    /// `choose(0..2)`
    ChooseRange(Range),
    /// `choose(a, b)`
    ChooseList(Vec<Expr>),
    /// `new Node`
    New(Name),
    /// `p at A` or `p(0) at A`: the thread is at the label.
    At(Box<Expr>, Name),
}
