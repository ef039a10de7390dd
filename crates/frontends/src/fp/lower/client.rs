//! Lowers clients: assigns names and arguments to the uses of operations, and builds the threads of
//! the client. For properties of operations, also lowers each operation in isolation.

use std::collections::BTreeMap;

use fencepost_ir::{
    Consistency, Expr, Loc, Location, Op, Operation, Operations, Reg, Span, Thread, ThreadId, Type,
    Value,
};

use super::Context;
use super::labels::Kind;
use super::thread::Lowerer;
use crate::fp::tree::{Claim, Client, Unit};
use crate::fp::types::{ProcId, Ty, VarTy};
use crate::fp::{codes, limits};

/// A use of an operation by a client.
pub(super) struct OperationUse {
    pub(super) proc: ProcId,
    pub(super) span: Span,
    /// `d1`, `d2`, ...
    pub(super) name: String,
    /// The number of this use among the uses of the same letter, from 1.
    number: u32,
    arguments: Vec<Value>,
    returns: Option<VarTy>,
}

/// The operation and the number that conditions use for a result, and the register of the result.
/// `None` if the operation runs in `init`.
pub(super) type ClientResult = ((ProcId, u32), Option<(ThreadId, Reg)>);

/// The operation uses of a client, with names and arguments.
pub(super) struct ClientPlan {
    pub(super) first: Vec<OperationUse>,
    pub(super) threads: Vec<Vec<OperationUse>>,
    pub(super) last: Vec<OperationUse>,
    /// The number of threads before the threads of the client.
    before: usize,
}

/// The registers in which a client thread stores data about one use of an operation.
#[derive(Clone, Debug, Default)]
pub(super) struct OperationRegisters {
    /// The result, unless the operation is `void`.
    result: Option<Reg>,
    /// For each other thread, the number of operations that had returned before this invocation.
    seen: Vec<(ThreadId, Reg)>,
}

/// A thread of a client and the registers of its operation uses.
pub(super) struct ClientThread {
    pub(super) thread: Thread,
    pub(super) kept: Vec<OperationRegisters>,
}

impl OperationRegisters {
    /// Returns the register of the result.
    pub(super) fn result(&self) -> Option<Reg> {
        self.result
    }
}

