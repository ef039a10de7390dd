//! The runs of one thread, for every value that its reads might get.
//!
//! A run is what is left of a thread when all its values are known: its accesses, and what stands between them and
//! keeps them in order. Each access knows on which earlier ones its address and its operands depend. A dependency is
//! one of the text: `r - r` depends on `r`, since a statement waits for every register it mentions.
//!
//! An `atomic` block is a single node with all its reads from outside and what it leaves in memory.

use fencepost_ir::{
    Access, Address, BinOp, Expr, Fault, FenceKinds, Loc, Op, Pc, Program, Reg, Thread, Type,
    Update, Value,
};

use super::{Cells, Unsupported, Values};

/// A set of nodes of a run, one bit for each.
pub(super) type Nodes = u64;

/// The most nodes of all threads together.
pub(super) const MOST_NODES: usize = Nodes::BITS as usize;

/// The most runs of a thread.
const MOST_RUNS: usize = 1 << 16;

/// What happens in one moment: a load, a store, an update, or an `atomic` block.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// What it does, as far as order is concerned: a `cas` that fails stores, too.
    pub(super) access: Access,
    /// Where it may go before its address is known, as first location and length; none for a block, which waits
    /// for everything before it and lets everything after it wait.
    pub(super) footprint: Option<(Loc, u32)>,
    /// Where it goes. Of no meaning for a block.
    pub(super) loc: Loc,
    /// What must be performed before its address is known.
    pub(super) address: Nodes,
    /// What must be performed before it can be: its address and all else it needs to know.
    pub(super) operands: Nodes,
    /// What it reads that it has not written itself.
    pub(super) reads: Vec<(Loc, Value)>,
    /// What it leaves written.
    pub(super) writes: Vec<(Loc, Value)>,
}

/// What matters for order, in program order.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// An access or a block.
    Node(Node),
    /// A fence.
    Fence(FenceKinds),
    /// `drain`, where, and what its address depends on.
    Drain(Loc, Nodes),
    /// A branch or `assume`: everything after it waits for these.
    Wait(Nodes),
}

/// One thread from its beginning to its end, or to where it cannot go on.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Whether it came to its end: no `assume` blocks, no `assert` fails.
    pub(super) halts: bool,
    /// What it did.
    pub(super) events: Vec<Event>,
    /// The values of its registers in the end.
    pub(super) registers: Vec<Value>,
    /// For each node: those that are performed before it, whatever other threads do. Filled in by
    /// [`order`](super::order).
    pub(super) before: Vec<Nodes>,
}

impl Run {
    /// Its accesses and blocks.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.events.iter().filter_map(|event| match event {
            Event::Node(node) => Some(node),
            Event::Fence(_) | Event::Drain(..) | Event::Wait(_) => None,
        })
    }
}

/// All runs of a thread whose reads get some of these values.
pub(super) fn runs(
    program: &Program,
    thread: &Thread,
    values: &Values,
) -> Result<Vec<Run>, Unsupported> {
    let start = Partial {
        pc: Pc(0),
        registers: vec![0; thread.registers.len()],
        sources: vec![0; thread.registers.len()],
        events: Vec::new(),
        nodes: 0,
        block: None,
        stuck: false,
    };
    let mut todo = vec![start];
    let mut done = Vec::new();
    while let Some(partial) = todo.pop() {
        let halts = !partial.stuck && matches!(thread.stmt(partial.pc).op, Op::Halt);
        if halts || partial.stuck {
            let Partial { events, registers, .. } = partial;
            done.push(Run { halts, events, registers, before: Vec::new() });
        } else {
            todo.extend(partial.step(program, thread, values)?);
        }
        if done.len() + todo.len() > MOST_RUNS {
            return Err(Unsupported::TooLarge);
        }
    }
    Ok(done)
}

/// The beginning of a run.
#[derive(Clone)]
struct Partial {
    pc: Pc,
    registers: Vec<Value>,
    /// For each register, on which nodes its value depends.
    sources: Vec<Nodes>,
    events: Vec<Event>,
    nodes: usize,
    /// Inside of an `atomic` block.
    block: Option<Block>,
    /// Whether it cannot go on.
    stuck: bool,
}

