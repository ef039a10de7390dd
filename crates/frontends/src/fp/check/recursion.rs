//! Reports recursive procedures.
//!
//! Calls are inlined, so the call graph must be acyclic.

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, Span};

use crate::fp::codes;
use crate::fp::names::Signature;
use crate::fp::types::ProcId;

/// Reports cycles of the call graph. The cycles have no procedure in common. Reports at most ten.
pub(super) fn check(
    procs: &[Signature],
    calls: &[BTreeMap<ProcId, Span>],
    diagnostics: &mut Diagnostics,
) {
    // After too many errors, the last bodies are not checked. Their calls are unknown.
    let mut alive: Vec<bool> = (0..procs.len()).map(|at| at < calls.len()).collect();
    for _ in 0..10 {
        remove_leaves(calls, &mut alive);
        let Some(start) = alive.iter().position(|alive| *alive) else {
            return;
        };
        // Every remaining procedure calls a remaining one: follow calls until one repeats.
        let mut path: Vec<(usize, Span)> = Vec::new();
        let mut at = start;
        let cycle = loop {
            if let Some(first) = path.iter().position(|(p, _)| *p == at) {
                break path.split_off(first);
            }
            let next = calls[at].iter().find(|(p, _)| alive[p.index()]);
            let Some((next, span)) = next else { return };
            path.push((at, *span));
            at = next.index();
        };
        for (proc, _) in &cycle {
            alive[*proc] = false;
        }
        report(procs, &cycle, diagnostics);
    }
}

/// Repeatedly removes procedures that call only removed procedures.
fn remove_leaves(calls: &[BTreeMap<ProcId, Span>], alive: &mut [bool]) {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); calls.len()];
    let mut pending_calls: Vec<usize> = vec![0; calls.len()];
    let mut ready: Vec<usize> = Vec::new();
    for (at, called) in calls.iter().enumerate().filter(|(at, _)| alive[*at]) {
        for callee in called.keys().filter(|p| alive[p.index()]) {
            callers[callee.index()].push(at);
            pending_calls[at] += 1;
        }
        if pending_calls[at] == 0 {
            ready.push(at);
        }
    }
    while let Some(at) = ready.pop() {
        alive[at] = false;
        for caller in &callers[at] {
            pending_calls[*caller] -= 1;
            if pending_calls[*caller] == 0 {
                ready.push(*caller);
            }
        }
    }
}

fn report(procs: &[Signature], cycle: &[(usize, Span)], diagnostics: &mut Diagnostics) {
    let Some((first, span)) = cycle.first() else {
        return;
    };
    let mut names: Vec<&str> = cycle.iter().map(|(p, _)| procs[*p].name.as_str()).collect();
    names.push(&procs[*first].name);
    names.truncate(20);
    let diagnostic = diagnostics.error(
        codes::RECURSION,
        *span,
        format!("procedure `{}` is recursive: {}", procs[*first].name, names.join(" -> ")),
    );
    diagnostic.label("recursive call").hint("use a loop; calls are inlined");
    for (proc, span) in cycle.iter().skip(1).take(8) {
        diagnostic.related(*span, format!("called from `{}`", procs[*proc].name));
    }
}
