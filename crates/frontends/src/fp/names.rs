//! What the names of a file mean: one table of everything declared outside of bodies.
//!
//! All declarations share one name space, so that a name in a message means one thing. Their order
//! does not matter, except that a constant may use only constants declared before it.

mod declare;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Diagnostics, PoolId, Span, Value};

use super::ast;
use super::codes;
use super::limits;
use super::suggest::hint;
use super::tree::{Record, Shared};
use super::types::{EnumId, EnumInfo, ProcId, SharedId, TemplateId, Ty, VarTy};

/// What a name means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Global {
    /// A constant, also one of an enum.
    Const(Value, Ty),
    /// An enum.
    Enum(EnumId),
    /// A record.
    Record(PoolId),
    /// A location or an array.
    Shared(SharedId),
    /// A procedure or operation.
    Proc(ProcId),
    /// A thread template.
    Thread(TemplateId),
    /// Something whose declaration has an error; its uses are not reported.
    Broken,
}

impl Global {
    /// What it is, for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Global::Const(..) => "a constant",
            Global::Enum(_) => "an enum",
            Global::Record(_) => "a record",
            Global::Shared(_) => "a shared location",
            Global::Proc(_) => "a procedure",
            Global::Thread(_) => "a thread",
            Global::Broken => "declared",
        }
    }

    /// Whether the name stands for a value in an expression.
    pub fn is_value(self) -> bool {
        match self {
            Global::Const(..) | Global::Shared(_) | Global::Broken => true,
            Global::Enum(_) | Global::Record(_) | Global::Proc(_) | Global::Thread(_) => false,
        }
    }
}

/// What callers need to know of a procedure.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// What it returns.
    pub returns: Option<VarTy>,
    /// Its parameters.
    pub params: Vec<(ast::Name, VarTy)>,
    /// The letter clients call it by.
    pub letter: Option<char>,
    /// What else is said of an operation.
    pub attributes: Attributes,
}

/// What is said of an operation after its letter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Attributes {
    /// Only the first thread of a client, and what runs before the threads, may use it.
    pub owner: bool,
    /// It may return what another use returns, without any other effect.
    pub repeats: bool,
    /// It may do nothing and return this.
    pub aborts: Option<Value>,
}

/// What conditions need to know of a thread template.
#[derive(Clone, Debug)]
pub struct TemplateSignature {
    /// Its name.
    pub name: String,
    /// Its parameter with the first and the last value.
    pub param: Option<(ast::Name, Value, Value)>,
}

/// Everything declared outside of bodies.
#[derive(Clone, Debug, Default)]
pub struct Globals {
    names: BTreeMap<String, (Global, Span)>,
    /// Names in what could not be parsed, if there is such a thing. They may be declared there.
    pub lost: Option<BTreeSet<String>>,
    /// Enums.
    pub enums: Vec<EnumInfo>,
    /// Records and their pools.
    pub records: Vec<Record>,
    /// Shared variables.
    pub shared: Vec<Shared>,
    /// Procedures.
    pub procs: Vec<Signature>,
    /// Thread templates.
    pub templates: Vec<TemplateSignature>,
    /// Where constants are declared, also those whose turn has not come yet; for hints.
    pub constants: BTreeMap<String, Span>,
    /// Names assigned inside bodies, each with a body that does so; for hints.
    pub registers: BTreeMap<String, String>,
}

