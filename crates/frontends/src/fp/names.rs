//! The symbol table: everything that a file declares outside of bodies.
//!
//! All declarations share one name space, so that a name in a message is unambiguous. The order of
//! declarations does not matter, except that a constant can use only constants declared before it.

mod declare;
mod values;

pub use values::list_values;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Diagnostics, PoolId, Span, Value};

use super::ast;
use super::codes;
use super::foreign;
use super::limits;
use super::suggest::did_you_mean;
use super::tree::{Record, Shared};
use super::types::{EnumId, EnumInfo, Outside, ProcId, SharedId, TemplateId, Ty, VarTy};
use super::width::Width;

/// The meaning of a declared name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Global {
    /// A constant, or a constant of an enum.
    Const(Value, Ty),
    /// An enum.
    Enum(EnumId),
    /// A record.
    Record(PoolId),
    /// A shared location or array.
    Shared(SharedId),
    /// A procedure or operation.
    Proc(ProcId),
    /// A thread template.
    Thread(TemplateId),
    /// A record without a pool: an index into [`Globals::value_records`].
    ValueRecord(usize),
    /// A shared variable that holds records: an index into [`Globals::record_vars`].
    RecordVar(usize),
    /// A declaration with an error. Uses of the name are not reported.
    Invalid,
}

impl Global {
    /// Returns a noun phrase for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Global::Const(..) => "a constant",
            Global::Enum(_) => "an enum",
            Global::Record(_) => "a record",
            Global::Shared(_) => "a shared location",
            Global::Proc(_) => "a procedure",
            Global::Thread(_) => "a thread",
            Global::ValueRecord(_) => "a record without a pool",
            Global::RecordVar(_) => "a shared record",
            Global::Invalid => "declared",
        }
    }

    /// Returns whether the name is a value in an expression.
    pub fn is_value(self) -> bool {
        match self {
            Global::Const(..) | Global::Shared(_) | Global::RecordVar(_) | Global::Invalid => true,
            Global::Enum(_)
            | Global::Record(_)
            | Global::ValueRecord(_)
            | Global::Proc(_)
            | Global::Thread(_) => false,
        }
    }
}

/// The signature of a procedure or operation.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The position of the name.
    pub span: Span,
    /// The result type. `None` for `void`.
    pub returns: Option<VarTy>,
    /// The parameters.
    pub params: Vec<(ast::Name, VarTy)>,
    /// The letter of an operation in clients.
    pub letter: Option<char>,
    /// The attributes of an operation.
    pub attributes: Attributes,
}

/// The attributes of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Attributes {
    /// Only the first thread of a client, and the part before the threads, may use the operation.
    pub owner: bool,
    /// The operation may return its result without changing memory, so that another operation
    /// returns the same result.
    pub repeats: bool,
    /// The operation may have no effect and return this value.
    pub aborts: Option<Value>,
}

/// The signature of a thread template.
#[derive(Clone, Debug)]
pub struct TemplateSignature {
    /// The name.
    pub name: String,
    /// The parameter with its first and last value.
    pub param: Option<(ast::Name, Value, Value)>,
}

/// A shared variable that holds records by value.
#[derive(Clone, Debug)]
pub struct RecordVar {
    /// The record, an index into [`Globals::value_records`].
    pub record: usize,
    /// The number of elements of each dimension of an array. Empty if this is a single record.
    pub dims: Vec<u32>,
    /// The first field. The other fields follow.
    pub first: SharedId,
}

/// The symbol table of a file.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    names: BTreeMap<String, (Global, Span)>,
    /// The names in parts with syntax errors. These parts may declare them. `None` if there is no
    /// such part.
    pub unparsed_names: Option<BTreeSet<String>>,
    /// Enums.
    pub enums: Vec<EnumInfo>,
    /// Records and their pools.
    pub records: Vec<Record>,
    /// Records without a pool, which variables hold by value.
    pub value_records: Vec<Record>,
    /// The variables that hold records by value.
    pub record_vars: Vec<RecordVar>,
    /// Shared variables.
    pub shared: Vec<Shared>,
    /// Procedures.
    pub procs: Vec<Signature>,
    /// Thread templates.
    pub templates: Vec<TemplateSignature>,
    /// The positions of all constant declarations, including constants that are not evaluated yet.
    /// For hints.
    pub constants: BTreeMap<String, Span>,
    /// The registers assigned in bodies, each with the name of one such body. For hints.
    pub registers: BTreeMap<String, String>,
}