/// What a block has done so far.
#[derive(Clone, Default)]
struct Block {
    /// What it read from outside.
    reads: Cells,
    /// What it wrote, the last value of each location.
    writes: Cells,
}

impl Partial {
    /// Every way to go on with the next statement.
    fn step(
        mut self,
        program: &Program,
        thread: &Thread,
        values: &Values,
    ) -> Result<Vec<Partial>, Unsupported> {
        let stmt = thread.stmt(self.pc);
        self.pc = stmt.next;
        match &stmt.op {
            Op::Skip | Op::Leave => {}
            Op::Assign { reg, expr } => {
                let (value, sources) = (self.eval(expr)?, self.sources(expr));
                self.set(program, thread, *reg, value, sources)?;
            }
            Op::Choose { reg, lo, hi } => {
                let with = |value| {
                    let mut chosen = self.clone();
                    chosen.set(program, thread, *reg, value, 0)?;
                    Ok(chosen)
                };
                return (*lo..=*hi).map(with).collect();
            }
            Op::Load { reg, from } => {
                let with = |value| self.load(program, thread, *reg, from, value);
                return self.readable(from, values)?.into_iter().map(with).collect();
            }
            Op::Store { to, value } => self.store(program, to, value)?,
            Op::Update { reg, at, update } => {
                let with = |value| self.update(program, thread, *reg, at, update, value);
                return self.readable(at, values)?.into_iter().map(with).collect();
            }
            Op::Fence(kinds) => self.between(Event::Fence(*kinds)),
            Op::Drain(at) => {
                let event = Event::Drain(self.locate(at)?, self.address_sources(at));
                self.between(event);
            }
            Op::Branch { cond, then, otherwise } => {
                self.between(Event::Wait(self.sources(cond)));
                self.pc = if self.eval(cond)? != 0 { *then } else { *otherwise };
            }
            Op::Assume(cond) => {
                self.between(Event::Wait(self.sources(cond)));
                self.stuck = self.eval(cond)? == 0;
            }
            Op::Assert(cond) => self.stuck = self.eval(cond)? == 0,
            Op::AtomicBegin => self.block = Some(Block::default()),
            Op::AtomicEnd => self.end_block()?,
            Op::New { .. } | Op::Free { .. } => return Err(Unsupported::Records),
            Op::Invoke { .. } | Op::Return { .. } => return Err(Unsupported::Operations),
            Op::Halt => unreachable!("a thread that has halted takes no step"),
        }
        Ok(vec![self])
    }

    /// What a read there may get: what the block it is in has in hand, else any value of the location.
    fn readable(&self, at: &Address, values: &Values) -> Result<Vec<Value>, Fault> {
        let loc = self.locate(at)?;
        let block = self.block.as_ref();
        let known = block.and_then(|block| block.writes.get(&loc).or(block.reads.get(&loc)));
        Ok(known.map_or_else(|| values[loc.index()].iter().copied().collect(), |v| vec![*v]))
    }

    fn load(
        &self,
        program: &Program,
        thread: &Thread,
        reg: Reg,
        from: &Address,
        value: Value,
    ) -> Result<Partial, Unsupported> {
        let mut next = self.clone();
        let access = Access { loads: true, stores: false };
        let loc = self.locate(from)?;
        let sources = next.access(access, from, loc, 0, Some(value), None)?;
        next.set(program, thread, reg, value, sources)?;
        Ok(next)
    }

    fn store(
        &mut self,
        program: &Program,
        to: &Address,
        value: &Expr<Reg>,
    ) -> Result<(), Unsupported> {
        let loc = self.locate(to)?;
        let sources = self.sources(value);
        let value = within(program, &program.location(loc).ty, self.eval(value)?)?;
        let access = Access { loads: false, stores: true };
        self.access(access, to, loc, sources, None, Some(value))?;
        Ok(())
    }

