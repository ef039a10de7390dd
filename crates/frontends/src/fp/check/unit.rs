//! A whole file: every body, every claim, every client.

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, Span};

use super::body::{Bodies, CheckedBody, warn_slip, warn_unread};
use super::infer::{registers_of, walk};
use super::{Checker, Scope, recursion};
use crate::fp::ast::{self, ItemKind};
use crate::fp::client;
use crate::fp::codes;
use crate::fp::limits;
use crate::fp::names::{Global, Globals};
use crate::fp::suggest::hint;
use crate::fp::tree::{Body, Claim, Local, Procedure, Template, Unit};
use crate::fp::types::{LocalId, TemplateId, Ty};

/// Checks a file. The result is of use only if no error was reported.
pub fn check(file: &ast::File, source: &str, diagnostics: &mut Diagnostics) -> Unit {
    let mut globals = Globals::collect(file, source, diagnostics);
    globals.registers = registers_of(file);
    let globals = globals;
    let mut unit = Unit {
        enums: globals.enums.clone(),
        records: globals.records.clone(),
        shared: globals.shared.clone(),
        ..Unit::default()
    };
    let bodies = Bodies { globals: &globals, source };
    let mut unread: Vec<(Body, Vec<LocalId>, Option<TemplateId>)> = Vec::new();
    let mut calls: Vec<BTreeMap<_, _>> = Vec::new();
    let mut init: Option<Span> = None;
    for item in &file.items {
        if limits::enough(diagnostics) {
            break;
        }
        let (checked, template) = match &item.kind {
            ItemKind::Init(block) => {
                if let Some(first) = init {
                    diagnostics
                        .error(codes::DUPLICATE, item.span, "there is a second `init` block")
                        .label("second one")
                        .related(first, "first one");
                }
                init = Some(item.span);
                let checked = bodies.init(block, diagnostics);
                unit.init = Some(checked.body.clone());
                (checked, None)
            }
            ItemKind::Procedure(procedure) => {
                // Names that were taken have no signature; their bodies are not looked at.
                let Some((Global::Proc(id), span)) = globals.get(&procedure.name.text) else {
                    continue;
                };
                if span != procedure.name.span {
                    continue;
                }
                let signature = &globals.procs[id.index()];
                let mut checked = bodies.procedure(signature, &procedure.body, diagnostics);
                calls.push(std::mem::take(&mut checked.calls));
                unit.procs.push(Procedure {
                    name: signature.name.clone(),
                    returns: signature.returns,
                    params: signature.params.len(),
                    letter: signature.letter,
                    body: checked.body.clone(),
                });
                (checked, None)
            }
            ItemKind::Thread(thread) => {
                let Some((Global::Thread(id), span)) = globals.get(&thread.name.text) else {
                    continue;
                };
                if span != thread.name.span {
                    continue;
                }
                let param = globals.templates[id.index()].param.as_ref();
                let name = param.map(|(name, _, _)| name);
                let checked = bodies.thread(name, &thread.body, diagnostics);
                unit.templates.push(Template {
                    name: thread.name.text.clone(),
                    param: param.map(|(_, lo, hi)| (*lo, *hi)),
                    body: checked.body.clone(),
                });
                (checked, Some(id))
            }
            ItemKind::Const(..)
            | ItemKind::Enum(..)
            | ItemKind::Record(..)
            | ItemKind::Pool(..)
            | ItemKind::Shared(..)
            | ItemKind::Client(_)
            | ItemKind::Property(_)
            | ItemKind::Final(..)
            | ItemKind::Invariant(_)
            | ItemKind::Observe(_) => continue,
        };
        let CheckedBody { body, unread: silent, asserts, .. } = checked;
        unit.asserts |= asserts;
        unread.push((body, silent, template));
    }
    recursion::check(&globals.procs, &calls, diagnostics);
    let mentioned = claims(file, source, &globals, &mut unit, diagnostics);
    // The operation of a letter may be in a part that could not be parsed.
    if file.lost.is_none() {
        client::check(file, &globals, &mut unit, diagnostics);
    }
    // After an error it is not known what was meant.
    if diagnostics.has_errors() {
        return unit;
    }
    // Without any property the registers are the outcome, and all of them matter.
    let claims = unit.asserts || !unit.claims.is_empty() || !unit.observe.is_empty();
    let warn = if claims { warn_unread } else { warn_slip };
    for (body, silent, template) in &unread {
        for local in silent {
            if !template.is_some_and(|id| mentioned.contains(&(id, *local))) {
                warn(body, *local, &globals, diagnostics);
            }
        }
    }
    warn_no_critical(file, diagnostics);
    unit
}

