//! The typed tree of a C program: names, types, sizes and conversions are resolved.
//!
//! [`super::check`] builds it from the [syntax tree](super::ast); [`super::lower`] turns it into
//! the program representation. Every implicit conversion is an explicit [`ExprKind::Convert`], every
//! array that is used as a value is the address of its first element, and every library function
//! that later stages treat specially is an [`Intrinsic`].
//!
//! Sizes are those of a 64-bit machine: `int` has 32 bits, `long` and pointers have 64 bits, and
//! types are aligned to their size.

use fencepost_ir::{FenceKinds, Span};

pub use super::ast::{BinaryOp, Qualifiers};

/// A type with its qualifiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Type {
    /// The type.
    pub kind: TypeKind,
    /// The qualifiers.
    pub qualifiers: Qualifiers,
}

/// A type without qualifiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeKind {
    /// `void`.
    Void,
    /// An integer, `_Bool` or enum.
    Int(IntType),
    /// A pointer.
    Pointer(Box<Type>),
    /// An array with its number of elements: 0 for a flexible array member.
    Array(Box<Type>, u64),
    /// A `struct` or `union`.
    Record(RecordId),
    /// A function.
    Function(Box<FunctionType>),
    /// `double`, `__int128` and others. A program may declare objects of such a type, but the typed
    /// tree has no expression of it and no access to such an object.
    Unsupported {
        /// The name for messages.
        name: String,
        /// The size and alignment in bytes.
        size: u64,
    },
}

/// An integer type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IntType {
    /// The size: 8, 16, 32 or 64 bits.
    pub bits: u8,
    /// Whether the type is signed.
    pub signed: bool,
    /// Whether the type is `_Bool` (8 bits, unsigned): a conversion yields 0 or 1.
    pub is_bool: bool,
}

/// The type of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionType {
    /// The type of the result.
    pub result: Type,
    /// The types of the parameters.
    pub parameters: Vec<Type>,
    /// Whether there may be more arguments.
    pub variadic: bool,
}

/// The number of a `struct` or `union` in [`Program::records`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RecordId(pub u32);

/// The number of a function in [`Program::functions`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionId(pub u32);

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum VariableId {
    /// A variable of [`Program::globals`]: file scope, `static`, or a string literal.
    Global(u32),
    /// A variable of [`Function::locals`]. The parameters come first.
    Local(u32),
}

/// A `struct` or `union` with its layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The name for messages: `struct node`, or `struct` for a record without a tag.
    pub name: String,
    /// Whether it is a `union`: all fields have offset 0.
    pub is_union: bool,
    /// The fields. An anonymous member is one field, whose type is a record with its fields. Bit
    /// fields are not in the list: the checker rejects accesses to them.
    pub fields: Vec<Field>,
    /// The size in bytes, with padding.
    pub size: u64,
    /// The alignment in bytes.
    pub alignment: u64,
}

/// A field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// The name; empty for an anonymous member.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// The offset in bytes.
    pub offset: u64,
}

/// A whole program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// The `struct` and `union` types.
    pub records: Vec<Record>,
    /// The variables with static storage duration.
    pub globals: Vec<Variable>,
    /// The functions that have a body.
    pub functions: Vec<Function>,
    /// The function `main`.
    pub main: Option<FunctionId>,
}

/// A variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// The position of the declaration.
    pub span: Span,
    /// Whether each thread has its own copy.
    pub thread_local: bool,
    /// Whether the address of the variable, or of a part of it, is used other than for an access:
    /// by `&`, by an array that becomes a pointer, or as the operand of an [`Intrinsic`].
    pub address_taken: bool,
    /// The initialiser of a global: all values are constants or addresses. For locals see
    /// [`StmtKind::Declare`].
    pub init: Option<Init>,
}

/// An initialiser.
#[derive(Clone, PartialEq, Debug)]
pub struct Init {
    /// Whether the parts without a value become 0: true for a list in braces.
    pub zero: bool,
    /// The values, by offset.
    pub items: Vec<InitItem>,
}

/// The value of a part of a variable.
#[derive(Clone, PartialEq, Debug)]
pub struct InitItem {
    /// The offset in bytes from the start of the variable.
    pub offset: u64,
    /// The value. Its type is that of the part: a scalar or a record.
    pub value: Expr,
}

