//! The same program, meant to run under SC, without what other languages do not have: records and critical
//! sections. Direction: exact, the same verdicts.
//!
//! *Records.* Each field of a pool becomes an array over its cells, `Node.next` the array `Node_next`, so that
//! cell `c` has index `c - 1` and null is out of bounds. Where references only come from `new` and nothing is
//! freed ([`fresh`]), `new` counts: one update of `allocated_Node`, and cells have never been written before.
//! Else `allocated_Node` is an array of flags, and every access is an atomic block that looks there first.
//!
//! *Critical sections.* Mutual exclusion becomes a location `in_critical` that tells whether a thread is inside:
//! entering sets it and asserts that it was not set; leaving clears it. Entering is then a step of its own, after
//! the step that leads into the section. That loses nothing: when two threads are inside, each has either entered
//! or has nothing before it but that step, which is always possible, and neither has left; so both enter in the end,
//! and the second one fails. And what fails has found a thread that entered and has not left, so is inside. (One bit is
//! enough because a run does not go on after that.)
//!
//! Faults stay faults, or become assertions that fail: `new` from an empty pool leaves the range of the count.

mod fresh;

use crate::Unsupported;
use crate::blocks::inside_blocks;
use crate::export::checks::ranges_of_init;
use crate::export::substitute::substitute;
use crate::formula::binary;
use fencepost_ir::assemble::{Array, Assembler, Locations, Target};
use fencepost_ir::interval::{Range, interval};
use fencepost_ir::range::ranges;
use fencepost_ir::{
    Address, BinOp, Condition, Expr, Loc, Location, Observable, Op, Pc, PoolId, Problem, Program,
    Property, Reg, Stmt, Thread, Type, Update, Value,
};

/// A program without records and critical sections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lowered {
    /// The program.
    pub problem: Problem,
    /// By thread and program counter: the statement of the input whose step begins here; none for
    /// what was added, and inside of a step.
    pub origins: Vec<Vec<Option<Pc>>>,
}

/// The program without records and critical sections. Threads, their first registers, and locations that
/// are no fields stay what they are.
pub fn lower(problem: &Problem) -> Result<Lowered, Unsupported> {
    let asks = |what: &Property| problem.properties.contains(what);
    if problem.properties.iter().any(|p| matches!(p, Property::Operations(_))) {
        return Err(Unsupported::Operations);
    }
    let input = &problem.program;
    let mut locations = input.locations.clone();
    let ids = || (0..input.pools.len()).map(PoolId::from_index);
    let fields: Vec<_> = ids().map(|id| flatten(input, id, &mut locations)).collect();
    let mut locations = Locations::new(locations);
    let pools: Vec<Flat> = ids()
        .zip(fields)
        .map(|(id, fields)| Flat::new(input, id, fields, &mut locations))
        .collect();
    let inside =
        asks(&Property::MutualExclusion).then(|| locations.add("in_critical", Type::Bool, 0));
    let mut locations = locations.finish();
    for location in &mut locations {
        location.ty = plain(input, &location.ty);
    }
    let lowering = Lowering { input, pools: &pools, inside };
    let init =
        (input.init.as_ref()).map(|init| lowering.thread(init, ranges_of_init(input), true).0);
    let known = ranges(input).registers;
    let (threads, origins): (Vec<Thread>, Vec<_>) = input
        .threads
        .iter()
        .zip(known)
        .map(|(thread, ranges)| lowering.thread(thread, ranges, false))
        .unzip();
    let program = Program {
        locations,
        pools: Vec::new(),
        init,
        threads,
        labels: input.labels.clone(),
        places: Vec::new(),
    };
    let moved = |what: &Observable| match what {
        Observable::Loc(loc) => Observable::Loc(lowering.moved(*loc)),
        Observable::Reg(thread, reg) => Observable::Reg(*thread, *reg),
    };
    let properties = properties(problem, &program, &moved);
    let observed = problem.observed.iter().map(moved).collect();
    let sometimes = problem.sometimes.iter().map(|c| moved_condition(c, &moved)).collect();
    let problem = Problem { name: problem.name.clone(), program, properties, sometimes, observed };
    Ok(Lowered { problem, origins })
}

