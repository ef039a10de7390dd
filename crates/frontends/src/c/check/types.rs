//! Types: specifiers, declarators and enums. [Records](super::records) have their own file.

use fencepost_ir::Span;

use super::layout::LARGEST;
use super::scopes::{Symbol, Tag};
use super::{Checker, UNSIZED, int, long};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{FunctionType, IntType, Qualifiers, Type, TypeKind};

/// The largest number of parts of a type. A chain of `typedef`s can make a type exponentially
/// large.
const LARGEST_TYPE: usize = 200;

impl Checker<'_> {
    /// Resolves the type of a declaration, without its declarators. `__auto_type` is reported: the
    /// caller handles it where it is allowed.
    pub(super) fn specifiers(&mut self, specifiers: &ast::Specifiers) -> Option<Type> {
        let span = specifiers.span;
        let ty = match &specifiers.ty {
            ast::TypeSpecifier::Void => Type::plain(TypeKind::Void),
            ast::TypeSpecifier::Bool => bool_type(),
            ast::TypeSpecifier::Int { bits, signed } => Type::int(*bits, *signed),
            ast::TypeSpecifier::Unsupported(words) => unsupported(words),
            ast::TypeSpecifier::Record(record) => self.record_specifier(record)?,
            ast::TypeSpecifier::Enum(specifier) => self.enum_specifier(specifier)?,
            ast::TypeSpecifier::Named(name) => self.named_type(name)?,
            ast::TypeSpecifier::Atomic(name) => {
                let ty = self.type_name(name)?;
                self.qualified(ty, Qualifiers { atomic: true, volatile: false }, span)?
            }
            ast::TypeSpecifier::TypeofExpr(operand) => self.type_of(operand)?,
            ast::TypeSpecifier::TypeofType(name) => self.type_name(name)?,
            ast::TypeSpecifier::Auto => {
                self.error(codes::DECLARATION, span, "`__auto_type` needs an initialiser");
                return None;
            }
        };
        self.qualified(ty, specifiers.qualifiers, span)
    }

    /// Resolves a type name, as in a cast.
    pub(super) fn type_name(&mut self, name: &ast::TypeName) -> Option<Type> {
        let base = self.specifiers(&name.specifiers)?;
        self.declarator(base, &name.declarator)
    }

    fn named_type(&mut self, name: &ast::Name) -> Option<Type> {
        match self.scopes.find(&name.text) {
            Some((Symbol::Typedef(ty), _)) => return Some(ty.clone()),
            Some((Symbol::Invalid, _)) => return None,
            _ => {}
        }
        let types: Vec<&str> = self
            .scopes
            .names()
            .filter(|(_, symbol)| matches!(symbol, Symbol::Typedef(_)))
            .map(|(name, _)| name)
            .collect();
        let hint = self.suggestion(&name.text, &types);
        let message = format!("there is no type `{}`", name.text);
        self.error(codes::UNKNOWN_TYPE, name.span, message).hint = hint;
        None
    }

    /// Adds qualifiers to a type. Those of an array belong to its elements.
    fn qualified(&mut self, mut ty: Type, added: Qualifiers, span: Span) -> Option<Type> {
        match ty.kind {
            TypeKind::Array(element, count) => {
                let element = self.qualified(*element, added, span)?;
                return Some(Type { kind: TypeKind::Array(Box::new(element), count), ..ty });
            }
            TypeKind::Function(_) | TypeKind::Void if added.atomic => {
                self.error(codes::DECLARATION, span, "`_Atomic` needs the type of an object");
                return None;
            }
            _ => {}
        }
        ty.qualifiers.atomic |= added.atomic;
        ty.qualifiers.volatile |= added.volatile;
        Some(ty)
    }

    /// Applies a declarator to the type of its specifiers.
    pub(super) fn declarator(&mut self, base: Type, declarator: &ast::Declarator) -> Option<Type> {
        let mut ty = base;
        let outermost = declarator.derivations.len().saturating_sub(1);
        for (from_base, derivation) in declarator.derivations.iter().rev().enumerate() {
            let is_outer = from_base == outermost;
            ty = self.derive(ty, derivation, is_outer, declarator.span)?;
            if weight(&ty) > LARGEST_TYPE {
                self.error(
                    codes::OBJECT_TOO_LARGE,
                    declarator.span,
                    "this type has too many parts",
                )
                .hint("use a `struct` to shorten the type");
                return None;
            }
        }
        Some(ty)
    }

    fn derive(
        &mut self,
        ty: Type,
        derivation: &ast::Derivation,
        is_outer: bool,
        span: Span,
    ) -> Option<Type> {
        match derivation {
            ast::Derivation::Pointer(qualifiers) => {
                Some(Type { kind: TypeKind::Pointer(Box::new(ty)), qualifiers: *qualifiers })
            }
            ast::Derivation::Array(size) => {
                let element = self.element_size(&ty, span)?;
                let count = match size {
                    Some(size) => self.array_size(size, element)?,
                    None if is_outer => UNSIZED,
                    None => {
                        self.error(codes::DECLARATION, span, "only the first `[]` may be empty");
                        return None;
                    }
                };
                Some(Type::plain(TypeKind::Array(Box::new(ty), count)))
            }
            ast::Derivation::Function(parameters) => {
                if matches!(ty.kind, TypeKind::Array(..) | TypeKind::Function(_)) {
                    let text = self.type_text(&ty);
                    let message = format!("a function cannot return `{text}`");
                    self.error(codes::DECLARATION, span, message).hint("return a pointer");
                    return None;
                }
                // Tags and names of a parameter list have their own scope.
                self.scopes.push();
                let types = self.parameters(parameters);
                self.scopes.pop();
                let result = Type { kind: ty.kind, qualifiers: Qualifiers::default() };
                let function =
                    FunctionType { result, parameters: types?, variadic: parameters.variadic };
                Some(Type::plain(TypeKind::Function(Box::new(function))))
            }
        }
    }

    fn parameters(&mut self, parameters: &ast::Parameters) -> Option<Vec<Type>> {
        let mut types = Some(Vec::new());
        for parameter in &parameters.list {
            let ty = self.parameter(parameter);
            types = types.zip(ty).map(|(mut types, ty)| {
                types.push(ty);
                types
            });
        }
        types
    }

    /// Resolves the type of a parameter: arrays and functions become pointers.
    fn parameter(&mut self, parameter: &ast::Parameter) -> Option<Type> {
        let base = self.specifiers(&parameter.specifiers)?;
        let mut declarator = parameter.declarator.clone();
        // The size of an array parameter has no meaning and need not be a constant.
        if let Some(ast::Derivation::Array(size)) = declarator.derivations.first_mut() {
            *size = None;
        }
        let ty = self.declarator(base, &declarator)?;
        let span = parameter.declarator.span;
        match ty.kind {
            TypeKind::Array(element, _) => Some(Type::pointer(*element)),
            TypeKind::Function(_) => Some(Type::pointer(ty)),
            TypeKind::Void => {
                self.error(codes::DECLARATION, span, "a parameter cannot have type `void`");
                None
            }
            TypeKind::Int(_)
            | TypeKind::Pointer(_)
            | TypeKind::Record(_)
            | TypeKind::Unsupported { .. } => Some(ty),
        }
    }

    /// Returns the size of an element of an array.
    fn element_size(&mut self, ty: &Type, span: Span) -> Option<u64> {
        if matches!(ty.kind, TypeKind::Void | TypeKind::Function(_)) {
            let message = format!("an array cannot have elements of type `{}`", self.type_text(ty));
            self.error(codes::DECLARATION, span, message);
            return None;
        }
        self.complete_size(ty, span)
    }

    /// Evaluates the size of an array.
    fn array_size(&mut self, size: &ast::Expr, element: u64) -> Option<u64> {
        let value = self.value(size)?;
        let TypeKind::Int(ty) = value.ty.kind else {
            self.error(codes::TYPE_MISMATCH, size.span, "the size of an array is an integer");
            return None;
        };
        let Ok(count) = self.evaluate(&value) else {
            // A division by zero in the size is a mistake of its own.
            if self.reports_bad_constant(&value) {
                return None;
            }
            self.error(
                codes::VARIABLE_LENGTH,
                size.span,
                "the size of this array is not a constant",
            )
            .label("arrays of variable length are not supported")
            .hint("use a constant size, or `malloc`");
            return None;
        };
        if ty.signed && count < 0 {
            self.error(
                codes::BAD_CONSTANT,
                size.span,
                format!("the size of this array is {count}"),
            )
            .hint("a size is not negative");
            return None;
        }
        let count = count as u64;
        if element.max(1).checked_mul(count).is_none_or(|size| size > LARGEST) {
            self.error(codes::OBJECT_TOO_LARGE, size.span, "this array is too large")
                .hint(format!("a type has at most {LARGEST} bytes"));
            return None;
        }
        Some(count)
    }

    /// Evaluates an alignment.
    pub(super) fn alignment(&mut self, expr: Option<&ast::Expr>) -> Option<u64> {
        let expr = expr?;
        let value = self.constant(expr)?;
        if !(0..=1 << 16).contains(&value) || (value != 0 && !(value as u64).is_power_of_two()) {
            self.error(codes::BAD_CONSTANT, expr.span, format!("{value} is not an alignment"))
                .hint("an alignment is a power of two up to 65536");
            return None;
        }
        Some(value.max(1) as u64)
    }

    fn enum_specifier(&mut self, specifier: &ast::EnumSpecifier) -> Option<Type> {
        if let (Some(tag), None) = (&specifier.tag, &specifier.constants) {
            return match self.scopes.find_tag(&tag.text) {
                Some((Tag::Enum(ty), _)) => Some(ty.clone()),
                // `enum e` before its definition, a GNU extension.
                None => Some(Type::int(32, false)),
                Some((Tag::Record(_), span)) => {
                    let span = *span;
                    let message = format!("`{}` is not the tag of an `enum`", tag.text);
                    self.error(codes::DUPLICATE, tag.span, message).related(span, "declared here");
                    None
                }
            };
        }
        let ty = self.enum_constants(specifier.constants.as_deref().unwrap_or_default());
        if let Some(tag) = &specifier.tag {
            if let Some((_, span)) = self.scopes.find_tag_here(&tag.text).cloned() {
                let message = format!("the tag `{}` is defined twice", tag.text);
                self.error(codes::DUPLICATE, tag.span, message).related(span, "the other tag");
            }
            self.scopes.declare_tag(&tag.text, Tag::Enum(ty.clone()), tag.span);
        }
        Some(ty)
    }

    fn enum_constants(&mut self, constants: &[(ast::Name, Option<ast::Expr>)]) -> Type {
        let (mut smallest, mut largest) = (0, 0);
        let mut next = Some(0i64);
        for (name, value) in constants {
            let value = match value {
                Some(expr) => self.constant(expr),
                None => next,
            };
            next = value.and_then(|value| value.checked_add(1));
            let symbol = match value {
                Some(value) => {
                    smallest = smallest.min(value);
                    largest = largest.max(value);
                    let ty = if i32::try_from(value).is_ok() { int() } else { long() };
                    Symbol::Constant(value, ty)
                }
                None => Symbol::Invalid,
            };
            self.declare(name, symbol);
        }
        // The smallest type of at least 32 bits, as in other compilers.
        match (smallest < 0, i32::try_from(smallest).is_ok() && i32::try_from(largest).is_ok()) {
            (true, true) => int(),
            (true, false) => long(),
            (false, _) if u32::try_from(largest).is_ok() => Type::int(32, false),
            (false, _) => Type::int(64, false),
        }
    }
}

/// Returns `_Bool`.
pub(super) fn bool_type() -> Type {
    Type::plain(TypeKind::Int(IntType { bits: 8, signed: false, is_bool: true }))
}

fn unsupported(words: &str) -> Type {
    let size = match words {
        "float" => 4,
        "double" => 8,
        _ => 16,
    };
    Type::plain(TypeKind::Unsupported { name: words.into(), size })
}

/// Returns the number of parts of a type.
fn weight(ty: &Type) -> usize {
    match &ty.kind {
        TypeKind::Void | TypeKind::Int(_) | TypeKind::Record(_) | TypeKind::Unsupported { .. } => 1,
        TypeKind::Pointer(to) => 1 + weight(to),
        TypeKind::Array(element, _) => 1 + weight(element),
        TypeKind::Function(function) => {
            let parameters: usize = function.parameters.iter().map(weight).sum();
            1 + parameters + weight(&function.result)
        }
    }
}