/// A function with its body.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: FunctionType,
    /// The parameters and all local variables of the body.
    pub locals: Vec<Variable>,
    /// The number of parameters.
    pub parameters: u32,
    /// The names of the labels for `goto`.
    pub labels: Vec<String>,
    /// The body.
    pub body: Vec<Stmt>,
    /// The position of the name.
    pub span: Span,
    /// The position of the closing brace of the body.
    pub close: Span,
    /// Whether the function is defined in one of our own headers.
    pub built_in: bool,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Stmt {
    /// The statement.
    pub kind: StmtKind,
    /// The position of the whole statement in the source.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the variants are the statements of C")]
#[expect(clippy::large_enum_variant, reason = "a tree is built and read once")]
pub enum StmtKind {
    Expr(Expr),
    /// `{ ... }` in the source. `close` is the closing brace.
    Block {
        items: Vec<Stmt>,
        close: Span,
    },
    /// The lifetime of a local variable begins.
    Declare {
        local: u32,
        init: Option<Init>,
    },
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
    For {
        first: Vec<Stmt>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    Switch {
        value: Expr,
        body: Box<Stmt>,
    },
    /// `case first:`, or `case first ... last:`. The values have the type of the `switch` value.
    Case {
        first: i64,
        last: i64,
        body: Box<Stmt>,
    },
    Default {
        body: Box<Stmt>,
    },
    /// A label of [`Function::labels`].
    Label {
        label: u32,
        body: Box<Stmt>,
    },
    Goto(u32),
    Break,
    Continue,
    Return(Option<Expr>),
    Empty,
}

/// How an access to memory is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// An ordinary access; two of them may be a data race.
    Plain,
    /// An access to a `volatile` object.
    Volatile,
    /// A plain use of an `_Atomic` object: sequentially consistent.
    SeqCst,
}

/// A place in memory: an lvalue.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// The place.
    pub kind: PlaceKind,
    /// The type of the object there.
    pub ty: Type,
    /// The position.
    pub span: Span,
}

