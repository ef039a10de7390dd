//! Static facts about a program: the layout of a state, the widths of its fields, and which thread
//! may access which location.
//!
//! A search computes the facts once and shares them between its worker threads.

use crate::atomic_blocks::{
    BlockAccesses, awaited_latches, block_accesses, latches, stored_in_blocks,
};
use crate::bits::{Field, Place};
use crate::future_accesses::FutureAccesses;
use crate::grace_periods::GracePeriods;
use crate::mutation::{Mutated, Mutation};
use fencepost_ir::operations::returned_operations;
use fencepost_ir::range::{self, Ranges};
use fencepost_ir::{
    AccessOrder, Expr, FenceKinds, Label, Loc, MemoryOp, Observable, Op, Pc, PoolId, Problem,
    Program, Property, Reg, ThreadId, Update, Value, flow,
};
use std::collections::BTreeSet;

/// Static facts about one thread.
#[derive(Clone, Debug)]
pub struct ThreadShape {
    /// The index of the thread's first register among the registers of all threads.
    pub registers: usize,
    /// The field of the program counter.
    pub pc: Field,
    /// The field of each register.
    pub register_fields: Vec<Field>,
    /// The number of bits of the program counter and the registers.
    pub control_bits: u32,
    /// The range of each register, if its type has one.
    pub register_limits: Vec<Option<(Value, Value)>>,
    /// By program counter: the dead registers.
    pub dead: Vec<Vec<Reg>>,
    /// By program counter: the client operations that have returned there, as the registers of
    /// their results.
    pub returned: Vec<Vec<Option<Reg>>>,
    /// By program counter: the registers that the statement reads.
    pub uses: Vec<Vec<Reg>>,
    /// By program counter: whether the thread may wait forever from there.
    pub may_wait: Vec<bool>,
    /// By program counter: the latch for which a block that begins there waits, if only one thread
    /// stores to it, in atomic blocks. See [`crate::atomic_blocks`].
    pub awaited: Vec<Option<Loc>>,
    /// By program counter: whether the thread may still free a record.
    pub may_free: Vec<bool>,
    /// By program counter: the accesses of the atomic block that begins there.
    pub blocks: Vec<Option<BlockAccesses>>,
    /// By program counter: the locations that the statement may access, in ascending order.
    pub footprints: Vec<Vec<Loc>>,
    /// By program counter: whether the statement is an access whose address never faults: a location,
    /// or an element of an array whose index is a register within the bounds.
    pub has_safe_address: Vec<bool>,
    /// By program counter: the order of the access.
    pub orders: Vec<AccessOrder>,
    /// By program counter: whether the statement only implements the order of an access, see
    /// [`Program::orders`] and [`Program::implied`].
    pub is_implied: Vec<bool>,
    /// By program counter: whether the statement is a conditional selection, see
    /// [`Program::selections`].
    pub is_selection: Vec<bool>,
    /// The accesses that the thread may still make, by program counter.
    pub future_accesses: FutureAccesses,
    /// The accesses that the thread may make before its next grace period, by program counter.
    pub soon_accesses: FutureAccesses,
    /// The locations that the thread may store to, in ascending order.
    pub stores: Vec<Loc>,
    /// The field of an index into `stores`.
    pub slot_field: Field,
    /// By location: its index in `stores`.
    pub store_slot: Vec<Option<u16>>,
    /// By index into `stores`: the values that the thread may store there, if all are constants.
    pub stored_values: Vec<Option<Vec<Value>>>,
    /// Whether the thread has a store-load fence that is not a full fence.
    pub has_store_load: bool,
    /// Whether the thread has a store-store fence that is not a full fence.
    pub has_store_store: bool,
}