/// The names with a meaning of their own in front of a parenthesis.
pub const BUILTINS: [&str; 8] =
    ["cas", "swap", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor", "choose"];

impl Globals {
    /// What a name means, and where it was declared.
    pub fn get(&self, name: &str) -> Option<(Global, Span)> {
        let lost = || self.is_lost(name).then(|| (Global::Broken, Span::default()));
        self.declared(name).or_else(lost)
    }

    /// The same, without names that may be declared in what could not be parsed.
    pub fn declared(&self, name: &str) -> Option<(Global, Span)> {
        self.names.get(name).copied()
    }

    /// Whether a name may be declared in what could not be parsed.
    pub fn is_lost(&self, name: &str) -> bool {
        self.lost.as_ref().is_some_and(|lost| lost.contains(name))
    }

    /// The names that mean something `wanted` accepts.
    pub fn names(&self, wanted: impl Fn(Global) -> bool) -> impl Iterator<Item = &str> {
        self.names.iter().filter(move |(_, (g, _))| wanted(*g)).map(|(n, _)| n.as_str())
    }

    /// Where a name was declared.
    pub fn declared_at(&self, name: &str) -> Span {
        self.names.get(name).map(|(_, span)| *span).unwrap_or_default()
    }

    /// A type as messages show it.
    pub fn show(&self, ty: Ty) -> String {
        match ty {
            Ty::Bool => "`bool`".into(),
            Ty::Int => "`int`".into(),
            Ty::Enum(id) => format!("`{}`", self.enums[id.index()].name),
            Ty::Ref(pool) => format!("`{}`", self.records[pool.index()].name),
            Ty::Null => "`null`".into(),
        }
    }

    /// The type a type name means.
    pub fn resolve_type(
        &self,
        ty: &ast::TypeName,
        source: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<VarTy> {
        match &ty.kind {
            ast::TypeKind::Bool => Some(VarTy::plain(Ty::Bool)),
            ast::TypeKind::Int(None) => Some(VarTy::plain(Ty::Int)),
            ast::TypeKind::Int(Some(range)) => {
                let range = self.constant_range(range, source, diagnostics)?;
                if range.0 > range.1 {
                    diagnostics
                        .error(codes::EMPTY, ty.span, "this type has no values")
                        .label("the range is empty")
                        .hint("`0..2` is 0 and 1; `0..=2` is 0, 1 and 2");
                    return None;
                }
                Some(VarTy { ty: Ty::Int, range: Some(range) })
            }
            ast::TypeKind::Named(name) => match self.get(&name.text) {
                Some((Global::Enum(id), _)) => Some(VarTy::plain(Ty::Enum(id))),
                Some((Global::Record(pool), _)) => Some(VarTy::plain(Ty::Ref(pool))),
                Some((Global::Broken, _)) => None,
                Some((other, span)) => {
                    let message = format!("`{}` is not a type", name.text);
                    diagnostics
                        .error(codes::UNKNOWN_TYPE, name.span, message)
                        .label(format!("{}, not a type", other.describe()))
                        .related(span, "declared here");
                    None
                }
                None => {
                    let types = self.names(|g| matches!(g, Global::Enum(_) | Global::Record(_)));
                    let near = hint(&name.text, types.chain(["bool", "int"]), diagnostics.len());
                    let message = format!("there is no type `{}`", name.text);
                    diagnostics
                        .error(codes::UNKNOWN_TYPE, name.span, message)
                        .label("unknown type")
                        .hint = near;
                    None
                }
            },
        }
    }

    /// Adds a name, unless it is taken.
    fn add(&mut self, name: &ast::Name, global: Global, diagnostics: &mut Diagnostics) -> bool {
        if BUILTINS.contains(&name.text.as_str()) {
            let message = format!("`{}` is part of the language", name.text);
            diagnostics.error(codes::DUPLICATE, name.span, message).label("choose another name");
            return false;
        }
        if let Some((old, span)) = self.declared(&name.text) {
            let message = format!("`{}` is declared twice", name.text);
            diagnostics
                .error(codes::DUPLICATE, name.span, message)
                .label("second declaration")
                .related(span, format!("already {} here", old.describe()));
            return false;
        }
        self.names.insert(name.text.clone(), (global, name.span));
        true
    }

    /// Gives a declared name its meaning.
    fn set(&mut self, name: &ast::Name, global: Global) {
        self.names.insert(name.text.clone(), (global, name.span));
    }
}

/// Reports that a size is over its limit.
pub fn too_many(diagnostics: &mut Diagnostics, span: Span, what: &str, found: u64, limit: u64) {
    diagnostics
        .error(codes::TOO_LARGE, span, format!("too many {what}: {found}"))
        .label(format!("at most {limit} are allowed"))
        .hint(limits::ADVICE);
}
