//! The syntax tree of a C translation unit, after preprocessing.
//!
//! The tree keeps what the source says. Names, types and conversions are resolved by
//! [`super::check`], which builds the [typed](super::typed) tree.
//!
//! Spans of tokens that come from a macro are the span of the macro's use. Offsets are those of the
//! [source map](super::source_map): the main file begins at 0, included files follow.

use fencepost_ir::Span;

/// A name and its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// The position.
    pub span: Span,
}

/// A translation unit.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Unit {
    /// The declarations and function definitions, in text order.
    pub items: Vec<Item>,
}

/// A declaration or definition at file scope.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// A declaration of variables, functions, types or a `typedef`.
    Declaration(Declaration),
    /// A function with its body.
    Function(FunctionDefinition),
    /// `_Static_assert(condition, ...)` at file scope.
    StaticAssert {
        /// The condition.
        condition: Expr,
        /// The position.
        span: Span,
    },
}

/// A function definition.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionDefinition {
    /// The specifiers of the result type.
    pub specifiers: Specifiers,
    /// The declarator: name and parameters.
    pub declarator: Declarator,
    /// The body.
    pub body: Block,
    /// The position of the whole definition.
    pub span: Span,
}

/// A declaration: specifiers and declarators.
#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    /// The specifiers.
    pub specifiers: Specifiers,
    /// The declared names. Empty for `struct s { ... };` and `enum { ... };`.
    pub declarators: Vec<InitDeclarator>,
    /// The position of the whole declaration, with its semicolon.
    pub span: Span,
}

/// A declared name with its initialiser.
#[derive(Clone, PartialEq, Debug)]
pub struct InitDeclarator {
    /// The declarator.
    pub declarator: Declarator,
    /// The initialiser.
    pub initializer: Option<Initializer>,
}

/// `typedef`, `static`, ... of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Storage {
    /// No storage class, `auto` or `register`.
    #[default]
    None,
    /// `typedef`.
    Typedef,
    /// `static`.
    Static,
    /// `extern`.
    Extern,
}

/// The specifiers of a declaration.
#[derive(Clone, PartialEq, Debug)]
pub struct Specifiers {
    /// The storage class.
    pub storage: Storage,
    /// `_Thread_local`, `thread_local` or `__thread`.
    pub thread_local: bool,
    /// The type.
    pub ty: TypeSpecifier,
    /// The qualifiers.
    pub qualifiers: Qualifiers,
    /// The alignment of `_Alignas(n)` or `__attribute__((aligned(n)))`, if any.
    pub alignment: Option<Box<Expr>>,
    /// The position.
    pub span: Span,
}

/// Qualifiers of a type. `const` and `restrict` have no effect and are not kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Qualifiers {
    /// `_Atomic` as a qualifier.
    pub atomic: bool,
    /// `volatile`.
    pub volatile: bool,
}

/// The type of a declaration, without its declarators.
#[derive(Clone, PartialEq, Debug)]
pub enum TypeSpecifier {
    /// `void`.
    Void,
    /// `_Bool`.
    Bool,
    /// An integer type: its size in bits (8, 16, 32 or 64) and whether it is signed. `char` is
    /// signed. `long` and `long long` have 64 bits.
    Int {
        /// The size in bits.
        bits: u8,
        /// Whether the type is signed.
        signed: bool,
    },
    /// `float`, `double`, `long double`, `__int128` and others that are not supported: the words.
    Unsupported(String),
    /// `struct` or `union`.
    Record(RecordSpecifier),
    /// `enum`.
    Enum(EnumSpecifier),
    /// A name that a `typedef` declared.
    Named(Name),
    /// `_Atomic(type)`.
    Atomic(Box<TypeName>),
    /// `typeof(expression)`.
    TypeofExpr(Box<Expr>),
    /// `typeof(type)`.
    TypeofType(Box<TypeName>),
    /// `__auto_type`: the type of the initialiser.
    Auto,
}