/// Static facts about a program.
#[derive(Clone, Debug)]
pub struct Shape<'p> {
    /// The problem: the program and its properties.
    pub problem: &'p Problem,
    /// The facts about each thread.
    pub threads: Vec<ThreadShape>,
    /// The number of registers of all threads.
    pub registers: usize,
    /// The field of each location.
    pub location_fields: Vec<Field>,
    /// The place of each location in a packed state. `None` for the widest fields.
    pub location_places: Vec<Option<Place>>,
    /// The number of bits of memory in a packed state.
    pub memory_bits: u32,
    /// The range of each location, if its type has one.
    pub location_limits: Vec<Option<(Value, Value)>>,
    /// By location: its record cell. Cells are numbered over all pools.
    pub cell: Vec<Option<u32>>,
    /// By pool: the number of its first cell.
    pub pool_cells: Vec<u32>,
    /// The number of record cells of all pools.
    pub cells: usize,
    /// By location: the threads that may read it (bit `1 << thread`), without the
    /// [last thread](Program::last_thread), which takes no step before another thread.
    pub readers: Vec<u64>,
    /// By location: the threads that may write it (bit `1 << thread`), without the last thread.
    pub writers: Vec<u64>,
    /// By location: whether it is a latch, see [`crate::atomic_blocks`].
    pub latches: Vec<bool>,
    /// By location: whether an invariant mentions it.
    pub in_invariant: Vec<bool>,
    /// The indices of the invariants among the properties.
    pub invariants: Vec<usize>,
    /// The control points that invariants mention.
    pub control_points: BTreeSet<(ThreadId, Label)>,
    /// Whether an invariant may hold because a thread is at a control point.
    pub requires_control_points: bool,
    /// Whether mutual exclusion is a property to check.
    pub checks_mutual_exclusion: bool,
    /// Whether any thread frees records.
    pub has_free: bool,
    /// Whether a thread may wait before an access without a change of outcomes or violations, as long
    /// as the access needs pending writes of the thread only. See [`crate::arm`].
    pub permits_late_fetches: bool,
    /// The facts about grace periods.
    pub grace_periods: GracePeriods,
    /// The active mutation.
    pub mutated: Mutated,
}

/// Returns the places of fields that are packed one after another, and their number of bits.
fn places(fields: &[Field]) -> (Vec<Option<Place>>, u32) {
    let mut bits = 0;
    let place = |field: &Field| {
        bits += field.bits();
        Place::new(*field, (bits - field.bits()) as usize)
    };
    (fields.iter().map(place).collect(), bits)
}

/// What a statement may store.
enum Stored {
    Nothing,
    Constant(Value),
    Unknown,
}

/// Returns what an access may store to the locations of its footprint.
fn stored_constant(op: &Op) -> Stored {
    let value = match op.memory() {
        None | Some(MemoryOp::Load { .. } | MemoryOp::Fence(_) | MemoryOp::Drain(_)) => {
            return Stored::Nothing;
        }
        Some(MemoryOp::Store { value, .. }) => value,
        Some(MemoryOp::Update {
            update: Update::Swap { new } | Update::Cas { new, .. }, ..
        }) => new,
        Some(MemoryOp::Update { update: Update::Add { .. } | Update::Bits { .. }, .. }) => {
            return Stored::Unknown;
        }
    };
    match value {
        Expr::Const(value) => Stored::Constant(*value),
        Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => Stored::Unknown,
    }
}

/// Returns whether no property depends on when a write becomes visible, and no statement except an
/// access has an effect on other threads.
fn permits_late_fetches(problem: &Problem) -> bool {
    problem.ignores_intermediate_states()
        && problem.program.pools.is_empty()
        && !GracePeriods::new(&problem.program).occur
}

impl<'p> Shape<'p> {
    /// Computes the facts. The program has at most 64 threads. `guesses` says whether the directions
    /// of branches may be guessed.
    pub fn new(problem: &'p Problem, guesses: bool) -> Self {
        let program = &problem.program;
        let ranges =
            if guesses { range::ranges_with_guesses(program) } else { range::ranges(program) };
        Shape::with_ranges(problem, ranges)
    }

