//! Checks a whole file: bodies, properties, conditions and clients.

use std::collections::BTreeMap;

use fencepost_ir::{Consistency, Diagnostics, Span};

use super::body::{Bodies, CheckedBody, warn_typo, warn_unread};
use super::either::check_progress;
use super::infer::{assigned_registers, walk};
use super::{Checker, Scope, recursion, wait};
use crate::Request;
use crate::fp::ast::{self, ItemKind};
use crate::fp::client;
use crate::fp::codes;
use crate::fp::limits;
use crate::fp::names::{Global, Globals};
use crate::fp::suggest::did_you_mean;
use crate::fp::tree::{Body, Claim, LabelName, Local, Procedure, Template, Unit};
use crate::fp::types::{LocalId, TemplateId, Ty};

/// Checks a file. The result is valid only if no error was reported.
///
/// If the request has clients, these clients replace the clients of the file.
pub fn check(
    file: &ast::File,
    source: &str,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Unit {
    let mut globals = Globals::collect(file, source, diagnostics);
    globals.registers = assigned_registers(file);
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
    let (mut waits, mut other_waits) = (Vec::new(), Vec::new());
    let (mut init, mut finally): (Option<Span>, Option<Span>) = (None, None);
    for item in &file.items {
        if limits::error_limit_reached(diagnostics) {
            break;
        }
        let (checked, template) = match &item.kind {
            ItemKind::Init(block) => {
                check_once("init", item.span, &mut init, diagnostics);
                let checked = bodies.init(block, diagnostics);
                unit.init = Some(checked.body.clone());
                (checked, None)
            }
            ItemKind::Finally(block) => {
                check_once("finally", item.span, &mut finally, diagnostics);
                let checked = bodies.finally(block, diagnostics);
                let word = Span { end: item.span.start + "finally".len() as u32, ..item.span };
                unit.finally = Some((checked.body.clone(), word));
                (checked, None)
            }
            ItemKind::Procedure(procedure) => {
                // A second declaration of a name has no signature. Its body is not checked.
                let Some((Global::Proc(id), span)) = globals.get(&procedure.name.text) else {
                    continue;
                };
                if span != procedure.name.span {
                    continue;
                }
                let signature = &globals.procs[id.index()];
                let mut checked = bodies.procedure(signature, &procedure.body, diagnostics);
                calls.push(std::mem::take(&mut checked.calls));
                waits.push(std::mem::take(&mut checked.waits));
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
        let CheckedBody { body, unread: unread_locals, waits, asserts, .. } = checked;
        unit.asserts |= asserts;
        other_waits.push(waits);
        unread.push((body, unread_locals, template));
    }
    recursion::check(&globals.procs, &calls, diagnostics);
    wait::check(&globals.procs, &calls, &waits, &other_waits, diagnostics);
    let mentioned = claims(file, source, &globals, &mut unit, diagnostics);
    if request.allow_hangs {
        warn_ignored_properties(file, diagnostics);
    }
    // An unparsed part may declare the operation of a letter.
    if file.unparsed_names.is_none() {
        match request.clients {
            None => client::check(file, &globals, &mut unit, diagnostics),
            Some(texts) => client::check_texts(texts, file, &globals, &mut unit, diagnostics),
        }
    }
    // After an error, warnings would be unreliable.
    if diagnostics.has_errors() {
        return unit;
    }
    // Without any property, the values of all registers are the outcome.
    let claims = unit.asserts || !unit.claims.is_empty() || !unit.observe.is_empty();
    let warn = if claims { warn_unread } else { warn_typo };
    for (body, unread_locals, template) in &unread {
        for local in unread_locals {
            if !template.is_some_and(|id| mentioned.contains(&(id, *local))) {
                warn(body, *local, &globals, diagnostics);
            }
        }
    }
    warn_no_critical(file, diagnostics);
    unit
}

/// Reports a second block of this kind.
fn check_once(word: &str, span: Span, earlier: &mut Option<Span>, diagnostics: &mut Diagnostics) {
    if let Some(first) = earlier.replace(span) {
        diagnostics
            .error(codes::DUPLICATE, span, format!("there are two `{word}` blocks"))
            .label(format!("second `{word}` block"))
            .related(first, format!("first `{word}` block"))
            .hint(format!("put all statements into one `{word}` block"));
    }
}

/// Warns about a `property mutual_exclusion` in a file without a `critical` block.
fn warn_no_critical(file: &ast::File, diagnostics: &mut Diagnostics) {
    let mut critical = false;
    let mut claim = None;
    for item in &file.items {
        let block = match &item.kind {
            ItemKind::Init(block) | ItemKind::Finally(block) => block,
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
            .label("this property holds trivially")
            .hint("put statements that must not run at the same time into `critical { ... }`");
    }
}

/// Checks properties, conditions and `observe`. Returns the mentioned registers.
fn claims(
    file: &ast::File,
    source: &str,
    globals: &Globals,
    unit: &mut Unit,
    diagnostics: &mut Diagnostics,
) -> Vec<(TemplateId, LocalId)> {
    let threads: Vec<Vec<Local>> = unit.templates.iter().map(|t| t.body.locals.clone()).collect();
    let labels: Vec<Vec<LabelName>> =
        unit.templates.iter().map(|t| t.body.labels.clone()).collect();
    let mut mentioned = Vec::new();
    for item in &file.items {
        let registers = !matches!(item.kind, ItemKind::Invariant(_));
        let mut checker =
            Checker::new(globals, source, diagnostics, Scope::Condition { registers });
        checker.threads = &threads;
        checker.thread_labels = &labels;
        match &item.kind {
            ItemKind::Property(name, of) => {
                let claim = property(name, of.as_ref(), globals, &unit.claims, checker.diagnostics);
                if matches!(claim, Some(Claim::Progress)) {
                    check_progress(file, name.span, checker.diagnostics);
                }
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
            | ItemKind::Finally(_)
            | ItemKind::Procedure(_)
            | ItemKind::Client(_)
            | ItemKind::Thread(_) => {}
        }
        mentioned.append(&mut checker.mentioned);
    }
    mentioned
}

/// Warns about properties that forbid hangs.
fn warn_ignored_properties(file: &ast::File, diagnostics: &mut Diagnostics) {
    for item in &file.items {
        if let ItemKind::Property(name, _) = &item.kind
            && ["deadlock_free", "progress"].contains(&name.text.as_str())
        {
            let message = format!("`{}` is not checked, because hangs are allowed", name.text);
            diagnostics
                .warning(codes::HANGS_ALLOWED, name.span, message)
                .label("ignored property")
                .hint("omit --allow-hangs to check it");
        }
    }
}

/// The properties whose name is a single word.
const PROPERTIES: [&str; 4] = ["mutual_exclusion", "deadlock_free", "progress", "may_hang"];

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
        "may_hang" => Claim::MayHang,
        "progress" => Claim::Progress,
        other => {
            let known = PROPERTIES.into_iter().chain(all.map(Consistency::word));
            let near = did_you_mean(other, known, diagnostics.len());
            let hint = "the properties are `mutual_exclusion`, `deadlock_free`, `progress`, `may_hang`, \
                `sequentially_consistent operations` and `linearizable operations`";
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
            .label("unexpected word")
            .hint(format!("write `property {word};`"));
        return None;
    }
    let contradicts = |other: &&Claim| {
        matches!(
            (&claim, *other),
            (Claim::MayHang, Claim::DeadlockFree | Claim::Progress)
                | (Claim::DeadlockFree | Claim::Progress, Claim::MayHang)
        )
    };
    if before.iter().any(|other| contradicts(&other)) {
        let message = format!("`{word}` contradicts an earlier property: hangs are allowed or not");
        diagnostics
            .error(codes::DUPLICATE, name.span, message)
            .label("the other property is above")
            .hint("remove one of them");
        return None;
    }
    Some(claim)
}

/// Checks a property of operations, such as `property linearizable operations;`.
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
        Claim::MutualExclusion
        | Claim::DeadlockFree
        | Claim::MayHang
        | Claim::Progress
        | Claim::Final(..)
        | Claim::Invariant(_) => None,
    });
    if let Some(first) = first {
        diagnostics
            .error(codes::DUPLICATE, span, "there are two properties of operations")
            .label("second property of operations")
            .related(first, "first property of operations")
            .hint("remove one of them; `linearizable` implies `sequentially_consistent`");
        return None;
    }
    let none = globals.procs.iter().all(|p| p.letter.is_none());
    if none && globals.unparsed_names.is_none() {
        diagnostics
            .error(codes::CLIENT, span, "there are no operations in this file")
            .label("this property needs operations")
            .hint("declare an operation: `operation int take() as t { ... }`");
        return None;
    }
    Some(Claim::Operations(consistency, span))
}