fn moved_condition(c: &Condition, moved: &impl Fn(&Observable) -> Observable) -> Condition {
    Condition { expr: substitute(&c.expr, &|what| Expr::Var(moved(what))), ..c.clone() }
}

/// The properties that are left, with `assertions` where there is something to assert.
fn properties(
    problem: &Problem,
    program: &Program,
    moved: &impl Fn(&Observable) -> Observable,
) -> Vec<Property> {
    let condition = |c: &Condition| moved_condition(c, moved);
    let mut properties: Vec<Property> = Vec::new();
    for property in &problem.properties {
        match property {
            Property::FinalForall(c) => properties.push(Property::FinalForall(condition(c))),
            Property::FinalNever(c) => properties.push(Property::FinalNever(condition(c))),
            Property::Invariant(c) => properties.push(Property::Invariant(condition(c))),
            Property::Assertions | Property::DeadlockFree => properties.push(property.clone()),
            Property::MutualExclusion | Property::Operations(_) => {}
        }
    }
    let mut statements = program.threads.iter().flat_map(|thread| &thread.code);
    if statements.any(|stmt| matches!(stmt.op, Op::Assert(_)))
        && !properties.contains(&Property::Assertions)
    {
        properties.push(Property::Assertions);
    }
    properties
}

/// A type without references.
fn plain(program: &Program, ty: &Type) -> Type {
    match ty {
        Type::Ref(_) => Type::Int { range: program.limits(ty) },
        Type::Bool | Type::Int { .. } | Type::Enum { .. } => ty.clone(),
    }
}

/// How the records of a pool lie in arrays.
struct Flat {
    base: u32,
    cells: u32,
    stride: u32,
    fields: Fields,
    allocated: Allocated,
}

/// By offset in a record: where its field begins, and how long it is.
type Fields = Vec<(u32, u32)>;

/// How it is known which records are allocated.
enum Allocated {
    /// They all are; this many.
    Count(Loc),
    /// A flag for each.
    Flags(Array),
}

impl Flat {
    /// Adds the locations that tell which records are allocated.
    fn new(program: &Program, id: PoolId, fields: Fields, locations: &mut Locations) -> Flat {
        let pool = program.pool(id);
        let name = format!("allocated_{}", pool.name);
        let allocated = if fresh::is_always_allocated(program, id) {
            let ty = Type::Int { range: Some((0, pool.cells as Value)) };
            Allocated::Count(locations.add(&name, ty, 0))
        } else {
            Allocated::Flags(locations.array(&name, vec![(Type::Bool, 0); pool.cells as usize]))
        };
        let (base, cells, stride) = (pool.base.0, pool.cells, pool.stride);
        Flat { base, cells, stride, fields, allocated }
    }

    /// Where the location of a cell (from 0) at this offset is now.
    fn place(&self, cell: u32, offset: u32) -> Loc {
        place(self.base, self.cells, &self.fields, cell, offset)
    }
}

fn place(base: u32, cells: u32, fields: &Fields, cell: u32, offset: u32) -> Loc {
    let (start, len) = fields[offset as usize];
    Loc(base + cells * start + cell * len + offset - start)
}

/// Names the locations of a pool as elements of arrays, one for each field.
fn flatten(program: &Program, id: PoolId, locations: &mut [Location]) -> Fields {
    let pool = program.pool(id);
    let fields = fields(program, id);
    for offset in 0..pool.stride {
        let (start, len) = fields[offset as usize];
        let first = &program.location(Loc(pool.base.0 + start)).name;
        let field = first.split_once('.').map_or(first.as_str(), |(_, field)| field);
        let field = field.split('[').next().unwrap_or(field);
        for cell in 0..pool.cells {
            let old = program.location(Loc(pool.base.0 + cell * pool.stride + offset));
            let index = cell * len + offset - start;
            let name = format!("{}_{field}[{index}]", pool.name);
            let new = place(pool.base.0, pool.cells, &fields, cell, offset);
            locations[new.index()] = Location { name, ..old.clone() };
        }
    }
    fields
}