/// Warns about a `property mutual_exclusion` that cannot fail.
fn warn_no_critical(file: &ast::File, diagnostics: &mut Diagnostics) {
    let mut critical = false;
    let mut claim = None;
    for item in &file.items {
        let block = match &item.kind {
            ItemKind::Init(block) => block,
            ItemKind::Procedure(procedure) => &procedure.body,
            ItemKind::Thread(thread) => &thread.body,
            ItemKind::Property(name) => {
                if name.text == "mutual_exclusion" {
                    claim = claim.or(Some(name.span));
                }
                continue;
            }
            ItemKind::Const(..)
            | ItemKind::Enum(..)
            | ItemKind::Record(..)
            | ItemKind::Pool(..)
            | ItemKind::Shared(..)
            | ItemKind::Client(_)
            | ItemKind::Final(..)
            | ItemKind::Invariant(_)
            | ItemKind::Observe(_) => continue,
        };
        for stmt in &block.stmts {
            walk(stmt, &mut |s| critical |= matches!(s.kind, ast::StmtKind::Critical(_)));
        }
    }
    if let Some(claim) = claim.filter(|_| !critical) {
        diagnostics
            .warning(codes::NO_CRITICAL, claim, "there is no `critical` block in this file")
            .label("holds of every program without one")
            .hint("put what must not run at the same time into `critical { ... }`");
    }
}

/// Properties, conditions and what to observe. Returns the registers mentioned.
fn claims(
    file: &ast::File,
    source: &str,
    globals: &Globals,
    unit: &mut Unit,
    diagnostics: &mut Diagnostics,
) -> Vec<(TemplateId, LocalId)> {
    let threads: Vec<Vec<Local>> = unit.templates.iter().map(|t| t.body.locals.clone()).collect();
    let mut mentioned = Vec::new();
    for item in &file.items {
        let registers = !matches!(item.kind, ItemKind::Invariant(_));
        let mut checker =
            Checker::new(globals, source, diagnostics, Scope::Condition { registers });
        checker.threads = &threads;
        match &item.kind {
            ItemKind::Property(name) => unit.claims.extend(property(name, checker.diagnostics)),
            ItemKind::Final(quantifier, cond) => {
                let cond = checker.expr_of(cond, Ty::Bool);
                unit.claims.extend(cond.map(|cond| Claim::Final(*quantifier, cond)));
            }
            ItemKind::Invariant(cond) => {
                let cond = checker.expr_of(cond, Ty::Bool);
                unit.claims.extend(cond.map(Claim::Invariant));
            }
            ItemKind::Observe(what) => {
                let what: Vec<_> = what.iter().filter_map(|e| checker.observable(e)).collect();
                unit.observe.extend(what);
            }
            ItemKind::Const(..)
            | ItemKind::Enum(..)
            | ItemKind::Record(..)
            | ItemKind::Pool(..)
            | ItemKind::Shared(..)
            | ItemKind::Init(_)
            | ItemKind::Procedure(_)
            | ItemKind::Client(_)
            | ItemKind::Thread(_) => {}
        }
        mentioned.append(&mut checker.mentioned);
    }
    mentioned
}

fn property(name: &ast::Name, diagnostics: &mut Diagnostics) -> Option<Claim> {
    match name.text.as_str() {
        "mutual_exclusion" => Some(Claim::MutualExclusion),
        "deadlock_free" => Some(Claim::DeadlockFree),
        other => {
            let near = hint(other, ["mutual_exclusion", "deadlock_free"], diagnostics.len());
            diagnostics
                .error(codes::UNKNOWN_WORD, name.span, format!("there is no property `{other}`"))
                .label("unknown property")
                .hint(near.unwrap_or("properties: `mutual_exclusion`, `deadlock_free`".into()));
            None
        }
    }
}
