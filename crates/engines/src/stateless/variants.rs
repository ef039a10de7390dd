//! Variants: what a step could do at another position of the execution.
//!
//! The monitor decides whether an event could take effect before an earlier write. A load does the
//! same at every position. A compare-and-swap may write or not. An atomic block may take another
//! path, access other locations, or block. For these, the monitor checks every variant: a
//! block that reads every address it may access and writes the addresses of one path through the
//! block. Additional reads are harmless: they are possible whenever the block is. Building the run
//! decides whether the step really behaves like the variant at its new position.

use crate::sc::{ScMachine, ScState};
use fencepost_ir::{MemoryOp, Op, Pc, ThreadId, Update, flow};
use fencepost_models::shape::Shape;
use fencepost_monitor::{Access, Action};
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of paths through a block that are distinguished by their writes.
const MAX_PATHS: usize = 64;

/// A possible behaviour of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Variant {
    /// A compare-and-swap that succeeds or fails.
    Update { address: u32, writes: bool },
    /// An atomic block with these accesses.
    Block(Vec<Access>),
}

impl Variant {
    /// Converts into an action for the monitor.
    pub(crate) fn action(&self) -> Action<'_> {
        match self {
            Variant::Update { address, writes } => {
                Action::Update { address: *address, writes: *writes }
            }
            Variant::Block(accesses) => Action::Block(accesses),
        }
    }
}

/// The variants of the blocks of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variants {
    /// By thread and program counter of the start of a block: its variants.
    blocks: Vec<BTreeMap<Pc, Vec<Variant>>>,
    /// Whether some block has more paths than are distinguished.
    pub(crate) too_many: bool,
}

impl Variants {
    /// Computes the variants of all blocks of a program.
    pub(crate) fn new(shape: &Shape<'_>) -> Self {
        let mut variants = Variants::default();
        // Nothing is reordered with the block of the last thread.
        let last = shape.program().last_thread();
        for t in shape.program().thread_ids() {
            let mut blocks = BTreeMap::new();
            for (at, stmt) in shape.program().thread(t).code.iter().enumerate() {
                if matches!(stmt.op, Op::AtomicBegin) && Some(t) != last {
                    blocks.insert(Pc::from_index(at), variants.block(shape, t, stmt.next));
                }
            }
            variants.blocks.push(blocks);
        }
        variants
    }

    /// Computes the variants of a block. `from` is the first statement inside the block.
    fn block(&mut self, shape: &Shape<'_>, t: ThreadId, from: Pc) -> Vec<Variant> {
        let mut touched = BTreeSet::new();
        // By program counter: the sets of addresses written on paths to it.
        let mut written: BTreeMap<Pc, BTreeSet<BTreeSet<u32>>> = BTreeMap::new();
        let mut path_writes: BTreeSet<BTreeSet<u32>> = BTreeSet::new();
        let mut open = vec![(from, BTreeSet::new())];
        while let Some((pc, mut writes)) = open.pop() {
            if !written.entry(pc).or_default().insert(writes.clone()) {
                continue;
            }
            if path_writes.len() > MAX_PATHS || written[&pc].len() > MAX_PATHS {
                self.too_many = true;
                break;
            }
            let stmt = shape.stmt(t, pc);
            let mut addresses: Vec<u32> =
                shape.thread(t).footprints[pc.index()].iter().map(|loc| loc.0).collect();
            let mut may_write = stmt.op.access().is_some_and(|access| access.stores);
            if let Op::New { pool, .. } = &stmt.op {
                addresses.push(shape.program().locations.len() as u32 + u32::from(pool.0));
                may_write = true;
            }
            touched.extend(&addresses);
            match &stmt.op {
                Op::AtomicEnd | Op::Halt => {
                    path_writes.insert(writes);
                    continue;
                }
                Op::Assume(_) => {
                    path_writes.insert(writes.clone());
                }
                Op::Update { update: Update::Cas { .. }, .. } => {
                    open.extend(flow::successors(stmt).map(|next| (next, writes.clone())));
                }
                Op::Skip
                | Op::Assign { .. }
                | Op::Choose { .. }
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::Update { .. }
                | Op::Fence(_)
                | Op::Drain(_)
                | Op::Branch { .. }
                | Op::Assert(_)
                | Op::New { .. }
                | Op::Free { .. }
                | Op::Leave
                | Op::AtomicBegin
                | Op::Invoke { .. }
                | Op::Return { .. }
                | Op::Join
                | Op::SectionBegin { .. }
                | Op::SectionEnd { .. }
                | Op::GracePeriod { .. } => {}
            }
            if may_write && addresses.len() > 1 {
                for address in addresses {
                    let mut one = writes.clone();
                    one.insert(address);
                    open.extend(flow::successors(stmt).map(|next| (next, one.clone())));
                }
                continue;
            }
            writes.extend(addresses.into_iter().filter(|_| may_write));
            open.extend(flow::successors(stmt).map(|next| (next, writes.clone())));
        }
        let access = |writes: &BTreeSet<u32>, address: u32| Access {
            address,
            reads: true,
            writes: writes.contains(&address),
        };
        let variant = |writes: &BTreeSet<u32>| {
            Variant::Block(touched.iter().map(|address| access(writes, *address)).collect())
        };
        path_writes.iter().map(variant).collect()
    }

    /// Returns the variants of the next step of a thread. None if it does the same at every
    /// position.
    pub(crate) fn of(
        &self,
        machine: &ScMachine<'_>,
        state: &ScState,
        thread: usize,
    ) -> Option<Vec<Variant>> {
        let t = ThreadId::from_index(thread);
        let pc = state.pcs[thread];
        let op = &machine.shape.stmt(t, pc).op;
        if let Op::AtomicBegin = op {
            return self.blocks[thread].get(&pc).cloned();
        }
        match op.memory()? {
            MemoryOp::Update { update: Update::Cas { .. }, .. } => {
                let address = machine.next_access(state, t)?.0;
                Some([true, false].map(|writes| Variant::Update { address, writes }).to_vec())
            }
            MemoryOp::Load { .. }
            | MemoryOp::Store { .. }
            | MemoryOp::Update { .. }
            | MemoryOp::Fence(_)
            | MemoryOp::Drain(_) => None,
        }
    }
}
