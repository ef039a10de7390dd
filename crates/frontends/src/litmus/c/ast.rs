//! Functions, statements and expressions of a C test.
//!
//! Types say only whether a name holds an address; casts are gone.

use fencepost_ir::{BinOp, Span, UnOp};

/// A thread of a C program.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its number.
    pub thread: u32,
    /// Its parameters, which name locations.
    pub parameters: Vec<Parameter>,
    /// What it does.
    pub body: Block,
    /// Whether a statement could not be read.
    pub lost: bool,
}

/// A parameter: a location that a function uses.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name of the location.
    pub name: String,
    /// Whether the name stands for the location's address (`int *x`), not for what it holds (`int x`).
    pub pointer: bool,
    /// Where.
    pub span: Span,
}

/// Statements in braces.
#[derive(Clone, Debug)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
    /// The closing brace.
    pub close: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands, without its semicolon.
    pub span: Span,
    /// What is shown of it: all of it, or what comes before its first part.
    pub head: Span,
    /// Where it ends, with its semicolon.
    pub end: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `int r0 = 1, *p;`
    Declare(Vec<Declared>),
    /// `target = value;`
    Assign(Expression, Expression),
    /// An expression for what it does, mostly a call.
    Evaluate(Expression),
    /// `if (condition) then else otherwise`
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    /// `while (condition) body`
    While(Expression, Box<Statement>),
    /// `do body while (condition);`
    DoWhile(Box<Statement>, Expression),
    /// `{ ... }`
    Block(Block),
    /// `;`
    Empty,
}

/// A local that is declared.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Whether it holds an address.
    pub pointer: bool,
    /// Its first value, if there is one.
    pub value: Option<Expression>,
    /// Where its name is.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// What it is.
    pub kind: ExpressionKind,
    /// Where.
    pub span: Span,
    /// How deep the tree below it is.
    pub height: u32,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A number.
    Number(i128),
    /// A local or a parameter.
    Name(String),
    /// An operator before its operand.
    Unary(UnOp, Box<Expression>),
    /// An operator between its operands.
    Binary(BinOp, Box<Expression>, Box<Expression>),
    /// `condition ? then : otherwise`
    Select(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `*address`
    Target(Box<Expression>),
    /// `&place`
    Address(Box<Expression>),
    /// `array[index]`
    Element(String, Box<Expression>),
    /// A call.
    Call(String, Vec<Expression>),
}

impl ExpressionKind {
    /// What it is made of.
    pub fn parts(&self) -> Vec<&Expression> {
        match self {
            ExpressionKind::Number(_) | ExpressionKind::Name(_) => Vec::new(),
            ExpressionKind::Unary(_, a)
            | ExpressionKind::Target(a)
            | ExpressionKind::Address(a)
            | ExpressionKind::Element(_, a) => vec![a],
            ExpressionKind::Binary(_, a, b) => vec![a, b],
            ExpressionKind::Select(c, a, b) => vec![c, a, b],
            ExpressionKind::Call(_, arguments) => arguments.iter().collect(),
        }
    }
}

impl Expression {
    /// Calls `visit` with every expression in it, itself included.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a Expression)) {
        visit(self);
        for part in self.kind.parts() {
            part.for_each(visit);
        }
    }
}

impl Block {
    /// Calls `visit` with every expression in it.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a Expression)) {
        self.statements.iter().for_each(|statement| statement.for_each(visit));
    }
}

impl Statement {
    /// Calls `visit` with every expression in it.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a Expression)) {
        match &self.kind {
            StatementKind::Declare(all) => {
                let values = all.iter().filter_map(|declared| declared.value.as_ref());
                values.for_each(|value| value.for_each(visit));
            }
            StatementKind::Assign(target, value) => {
                target.for_each(visit);
                value.for_each(visit);
            }
            StatementKind::Evaluate(value) => value.for_each(visit),
            StatementKind::If(condition, then, otherwise) => {
                condition.for_each(visit);
                then.for_each(visit);
                otherwise.iter().for_each(|statement| statement.for_each(visit));
            }
            StatementKind::While(condition, body) | StatementKind::DoWhile(body, condition) => {
                condition.for_each(visit);
                body.for_each(visit);
            }
            StatementKind::Block(block) => block.for_each(visit),
            StatementKind::Empty => {}
        }
    }
}
