//! Procedures that call themselves, directly or through others.
//!
//! Calls are inlined, so recursion would never end.

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, Span};

use crate::fp::codes;
use crate::fp::names::Signature;
use crate::fp::types::ProcId;

/// Reports the cycles of the call graph (one for each group of procedures, at most ten).
pub(super) fn check(
    procs: &[Signature],
    calls: &[BTreeMap<ProcId, Span>],
    diagnostics: &mut Diagnostics,
) {
    let mut alive = vec![true; procs.len()];
    for _ in 0..10 {
        remove_leaves(calls, &mut alive);
        let Some(start) = alive.iter().position(|alive| *alive) else {
            return;
        };
        // Every procedure left calls one that is left: walk until one comes again.
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

/// Removes procedures that call only removed ones, again and again.
fn remove_leaves(calls: &[BTreeMap<ProcId, Span>], alive: &mut [bool]) {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); calls.len()];
    let mut waiting: Vec<usize> = vec![0; calls.len()];
    let mut ready: Vec<usize> = Vec::new();
    for (at, called) in calls.iter().enumerate().filter(|(at, _)| alive[*at]) {
        for callee in called.keys().filter(|p| alive[p.index()]) {
            callers[callee.index()].push(at);
            waiting[at] += 1;
        }
        if waiting[at] == 0 {
            ready.push(at);
        }
    }
    while let Some(at) = ready.pop() {
        alive[at] = false;
        for caller in &callers[at] {
            waiting[*caller] -= 1;
            if waiting[*caller] == 0 {
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
        format!("`{}` calls itself: {}", procs[*first].name, names.join(" -> ")),
    );
    diagnostic.label("this call").hint("calls are inlined; use a loop instead");
    for (proc, span) in cycle.iter().skip(1).take(8) {
        diagnostic.related(*span, format!("called from `{}`", procs[*proc].name));
    }
}