/// By offset: the field it belongs to. What is numbered in brackets is one field, and so is what is accessed
/// with an index; the rest are single.
fn fields(program: &Program, id: PoolId) -> Fields {
    let pool = program.pool(id);
    let mut fields: Fields = (0..pool.stride).map(|offset| (offset, 1)).collect();
    let mut unite = |start: u32, end: u32| {
        let touched = &fields[start as usize..end as usize];
        let first = touched.iter().map(|field| field.0).min().unwrap_or(start);
        let last = touched.iter().map(|field| field.0 + field.1).max().unwrap_or(end);
        fields[first as usize..last as usize].fill((first, last - first));
    };
    let array = |offset: u32| {
        let name = &program.location(Loc(pool.base.0 + offset)).name;
        name.rsplit_once('[').map(|(array, _)| array)
    };
    for offset in 1..pool.stride {
        if array(offset).is_some() && array(offset) == array(offset - 1) {
            unite(offset - 1, offset + 1);
        }
    }
    let threads = program.init.iter().chain(&program.threads);
    for address in threads.flat_map(|t| &t.code).filter_map(|stmt| stmt.op.address()) {
        if let (Some((of, _)), Some((len, _))) = (&address.cell, &address.index)
            && *of == id
        {
            let start = address.base.0 - pool.base.0;
            unite(start, start + len);
        }
    }
    fields
}

struct Lowering<'a> {
    input: &'a Program,
    pools: &'a [Flat],
    /// Where threads tell that they are in a critical section, if that is asked for.
    inside: Option<Loc>,
}

/// A thread in the making.
struct Writing {
    code: Assembler,
    /// Whether what is written is inside of an atomic step.
    atomic: bool,
    /// A register for what is read in between.
    found: Option<Reg>,
    /// What the registers of the input can hold.
    ranges: Vec<Range>,
}

impl Writing {
    fn found(&mut self) -> Reg {
        *self.found.get_or_insert_with(|| self.code.register("%found", Type::INT))
    }
}