/// `struct` or `union`, with or without its fields.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordSpecifier {
    /// Whether it is a `union`.
    pub is_union: bool,
    /// The tag.
    pub tag: Option<Name>,
    /// The fields. `None` for `struct s` without braces.
    pub fields: Option<Vec<FieldDeclaration>>,
    /// Whether `__attribute__((packed))` is given.
    pub packed: bool,
    /// The alignment of an attribute.
    pub alignment: Option<Box<Expr>>,
    /// The position.
    pub span: Span,
}

/// A declaration inside a `struct` or `union`. An anonymous member has no declarators.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldDeclaration {
    /// The specifiers.
    pub specifiers: Specifiers,
    /// The fields. A bit field has its width.
    pub declarators: Vec<(Declarator, Option<Expr>)>,
    /// The position.
    pub span: Span,
}

/// `enum`, with or without its constants.
#[derive(Clone, PartialEq, Debug)]
pub struct EnumSpecifier {
    /// The tag.
    pub tag: Option<Name>,
    /// The constants with their values. `None` for `enum e` without braces.
    pub constants: Option<Vec<(Name, Option<Expr>)>>,
    /// The position.
    pub span: Span,
}

/// A declarator: a name (none in an abstract declarator) and how its type is derived.
#[derive(Clone, PartialEq, Debug)]
pub struct Declarator {
    /// The name.
    pub name: Option<Name>,
    /// The derivations, from the name outwards: `int *a[3]` has `[Array(3), Pointer]`.
    pub derivations: Vec<Derivation>,
    /// The alignment of an attribute.
    pub alignment: Option<Box<Expr>>,
    /// The position.
    pub span: Span,
}

/// One step from a base type to the type of a declared name.
#[derive(Clone, PartialEq, Debug)]
pub enum Derivation {
    /// `*`, with qualifiers of the pointer itself.
    Pointer(Qualifiers),
    /// `[size]`. Without a size the initialiser determines it; as a parameter it is a pointer.
    Array(Option<Box<Expr>>),
    /// `(parameters)`.
    Function(Parameters),
}

/// The parameters of a function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Parameters {
    /// The parameters. `(void)` and `()` have none.
    pub list: Vec<Parameter>,
    /// Whether the list ends with `...`, or is `()`.
    pub variadic: bool,
}

/// A parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// The specifiers.
    pub specifiers: Specifiers,
    /// The declarator; may have no name.
    pub declarator: Declarator,
}

/// A type name, as in a cast or `sizeof`.
#[derive(Clone, PartialEq, Debug)]
pub struct TypeName {
    /// The specifiers.
    pub specifiers: Specifiers,
    /// The abstract declarator.
    pub declarator: Declarator,
    /// The position.
    pub span: Span,
}

/// An initialiser.
#[derive(Clone, PartialEq, Debug)]
pub enum Initializer {
    /// A single expression.
    Expr(Expr),
    /// A list in braces.
    List(Vec<InitializerItem>, Span),
}

/// An element of an initialiser list.
#[derive(Clone, PartialEq, Debug)]
pub struct InitializerItem {
    /// The designators, outermost first. Empty: the next element.
    pub designators: Vec<Designator>,
    /// The value.
    pub value: Initializer,
}

/// A designator of an initialiser.
#[derive(Clone, PartialEq, Debug)]
pub enum Designator {
    /// `.field`.
    Field(Name),
    /// `[index]`.
    Index(Expr),
    /// `[first ... last]`, a GNU extension.
    Range(Expr, Expr),
}

/// A compound statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// The statements and declarations.
    pub items: Vec<Stmt>,
    /// The position of the opening brace.
    pub open: Span,
    /// The position of the closing brace.
    pub close: Span,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// The statement.
    pub kind: StmtKind,
    /// The position of the whole statement.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the variants are the statements of C")]
