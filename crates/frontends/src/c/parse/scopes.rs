//! Which names are types: C cannot be parsed without this.
//!
//! Labels, tags and members are other kinds of names and are not stored here.

use std::collections::HashMap;

/// What a name means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// A type of a `typedef`.
    Type,
    /// A variable, function, parameter or enum constant.
    Value,
}

/// The names of all open scopes.
#[derive(Debug)]
pub(super) struct Scopes {
    /// Innermost last. The first is the file scope.
    scopes: Vec<HashMap<String, Meaning>>,
}

impl Default for Scopes {
    fn default() -> Self {
        Scopes { scopes: vec![HashMap::new()] }
    }
}

impl Scopes {
    pub(super) fn open(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub(super) fn close(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    /// Returns how many scopes are open.
    pub(super) fn depth(&self) -> usize {
        self.scopes.len()
    }

    /// Closes scopes until this many are open: after an error.
    pub(super) fn close_to(&mut self, depth: usize) {
        self.scopes.truncate(depth.max(1));
    }

    pub(super) fn declare(&mut self, name: &str, meaning: Meaning) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), meaning);
        }
    }

    /// Declares a name at file scope.
    pub(super) fn declare_in_file(&mut self, name: &str, meaning: Meaning) {
        if let Some(scope) = self.scopes.first_mut() {
            scope.insert(name.to_string(), meaning);
        }
    }

    pub(super) fn meaning(&self, name: &str) -> Option<Meaning> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name).copied())
    }
}