impl ClientPlan {
    /// Assigns names and arguments in text order.
    pub(super) fn new(unit: &Unit, client: &Client, before: usize) -> ClientPlan {
        let mut counts: BTreeMap<ProcId, u32> = BTreeMap::new();
        let mut argument = 0;
        let mut part = |operations: &[(ProcId, Span)]| -> Vec<OperationUse> {
            let uses = operations.iter().map(|(proc, span)| {
                let info = &unit.procs[proc.index()];
                let number = counts.entry(*proc).or_insert(0);
                *number += 1;
                let arguments = (0..info.params).map(|_| {
                    argument += 1;
                    argument
                });
                OperationUse {
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
        let last = part(&client.last);
        ClientPlan { first, threads, last, before }
    }

    /// Returns the thread id of the client thread with this index.
    pub(super) fn id(&self, at: usize) -> ThreadId {
        ThreadId::from_index(self.before + at)
    }
}

/// Returns the results of the operations of a thread.
pub(super) fn results(
    uses: &[OperationUse],
    kept: &[OperationRegisters],
    thread: ThreadId,
) -> Vec<ClientResult> {
    let with_result = uses.iter().zip(kept).filter_map(|(u, kept)| Some((u, kept.result?)));
    with_result.map(|(u, reg)| ((u.proc, u.number), Some((thread, reg)))).collect()
}

/// Returns the results of the initial operations.
pub(super) fn results_of_init(uses: &[OperationUse]) -> Vec<ClientResult> {
    uses.iter().filter(|u| u.returns.is_some()).map(|u| ((u.proc, u.number), None)).collect()
}

impl<'c, 'a> Lowerer<'c, 'a> {
    /// Lowers a thread of a client. For [`Consistency::Linearizable`], the thread records the
    /// invocation and the return of each operation, and which operations of other threads returned
    /// before.
    pub(super) fn client(
        context: &'c mut Context<'a>,
        plan: &ClientPlan,
        at: usize,
        consistency: Option<Consistency>,
        span: Span,
    ) -> ClientThread {
        let mut lowerer = Self::new(context, "client");
        let uses = &plan.threads[at];
        let mut kept = lowerer.result_registers(uses);
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

    /// Adds the registers for the results of operation uses.
    pub(super) fn result_registers(&mut self, uses: &[OperationUse]) -> Vec<OperationRegisters> {
        let registers = uses.iter().map(|used| {
            let result = used.returns.map(|ty| self.register(used.name.clone(), ty, used.span));
            OperationRegisters { result, seen: Vec::new() }
        });
        registers.collect()
    }

    /// Lowers one use of an operation.
    pub(super) fn operation(&mut self, used: &OperationUse, result: Option<Reg>) {
        let arguments = used.arguments.iter().map(|value| Expr::Const(*value)).collect();
        self.inline(used.proc, arguments, used.span, result);
    }

    /// Lowers one use of an operation as an isolated program. Returns the program and the register
    /// of the result.
    fn isolated_operation(
        context: &'c mut Context<'a>,
        used: &OperationUse,
    ) -> (Thread, Option<Reg>) {
        let mut lowerer = Self::new(context, "client");
        lowerer.set_isolated();
        let result = used.returns.map(|ty| lowerer.register(used.name.clone(), ty, used.span));
        lowerer.operation(used, result);
        (lowerer.finish(used.name.clone(), used.span), result)
    }
}

impl Context<'_> {
    /// Builds the property of the operations of a client, if the file has such a property. `kept`
    /// has an entry for each thread and, if there are operations after the threads, one for them.
    pub(super) fn operations(
        &mut self,
        plan: &ClientPlan,
        kept: &[Vec<OperationRegisters>],
        client: &Client,
    ) -> Option<Operations> {
        let (consistency, span) = self.unit.claims.iter().find_map(operations_claim)?;
        let orders = interleavings(plan.threads.iter().map(Vec::len));
        if orders.is_none_or(|orders| orders > limits::ORDERS) {
            let message =
                format!("client `{}`: too many operations for this property", client.text);
            self.diagnostics
                .error(codes::TOO_LARGE, client.span, message)
                .label(format!("the operations have more than {} orders", limits::ORDERS))
                .related(span, "this property checks all orders")
                .hint("use fewer operations in the threads of the client");
            return None;
        }
        let last = (!plan.last.is_empty()).then_some(plan.threads.len());
        let mut threads = Vec::new();
        for (at, (uses, kept)) in plan.threads.iter().chain([&plan.last]).zip(kept).enumerate() {
            let operations = uses.iter().zip(kept).map(|(used, kept)| {
                let (body, result) = Lowerer::isolated_operation(self, used);
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
        Some(Operations { consistency, threads, last, first: Vec::new(), span })
    }
}

/// Adds the locations in which `init` stores the results of the operations before the threads.
/// Returns them by operation.
pub(super) fn first_results(
    uses: &[OperationUse],
    locations: &mut Vec<Location>,
) -> Vec<Option<Loc>> {
    let add = |used: &OperationUse| {
        used.returns?;
        let mut name = used.name.clone();
        while locations.iter().any(|location| location.name == name) {
            name.push('_');
        }
        let loc = Loc::from_index(locations.len());
        locations.push(Location { name, ty: Type::INT, init: 0 });
        Some(loc)
    };
    uses.iter().map(add).collect()
}

impl Unit {
    /// Returns the consistency that the file requires of operations.
    pub(super) fn consistency(&self) -> Option<Consistency> {
        self.claims.iter().find_map(operations_claim).map(|(consistency, _)| consistency)
    }
}

fn operations_claim(claim: &Claim) -> Option<(Consistency, Span)> {
    match claim {
        Claim::Operations(consistency, span) => Some((*consistency, *span)),
        Claim::MutualExclusion
        | Claim::DeadlockFree
        | Claim::MayHang
        | Claim::Progress
        | Claim::Final(..)
        | Claim::Invariant(_) => None,
    }
}

/// Returns the number of interleavings of operations, given the number of operations of each
/// thread. Returns `None` on overflow.
fn interleavings(lengths: impl Iterator<Item = usize>) -> Option<u64> {
    let mut total: u64 = 0;
    let mut orders: u64 = 1;
    for length in lengths {
        for k in 1..=length as u64 {
            total += 1;
            // The division is exact: the result is a multiple of a binomial coefficient.
            orders = orders.checked_mul(total)? / k;
        }
    }
    Some(orders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleavings_are_multinomial_coefficients() {
        let count = |lengths: &[usize]| interleavings(lengths.iter().copied());
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
