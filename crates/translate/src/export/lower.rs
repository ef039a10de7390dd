//! Removes records, critical sections and control points, which other languages lack. The result is
//! meant for SC. Direction: exact; the verdicts are the same.
//!
//! *Records.* Each field of a pool becomes an array over its cells. `Node.next` becomes the array
//! `Node_next`, in which cell `c` has index `c - 1` and null is out of bounds. If references only
//! come from `new` and nothing is freed ([`taint`]), `new` is one update of the counter
//! `allocated_Node`, and a new cell needs no initialisation. Otherwise `allocated_Node` is an array
//! of flags, and every access is an atomic block that checks the flag first.
//!
//! *Critical sections.* Mutual exclusion becomes a location `in_critical`, which is 1 while a
//! thread is inside. Entering sets the location and asserts that it was 0. Leaving clears it. So
//! entering is a step of its own, after the step that leads into the section. This is exact. If two
//! threads are inside, each of them has entered or can enter with its next step, which is always
//! enabled, and neither has left. So both enter eventually, and the second assertion fails.
//! Conversely, if the assertion fails, another thread has entered and not left, so it is inside.
//! (One bit is enough, because a run ends after the failure.)
//!
//! *Control points* become locations first ([`super::control_points`]).
//!
//! Faults stay faults or become failing assertions. For example, `new` from an empty pool exceeds
//! the range of the counter.

mod taint;

use crate::Unsupported;
use crate::atomic_blocks::in_atomic_block;
use crate::export::checks::ranges_of_init;
use crate::export::control_points::{Replaced, replace_control_points};
use crate::export::has_wrapping_update;
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
    /// By thread and program counter: the statement of the input whose step begins here. `None` for
    /// added statements and inside of a step.
    pub origins: Vec<Vec<Option<Pc>>>,
}