/// The kinds of places.
#[derive(Clone, PartialEq, Debug)]
pub enum PlaceKind {
    /// A variable.
    Variable(VariableId),
    /// `*pointer`.
    Deref(Box<Expr>),
    /// A field of a record: its index in [`Record::fields`].
    Field(Box<Place>, u32),
    /// An element of an array: the place of the array and the index, of type `long`.
    Index(Box<Place>, Box<Expr>),
    /// `(type){ ... }`: a local variable that gets its value here.
    Compound {
        /// The variable, in [`Function::locals`] or [`Program::globals`].
        variable: VariableId,
        /// The value.
        init: Box<Init>,
    },
    /// A record that is the value of an expression, such as the result of a call.
    Value(Box<Expr>),
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The expression.
    pub kind: ExprKind,
    /// The type of the value: an integer, a pointer, a record or `void`.
    pub ty: Type,
    /// The position.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant: the value of the type, sign-extended or zero-extended to 64 bits. For an
    /// unsigned type with 64 bits, the bit pattern.
    Const(i64),
    /// The address of a function.
    Function(FunctionId),
    /// Reads a place: a scalar or a whole record.
    Load(Place, Access),
    /// The address of a place.
    AddressOf(Place),
    /// `-a`.
    Negate(Box<Expr>),
    /// `~a`.
    Complement(Box<Expr>),
    /// An operator on two integers of the same type; the right operand of a shift may have another
    /// type. A comparison may also have two pointers, and yields `int`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `pointer + index * size`. The index has type `long`; `size` is the size of an element.
    PointerAdd {
        /// The pointer.
        pointer: Box<Expr>,
        /// The index.
        index: Box<Expr>,
        /// The size of an element in bytes.
        size: u64,
    },
    /// `(left - right) / size` for two pointers.
    PointerDifference {
        /// The first pointer.
        left: Box<Expr>,
        /// The second pointer.
        right: Box<Expr>,
        /// The size of an element in bytes.
        size: u64,
    },
    /// A conversion to the type of this expression: between integers, pointers, or to `void`.
    Convert(Box<Expr>),
    /// `a && b`, of type `int`.
    And(Box<Expr>, Box<Expr>),
    /// `a || b`, of type `int`.
    Or(Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a, b`.
    Comma(Box<Expr>, Box<Expr>),
    /// `place = value`. Yields the value.
    Assign {
        /// The target.
        place: Place,
        /// The value, of the type of the target.
        value: Box<Expr>,
        /// The access.
        access: Access,
    },
    /// `place op= value`, `++place`, `place--`. An access to an `_Atomic` object is one
    /// read-modify-write.
    Modify {
        /// The target.
        place: Place,
        /// The operator. For a pointer target: `Add` or `Sub`, and `value` is an index.
        op: BinaryOp,
        /// The other operand, of type `computed` (of type `long` for pointers).
        value: Box<Expr>,
        /// The type in which the result is computed, before it is converted to the type of the
        /// target.
        computed: Type,
        /// Whether the old value is yielded (`place++`), not the new one.
        yields_old: bool,
        /// The access.
        access: Access,
    },
    /// A call of a function of the program.
    Call {
        /// The function: [`ExprKind::Function`], or a pointer to a function.
        function: Box<Expr>,
        /// The arguments, converted to the types of the parameters. A function with `...` or `()`
        /// may get more arguments than it has parameters.
        arguments: Vec<Expr>,
    },
    /// A call of a function with a special meaning.
    Intrinsic(Box<Intrinsic>),
    /// `({ ... })`: the value of the last statement, if that is an expression.
    Statements(Vec<Stmt>),
}

/// What a read-modify-write yields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Yields {
    /// The old value.
    Old,
    /// The new value.
    New,
    /// Whether the comparison succeeded.
    Success,
}

/// Functions with a special meaning. Memory orders are expressions of type `int`; their values are
/// those of [`order_value`](super::orders::order_value).
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields are the arguments of the functions")]
pub enum Intrinsic {
    AtomicLoad {
        pointer: Expr,
        order: Expr,
    },
    AtomicStore {
        pointer: Expr,
        value: Expr,
        order: Expr,
    },
    AtomicExchange {
        pointer: Expr,
        value: Expr,
        order: Expr,
    },
    /// `atomic_compare_exchange_*`: `expected` is a pointer, which gets the old value on failure.
    AtomicCompareExchange {
        pointer: Expr,
        expected: Expr,
        desired: Expr,
        weak: bool,
        success: Expr,
        failure: Expr,
    },
    /// `__sync_*_compare_and_swap`, `cmpxchg`: `expected` is a value.
    AtomicCompareSwap {
        pointer: Expr,
        expected: Expr,
        desired: Expr,
        order: Expr,
        yields: Yields,
    },
    /// `op` is `Add`, `Sub`, `BitAnd`, `BitOr` or `BitXor`. For a pointer to a pointer, `value` is
    /// in bytes.
    AtomicFetch {
        op: BinaryOp,
        pointer: Expr,
        value: Expr,
        order: Expr,
        yields: Yields,
    },
    Fence {
        order: Expr,
    },
    /// A machine instruction in inline assembly: `mfence`, `sfence`, `lfence`, ...
    MachineFence(FenceKinds),
    /// Starts a thread that calls `function(argument)`. Yields its number, of type `unsigned long`.
    ThreadCreate {
        function: Expr,
        argument: Expr,
    },
    /// Waits for a thread. Yields what its function returned, of type `void *`.
    ThreadJoin {
        thread: Expr,
    },
    ThreadExit {
        value: Expr,
    },
    ThreadSelf,
    /// Discards the run if the condition does not hold. Inside `AtomicBegin` and `AtomicEnd` the
    /// whole block waits instead.
    Assume(Expr),
    Assert {
        condition: Expr,
        text: String,
    },
    /// `abort()`, `__VERIFIER_error()`: reaching it is a violation.
    Fail {
        text: String,
    },
    /// `exit()`: the run ends.
    Exit,
    /// Any value of the type of the call.
    Nondet,
    AtomicBegin,
    AtomicEnd,
    /// `malloc(size)`, or `calloc` with the product of its arguments.
    Allocate {
        size: Expr,
        zero: bool,
    },
    Reallocate {
        pointer: Expr,
        size: Expr,
    },
    Free {
        pointer: Expr,
    },
    /// `memcpy`, `memmove`. The pointers have the types that they have before their conversion to
    /// `void *`. Yields `target`.
    MemoryCopy {
        target: Expr,
        source: Expr,
        size: Expr,
    },
    MemorySet {
        target: Expr,
        value: Expr,
        size: Expr,
    },
    /// `printf`, `usleep`, `sched_yield`, ...: the arguments are evaluated. Yields 0.
    NoEffect {
        arguments: Vec<Expr>,
    },
}

impl Type {
    /// Returns a type without qualifiers.
    pub fn plain(kind: TypeKind) -> Type {
        Type { kind, qualifiers: Qualifiers::default() }
    }

    /// Returns an integer type.
    pub fn int(bits: u8, signed: bool) -> Type {
        Type::plain(TypeKind::Int(IntType { bits, signed, is_bool: false }))
    }

    /// Returns a pointer to a type.
    pub fn pointer(to: Type) -> Type {
        Type::plain(TypeKind::Pointer(Box::new(to)))
    }
}
