//! Scopes: the meaning of names and tags.
//!
//! The first scope is the file. Names of variables, functions, types and enum constants share one
//! name space; tags of records and enums have their own.

use std::collections::BTreeMap;

use fencepost_ir::Span;

use crate::c::typed::{RecordId, Type};

/// The meaning of a name.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Symbol {
    /// A type.
    Typedef(Type),
    /// A variable with static storage duration: an index into the globals.
    Global(u32),
    /// A variable of the current function.
    Local(u32),
    /// A function: an index into the functions of the unit.
    Function(usize),
    /// A constant of an enum.
    Constant(i64, Type),
    /// A declaration with an error. Uses of the name are not reported.
    Invalid,
}

impl Symbol {
    /// Returns a noun phrase for messages.
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Symbol::Typedef(_) => "a type",
            Symbol::Global(_) | Symbol::Local(_) => "a variable",
            Symbol::Function(_) => "a function",
            Symbol::Constant(..) => "a constant",
            Symbol::Invalid => "declared",
        }
    }
}

/// The meaning of a tag.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Tag {
    /// `struct` or `union`.
    Record(RecordId),
    /// `enum`, with its integer type.
    Enum(Type),
}

#[derive(Debug, Default)]
struct Scope {
    names: BTreeMap<String, (Symbol, Span)>,
    tags: BTreeMap<String, (Tag, Span)>,
}

/// The scopes at a position of the source, outermost first.
#[derive(Debug)]
pub(super) struct Scopes {
    scopes: Vec<Scope>,
}

impl Scopes {
    /// Creates the file scope.
    pub(super) fn new() -> Scopes {
        Scopes { scopes: vec![Scope::default()] }
    }

    /// Opens a scope.
    pub(super) fn push(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Closes the innermost scope.
    pub(super) fn pop(&mut self) {
        self.scopes.pop();
    }

    /// Returns whether the innermost scope is the file.
    pub(super) fn is_file(&self) -> bool {
        self.scopes.len() == 1
    }

    /// Sets the meaning of a name in the innermost scope.
    pub(super) fn declare(&mut self, name: &str, symbol: Symbol, span: Span) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.into(), (symbol, span));
        }
    }

    /// Sets the meaning of a name in the file scope.
    pub(super) fn declare_in_file(&mut self, name: &str, symbol: Symbol, span: Span) {
        if let Some(scope) = self.scopes.first_mut() {
            scope.names.insert(name.into(), (symbol, span));
        }
    }

    /// Returns the meaning of a name.
    pub(super) fn find(&self, name: &str) -> Option<&(Symbol, Span)> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name))
    }

    /// Returns the meaning of a name in the innermost scope.
    pub(super) fn find_here(&self, name: &str) -> Option<&(Symbol, Span)> {
        self.scopes.last().and_then(|scope| scope.names.get(name))
    }

    /// Returns the meaning of a name in the file scope.
    pub(super) fn find_in_file(&self, name: &str) -> Option<&(Symbol, Span)> {
        self.scopes.first().and_then(|scope| scope.names.get(name))
    }

    /// Sets the meaning of a tag in the innermost scope.
    pub(super) fn declare_tag(&mut self, name: &str, tag: Tag, span: Span) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.tags.insert(name.into(), (tag, span));
        }
    }

    /// Returns the meaning of a tag.
    pub(super) fn find_tag(&self, name: &str) -> Option<&(Tag, Span)> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(name))
    }

    /// Returns the meaning of a tag in the innermost scope.
    pub(super) fn find_tag_here(&self, name: &str) -> Option<&(Tag, Span)> {
        self.scopes.last().and_then(|scope| scope.tags.get(name))
    }

    /// Returns all visible names, innermost first. Names that begin with two underscores are
    /// internal to headers and are left out.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &Symbol)> {
        self.scopes
            .iter()
            .rev()
            .flat_map(|scope| scope.names.iter())
            .filter(|(name, _)| !name.starts_with("__"))
            .map(|(name, (symbol, _))| (name.as_str(), symbol))
    }
}