/// Removes records and critical sections. Threads, their first registers, and locations that are
/// not fields stay unchanged.
pub fn lower(problem: &Problem) -> Result<Lowered, Unsupported> {
    let has_property = |what: &Property| problem.properties.contains(what);
    if problem.properties.iter().any(|p| matches!(p, Property::Operations(_))) {
        return Err(Unsupported::Operations);
    }
    let input = &problem.program;
    Unsupported::check(input)?;
    if problem.has_control_points() {
        let Replaced { problem, origins } = replace_control_points(problem)?;
        let mut lowered = lower(&problem)?;
        for (thread, origins) in lowered.origins.iter_mut().zip(origins) {
            thread.iter_mut().for_each(|pc| *pc = pc.and_then(|pc| origins[pc.index()]));
        }
        return Ok(lowered);
    }
    if has_wrapping_update(input) {
        return Err(Unsupported::WrappingUpdate);
    }
    let mut locations = input.locations.clone();
    let ids = || (0..input.pools.len()).map(PoolId::from_index);
    let fields: Vec<_> = ids().map(|id| flatten(input, id, &mut locations)).collect();
    let mut locations = Locations::new(locations);
    let pools: Vec<PoolLayout> = ids()
        .zip(fields)
        .map(|(id, fields)| PoolLayout::new(input, id, fields, &mut locations))
        .collect();
    let inside = has_property(&Property::MutualExclusion)
        .then(|| locations.add("in_critical", Type::Bool, 0));
    let mut locations = locations.finish();
    for location in &mut locations {
        location.ty = without_references(input, &location.ty);
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
    let program =
        Program { locations, init, threads, labels: input.labels.clone(), ..Program::default() };
    let new_location = |what: &Observable| match what {
        Observable::Loc(loc) => Observable::Loc(lowering.new_location(*loc)),
        Observable::Reg(..) | Observable::At(..) => *what,
    };
    let properties = properties(problem, &program, &new_location);
    let observed = problem.observed.iter().map(new_location).collect();
    let sometimes = problem.sometimes.iter().map(|c| map_condition(c, &new_location)).collect();
    let (name, may_hang) = (problem.name.clone(), problem.may_hang);
    let problem = Problem { name, program, properties, sometimes, may_hang, observed };
    Ok(Lowered { problem, origins })
}

fn map_condition(c: &Condition, new_location: &impl Fn(&Observable) -> Observable) -> Condition {
    Condition { expr: substitute(&c.expr, &|what| Expr::Var(new_location(what))), ..c.clone() }
}

/// Returns the remaining properties. Adds `assertions` if the lowered code has assertions.
fn properties(
    problem: &Problem,
    program: &Program,
    new_location: &impl Fn(&Observable) -> Observable,
) -> Vec<Property> {
    let condition = |c: &Condition| map_condition(c, new_location);
    let mut properties: Vec<Property> = Vec::new();
    for property in &problem.properties {
        match property {
            Property::FinalForall(c) => properties.push(Property::FinalForall(condition(c))),
            Property::FinalNever(c) => properties.push(Property::FinalNever(condition(c))),
            Property::Invariant(c) => properties.push(Property::Invariant(condition(c))),
            Property::Assertions | Property::DeadlockFree => properties.push(property.clone()),
            Property::MutualExclusion | Property::Progress | Property::Operations(_) => {}
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

/// Replaces a reference type by an integer range.
fn without_references(program: &Program, ty: &Type) -> Type {
    match ty {
        Type::Ref(_) => Type::Int { range: program.limits(ty) },
        Type::Bool | Type::Int { .. } | Type::U64 | Type::Enum { .. } => ty.clone(),
    }
}

/// The layout of a pool's records in arrays.
struct PoolLayout {
    base: u32,
    cells: u32,
    stride: u32,
    fields: Fields,
    allocation: Allocation,
}

/// By offset in a record: the first offset and the length of its field.
type Fields = Vec<(u32, u32)>;

/// The bookkeeping of allocated records.
enum Allocation {
    /// A counter. Every accessed record is allocated.
    Count(Loc),
    /// One flag per record.
    Flags(Array),
}

impl PoolLayout {
    /// Adds the locations for the bookkeeping of allocated records.
    fn new(program: &Program, id: PoolId, fields: Fields, locations: &mut Locations) -> PoolLayout {
        let pool = program.pool(id);
        let name = format!("allocated_{}", pool.name);
        let allocation = if taint::is_always_allocated(program, id) {
            let ty = Type::Int { range: Some((0, pool.cells as Value)) };
            Allocation::Count(locations.add(&name, ty, 0))
        } else {
            Allocation::Flags(locations.array(&name, vec![(Type::Bool, 0); pool.cells as usize]))
        };
        let (base, cells, stride) = (pool.base.0, pool.cells, pool.stride);
        PoolLayout { base, cells, stride, fields, allocation }
    }

    /// Returns the new location of a cell (from 0) at an offset.
    fn place(&self, cell: u32, offset: u32) -> Loc {
        place(self.base, self.cells, &self.fields, cell, offset)
    }
}

fn place(base: u32, cells: u32, fields: &Fields, cell: u32, offset: u32) -> Loc {
    let (start, len) = fields[offset as usize];
    Loc(base + cells * start + cell * len + offset - start)
}

/// Renames the locations of a pool to elements of arrays, one array per field.
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

/// Returns, by offset, the field to which it belongs. Names with consecutive bracketed indices form
/// one field, and so do offsets that an index expression covers. All other fields are single.
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
    pools: &'a [PoolLayout],
    /// The location `in_critical`, if mutual exclusion is a property.
    inside: Option<Loc>,
}

/// A thread under construction.
struct ThreadWriter {
    code: Assembler,
    /// Whether the current statement is inside of an atomic step.
    atomic: bool,
    /// A scratch register, if one was needed.
    scratch: Option<Reg>,
    /// The value ranges of the registers of the input.
    ranges: Vec<Range>,
}

impl ThreadWriter {
    fn scratch(&mut self) -> Reg {
        *self.scratch.get_or_insert_with(|| self.code.register("%found", Type::INT))
    }
}

impl Lowering<'_> {
    /// Returns the new location of a location of the input.
    fn new_location(&self, loc: Loc) -> Loc {
        let Some((pool, cell)) = self.input.cell_of(loc) else { return loc };
        let layout = &self.pools[pool.index()];
        layout.place(cell, (loc.0 - layout.base) % layout.stride)
    }

    /// Lowers a thread. Returns it with the origins of its statements. `alone`: no other thread
    /// runs.
    fn thread(
        &self,
        thread: &Thread,
        ranges: Vec<Range>,
        alone: bool,
    ) -> (Thread, Vec<Option<Pc>>) {
        let mut registers = thread.registers.clone();
        registers
            .iter_mut()
            .for_each(|register| register.ty = without_references(self.input, &register.ty));
        let code = Assembler::new(registers);
        let mut writer = ThreadWriter { code, atomic: alone, scratch: None, ranges };
        let inside = in_atomic_block(thread);
        let targets: Vec<Target> = thread.code.iter().map(|_| writer.code.target()).collect();
        let entries: Vec<Option<Target>> =
            thread.code.iter().map(|s| self.enters(s).then(|| writer.code.target())).collect();
        let mut origins = Vec::new();
        for (at, stmt) in thread.code.iter().enumerate() {
            writer.code.at(stmt.label, false);
            if let (Some(entry), Some(loc)) = (entries[at], self.inside) {
                writer.code.bind(entry);
                let scratch = writer.scratch();
                let update = Update::Swap { new: Expr::Const(1) };
                let at = Address::fixed(loc);
                writer.code.op(Op::Update { reg: Some(scratch), at, update });
                let alone = binary(BinOp::Eq, Expr::Var(scratch), Expr::Const(0));
                writer.code.op(Op::Assert(alone));
                origins.resize(writer.code.len(), None);
            }
            writer.code.bind(targets[at]);
            writer.atomic = alone || inside[at];
            let to = |next: Pc| match entries[next.index()] {
                Some(entry) if !stmt.critical || matches!(stmt.op, Op::Leave) => entry,
                Some(_) | None => targets[next.index()],
            };
            self.statement(&mut writer, stmt, &to);
            let begins = !inside[at];
            origins.push(begins.then_some(Pc::from_index(at)));
            origins.resize(writer.code.len(), None);
        }
        let (registers, code) = writer.code.finish();
        (Thread { name: thread.name.clone(), registers, code }, origins)
    }

    /// Returns whether a thread that reaches the statement from outside enters a critical section.
    fn enters(&self, stmt: &Stmt) -> bool {
        self.inside.is_some() && stmt.critical
    }

    fn statement(&self, writer: &mut ThreadWriter, stmt: &Stmt, to: &impl Fn(Pc) -> Target) {
        let code = &mut writer.code;
        let next = || to(stmt.next);
        match &stmt.op {
            Op::Branch { cond, then, otherwise } => {
                code.branch(cond.clone(), to(*then), to(*otherwise));
            }
            Op::Halt => code.op(Op::Halt),
            Op::Load { reg, from } => {
                self.access(writer, from, next(), |from| Op::Load { reg: *reg, from })
            }
            Op::Store { to, value } => {
                let value = value.clone();
                self.access(writer, to, next(), |to| Op::Store { to, value });
            }
            Op::Update { reg, at, update } => {
                let update = update.clone();
                self.access(writer, at, next(), |at| Op::Update { reg: *reg, at, update });
            }
            Op::Drain(at) => self.access(writer, at, next(), Op::Drain),
            Op::New { reg, pool } => self.allocate(writer, *reg, *pool, next()),
            Op::Free { pool, cell } => self.free(writer, *pool, cell, next()),
            Op::Leave => match self.inside {
                Some(loc) => {
                    let value = Expr::Const(0);
                    code.op_then(Op::Store { to: Address::fixed(loc), value }, next());
                }
                None => code.op_then(Op::Skip, next()),
            },
            Op::Join | Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                unreachable!("`Unsupported::check` rejects these programs")
            }
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

    /// Lowers an access, with the checks for a field of a record.
    fn access(
        &self,
        writer: &mut ThreadWriter,
        address: &Address,
        next: Target,
        op: impl FnOnce(Address) -> Op,
    ) {
        let Some((pool, cell)) = &address.cell else {
            writer.code.op_then(op(address.clone()), next);
            return;
        };
        let layout = &self.pools[pool.index()];
        let offset = address.base.0 - layout.base;
        let (start, len) = layout.fields[offset as usize];
        let before = binary(BinOp::Sub, cell.clone(), Expr::Const(1));
        let mut index = before.clone();
        if len > 1 {
            index = binary(BinOp::Mul, index, Expr::Const(len as Value));
        }
        let step = self.begin(writer, layout);
        if let Some((_, inner)) = &address.index {
            index = binary(BinOp::Add, index, inner.clone());
        }
        if offset > start {
            index = binary(BinOp::Add, index, Expr::Const((offset - start) as Value));
        }
        if let Some((limit, inner)) = &address.index
            && !self.fits(writer, inner, *limit)
        {
            // An index outside of its record must not reach another record.
            let least = binary(BinOp::Le, Expr::Const(0), inner.clone());
            let most = binary(BinOp::Lt, inner.clone(), Expr::Const(*limit as Value));
            let inside = Box::new(binary(BinOp::And, least, most));
            index = Expr::Select(inside, Box::new(index), Box::new(Expr::Const(-1)));
        }
        if let Allocation::Flags(flags) = layout.allocation {
            let reg = writer.scratch();
            let from = Address::element(flags.base, flags.len, before);
            writer.code.op(Op::Load { reg, from });
            writer.code.op(Op::Assert(Expr::Var(reg)));
        }
        let base = layout.place(0, start);
        let at = Address::element(base, layout.cells * len, index);
        self.end(writer, step, op(at), next);
    }

    /// Returns whether an index is always in bounds.
    fn fits(&self, writer: &ThreadWriter, index: &Expr<Reg>, limit: u32) -> bool {
        let (lo, hi) = interval(index, &writer.ranges);
        0 <= lo && hi < limit as Value
    }

    /// Begins an atomic block if flags must be checked. Returns whether it did.
    fn begin(&self, writer: &mut ThreadWriter, layout: &PoolLayout) -> bool {
        let begins = !writer.atomic && matches!(layout.allocation, Allocation::Flags(_));
        if begins {
            writer.code.op(Op::AtomicBegin);
        }
        begins
    }

    /// Writes the last statement, and the end of the block if there is one.
    fn end(&self, writer: &mut ThreadWriter, begun: bool, op: Op, next: Target) {
        if begun {
            writer.code.op(op);
            writer.code.op_then(Op::AtomicEnd, next);
        } else {
            writer.code.op_then(op, next);
        }
    }

    fn allocate(&self, writer: &mut ThreadWriter, reg: Reg, pool: PoolId, next: Target) {
        let layout = &self.pools[pool.index()];
        let flags = match layout.allocation {
            Allocation::Count(count) => {
                let update = Update::Add { by: Expr::Const(1), wrap: None };
                let at = Address::fixed(count);
                writer.code.op(Op::Update { reg: Some(reg), at, update });
                let expr = binary(BinOp::Add, Expr::Var(reg), Expr::Const(1));
                writer.code.op_then(Op::Assign { reg, expr }, next);
                return;
            }
            Allocation::Flags(flags) => flags,
        };
        let begun = self.begin(writer, layout);
        let done = writer.code.target();
        let scratch = writer.scratch();
        for cell in 0..layout.cells {
            let other = writer.code.target();
            let flag = flags.at(Expr::Const(cell as Value));
            writer.code.op(Op::Load { reg: scratch, from: flag.clone() });
            writer.code.jump_if(Expr::Var(scratch), other);
            writer.code.op(Op::Store { to: flag, value: Expr::Const(1) });
            for offset in 0..layout.stride {
                let init =
                    self.input.location(Loc(layout.base + cell * layout.stride + offset)).init;
                let to = Address::fixed(layout.place(cell, offset));
                writer.code.op(Op::Store { to, value: Expr::Const(init) });
            }
            let expr = Expr::Const(cell as Value + 1);
            writer.code.op_then(Op::Assign { reg, expr }, done);
            writer.code.bind(other);
        }
        writer.code.op(Op::Assert(Expr::Const(0)));
        writer.code.bind(done);
        self.end(writer, begun, Op::Skip, next);
    }

    fn free(&self, writer: &mut ThreadWriter, pool: PoolId, cell: &Expr<Reg>, next: Target) {
        let layout = &self.pools[pool.index()];
        let Allocation::Flags(flags) = layout.allocation else {
            unreachable!("a pool with `free` has flags")
        };
        let begun = self.begin(writer, layout);
        let index = binary(BinOp::Sub, cell.clone(), Expr::Const(1));
        let flag = Address::element(flags.base, flags.len, index);
        let reg = writer.scratch();
        writer.code.op(Op::Load { reg, from: flag.clone() });
        writer.code.op(Op::Assert(Expr::Var(reg)));
        self.end(writer, begun, Op::Store { to: flag, value: Expr::Const(0) }, next);
    }
}
