//! Calls: functions of the program, function pointers and [known functions](super::intrinsics).

use fencepost_ir::Span;

use super::conversions::{Purpose, constant, promote};
use super::intrinsics::Call;
use super::library::{Known, header_of, known};
use super::scopes::Symbol;
use super::{Checker, int, void};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{Expr, ExprKind, FunctionType, Intrinsic, Stmt, StmtKind, Type, TypeKind};

/// The prefix of functions whose body is atomic, a convention of SV-COMP.
const ATOMIC_FUNCTION: &str = "__VERIFIER_atomic_";

/// A function of SV-COMP programs with the body `if (!condition) abort();`. It means `assume`, but
/// `abort` is a violation everywhere else.
const ASSUME_OR_ABORT: &str = "assume_abort_if_not";

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        function: &ast::Expr,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        if let ast::ExprKind::Name(name) = &function.kind {
            match self.scopes.find(name) {
                None => return self.library_call(name, None, arguments, span, function.span),
                Some((Symbol::Function(index), _)) => {
                    let index = *index;
                    let info = &self.functions[index];
                    let result = info.ty.result.clone();
                    // Our headers count bits in a loop, for programs that take the address.
                    let counts_bits = matches!(known(name), Some(Known::Bits(..)));
                    let is_library = info.definition.is_none() || counts_bits;
                    if is_library || name == ASSUME_OR_ABORT {
                        let result = Some(result);
                        return self.library_call(name, result, arguments, span, function.span);
                    }
                    let is_atomic = name.starts_with(ATOMIC_FUNCTION)
                        && !self.body.name.starts_with(ATOMIC_FUNCTION);
                    let called = self.direct_call(index, arguments, span, function.span)?;
                    return Some(if is_atomic { self.atomic_call(called, span) } else { called });
                }
                Some(_) => {}
            }
        }
        self.indirect_call(function, arguments, span)
    }

    fn direct_call(
        &mut self,
        index: usize,
        arguments: &[ast::Expr],
        span: Span,
        name: Span,
    ) -> Option<Expr> {
        let ty = self.functions[index].ty.clone();
        let declared = self.functions[index].span;
        let function = self.function_value(index, name)?;
        let what = format!("`{}`", self.functions[index].name);
        let arguments = self.arguments(&ty, &what, Some(declared), arguments, span)?;
        Some(self.call_expr(function, ty, arguments, span))
    }

    fn call_expr(
        &mut self,
        function: Expr,
        ty: FunctionType,
        arguments: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let kind = ExprKind::Call { function: Box::new(function), arguments };
        Expr { kind, ty: ty.result, span }
    }

    fn indirect_call(
        &mut self,
        function: &ast::Expr,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let callee = self.value(function)?;
        let ty = match &callee.ty.kind {
            TypeKind::Pointer(to) => match &to.kind {
                TypeKind::Function(ty) => Some((**ty).clone()),
                _ => None,
            },
            _ => None,
        };
        let Some(ty) = ty else {
            let text = self.type_text(&callee.ty);
            self.error(codes::NOT_A_FUNCTION, function.span, "only functions can be called")
                .label(format!("this has type `{text}`"));
            return None;
        };
        let arguments = self.arguments(&ty, "the function", None, arguments, span)?;
        Some(self.call_expr(callee, ty, arguments, span))
    }

    /// Checks arguments and converts them to the types of the parameters.
    fn arguments(
        &mut self,
        ty: &FunctionType,
        what: &str,
        declared: Option<Span>,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Vec<Expr>> {
        let (expected, given) = (ty.parameters.len(), arguments.len());
        if given < expected || (given > expected && !ty.variadic) {
            let least = if ty.variadic { "at least " } else { "" };
            let message =
                format!("{what} takes {least}{}, not {given}", counted(expected, "argument"));
            let found = self.error(codes::ARGUMENTS, span, message);
            if let Some(declared) = declared {
                found.related(declared, "declared here");
            }
            return None;
        }
        let mut values = Some(Vec::new());
        for (position, argument) in arguments.iter().enumerate() {
            let value = self.value(argument);
            let value = match ty.parameters.get(position) {
                Some(to) => value.and_then(|value| self.assignable(value, to, Purpose::Pass)),
                None => value.map(promote),
            };
            values = values.zip(value).map(|(mut values, value)| {
                values.push(value);
                values
            });
        }
        values
    }

    /// Makes a call atomic, with its result in a temporary.
    fn atomic_call(&mut self, called: Expr, span: Span) -> Expr {
        let marker = |intrinsic| {
            let kind = ExprKind::Intrinsic(Box::new(intrinsic));
            Stmt { kind: StmtKind::Expr(Expr { kind, ty: void(), span }), span }
        };
        let (begin, end) = (marker(Intrinsic::AtomicBegin), marker(Intrinsic::AtomicEnd));
        let ty = called.ty.clone();
        let items = if matches!(ty.kind, TypeKind::Void) {
            vec![begin, Stmt { kind: StmtKind::Expr(called), span }, end]
        } else {
            let (declare, value) = self.temporary(called, span);
            vec![begin, declare, end, Stmt { kind: StmtKind::Expr(value), span }]
        };
        Expr { kind: ExprKind::Statements(items), ty, span }
    }

    /// Checks a call of a function without a body: a known function, or an error.
    fn library_call(
        &mut self,
        name: &str,
        result: Option<Type>,
        arguments: &[ast::Expr],
        span: Span,
        name_span: Span,
    ) -> Option<Expr> {
        let known = if name == ASSUME_OR_ABORT { Some(Known::Assume) } else { known(name) };
        if let Some(known) = known {
            return self.known_call(&known, &Call { name, arguments, span, result });
        }
        if self.unevaluated > 0 {
            return Some(constant(0, result.unwrap_or_else(int), span));
        }
        if self.scopes.find(name).is_some() {
            self.function_without_body(name, name_span);
            return None;
        }
        let functions: Vec<&str> = self
            .scopes
            .names()
            .filter(|(_, symbol)| matches!(symbol, Symbol::Function(_)))
            .map(|(name, _)| name)
            .collect();
        let hint = match header_of(name) {
            Some(header) => format!("include `<{header}>`"),
            None => self
                .suggestion(name, &functions)
                .unwrap_or_else(|| "define the function, or include its header".into()),
        };
        let message = format!("the function `{name}` is not declared");
        self.error(codes::UNKNOWN_FUNCTION, name_span, message).hint(hint);
        // Report each name once.
        self.scopes.declare_in_file(name, Symbol::Invalid, name_span);
        None
    }

    /// Reports the use of a function that has no body and no known meaning.
    pub(super) fn function_without_body(&mut self, name: &str, span: Span) {
        let Some((Symbol::Function(index), _)) = self.scopes.find_in_file(name) else { return };
        let declared = self.functions[*index].span;
        let similar: Vec<&str> = self
            .functions
            .iter()
            .filter(|function| function.definition.is_some() && !function.name.starts_with("__"))
            .map(|function| function.name.as_str())
            .collect();
        let hint = match header_of(name) {
            // A preprocessed file declares the functions of another C library.
            Some(header) => format!("include `<{header}>` instead of declaring the function"),
            None => self
                .suggestion(name, &similar)
                .unwrap_or_else(|| "give it a body: fencepost checks whole programs".into()),
        };
        self.error(codes::UNKNOWN_FUNCTION, span, format!("the function `{name}` has no body"))
            .label("its effect is not known")
            .related(declared, "declared here")
            .hint(hint);
        self.scopes.declare_in_file(name, Symbol::Invalid, span);
    }
}

/// Returns a number and its noun.
pub(super) fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