impl Lowering<'_> {
    /// Where a location is now.
    fn moved(&self, loc: Loc) -> Loc {
        let Some((pool, cell)) = self.input.cell_of(loc) else { return loc };
        let flat = &self.pools[pool.index()];
        flat.place(cell, (loc.0 - flat.base) % flat.stride)
    }

    /// The code of a thread, and where its statements come from.
    fn thread(
        &self,
        thread: &Thread,
        ranges: Vec<Range>,
        alone: bool,
    ) -> (Thread, Vec<Option<Pc>>) {
        let mut registers = thread.registers.clone();
        registers.iter_mut().for_each(|register| register.ty = plain(self.input, &register.ty));
        let code = Assembler::new(registers);
        let mut writing = Writing { code, atomic: alone, found: None, ranges };
        let inside = inside_blocks(thread);
        let targets: Vec<Target> = thread.code.iter().map(|_| writing.code.target()).collect();
        let entries: Vec<Option<Target>> =
            thread.code.iter().map(|s| self.enters(s).then(|| writing.code.target())).collect();
        let mut origins = Vec::new();
        for (at, stmt) in thread.code.iter().enumerate() {
            writing.code.at(stmt.label, false);
            if let (Some(entry), Some(loc)) = (entries[at], self.inside) {
                writing.code.bind(entry);
                let found = writing.found();
                let update = Update::Swap { new: Expr::Const(1) };
                let at = Address::fixed(loc);
                writing.code.op(Op::Update { reg: Some(found), at, update });
                let alone = binary(BinOp::Eq, Expr::Var(found), Expr::Const(0));
                writing.code.op(Op::Assert(alone));
                origins.resize(writing.code.len(), None);
            }
            writing.code.bind(targets[at]);
            writing.atomic = alone || inside[at];
            let to = |next: Pc| match entries[next.index()] {
                Some(entry) if !stmt.critical || matches!(stmt.op, Op::Leave) => entry,
                Some(_) | None => targets[next.index()],
            };
            self.statement(&mut writing, stmt, &to);
            let begins = !inside[at];
            origins.push(begins.then_some(Pc::from_index(at)));
            origins.resize(writing.code.len(), None);
        }
        let (registers, code) = writing.code.finish();
        (Thread { name: thread.name.clone(), registers, code }, origins)
    }

    /// Whether threads enter when they come to the statement from outside of a critical section.
    fn enters(&self, stmt: &Stmt) -> bool {
        self.inside.is_some() && stmt.critical
    }

    fn statement(&self, writing: &mut Writing, stmt: &Stmt, to: &impl Fn(Pc) -> Target) {
        let code = &mut writing.code;
        let next = || to(stmt.next);
        match &stmt.op {
            Op::Branch { cond, then, otherwise } => {
                code.branch(cond.clone(), to(*then), to(*otherwise));
            }
            Op::Halt => code.op(Op::Halt),
            Op::Load { reg, from } => {
                self.access(writing, from, next(), |from| Op::Load { reg: *reg, from })
            }
            Op::Store { to, value } => {
                let value = value.clone();
                self.access(writing, to, next(), |to| Op::Store { to, value });
            }
            Op::Update { reg, at, update } => {
                let update = update.clone();
                self.access(writing, at, next(), |at| Op::Update { reg: *reg, at, update });
            }
            Op::Drain(at) => self.access(writing, at, next(), Op::Drain),
            Op::New { reg, pool } => self.allocate(writing, *reg, *pool, next()),
            Op::Free { pool, cell } => self.free(writing, *pool, cell, next()),
            Op::Leave => match self.inside {
                Some(loc) => {
                    let value = Expr::Const(0);
                    code.op_then(Op::Store { to: Address::fixed(loc), value }, next());
                }
                None => code.op_then(Op::Skip, next()),
            },
            Op::Invoke { .. } | Op::Return { .. } => code.op_then(Op::Skip, next()),
            Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Fence(_)
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::AtomicBegin
            | Op::AtomicEnd => code.op_then(stmt.op.clone(), next()),
        }
    }

    /// An access, with the checks that a record's field needs.
    fn access(
        &self,
        writing: &mut Writing,
        address: &Address,
        next: Target,
        op: impl FnOnce(Address) -> Op,
    ) {
        let Some((pool, cell)) = &address.cell else {
            writing.code.op_then(op(address.clone()), next);
            return;
        };
        let flat = &self.pools[pool.index()];
        let offset = address.base.0 - flat.base;
        let (start, len) = flat.fields[offset as usize];
        let before = binary(BinOp::Sub, cell.clone(), Expr::Const(1));
        let mut index = before.clone();
        if len > 1 {
            index = binary(BinOp::Mul, index, Expr::Const(len as Value));
        }
        let step = self.begin(writing, flat);
        if let Some((_, inner)) = &address.index {
            index = binary(BinOp::Add, index, inner.clone());
        }
        if offset > start {
            index = binary(BinOp::Add, index, Expr::Const((offset - start) as Value));
        }
        if let Some((limit, inner)) = &address.index
            && !self.fits(writing, inner, *limit)
        {
            // Outside of its record, it must not be inside of another one.
            let least = binary(BinOp::Le, Expr::Const(0), inner.clone());
            let most = binary(BinOp::Lt, inner.clone(), Expr::Const(*limit as Value));
            let inside = Box::new(binary(BinOp::And, least, most));
            index = Expr::Select(inside, Box::new(index), Box::new(Expr::Const(-1)));
        }
        if let Allocated::Flags(flags) = flat.allocated {
            let reg = writing.found();
            let from = Address { base: flags.base, cell: None, index: Some((flags.len, before)) };
            writing.code.op(Op::Load { reg, from });
            writing.code.op(Op::Assert(Expr::Var(reg)));
        }
        let base = flat.place(0, start);
        let at = Address { base, cell: None, index: Some((flat.cells * len, index)) };
        self.end(writing, step, op(at), next);
    }

    /// Whether an index is always inside of its array.
    fn fits(&self, writing: &Writing, index: &Expr<Reg>, limit: u32) -> bool {
        let (lo, hi) = interval(index, &writing.ranges);
        0 <= lo && hi < limit as Value
    }

    /// Begins an atomic block, if one is needed to look at flags. Whether it did.
    fn begin(&self, writing: &mut Writing, flat: &Flat) -> bool {
        let begins = !writing.atomic && matches!(flat.allocated, Allocated::Flags(_));
        if begins {
            writing.code.op(Op::AtomicBegin);
        }
        begins
    }

    /// The last statement, and the end of the block if there is one.
    fn end(&self, writing: &mut Writing, begun: bool, op: Op, next: Target) {
        if begun {
            writing.code.op(op);
            writing.code.op_then(Op::AtomicEnd, next);
        } else {
            writing.code.op_then(op, next);
        }
    }

    fn allocate(&self, writing: &mut Writing, reg: Reg, pool: PoolId, next: Target) {
        let flat = &self.pools[pool.index()];
        let flags = match flat.allocated {
            Allocated::Count(count) => {
                let update = Update::Add { by: Expr::Const(1) };
                let at = Address::fixed(count);
                writing.code.op(Op::Update { reg: Some(reg), at, update });
                let expr = binary(BinOp::Add, Expr::Var(reg), Expr::Const(1));
                writing.code.op_then(Op::Assign { reg, expr }, next);
                return;
            }
            Allocated::Flags(flags) => flags,
        };
        let begun = self.begin(writing, flat);
        let done = writing.code.target();
        let found = writing.found();
        for cell in 0..flat.cells {
            let other = writing.code.target();
            let flag = flags.at(Expr::Const(cell as Value));
            writing.code.op(Op::Load { reg: found, from: flag.clone() });
            writing.code.jump_if(Expr::Var(found), other);
            writing.code.op(Op::Store { to: flag, value: Expr::Const(1) });
            for offset in 0..flat.stride {
                let init = self.input.location(Loc(flat.base + cell * flat.stride + offset)).init;
                let to = Address::fixed(flat.place(cell, offset));
                writing.code.op(Op::Store { to, value: Expr::Const(init) });
            }
            let expr = Expr::Const(cell as Value + 1);
            writing.code.op_then(Op::Assign { reg, expr }, done);
            writing.code.bind(other);
        }
        writing.code.op(Op::Assert(Expr::Const(0)));
        writing.code.bind(done);
        self.end(writing, begun, Op::Skip, next);
    }

    fn free(&self, writing: &mut Writing, pool: PoolId, cell: &Expr<Reg>, next: Target) {
        let flat = &self.pools[pool.index()];
        let Allocated::Flags(flags) = flat.allocated else {
            unreachable!("a pool that is freed to has flags")
        };
        let begun = self.begin(writing, flat);
        let index = binary(BinOp::Sub, cell.clone(), Expr::Const(1));
        let flag = Address { base: flags.base, cell: None, index: Some((flags.len, index)) };
        let reg = writing.found();
        writing.code.op(Op::Load { reg, from: flag.clone() });
        writing.code.op(Op::Assert(Expr::Var(reg)));
        self.end(writing, begun, Op::Store { to: flag, value: Expr::Const(0) }, next);
    }
}