/// The names of built-in functions.
pub const BUILTINS: [&str; 9] = [
    "cas",
    "cmpxchg",
    "swap",
    "fetch_add",
    "fetch_sub",
    "fetch_and",
    "fetch_or",
    "fetch_xor",
    "choose",
];

impl Globals {
    /// Returns the meaning and the position of a name. Names in parts with syntax errors are
    /// [`Global::Invalid`].
    pub fn get(&self, name: &str) -> Option<(Global, Span)> {
        let unparsed = || self.is_in_unparsed(name).then(|| (Global::Invalid, Span::default()));
        self.declared(name).or_else(unparsed)
    }

    /// Returns the meaning and the position of a name whose declaration was parsed.
    pub fn declared(&self, name: &str) -> Option<(Global, Span)> {
        self.names.get(name).copied()
    }

    /// Returns whether a name occurs in a part with syntax errors, which may declare it.
    pub fn is_in_unparsed(&self, name: &str) -> bool {
        self.unparsed_names.as_ref().is_some_and(|names| names.contains(name))
    }

    /// Returns the names whose meaning satisfies a predicate.
    pub fn names(&self, predicate: impl Fn(Global) -> bool) -> impl Iterator<Item = &str> {
        self.names.iter().filter(move |(_, (g, _))| predicate(*g)).map(|(n, _)| n.as_str())
    }

    /// Returns the position of a declaration.
    pub fn declared_at(&self, name: &str) -> Span {
        self.names.get(name).map(|(_, span)| *span).unwrap_or_default()
    }

    /// Formats a type for messages.
    pub fn show(&self, ty: Ty) -> String {
        match ty {
            Ty::Bool => "`bool`".into(),
            Ty::Int => "`int`".into(),
            Ty::Fixed(width) => format!("`{}`", width.name()),
            Ty::Enum(id) => format!("`{}`", self.enums[id.index()].name),
            Ty::Ref(pool) => format!("`{}`", self.records[pool.index()].name),
            Ty::Null => "`null`".into(),
        }
    }

