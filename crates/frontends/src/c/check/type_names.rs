//! The names of types in messages, in the notation of C.

use super::{Checker, UNSIZED};
use crate::c::typed::{FunctionType, IntType, Qualifiers, Type, TypeKind};

impl Checker<'_> {
    /// Returns a type as C writes it.
    pub(super) fn type_text(&self, ty: &Type) -> String {
        self.declared(ty, String::new())
    }

    /// Returns the declaration of `inner` with a type.
    fn declared(&self, ty: &Type, inner: String) -> String {
        let quals = qualifier_text(ty.qualifiers);
        match &ty.kind {
            TypeKind::Void => base(&quals, "void", &inner),
            TypeKind::Int(int) => base(&quals, int_text(*int), &inner),
            TypeKind::Record(id) => base(&quals, &self.record(*id).name, &inner),
            TypeKind::Unsupported { name, .. } => base(&quals, name, &inner),
            TypeKind::Pointer(to) => {
                let separator = if quals.is_empty() || inner.is_empty() { "" } else { " " };
                let inner = format!("*{}{separator}{inner}", quals.trim_end());
                let derived = matches!(to.kind, TypeKind::Array(..) | TypeKind::Function(_));
                self.declared(to, if derived { format!("({inner})") } else { inner })
            }
            TypeKind::Array(element, UNSIZED) => self.declared(element, format!("{inner}[]")),
            TypeKind::Array(element, n) => self.declared(element, format!("{inner}[{n}]")),
            TypeKind::Function(function) => {
                let parameters = self.parameter_text(function);
                self.declared(&function.result, format!("{inner}({parameters})"))
            }
        }
    }

    fn parameter_text(&self, function: &FunctionType) -> String {
        let mut texts: Vec<String> =
            function.parameters.iter().map(|ty| self.type_text(ty)).collect();
        match (function.variadic, texts.is_empty()) {
            (true, true) => {}
            (true, false) => texts.push("...".into()),
            (false, true) => texts.push("void".into()),
            (false, false) => {}
        }
        texts.join(", ")
    }
}

fn base(qualifiers: &str, name: &str, inner: &str) -> String {
    let separator = if inner.is_empty() { "" } else { " " };
    format!("{qualifiers}{name}{separator}{inner}")
}

fn qualifier_text(qualifiers: Qualifiers) -> String {
    let mut text = String::new();
    if qualifiers.atomic {
        text.push_str("_Atomic ");
    }
    if qualifiers.volatile {
        text.push_str("volatile ");
    }
    text
}

fn int_text(int: IntType) -> &'static str {
    match (int.is_bool, int.signed, int.bits) {
        (true, ..) => "_Bool",
        (false, true, 8) => "char",
        (false, true, 16) => "short",
        (false, true, 32) => "int",
        (false, true, _) => "long",
        (false, false, 8) => "unsigned char",
        (false, false, 16) => "unsigned short",
        (false, false, 32) => "unsigned int",
        (false, false, _) => "unsigned long",
    }
}
