//! Checks the bodies of threads, procedures, `init` and `finally`.

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, Span};

use super::jump::falls_through;
use super::wait::Waits;
use super::{BodyKind, Checker, Scope};
use crate::fp::ast;
use crate::fp::codes;
use crate::fp::limits;
use crate::fp::names::{Global, Globals, Signature, too_many};
use crate::fp::suggest::{closest, likely_typo};
use crate::fp::tree::{Body, Local};
use crate::fp::types::{LocalId, ProcId};

/// A checked body with the facts that the check of the file needs.
pub(super) struct CheckedBody {
    /// The body.
    pub(super) body: Body,
    /// The registers that the body does not read.
    pub(super) unread: Vec<LocalId>,
    /// The called procedures, each with the position of its first call.
    pub(super) calls: BTreeMap<ProcId, Span>,
    /// The waits of the body.
    pub(super) waits: Waits,
    /// Whether the body contains an `assert`.
    pub(super) asserts: bool,
}

/// The context of all bodies of a file.
pub(super) struct Bodies<'a> {
    pub(super) globals: &'a Globals,
    pub(super) source: &'a str,
}

impl<'a> Bodies<'a> {
    pub(super) fn init(&self, block: &ast::Block, diagnostics: &mut Diagnostics) -> CheckedBody {
        self.checker(diagnostics, BodyKind::Init).body(block)
    }

    pub(super) fn finally(&self, block: &ast::Block, diagnostics: &mut Diagnostics) -> CheckedBody {
        self.checker(diagnostics, BodyKind::Finally).body(block)
    }

    pub(super) fn thread(
        &self,
        param: Option<&'a ast::Name>,
        block: &ast::Block,
        diagnostics: &mut Diagnostics,
    ) -> CheckedBody {
        let mut checker = self.checker(diagnostics, BodyKind::Thread);
        checker.param = param;
        checker.body(block)
    }

    pub(super) fn procedure(
        &self,
        signature: &Signature,
        block: &ast::Block,
        diagnostics: &mut Diagnostics,
    ) -> CheckedBody {
        let mut checker = self.checker(diagnostics, BodyKind::Procedure(signature.returns));
        for (name, ty) in &signature.params {
            checker.check_register_name(name);
            if let Some(id) = checker.by_name.get(&name.text) {
                let first = checker.registers[id.index()].local.span;
                let message = format!("parameter `{}` is declared twice", name.text);
                checker
                    .diagnostics
                    .error(codes::DUPLICATE, name.span, message)
                    .label("second declaration")
                    .related(first, "first declaration")
                    .hint("rename one of the parameters");
            }
            checker.add_register(name, Some(*ty), true);
        }
        let whole = self.globals.unparsed_names.is_none();
        if whole && signature.returns.is_some() && falls_through(&block.stmts) {
            let message = format!("`{}` may end without a `return`", signature.name);
            checker
                .diagnostics
                .error(codes::RETURN, block.close, message)
                .label("the end of the body is reachable")
                .related(signature.span, "declared with a result type here")
                .hint("add `return VALUE;` on every path to the end");
        }
        checker.body(block)
    }

    fn checker<'b>(&'b self, diagnostics: &'b mut Diagnostics, kind: BodyKind) -> Checker<'b> {
        let mut checker = Checker::new(self.globals, self.source, diagnostics, Scope::Body);
        checker.kind = kind;
        checker
    }
}

impl Checker<'_> {
    fn body(mut self, block: &ast::Block) -> CheckedBody {
        self.find_labels(block);
        self.find_registers(block);
        if self.registers.len() > limits::REGISTERS {
            let (found, limit) = (self.registers.len() as u64, limits::REGISTERS as u64);
            too_many(self.diagnostics, block.close, "registers", found, limit);
        }
        let code = self.block(block);
        let unread = self.registers.iter().enumerate();
        let unread = unread
            .filter(|(_, r)| !r.read && !r.param && !r.local.name.starts_with('_'))
            .map(|(at, _)| LocalId(at as u32))
            .collect();
        CheckedBody {
            unread,
            calls: std::mem::take(&mut self.calls),
            waits: std::mem::take(&mut self.waits),
            asserts: self.asserts,
            body: Body {
                labels: self.label_names(),
                locals: self.registers.into_iter().map(|r| r.local).collect(),
                code,
                close: block.close,
            },
        }
    }
}

/// Warns about a register that is never read.
pub(super) fn warn_unread(
    body: &Body,
    local: LocalId,
    globals: &Globals,
    diagnostics: &mut Diagnostics,
) {
    let local = &body.locals[local.index()];
    let near = closest(&local.name, globals.names(|g| matches!(g, Global::Shared(_))));
    let hint = match near {
        Some(near) => format!("did you mean the location `{near}`?"),
        None => format!("if this is intended, rename it to `_{}`", local.name),
    };
    unread(local, hint, diagnostics);
}

/// Warns about a register that is never read, but only if its name is probably a typing error.
pub(super) fn warn_typo(
    body: &Body,
    local: LocalId,
    globals: &Globals,
    diagnostics: &mut Diagnostics,
) {
    let local = &body.locals[local.index()];
    let shared = globals.names(|g| matches!(g, Global::Shared(_)));
    let others = body.locals.iter().map(|l| l.name.as_str());
    if let Some(near) = likely_typo(&local.name, shared, false) {
        unread(local, format!("did you mean the location `{near}`?"), diagnostics);
    } else if !local.declared
        && let Some(near) = likely_typo(&local.name, others, true)
    {
        unread(local, format!("did you mean the register `{near}`?"), diagnostics);
    }
}

fn unread(local: &Local, hint: String, diagnostics: &mut Diagnostics) {
    diagnostics
        .warning(
            codes::UNREAD_REGISTER,
            local.span,
            format!("register `{}` is never read", local.name),
        )
        .label("a register, not a location")
        .hint(hint);
}
