//! Checks that no `await` is inside an `atomic` block, directly or through calls.
//!
//! An `atomic` block is one step, so no other thread can change the condition while it runs.

use std::collections::BTreeMap;

use fencepost_ir::{Diagnostics, Span};

use super::Checker;
use super::jump::Region;
use crate::fp::codes;
use crate::fp::names::Signature;
use crate::fp::types::ProcId;

/// The waits of one body.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    /// The first `await` outside of `atomic`.
    first: Option<Span>,
    /// The calls inside `atomic` blocks, by position, each with its block.
    atomic_calls: BTreeMap<Span, (ProcId, Span)>,
}

impl Checker<'_> {
    /// Returns the outermost `atomic` block that encloses the current statement.
    pub(super) fn atomic_region(&self) -> Option<Span> {
        self.regions.iter().find_map(|region| match region {
            Region::Atomic(block) => Some(*block),
            Region::Critical(_) | Region::Loop | Region::Switch => None,
        })
    }

    /// Records an `await`. Reports an `await` inside an `atomic` block.
    pub(super) fn record_await(&mut self, span: Span) {
        let Some(atomic) = self.atomic_region() else {
            self.waits.first.get_or_insert(span);
            return;
        };
        self.diagnostics
            .error(codes::AWAIT_IN_ATOMIC, span, "`await` cannot be inside an `atomic` block")
            .label("no other thread can run while this waits")
            .related(atomic, "the `atomic` block")
            .hint("write `assume(...)`: the block then waits until its `assume` holds");
    }

    /// Records a call.
    pub(super) fn record_call(&mut self, proc: ProcId, span: Span) {
        self.calls.entry(proc).or_insert(span);
        if let Some(atomic) = self.atomic_region() {
            self.waits.atomic_calls.insert(span, (proc, atomic));
        }
    }
}

/// Reports calls inside `atomic` blocks of procedures that wait. `calls` and `waits` are indexed by
/// procedure; `others` are the waits of the other bodies.
pub(super) fn check(
    procs: &[Signature],
    calls: &[BTreeMap<ProcId, Span>],
    waits: &[Waits],
    others: &[Waits],
    diagnostics: &mut Diagnostics,
) {
    let mut first: Vec<Option<Span>> = vec![None; procs.len()];
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); procs.len()];
    for (at, called) in calls.iter().enumerate() {
        called.keys().for_each(|callee| callers[callee.index()].push(at));
    }
    // A procedure that calls a waiting procedure waits.
    let own = waits.iter().enumerate().filter_map(|(at, waits)| Some((at, waits.first?)));
    let mut open: Vec<(usize, Span)> = own.rev().collect();
    while let Some((at, span)) = open.pop() {
        if first[at].is_none() {
            first[at] = Some(span);
            open.extend(callers[at].iter().rev().map(|caller| (*caller, span)));
        }
    }
    for (call, (proc, atomic)) in waits.iter().chain(others).flat_map(|w| &w.atomic_calls) {
        if let Some(span) = first[proc.index()] {
            let name = &procs[proc.index()].name;
            let message = format!("`{name}` waits and cannot be called inside an `atomic` block");
            diagnostics
                .error(codes::AWAIT_IN_ATOMIC, *call, message)
                .label("no other thread can run while this waits")
                .related(span, "the `await`")
                .related(*atomic, "the `atomic` block")
                .hint("call the procedure before the block, or use `assume` in the procedure");
        }
    }
}
