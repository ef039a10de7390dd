//! The source as it was written: names are text, parentheses are kept, nothing is resolved.
//!
//! Two readers: the checker, which turns it into the typed [`tree`](super::tree), and the formatter,
//! which prints it. Spans never include a closing semicolon.

use std::collections::BTreeSet;

use fencepost_ir::{BinOp, Quantifier, Span, UnOp};

/// A name and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A source file.
#[derive(Clone, Debug)]
pub struct File {
    /// Its items, in order.
    pub items: Vec<Item>,
    /// The names that occur in what could not be parsed and was left out; `None` if nothing was.
    pub lost: Option<BTreeSet<String>>,
}

/// A declaration.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it declares.
    pub kind: ItemKind,
    /// Where it stands.
    pub span: Span,
}

/// What an item declares.
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
    /// `proc int f(int a) { ... }`, and operations, which have a letter.
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
    /// Its type.
    pub ty: TypeName,
    /// Its name.
    pub name: Name,
    /// Its length, if it is an array.
    pub len: Option<Expr>,
}

/// One of the variables a `shared` line declares.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// Its name.
    pub name: Name,
    /// Its length, if it is an array.
    pub len: Option<Expr>,
    /// Its initial value.
    pub init: Option<Initial>,
}

/// An initial value.
#[derive(Clone, Debug)]
pub enum Initial {
    /// `= 7`, for all elements of an array.
    One(Expr),
    /// `= {1, 2, 3}`
    List(Vec<Expr>, Span),
}

/// A procedure or operation.
#[derive(Clone, Debug)]
pub struct Procedure {
    /// What it returns; nothing for `void`.
    pub returns: Option<TypeName>,
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<(TypeName, Name)>,
    /// The letter clients call it by, if it is an operation.
    pub letter: Option<Name>,
    /// What else is said of an operation.
    pub attributes: Vec<Attribute>,
    /// Its body.
    pub body: Block,
}

/// What is said of an operation after its letter.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// What.
    pub kind: AttributeKind,
    /// Its word.
    pub span: Span,
}

/// The attributes of operations.
#[derive(Clone, Debug)]
pub enum AttributeKind {
    /// `owner`: only the first thread of a client may use it.
    Owner,
    /// `repeats`: it may return what another use returns, without any other effect.
    Repeats,
    /// `aborts E`: it may do nothing and return this.
    Aborts(Expr),
}

impl AttributeKind {
    /// The word of the language.
    pub fn word(&self) -> &'static str {
        match self {
            AttributeKind::Owner => "owner",
            AttributeKind::Repeats => "repeats",
            AttributeKind::Aborts(_) => "aborts",
        }
    }
}

/// A client: letters that run first, then letters for each thread.
#[derive(Clone, Debug)]
pub struct Client {
    /// The letters before the parenthesis.
    pub first: Option<Name>,
    /// Whether the threads stand in parentheses.
    pub parens: bool,
    /// The letters of each thread.
    pub threads: Vec<Name>,
}

/// A thread template.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name.
    pub name: Name,
    /// Its parameter and the values it takes.
    pub param: Option<(Name, Range)>,
    /// Its body.
    pub body: Block,
}

/// `0..2` or `0..=2`.
#[derive(Clone, Debug)]
pub struct Range {
    /// The first value.
    pub lo: Box<Expr>,
    /// Whether `hi` belongs to it.
    pub inclusive: bool,
    /// The end.
    pub hi: Box<Expr>,
}

/// A type as written.
#[derive(Clone, Debug)]
pub struct TypeName {
    /// Which.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// Which type is meant.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `bool`
    Bool,
    /// `int`, `int(0..4)`
    Int(Option<Range>),
    /// The name of an enum or a record.
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
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands, without its semicolon.
    pub span: Span,
    /// The empty stretch behind it and its semicolon.
    pub end: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `{ ... }`
    Block(Block),
    /// `L: s`
    Label(Name, Box<Stmt>),
    /// `int r = 1, s;`
    Declare(TypeName, Vec<(Name, Option<Expr>)>),
    /// `x = e;` or, with an operator, `x += e;`
    Assign(Expr, Option<BinOp>, Expr),
    /// `x++;` (`Add`) or `x--;` (`Sub`)
    Step(Expr, BinOp),
    /// A call or an update on its own.
    Eval(Expr),
    /// `if (c) s else s`
    If {
        /// The condition.
        cond: Expr,
        /// From the keyword to the closing parenthesis.
        head: Span,
        /// When it holds.
        then: Box<Stmt>,
        /// When it does not.
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
        /// Runs after each round.
        step: Option<Box<Stmt>>,
        /// The body.
        body: Box<Stmt>,
    },
    /// `loop s`
    Loop(Box<Stmt>),
    /// `critical { ... }`
    Critical(Block),
    /// `atomic { ... }`
    Atomic(Block),
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
    /// `assert(c);`
    Assert(Expr),
    /// `free(n);`
    Free(Expr),
    /// `;`
    Empty,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
    /// How deep the tree below it is. The parser limits it, so that a walk needs little stack.
    pub height: u16,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number, not negative.
    Number(i64),
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
    /// `f(a, b)`, also `cas(x, 0, 1)`, also `p(0)` in conditions.
    Call(Name, Vec<Expr>),
    /// `choose(0..2)`
    ChooseRange(Range),
    /// `choose(a, b)`
    ChooseList(Vec<Expr>),
    /// `new Node`
    New(Name),
}