    /// Computes the facts with these ranges.
    pub fn with_ranges(problem: &'p Problem, mut ranges: Ranges) -> Self {
        let program = &problem.program;
        let mut readers = vec![0; program.locations.len()];
        let mut writers = vec![0; program.locations.len()];
        let mut threads = Vec::new();
        let mut registers = 0;
        let last_thread = program.last_thread();
        for (id, thread) in program.threads.iter().enumerate() {
            let bit = if last_thread == Some(ThreadId::from_index(id)) { 0 } else { 1u64 << id };
            let mut stores = vec![false; program.locations.len()];
            let (mut has_store_load, mut has_store_store) = (false, false);
            let footprints = std::mem::take(&mut ranges.footprints[id]);
            for (pc, stmt) in thread.code.iter().enumerate() {
                if let Op::Fence(kinds) = stmt.op
                    && kinds != FenceKinds::FULL
                {
                    has_store_load |= kinds.contains(FenceKinds::STORE_LOAD);
                    has_store_store |= kinds.contains(FenceKinds::STORE_STORE);
                }
                for loc in &footprints[pc] {
                    let at = loc.index();
                    match stmt.op.memory() {
                        Some(MemoryOp::Load { .. }) => readers[at] |= bit,
                        Some(MemoryOp::Store { .. }) => {
                            writers[at] |= bit;
                            stores[at] = true;
                        }
                        Some(MemoryOp::Update { .. }) => {
                            readers[at] |= bit;
                            writers[at] |= bit;
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
            let mut stored_values: Vec<Option<Vec<Value>>> = vec![Some(Vec::new()); stores.len()];
            for (stmt, footprint) in thread.code.iter().zip(&footprints) {
                let stored = stored_constant(&stmt.op);
                for slot in footprint.iter().filter_map(|loc| store_slot[loc.index()]) {
                    let values = &mut stored_values[usize::from(slot)];
                    match stored {
                        Stored::Nothing => {}
                        Stored::Constant(value) => values.iter_mut().for_each(|v| v.push(value)),
                        Stored::Unknown => *values = None,
                    }
                }
            }
            let observed = problem.observed_registers(ThreadId::from_index(id), true);
            let pc = Field::for_count(thread.code.len());
            let register_fields: Vec<Field> =
                ranges.registers[id].iter().map(|r| Field::for_range(*r)).collect();
            threads.push(ThreadShape {
                registers,
                pc,
                control_bits: pc.bits() + register_fields.iter().map(|f| f.bits()).sum::<u32>(),
                register_fields,
                register_limits: thread.registers.iter().map(|r| program.limits(&r.ty)).collect(),
                dead: flow::dead_registers(thread, &observed),
                returned: returned_operations(thread).expect("the front end checks the operations"),
                future_accesses: FutureAccesses::new(thread, &footprints, program.locations.len()),
                blocks: block_accesses(thread, &footprints),
                soon_accesses: FutureAccesses::until(
                    thread,
                    &footprints,
                    program.locations.len(),
                    |op| matches!(op, Op::GracePeriod { .. }),
                ),
                footprints,
                has_safe_address: thread
                    .code
                    .iter()
                    .map(|s| {
                        s.op.address().is_some_and(|at| range::is_safe(at, &ranges.registers[id]))
                    })
                    .collect(),
                orders: thread.code.iter().map(|s| program.access_order(s)).collect(),
                is_implied: thread.code.iter().map(|s| program.is_implied(s)).collect(),
                is_selection: thread.code.iter().map(|s| program.is_selection(s)).collect(),
                awaited: Vec::new(),
                may_free: Vec::new(),
                may_wait: flow::may_wait_forever(thread),
                uses: thread.code.iter().map(|s| flow::uses(&s.op)).collect(),
                slot_field: Field::for_count(stores.len()),
                stores,
                store_slot,
                stored_values,
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
        let mut in_invariant = vec![false; program.locations.len()];
        let mut invariants = Vec::new();
        for (at, property) in problem.properties.iter().enumerate() {
            if let Property::Invariant(condition) = property {
                invariants.push(at);
                condition.expr.for_each_var(&mut |what| {
                    if let Observable::Loc(loc) = what {
                        in_invariant[loc.index()] = true;
                    }
                });
            }
        }
        let footprints: Vec<&[Vec<Loc>]> =
            threads.iter().map(|thread: &ThreadShape| &thread.footprints[..]).collect();
        let latches = latches(program, &footprints);
        let in_blocks = stored_in_blocks(program, &footprints);
        let is_awaited = |loc: Loc| {
            let at = loc.index();
            in_blocks[at] && writers[at].count_ones() == 1 && program.cell_of(loc).is_none()
        };
        let awaited: Vec<Vec<Option<Loc>>> = program
            .threads
            .iter()
            .zip(&footprints)
            .map(|(thread, footprints)| awaited_latches(program, thread, footprints, is_awaited))
            .collect();
        let may_free: Vec<Vec<bool>> = program.threads.iter().map(flow::may_free).collect();
        for ((thread, awaited), may_free) in threads.iter_mut().zip(awaited).zip(may_free) {
            thread.awaited = awaited;
            thread.may_free = may_free;
        }
        let location_fields: Vec<Field> =
            ranges.locations.iter().map(|r| Field::for_range(*r)).collect();
        let (location_places, location_bits) = places(&location_fields);
        Shape {
            problem,
            latches,
            threads,
            registers,
            location_fields,
            location_places,
            memory_bits: location_bits + cells * Field::for_count(2).bits(),
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
            in_invariant,
            invariants,
            control_points: problem.control_points().into_iter().collect(),
            requires_control_points: problem.requires_control_points(),
            checks_mutual_exclusion: problem.properties.contains(&Property::MutualExclusion),
            has_free: (program.threads.iter().flat_map(|t| &t.code))
                .any(|s| matches!(s.op, Op::Free { .. })),
            permits_late_fetches: permits_late_fetches(problem),
            grace_periods: GracePeriods::new(program),
            mutated: Mutated::NONE,
        }
    }

    /// Returns the program.
    pub fn program(&self) -> &'p Program {
        &self.problem.program
    }

    /// Returns the facts about a thread.
    #[inline]
    pub fn thread(&self, thread: ThreadId) -> &ThreadShape {
        &self.threads[thread.index()]
    }

    /// Returns the statement of a thread at a program counter.
    #[inline]
    pub fn stmt(&self, thread: ThreadId, pc: Pc) -> &'p fencepost_ir::Stmt {
        self.problem.program.thread(thread).stmt(pc)
    }

    /// Returns whether a thread has a store-load or store-store fence that is not a full fence.
    pub fn has_partial_fences(&self) -> bool {
        self.threads.iter().any(|thread| thread.has_store_load || thread.has_store_store)
    }

    /// Returns the index of a register among the registers of all threads.
    #[inline]
    pub fn register(&self, thread: ThreadId, reg: Reg) -> usize {
        self.threads[thread.index()].registers + reg.index()
    }

    /// Returns the number of a record cell, from a reference that is not null.
    pub fn cell_index(&self, pool: PoolId, reference: Value) -> usize {
        (self.pool_cells[pool.index()] + reference as u32 - 1) as usize
    }

    /// Returns whether the record of the location may be freed.
    #[inline]
    pub fn is_freeable(&self, loc: Loc) -> bool {
        self.has_free && self.cell[loc.index()].is_some()
    }

    /// Returns the threads of a set (bit `1 << thread`) except `t`.
    #[inline]
    pub fn others(&self, t: ThreadId, set: u64) -> impl Iterator<Item = ThreadId> + use<> {
        let mut left = set & !(1u64 << t.index());
        std::iter::from_fn(move || {
            let next = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(ThreadId::from_index(next))
        })
    }

    /// Returns whether a thread at a program counter waits for `t`: it takes no step before `t` has
    /// performed everything that is pending now and has taken a further step.
    #[inline]
    pub fn waits_for(&self, memory: &[Value], (other, pc): (ThreadId, Pc), t: ThreadId) -> bool {
        self.thread(other).awaited[pc.index()].is_some_and(|latch| {
            let is_writer = self.writers[latch.index()] == 1 << t.index();
            (is_writer || self.mutated.is(Mutation::WaitsForAnyThread))
                && memory[latch.index()] == self.program().location(latch).init
        })
    }

    /// Returns whether no property observes the location before the end and its record is never
    /// freed.
    #[inline]
    pub fn is_unobserved(&self, loc: Loc) -> bool {
        !self.in_invariant[loc.index()] && !self.is_freeable(loc)
    }
}
