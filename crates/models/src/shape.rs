//! What is known of a program before it runs: where things are in a state, how wide they are, who
//! may touch what.
//!
//! Computed once for a search and shared by its threads.

use crate::ahead::Ahead;
use crate::bits::Field;
use fencepost_ir::operations::returned;
use fencepost_ir::range::{self, footprint};
use fencepost_ir::{
    FenceKinds, Loc, MemoryOp, Observable, Op, Pc, PoolId, Problem, Program, Property, Reg,
    ThreadId, Value, flow,
};

/// Facts about one thread.
#[derive(Clone, Debug)]
pub struct ThreadShape {
    /// Where its registers begin among all registers.
    pub registers: usize,
    /// The program counter's field.
    pub pc: Field,
    /// The registers' fields.
    pub register_fields: Vec<Field>,
    /// Legal values of each register, where its type limits them.
    pub register_limits: Vec<Option<(Value, Value)>>,
    /// By program counter: the registers that are dead there.
    pub dead: Vec<Vec<Reg>>,
    /// By program counter: the operations of a client whose ends the thread has passed, as the
    /// registers of their results.
    pub returned: Vec<Vec<Option<Reg>>>,
    /// By program counter: the registers the statement reads.
    pub uses: Vec<Vec<Reg>>,
    /// By program counter: the locations an access may be to, in order.
    pub footprints: Vec<Vec<Loc>>,
    /// What it may still access.
    pub ahead: Ahead,
    /// The locations it may store to, in order.
    pub stores: Vec<Loc>,
    /// The field of a position in `stores`.
    pub slot_field: Field,
    /// By location: its position in `stores`.
    pub store_slot: Vec<Option<u16>>,
    /// Whether it has a store-load fence that is not a full one.
    pub has_store_load: bool,
    /// Whether it has a store-store fence that is not a full one.
    pub has_store_store: bool,
}

/// Facts about a program.
#[derive(Clone, Debug)]
pub struct Shape<'p> {
    /// The problem itself.
    pub problem: &'p Problem,
    /// By thread.
    pub threads: Vec<ThreadShape>,
    /// How many registers all threads have.
    pub registers: usize,
    /// The fields of the locations.
    pub location_fields: Vec<Field>,
    /// Legal values of each location.
    pub location_limits: Vec<Option<(Value, Value)>>,
    /// By location: the record cell it belongs to, counted over all pools.
    pub cell: Vec<Option<u32>>,
    /// By pool: the first of its cells in that count.
    pub pool_cells: Vec<u32>,
    /// How many record cells all pools have.
    pub cells: usize,
    /// By location: which threads may read it (bit `1 << thread`).
    pub readers: Vec<u64>,
    /// By location: which threads may write it.
    pub writers: Vec<u64>,
    /// By location: whether an invariant mentions it.
    pub watched: Vec<bool>,
    /// Where the invariants are among the properties.
    pub invariants: Vec<usize>,
    /// Whether mutual exclusion is asked for.
    pub watches_critical: bool,
    /// Whether any thread frees records.
    pub has_free: bool,
}