    /// Resolves a type name. Reports an error if there is no such type.
    pub fn resolve_type(
        &self,
        ty: &ast::TypeName,
        source: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<VarTy> {
        match &ty.kind {
            ast::TypeKind::Bool => Some(VarTy::plain(Ty::Bool)),
            ast::TypeKind::Int => Some(VarTy::plain(Ty::Int)),
            ast::TypeKind::Ranged(range, outside) => {
                let range = self.constant_range(range, source, diagnostics)?;
                if range.0 > range.1 {
                    diagnostics
                        .error(codes::EMPTY, ty.span, "this type has no values")
                        .label("the range is empty")
                        .hint("`0..2` contains 0 and 1; `0..=2` contains 0, 1 and 2");
                    return None;
                }
                let outside = match outside {
                    Some(word) => outside_range(word, ty.span, range, diagnostics)?,
                    None => Outside::Fault,
                };
                Some(VarTy { ty: Ty::Int, range: Some(range), outside })
            }
            ast::TypeKind::Named(name) => match self.get(&name.text) {
                Some((Global::Enum(id), _)) => Some(VarTy::plain(Ty::Enum(id))),
                Some((Global::Record(pool), _)) => Some(VarTy::plain(Ty::Ref(pool))),
                Some((Global::Invalid, _)) => None,
                Some((Global::ValueRecord(_), span)) => {
                    report_no_pool(name, span, diagnostics);
                    None
                }
                Some((other, span)) => {
                    let message = format!("`{}` is not a type", name.text);
                    diagnostics
                        .error(codes::UNKNOWN_TYPE, name.span, message)
                        .label(format!("this is {}", other.describe()))
                        .related(span, "declared here")
                        .hint(TYPES_HINT);
                    None
                }
                None if Width::by_name(&name.text).is_some() => {
                    Width::by_name(&name.text).map(|width| VarTy::plain(Ty::Fixed(width)))
                }
                None if Width::REJECTED.contains(&name.text.as_str()) => {
                    let message = format!("there is no integer type `{}`", name.text);
                    diagnostics
                        .error(codes::NO_SUCH_WIDTH, name.span, message)
                        .label("integers have 8, 16, 32 or 64 bits")
                        .hint(
                            "use `u64` or `i64`, or a smaller type, which shows the same errors \
                             and has fewer states",
                        );
                    None
                }
                None => {
                    let types = self.names(|g| matches!(g, Global::Enum(_) | Global::Record(_)));
                    let near =
                        did_you_mean(&name.text, types.chain(["bool", "int"]), diagnostics.len());
                    let foreign = foreign::type_name(&name.text).map(str::to_string);
                    let message = format!("there is no type `{}`", name.text);
                    diagnostics
                        .error(codes::UNKNOWN_TYPE, name.span, message)
                        .label("unknown type")
                        .hint(foreign.or(near).unwrap_or(TYPES_HINT.into()));
                    None
                }
            },
        }
    }

    /// Declares a name. Reports an error and returns `false` if the name is already declared.
    fn add(&mut self, name: &ast::Name, global: Global, diagnostics: &mut Diagnostics) -> bool {
        if BUILTINS.contains(&name.text.as_str()) {
            let message = format!("`{}` is a built-in function", name.text);
            diagnostics
                .error(codes::DUPLICATE, name.span, message)
                .label("this name is reserved")
                .hint("choose another name");
            return false;
        }
        if let Some((old, span)) = self.declared(&name.text) {
            let message = format!("`{}` is declared twice", name.text);
            diagnostics
                .error(codes::DUPLICATE, name.span, message)
                .label("second declaration")
                .related(span, format!("already {} here", old.describe()))
                .hint("rename one of them; all declarations of a file share one name space");
            return false;
        }
        self.names.insert(name.text.clone(), (global, name.span));
        true
    }

    /// Sets the meaning of a name.
    fn set(&mut self, name: &ast::Name, global: Global) {
        self.names.insert(name.text.clone(), (global, name.span));
    }
}

/// The hint of errors about types.
const TYPES_HINT: &str = "types are `bool`, `int`, `int(0..4)`, `u8` to `u64`, `i8` to `i64` and the names of enums and records";

/// The largest number of values of a range that wraps, so that the computation does not overflow.
const MAX_WRAP: Value = 1 << 28;

/// Checks `wrap` or `block` after a range.
fn outside_range(
    word: &ast::Name,
    span: Span,
    (lo, hi): (Value, Value),
    diagnostics: &mut Diagnostics,
) -> Option<Outside> {
    match word.text.as_str() {
        "wrap" if hi - lo < MAX_WRAP => Some(Outside::Wrap),
        "wrap" => {
            let found = (hi - lo + 1) as u64;
            too_many(diagnostics, span, "values of a range that wraps", found, MAX_WRAP as u64);
            None
        }
        "block" => Some(Outside::Block),
        other => {
            diagnostics
                .error(codes::UNKNOWN_WORD, word.span, format!("there is no treatment `{other}`"))
                .label("unknown word")
                .hint("write `wrap` or `block`; without it, a value outside the range is a fault");
            None
        }
    }
}

/// Reports the use of a record without a pool as a reference.
pub fn report_no_pool(name: &ast::Name, declared: Span, diagnostics: &mut Diagnostics) {
    let message = format!("there are no references to record `{}`", name.text);
    diagnostics
        .error(codes::POOL, name.span, message)
        .label("the record has no pool")
        .related(declared, "declared here")
        .hint(format!(
            "add `pool {}[2];` for records from `new`; without a pool, only `shared` variables \
             hold the record",
            name.text
        ));
}

/// Reports that a size exceeds its limit.
pub fn too_many(diagnostics: &mut Diagnostics, span: Span, what: &str, found: u64, limit: u64) {
    diagnostics
        .error(codes::TOO_LARGE, span, format!("too many {what}: {found}"))
        .label(format!("the limit is {limit}"))
        .hint(limits::SIZE_HINT);
}
