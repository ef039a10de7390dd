//! Clients: names and arguments for each use of an operation, the threads that call them, and each
//! operation alone, for properties that compare the two.

use std::collections::BTreeMap;

use fencepost_ir::{
    Consistency, Expr, Op, Operation, Operations, Reg, Span, Thread, ThreadId, Value,
};

use super::Context;
use super::labels::Kind;
use super::thread::Lowerer;
use crate::fp::tree::{Claim, Client, Unit};
use crate::fp::types::{ProcId, Ty, VarTy};
use crate::fp::{codes, limits};

/// A use of an operation by a client.
pub(super) struct Use {
    pub(super) proc: ProcId,
    pub(super) span: Span,
    /// `d1`, `d2`, ...
    pub(super) name: String,
    /// Which use of its letter it is, from 1.
    number: u32,
    arguments: Vec<Value>,
    returns: Option<VarTy>,
}

/// What conditions call the result of an operation, and the register that holds it (none if it ran
/// as part of `init`).
pub(super) type ClientResult = ((ProcId, u32), Option<(ThreadId, Reg)>);

/// A client with names and arguments given out.
pub(super) struct Plan {
    pub(super) first: Vec<Use>,
    pub(super) threads: Vec<Vec<Use>>,
    /// How many threads come before those of the client.
    before: usize,
}

/// What a client's thread keeps about one use of an operation, in registers of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// Its result, if it has one.
    result: Option<Reg>,
    /// How many operations the other threads had returned from when it was invoked.
    seen: Vec<(ThreadId, Reg)>,
}

/// A client's thread and what it keeps.
pub(super) struct ClientThread {
    pub(super) thread: Thread,
    pub(super) kept: Vec<Kept>,
}

impl Plan {
    /// Gives out names and arguments in reading order.
    pub(super) fn new(unit: &Unit, client: &Client, before: usize) -> Plan {
        let mut counts: BTreeMap<ProcId, u32> = BTreeMap::new();
        let mut argument = 0;
        let mut part = |operations: &[(ProcId, Span)]| -> Vec<Use> {
            let uses = operations.iter().map(|(proc, span)| {
                let info = &unit.procs[proc.index()];
                let number = counts.entry(*proc).or_insert(0);
                *number += 1;
                let arguments = (0..info.params).map(|_| {
                    argument += 1;
                    argument
                });
                Use {
                    proc: *proc,
                    span: *span,
                    name: format!("{}{number}", info.letter.unwrap_or('_')),
                    number: *number,
                    arguments: arguments.collect(),
                    returns: info.returns,
                }
            });
            uses.collect()
        };
        let first = part(&client.first);
        let threads = client.threads.iter().map(|t| part(t)).collect();
        Plan { first, threads, before }
    }

    /// The thread at a position among the client's.
    pub(super) fn id(&self, at: usize) -> ThreadId {
        ThreadId::from_index(self.before + at)
    }
}

/// The results of a thread's operations.
pub(super) fn results(uses: &[Use], kept: &[Kept], thread: ThreadId) -> Vec<ClientResult> {
    let with_result = uses.iter().zip(kept).filter_map(|(u, kept)| Some((u, kept.result?)));
    with_result.map(|(u, reg)| ((u.proc, u.number), Some((thread, reg)))).collect()
}

/// The results of operations that run first.
pub(super) fn results_of_init(uses: &[Use]) -> Vec<ClientResult> {
    uses.iter().filter(|u| u.returns.is_some()).map(|u| ((u.proc, u.number), None)).collect()
}

impl<'c, 'a> Lowerer<'c, 'a> {
    /// A thread of a client. For [`Consistency::Linearizable`] it tells when each operation begins
    /// and ends, and keeps what it saw of the others.
    pub(super) fn client(
        context: &'c mut Context<'a>,
        plan: &Plan,
        at: usize,
        consistency: Option<Consistency>,
        span: Span,
    ) -> ClientThread {
        let mut lowerer = Self::new(context, "client");
        let uses = &plan.threads[at];
        let mut kept = Vec::new();
        for used in uses {
            let result = used.returns.map(|ty| lowerer.register(used.name.clone(), ty, used.span));
            kept.push(Kept { result, seen: Vec::new() });
        }
        let timed = consistency == Some(Consistency::Linearizable);
        for (used, kept) in uses.iter().zip(&mut kept).filter(|_| timed) {
            let others = (0..plan.threads.len()).filter(|other| *other != at);
            let seen = others.map(|other| {
                let name = format!("%{}.client({other})", used.name);
                (plan.id(other), lowerer.register(name, VarTy::plain(Ty::Int), used.span))
            });
            kept.seen = seen.collect();
        }
        for (used, kept) in uses.iter().zip(&kept) {
            if timed {
                let seen = kept.seen.clone();
                lowerer.emit(Op::Invoke { seen }, used.span, Kind::Invoke);
            }
            lowerer.operation(used, kept.result);
            if timed {
                lowerer.emit(Op::Return { result: kept.result }, used.span, Kind::Return);
            }
        }
        ClientThread { thread: lowerer.finish(format!("client({at})"), span), kept }
    }