impl<'p> Shape<'p> {
    /// Computes the facts. At most 64 threads.
    pub fn new(problem: &'p Problem) -> Self {
        let program = &problem.program;
        let ranges = range::ranges(program);
        let mut readers = vec![0; program.locations.len()];
        let mut writers = vec![0; program.locations.len()];
        let mut threads = Vec::new();
        let mut registers = 0;
        for (id, thread) in program.threads.iter().enumerate() {
            let mut stores = vec![false; program.locations.len()];
            let (mut has_store_load, mut has_store_store) = (false, false);
            for stmt in &thread.code {
                if let Op::Fence(kinds) = stmt.op
                    && kinds != FenceKinds::FULL
                {
                    has_store_load |= kinds.contains(FenceKinds::STORE_LOAD);
                    has_store_store |= kinds.contains(FenceKinds::STORE_STORE);
                }
                let Some(address) = stmt.op.address() else {
                    continue;
                };
                for loc in footprint(program, address) {
                    let at = loc.index();
                    match stmt.op.memory() {
                        Some(MemoryOp::Load { .. }) => readers[at] |= 1u64 << id,
                        Some(MemoryOp::Store { .. }) => {
                            writers[at] |= 1u64 << id;
                            stores[at] = true;
                        }
                        Some(MemoryOp::Update { .. }) => {
                            readers[at] |= 1u64 << id;
                            writers[at] |= 1u64 << id;
                        }
                        Some(MemoryOp::Fence(_) | MemoryOp::Drain(_)) | None => {}
                    }
                }
            }
            let stores: Vec<Loc> =
                (0..stores.len()).filter(|l| stores[*l]).map(Loc::from_index).collect();
            let mut store_slot = vec![None; program.locations.len()];
            for (slot, loc) in stores.iter().enumerate() {
                store_slot[loc.index()] = Some(slot as u16);
            }
            let kept = problem.kept_registers(ThreadId::from_index(id), true);
            let footprints: Vec<Vec<Loc>> = thread
                .code
                .iter()
                .map(|s| s.op.address().map(|at| footprint(program, at).collect()))
                .map(Option::unwrap_or_default)
                .collect();
            threads.push(ThreadShape {
                registers,
                pc: Field::for_count(thread.code.len()),
                register_fields: ranges.registers[id]
                    .iter()
                    .map(|r| Field::for_range(*r))
                    .collect(),
                register_limits: thread.registers.iter().map(|r| program.limits(&r.ty)).collect(),
                dead: flow::dead_registers(thread, &kept),
                returned: returned(thread).expect("checked by the front end"),
                ahead: Ahead::new(thread, &footprints, program.locations.len()),
                footprints,
                uses: thread.code.iter().map(|s| flow::uses(&s.op)).collect(),
                slot_field: Field::for_count(stores.len()),
                stores,
                store_slot,
                has_store_load,
                has_store_store,
            });
            registers += thread.registers.len();
        }
        let mut pool_cells = Vec::new();
        let mut cells = 0;
        for pool in &program.pools {
            pool_cells.push(cells);
            cells += pool.cells;
        }
        let mut watched = vec![false; program.locations.len()];
        let mut invariants = Vec::new();
        for (at, property) in problem.properties.iter().enumerate() {
            if let Property::Invariant(condition) = property {
                invariants.push(at);
                condition.expr.for_each_var(&mut |what| {
                    if let Observable::Loc(loc) = what {
                        watched[loc.index()] = true;
                    }
                });
            }
        }
        Shape {
            problem,
            threads,
            registers,
            location_fields: ranges.locations.iter().map(|r| Field::for_range(*r)).collect(),
            location_limits: program.locations.iter().map(|l| program.limits(&l.ty)).collect(),
            cell: (0..program.locations.len())
                .map(|loc| {
                    let (pool, cell) = program.cell_of(Loc::from_index(loc))?;
                    Some(pool_cells[pool.index()] + cell)
                })
                .collect(),
            pool_cells,
            cells: cells as usize,
            readers,
            writers,
            watched,
            invariants,
            watches_critical: problem.properties.contains(&Property::MutualExclusion),
            has_free: (program.threads.iter().flat_map(|t| &t.code))
                .any(|s| matches!(s.op, Op::Free { .. })),
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        &self.problem.program
    }

    /// A thread's facts.
    #[inline]
    pub fn thread(&self, thread: ThreadId) -> &ThreadShape {
        &self.threads[thread.index()]
    }

    /// The statement of a thread at a program counter.
    #[inline]
    pub fn stmt(&self, thread: ThreadId, pc: Pc) -> &'p fencepost_ir::Stmt {
        self.problem.program.thread(thread).stmt(pc)
    }

    /// Whether some thread has a fence of stores that is not a full one.
    pub fn has_partial_fences(&self) -> bool {
        self.threads.iter().any(|thread| thread.has_store_load || thread.has_store_store)
    }

    /// Where a register is among all registers.
    #[inline]
    pub fn register(&self, thread: ThreadId, reg: Reg) -> usize {
        self.threads[thread.index()].registers + reg.index()
    }

    /// A record cell counted over all pools, from a reference that is not null.
    pub fn cell_index(&self, pool: PoolId, reference: Value) -> usize {
        (self.pool_cells[pool.index()] + reference as u32 - 1) as usize
    }

    /// Whether the location may disappear because its record is freed.
    #[inline]
    pub fn is_freeable(&self, loc: Loc) -> bool {
        self.has_free && self.cell[loc.index()].is_some()
    }

    /// The threads of a set (bit `1 << thread`) but for one.
    #[inline]
    pub fn others(&self, t: ThreadId, set: u64) -> impl Iterator<Item = ThreadId> + use<> {
        let mut left = set & !(1u64 << t.index());
        std::iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(ThreadId::from_index(next))
        })
    }

    /// Whether no property looks at the location before the end, and it does not disappear.
    #[inline]
    pub fn is_quiet(&self, loc: Loc) -> bool {
        !self.watched[loc.index()] && !self.is_freeable(loc)
    }
}
