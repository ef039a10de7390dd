//! What a step could do elsewhere.
//!
//! The monitor asks whether an event could have come before an earlier write. A load does the same wherever it
//! comes; a compare-and-swap may write or not, and an atomic block may go another way, touch other locations, or wait. So
//! for these the monitor is asked about everything that they could do: a block that reads all that it might
//! touch (reading more does no harm: it is possible whenever the block is) and writes what one way
//! through it writes. Whether it does that where it comes then is seen when the run is made.

use crate::sc::{ScMachine, ScState};
use fencepost_ir::{MemoryOp, Op, Pc, ThreadId, Update, flow};
use fencepost_models::shape::Shape;
use fencepost_monitor::{Access, Action};
use std::collections::{BTreeMap, BTreeSet};

/// Ways through a block that are told apart by what they write.
const WAYS: usize = 64;

/// Something that a step could do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Variant {
    /// A compare-and-swap that succeeds or fails.
    Update { address: u32, writes: bool },
    /// A block.
    Block(Vec<Access>),
}

impl Variant {
    /// For the monitor.
    pub(crate) fn action(&self) -> Action<'_> {
        match self {
            Variant::Update { address, writes } => {
                Action::Update { address: *address, writes: *writes }
            }
            Variant::Block(accesses) => Action::Block(accesses),
        }
    }
}

/// The blocks of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variants {
    /// By thread and program counter of their beginnings: what they could do.
    blocks: Vec<BTreeMap<Pc, Vec<Variant>>>,
    /// Whether some block has more ways than are told apart.
    pub(crate) too_many: bool,
}

impl Variants {
    /// Those of a program.
    pub(crate) fn new(shape: &Shape<'_>) -> Self {
        let mut variants = Variants::default();
        for t in shape.program().thread_ids() {
            let mut blocks = BTreeMap::new();
            for (at, stmt) in shape.program().thread(t).code.iter().enumerate() {
                if let Op::AtomicBegin = stmt.op {
                    blocks.insert(Pc::from_index(at), variants.block(shape, t, stmt.next));
                }
            }
            variants.blocks.push(blocks);
        }
        variants
    }

    /// What a block could do: its inside begins at `from`.
    fn block(&mut self, shape: &Shape<'_>, t: ThreadId, from: Pc) -> Vec<Variant> {
        let mut touched = BTreeSet::new();
        // By program counter: what ways to it have written.
        let mut written: BTreeMap<Pc, BTreeSet<BTreeSet<u32>>> = BTreeMap::new();
        let mut ends: BTreeSet<BTreeSet<u32>> = BTreeSet::new();
        let mut open = vec![(from, BTreeSet::new())];
        while let Some((pc, mut writes)) = open.pop() {
            if !written.entry(pc).or_default().insert(writes.clone()) {
                continue;
            }
            if ends.len() > WAYS || written[&pc].len() > WAYS {
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
                    ends.insert(writes);
                    continue;
                }
                Op::Assume(_) => {
                    ends.insert(writes.clone());
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
                | Op::Return { .. } => {}
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
        ends.iter().map(variant).collect()
    }

    /// What the next step of a thread could do elsewhere; none if it is the same everywhere.
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
                let address = machine.accesses(state, t)?.0;
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