pub enum StmtKind {
    /// `;`
    Empty,
    Declaration(Declaration),
    Expr(Expr),
    Block(Block),
    If {
        condition: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    While {
        condition: Expr,
        body: Box<Stmt>,
    },
    DoWhile {
        body: Box<Stmt>,
        condition: Expr,
    },
    /// The first part is a declaration, an expression statement or empty.
    For {
        first: Option<Box<Stmt>>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Switch {
        value: Expr,
        body: Box<Stmt>,
    },
    /// `case value:`, or `case first ... last:` (GNU).
    Case {
        value: Expr,
        last: Option<Expr>,
        body: Box<Stmt>,
    },
    Default {
        body: Box<Stmt>,
    },
    Label {
        name: Name,
        body: Box<Stmt>,
    },
    Goto(Name),
    Break,
    Continue,
    Return(Option<Expr>),
    /// Inline assembly.
    Asm(Asm),
    /// `_Static_assert(condition, ...)`.
    StaticAssert {
        condition: Expr,
    },
}

/// Inline assembly.
#[derive(Clone, PartialEq, Debug)]
pub struct Asm {
    /// The template: all string literals joined.
    pub template: String,
    /// The operands after the colons: outputs, then inputs.
    pub operands: Vec<Expr>,
    /// The clobbers.
    pub clobbers: Vec<String>,
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The expression.
    pub kind: ExprKind,
    /// The position.
    pub span: Span,
    /// The position of the only token of the expression, if it has one. A token that is an argument
    /// of a macro has its own position here.
    pub origin: Option<Span>,
}

/// The kinds of expressions.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the variants are the expressions of C")]
pub enum ExprKind {
    /// A number or character: the value as a bit pattern, and its type by C's rules.
    Integer {
        value: u64,
        bits: u8,
        signed: bool,
    },
    /// Adjacent string literals, joined.
    String(String),
    Name(String),
    /// A number with a fraction or exponent: not supported by later stages, except as an argument
    /// of functions without effect.
    Float,
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    /// `++x`, `x--`, ...
    Step {
        increment: bool,
        prefix: bool,
        operand: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    LogicalAnd(Box<Expr>, Box<Expr>),
    LogicalOr(Box<Expr>, Box<Expr>),
    /// `a ? b : c`; GNU's `a ?: c` has no `then`.
    Conditional {
        condition: Box<Expr>,
        then: Option<Box<Expr>>,
        otherwise: Box<Expr>,
    },
    /// `a = b`, or `a op= b`.
    Assign {
        op: Option<BinaryOp>,
        target: Box<Expr>,
        value: Box<Expr>,
    },
    Comma(Box<Expr>, Box<Expr>),
    Call {
        function: Box<Expr>,
        arguments: Vec<Expr>,
    },
    Index {
        base: Box<Expr>,
        index: Box<Expr>,
    },
    /// `base.field`, or `base->field`.
    Member {
        base: Box<Expr>,
        arrow: bool,
        field: Name,
    },
    Cast {
        ty: Box<TypeName>,
        operand: Box<Expr>,
    },
    /// `(type){ ... }`.
    Compound {
        ty: Box<TypeName>,
        initializer: Vec<InitializerItem>,
    },
    SizeofType(Box<TypeName>),
    SizeofExpr(Box<Expr>),
    AlignofType(Box<TypeName>),
    /// `offsetof(type, member)`; the member may have designators.
    Offsetof {
        ty: Box<TypeName>,
        path: Vec<Designator>,
    },
    /// `({ ... })`.
    StatementExpr(Block),
    /// `_Generic(control, type: value, ..., default: value)`. `None` is `default`.
    Generic {
        control: Box<Expr>,
        cases: Vec<(Option<TypeName>, Expr)>,
    },
    /// `__builtin_types_compatible_p(a, b)`.
    TypesCompatible(Box<TypeName>, Box<TypeName>),
    /// `__builtin_choose_expr(condition, then, otherwise)`.
    ChooseExpr {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// `va_arg` and others that only appear in functions without effect.
    Unsupported(&'static str),
}

/// Unary operators without side effects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the operators of C")]
pub enum UnaryOp {
    Address,
    Deref,
    Plus,
    Minus,
    BitNot,
    Not,
}

/// Binary operators that evaluate both operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants are the operators of C")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    BitAnd,
    BitXor,
    BitOr,
}