    fn update(
        &self,
        program: &Program,
        thread: &Thread,
        reg: Option<Reg>,
        at: &Address,
        update: &Update,
        old: Value,
    ) -> Result<Partial, Unsupported> {
        let mut next = self.clone();
        let loc = self.locate(at)?;
        let (new, yields, operands) = match update {
            Update::Cas { expected, new } => {
                let operands = self.sources(expected) | self.sources(new);
                let (expected, new) = (self.eval(expected)?, self.eval(new)?);
                let equal = old == expected;
                (equal.then_some(new), Value::from(equal), operands)
            }
            Update::Swap { new } => (Some(self.eval(new)?), old, self.sources(new)),
            Update::Add { by } => {
                (Some(BinOp::Add.apply(old, self.eval(by)?)?), old, self.sources(by))
            }
            Update::Bits { op, by } => {
                (Some(op.apply(old, self.eval(by)?)?), old, self.sources(by))
            }
        };
        let new = new.map(|new| within(program, &program.location(loc).ty, new)).transpose()?;
        let access = Access { loads: true, stores: true };
        let sources = next.access(access, at, loc, operands, Some(old), new)?;
        if let Some(reg) = reg {
            next.set(program, thread, reg, yields, sources)?;
        }
        Ok(next)
    }

    /// Notes an access: a node of its own, or part of the block it is in. Returns what a value that it yields depends on.
    fn access(
        &mut self,
        access: Access,
        at: &Address,
        loc: Loc,
        operands: Nodes,
        read: Option<Value>,
        written: Option<Value>,
    ) -> Result<Nodes, Unsupported> {
        if let Some(block) = &mut self.block {
            if let Some(value) = read
                && !block.writes.contains_key(&loc)
            {
                block.reads.insert(loc, value);
            }
            block.writes.extend(written.map(|value| (loc, value)));
            // Everything later waits for the block anyway.
            return Ok(0);
        }
        let address = self.address_sources(at);
        let node = Node {
            access,
            footprint: Some((at.base, at.index.as_ref().map_or(1, |(length, _)| *length))),
            loc,
            address,
            operands: operands | address,
            reads: read.map(|value| (loc, value)).into_iter().collect(),
            writes: written.map(|value| (loc, value)).into_iter().collect(),
        };
        self.node(node)
    }

    fn end_block(&mut self) -> Result<(), Unsupported> {
        let block = self.block.take().expect("a block that ends has begun");
        let node = Node {
            access: Access { loads: true, stores: true },
            footprint: None,
            loc: Loc(0),
            address: 0,
            operands: 0,
            reads: block.reads.into_iter().collect(),
            writes: block.writes.into_iter().collect(),
        };
        self.node(node)?;
        Ok(())
    }

    /// Adds a node, and returns the set of it alone.
    fn node(&mut self, node: Node) -> Result<Nodes, Unsupported> {
        if self.nodes == MOST_NODES {
            return Err(Unsupported::TooLarge);
        }
        self.events.push(Event::Node(node));
        self.nodes += 1;
        Ok(1 << (self.nodes - 1))
    }

    /// Notes what stands between accesses. Inside of a block nothing is out of order.
    fn between(&mut self, event: Event) {
        if self.block.is_none() {
            self.events.push(event);
        }
    }

    fn set(
        &mut self,
        program: &Program,
        thread: &Thread,
        reg: Reg,
        value: Value,
        sources: Nodes,
    ) -> Result<(), Unsupported> {
        self.registers[reg.index()] = within(program, &thread.registers[reg.index()].ty, value)?;
        self.sources[reg.index()] = sources;
        Ok(())
    }

    fn eval(&self, expr: &Expr<Reg>) -> Result<Value, Fault> {
        expr.eval(&|reg: &Reg| self.registers[reg.index()])
    }

    fn sources(&self, expr: &Expr<Reg>) -> Nodes {
        let mut all = 0;
        expr.for_each_var(&mut |reg| all |= self.sources[reg.index()]);
        all
    }

    fn address_sources(&self, at: &Address) -> Nodes {
        at.index.as_ref().map_or(0, |(_, index)| self.sources(index))
    }

    fn locate(&self, at: &Address) -> Result<Loc, Fault> {
        let Some((length, index)) = &at.index else { return Ok(at.base) };
        let index = self.eval(index)?;
        let index = u32::try_from(index).ok().filter(|index| index < length);
        Ok(Loc(at.base.0 + index.ok_or(Fault::OutOfBounds)?))
    }
}

/// The value, if the type has it.
fn within(program: &Program, ty: &Type, value: Value) -> Result<Value, Fault> {
    match program.limits(ty) {
        Some((lo, hi)) if !(lo..=hi).contains(&value) => Err(Fault::OutOfRange),
        Some(_) | None => Ok(value),
    }
}
