//! A whole file: every body, every claim, every client.

use std::collections::BTreeMap;

use fencepost_ir::{Consistency, Diagnostics, Span};

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
///
/// If `clients` are given, they take the place of those of the file.
pub fn check(
    file: &ast::File,
    source: &str,
    clients: Option<&[String]>,
    diagnostics: &mut Diagnostics,
) -> Unit {
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
                    attributes: signature.attributes,
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
            | ItemKind::Property(..)
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
        match clients {
            None => client::check(file, &globals, &mut unit, diagnostics),
            Some(texts) => client::check_texts(texts, &globals, &mut unit, diagnostics),
        }
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
            ItemKind::Property(name, _) => {
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
            ItemKind::Property(name, of) => {
                let claim = property(name, of.as_ref(), globals, &unit.claims, checker.diagnostics);
                unit.claims.extend(claim);
            }
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

/// The properties that are one word.
const PROPERTIES: [&str; 2] = ["mutual_exclusion", "deadlock_free"];

fn property(
    name: &ast::Name,
    of: Option<&ast::Name>,
    globals: &Globals,
    before: &[Claim],
    diagnostics: &mut Diagnostics,
) -> Option<Claim> {
    let all = [Consistency::Sequential, Consistency::Linearizable];
    if let Some(consistency) = all.into_iter().find(|c| c.word() == name.text) {
        return operations(consistency, name, of, globals, before, diagnostics);
    }
    let word = name.text.as_str();
    let claim = match word {
        "mutual_exclusion" => Claim::MutualExclusion,
        "deadlock_free" => Claim::DeadlockFree,
        other => {
            let known = PROPERTIES.into_iter().chain(all.map(Consistency::word));
            let near = hint(other, known, diagnostics.len());
            let hint = "properties: `mutual_exclusion`, `deadlock_free`, \
                `sequentially_consistent operations`, `linearizable operations`";
            diagnostics
                .error(codes::UNKNOWN_WORD, name.span, format!("there is no property `{other}`"))
                .label("unknown property")
                .hint(near.unwrap_or(hint.into()));
            return None;
        }
    };
    if let Some(of) = of {
        diagnostics
            .error(codes::SYNTAX, of.span, format!("expected `;`, found `{}`", of.text))
            .label("a word too many")
            .hint(format!("write `property {word};`"));
        return None;
    }
    Some(claim)
}

/// `property linearizable operations;`
fn operations(
    consistency: Consistency,
    name: &ast::Name,
    of: Option<&ast::Name>,
    globals: &Globals,
    before: &[Claim],
    diagnostics: &mut Diagnostics,
) -> Option<Claim> {
    let word = consistency.word();
    if of.is_none_or(|of| of.text != "operations") {
        let message = format!("`{word}` is a property of operations");
        diagnostics
            .error(codes::UNKNOWN_WORD, of.map_or(name.span, |of| of.span), message)
            .label("`operations` is missing")
            .hint(format!("write `property {word} operations;`"));
        return None;
    }
    let span = name.span.to(of.map_or(name.span, |of| of.span));
    let first = before.iter().find_map(|claim| match claim {
        Claim::Operations(_, span) => Some(*span),
        Claim::MutualExclusion | Claim::DeadlockFree | Claim::Final(..) | Claim::Invariant(_) => {
            None
        }
    });
    if let Some(first) = first {
        diagnostics
            .error(codes::DUPLICATE, span, "a second property of operations")
            .label("second one")
            .related(first, "first one")
            .hint("what is linearizable is sequentially consistent, too");
        return None;
    }
    let none = globals.procs.iter().all(|p| p.letter.is_none());
    if none && globals.lost.is_none() {
        diagnostics
            .error(codes::CLIENT, span, "there are no operations in this file")
            .label("holds of nothing")
            .hint("declare one: `operation int take() as t { ... }`");
        return None;
    }
    Some(Claim::Operations(consistency, span))
}