    /// One use of an operation.
    pub(super) fn operation(&mut self, used: &Use, result: Option<Reg>) {
        let arguments = used.arguments.iter().map(|value| Expr::Const(*value)).collect();
        self.inline(used.proc, arguments, used.span, result);
    }

    /// One use of an operation as a program of its own, and the register of its result.
    fn operation_alone(context: &'c mut Context<'a>, used: &Use) -> (Thread, Option<Reg>) {
        let mut lowerer = Self::new(context, "client");
        lowerer.run_alone();
        let result = used.returns.map(|ty| lowerer.register(used.name.clone(), ty, used.span));
        lowerer.operation(used, result);
        (lowerer.finish(used.name.clone(), used.span), result)
    }
}

impl Context<'_> {
    /// What is claimed of a client's operations, if anything is.
    pub(super) fn operations(
        &mut self,
        plan: &Plan,
        kept: &[Vec<Kept>],
        client: &Client,
    ) -> Option<Operations> {
        let (consistency, span) = self.unit.claims.iter().find_map(of_operations)?;
        let orders = orders(plan.threads.iter().map(Vec::len));
        if orders.is_none_or(|orders| orders > limits::ORDERS) {
            let message =
                format!("client `{}`: too many operations for this property", client.text);
            self.diagnostics
                .error(codes::TOO_LARGE, client.span, message)
                .label(format!("they have more than {} orders", limits::ORDERS))
                .related(span, "this property looks at all of them")
                .hint("use fewer operations at the same time");
            return None;
        }
        let mut threads = Vec::new();
        for (at, (uses, kept)) in plan.threads.iter().zip(kept).enumerate() {
            let operations = uses.iter().zip(kept).map(|(used, kept)| {
                let (body, result) = Lowerer::operation_alone(self, used);
                let attributes = self.unit.procs[used.proc.index()].attributes;
                Operation {
                    name: used.name.clone(),
                    body,
                    result: result.zip(kept.result),
                    seen: kept.seen.clone(),
                    aborts: attributes.aborts,
                    repeats: attributes.repeats,
                }
            });
            threads.push((plan.id(at), operations.collect()));
        }
        Some(Operations { consistency, threads, span })
    }
}

impl Unit {
    /// What is claimed of operations, if anything is.
    pub(super) fn consistency(&self) -> Option<Consistency> {
        self.claims.iter().find_map(of_operations).map(|(consistency, _)| consistency)
    }
}

fn of_operations(claim: &Claim) -> Option<(Consistency, Span)> {
    match claim {
        Claim::Operations(consistency, span) => Some((*consistency, *span)),
        Claim::MutualExclusion | Claim::DeadlockFree | Claim::Final(..) | Claim::Invariant(_) => {
            None
        }
    }
}

/// In how many orders operations can run, given how many each thread has; `None` if that is beyond
/// counting.
fn orders(lengths: impl Iterator<Item = usize>) -> Option<u64> {
    let mut total: u64 = 0;
    let mut orders: u64 = 1;
    for length in lengths {
        for k in 1..=length as u64 {
            total += 1;
            // All products of this kind are divisible: they count choices of k out of total.
            orders = orders.checked_mul(total)? / k;
        }
    }
    Some(orders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counted() {
        let count = |lengths: &[usize]| orders(lengths.iter().copied());
        assert_eq!(count(&[]), Some(1));
        assert_eq!(count(&[5]), Some(1));
        assert_eq!(count(&[1, 1]), Some(2));
        assert_eq!(count(&[2, 2]), Some(6));
        assert_eq!(count(&[3, 3]), Some(20));
        assert_eq!(count(&[1, 1, 1]), Some(6));
        assert_eq!(count(&[2, 1, 3]), Some(60));
        assert_eq!(count(&[100, 100]), None);
    }
}
