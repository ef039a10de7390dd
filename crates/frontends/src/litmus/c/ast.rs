//! Functions, statements and expressions of a C test.
//!
//! Of a type, only the information whether it is a pointer and whether it has 64 bits is kept. Casts
//! are dropped.

use fencepost_ir::{BinOp, Span, UnOp};

/// A thread of a C program.
#[derive(Clone, Debug)]
pub struct Function {
    /// The number of the thread.
    pub thread: u32,
    /// The parameters, which name locations.
    pub parameters: Vec<Parameter>,
    /// The body.
    pub body: Block,
    /// Whether a statement is invalid and was left out.
    pub incomplete: bool,
}

/// A parameter: a location that a function uses.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name of the location.
    pub name: String,
    /// Whether the parameter is the address of the location (`int *x`) and not its value (`int x`).
    pub pointer: bool,
    /// Whether the location has 64 bits.
    pub is_64_bit: bool,
    /// The span of the name.
    pub span: Span,
}

/// Statements in braces.
#[derive(Clone, Debug)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
    /// The span of the closing brace.
    pub close: Span,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The kind of the statement, with its parts.
    pub kind: StatementKind,
    /// The span of the statement, without its semicolon.
    pub span: Span,
    /// The span that reports show: the part before the first substatement, or the whole statement
    /// if there is none.
    pub head: Span,
    /// The empty span after the statement and its semicolon.
    pub end: Span,
}

/// The kind of a statement.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `int r0 = 1, *p;`
    Declare(Vec<Declaration>),
    /// `target = value;`
    Assign(Expression, Expression),
    /// An expression evaluated for its side effects, usually a call.
    Evaluate(Expression),
    /// `if (condition) then else otherwise`
    If(Expression, Box<Statement>, Option<Box<Statement>>),
    /// `while (condition) body`
    While(Expression, Box<Statement>),
    /// `do body while (condition);`
    DoWhile(Box<Statement>, Expression),
    /// `for (first; condition; step) body`
    For(Box<For>),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `{ ... }`
    Block(Block),
    /// `;`
    Empty,
}

/// A `for` loop.
#[derive(Clone, Debug)]
pub struct For {
    /// The statements before the loop.
    pub first: Vec<Statement>,
    /// The condition; `None` if it always holds.
    pub condition: Option<Expression>,
    /// The statements after each iteration.
    pub step: Vec<Statement>,
    /// The body.
    pub body: Statement,
}

/// The declaration of a local.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The name of the local.
    pub name: String,
    /// Whether the local is a pointer.
    pub pointer: bool,
    /// Whether its type, or that of the location that it points to, has 64 bits.
    pub is_64_bit: bool,
    /// The initial value.
    pub value: Option<Expression>,
    /// The span of the name.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The kind of the expression, with its operands.
    pub kind: ExpressionKind,
    /// The span of the expression.
    pub span: Span,
    /// The height of the expression tree; 1 for a leaf.
    pub height: u32,
}

/// The kind of an expression.
#[derive(Clone, Debug)]
pub enum ExpressionKind {
    /// A number.
    Number(i128),
    /// A local or a parameter.
    Name(String),
    /// A unary operator and its operand.
    Unary(UnOp, Box<Expression>),
    /// A binary operator and its operands.
    Binary(BinOp, Box<Expression>, Box<Expression>),
    /// `condition ? then : otherwise`
    Select(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `*address`
    Deref(Box<Expression>),
    /// `&lvalue`
    AddressOf(Box<Expression>),
    /// `array[index]`
    Index(String, Box<Expression>),
    /// A call: the name of the function and the arguments.
    Call(String, Vec<Expression>),
}

impl ExpressionKind {
    /// Returns the direct subexpressions, in text order.
    pub fn children(&self) -> Vec<&Expression> {
        match self {
            ExpressionKind::Number(_) | ExpressionKind::Name(_) => Vec::new(),
            ExpressionKind::Unary(_, a)
            | ExpressionKind::Deref(a)
            | ExpressionKind::AddressOf(a)
            | ExpressionKind::Index(_, a) => vec![a],
            ExpressionKind::Binary(_, a, b) => vec![a, b],
            ExpressionKind::Select(c, a, b) => vec![c, a, b],
            ExpressionKind::Call(_, arguments) => arguments.iter().collect(),
        }
    }
}

impl Expression {
    /// Calls `visit` with this expression and every subexpression.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a Expression)) {
        visit(self);
        for part in self.kind.children() {
            part.for_each(visit);
        }
    }
}

impl Block {
    /// Calls `visit` with every expression and subexpression.
    pub fn for_each<'a>(&'a self, visit: &mut impl FnMut(&'a Expression)) {
        self.statements.iter().for_each(|statement| statement.for_each(visit));
    }
}

impl Statement {
    /// Calls `visit` with every expression and subexpression.
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
            StatementKind::For(parts) => {
                parts.first.iter().for_each(|statement| statement.for_each(visit));
                parts.condition.iter().for_each(|condition| condition.for_each(visit));
                parts.step.iter().for_each(|statement| statement.for_each(visit));
                parts.body.for_each(visit);
            }
            StatementKind::Block(block) => block.for_each(visit),
            StatementKind::Empty | StatementKind::Break | StatementKind::Continue => {}
        }
    }
}
