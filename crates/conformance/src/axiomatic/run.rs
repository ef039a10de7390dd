//! The runs of one thread, for every value that its reads may return.
//!
//! A run is a list of accesses with known values, and of the statements between them that order
//! accesses. Each access records the earlier accesses that its address and its operands depend on.
//! Dependencies are syntactic: `r - r` depends on `r`, because a statement waits for every register
//! it mentions.
//!
//! An `atomic` block is a single node with its reads of the memory before the block and its final
//! writes.

use fencepost_ir::{
    Access, Address, BinOp, CasResult, Expr, Fault, FenceKinds, Loc, Op, Pc, Program, Reg, Thread,
    Type, Update, Value,
};

use super::{LocationValues, PossibleValues, Unsupported};

/// A set of nodes of a run, one bit per node.
pub(super) type Nodes = u64;

/// The maximum number of nodes of all threads together.
pub(super) const MAX_NODES: usize = Nodes::BITS as usize;

/// The maximum number of runs of a thread.
const MAX_RUNS: usize = 1 << 16;

/// An atomic action: a load, a store, an update, or an `atomic` block.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The access kinds that matter for ordering. A `cas` that fails counts as a store too.
    pub(super) access: Access,
    /// The locations it may access while its address is not known, as first location and length.
    /// `None` for a block, which is ordered with all other nodes of the thread.
    pub(super) footprint: Option<(Loc, u32)>,
    /// The accessed location. Unused for a block.
    pub(super) loc: Loc,
    /// The nodes that the address depends on.
    pub(super) address: Nodes,
    /// The nodes that the address and all other operands depend on.
    pub(super) operands: Nodes,
    /// The values read, except values that the node itself has written.
    pub(super) reads: Vec<(Loc, Value)>,
    /// The final writes of the node.
    pub(super) writes: Vec<(Loc, Value)>,
}

/// A statement of a run that matters for ordering.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// An access or a block.
    Node(Node),
    /// A fence.
    Fence(FenceKinds),
    /// A `drain` of a location, and the nodes that its address depends on.
    Drain(Loc, Nodes),
    /// A branch or `assume`: later stores and updates wait for these nodes and, without
    /// speculation, later loads, too.
    Control(Nodes),
}

/// A run of one thread, from its start to its end or to the statement where it is stuck.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Whether the run reaches the end of the thread: no `assume` blocks, no `assert` fails.
    pub(super) halts: bool,
    /// The events, in program order.
    pub(super) events: Vec<Event>,
    /// The final values of the registers.
    pub(super) registers: Vec<Value>,
    /// For each node: the nodes before it in preserved program order. Computed by
    /// [`order`](super::order).
    pub(super) before: Vec<Nodes>,
}

impl Run {
    /// Returns the accesses and blocks, in program order.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.events.iter().filter_map(|event| match event {
            Event::Node(node) => Some(node),
            Event::Fence(_) | Event::Drain(..) | Event::Control(_) => None,
        })
    }
}

/// Returns all runs of a thread whose reads return these values.
pub(super) fn runs(
    program: &Program,
    thread: &Thread,
    values: &PossibleValues,
) -> Result<Vec<Run>, Unsupported> {
    let start = PartialRun {
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
            let PartialRun { events, registers, .. } = partial;
            done.push(Run { halts, events, registers, before: Vec::new() });
        } else {
            todo.extend(partial.step(program, thread, values)?);
        }
        if done.len() + todo.len() > MAX_RUNS {
            return Err(Unsupported::TooLarge);
        }
    }
    Ok(done)
}

/// A prefix of a run.
#[derive(Clone)]
struct PartialRun {
    pc: Pc,
    registers: Vec<Value>,
    /// The nodes that each register depends on.
    sources: Vec<Nodes>,
    events: Vec<Event>,
    nodes: usize,
    /// The current `atomic` block, if any.
    block: Option<Block>,
    /// Whether an `assume` blocks or an `assert` has failed.
    stuck: bool,
}

/// The effects of an `atomic` block so far.
#[derive(Clone, Default)]
struct Block {
    /// The values read from memory before the block.
    reads: LocationValues,
    /// The last written value of each location.
    writes: LocationValues,
}

impl PartialRun {
    /// Returns all extensions by the next statement.
    fn step(
        mut self,
        program: &Program,
        thread: &Thread,
        values: &PossibleValues,
    ) -> Result<Vec<PartialRun>, Unsupported> {
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
                return self.readable_values(from, values)?.into_iter().map(with).collect();
            }
            Op::Store { to, value } => self.store(program, to, value)?,
            Op::Update { reg, at, update } => {
                let with = |value| self.update(program, thread, *reg, at, update, value);
                return self.readable_values(at, values)?.into_iter().map(with).collect();
            }
            Op::Fence(kinds) => self.push_ordering_event(Event::Fence(*kinds)),
            Op::Drain(at) => {
                let event = Event::Drain(self.locate(at)?, self.address_sources(at));
                self.push_ordering_event(event);
            }
            Op::Branch { cond, then, otherwise } => {
                self.push_ordering_event(Event::Control(self.sources(cond)));
                self.pc = if self.eval(cond)? != 0 { *then } else { *otherwise };
            }
            Op::Assume(cond) => {
                self.push_ordering_event(Event::Control(self.sources(cond)));
                self.stuck = self.eval(cond)? == 0;
            }
            Op::Assert(cond) => self.stuck = self.eval(cond)? == 0,
            Op::AtomicBegin => self.block = Some(Block::default()),
            Op::AtomicEnd => self.end_block()?,
            Op::New { .. } | Op::Free { .. } => return Err(Unsupported::Records),
            Op::Invoke { .. } | Op::Return { .. } => return Err(Unsupported::Operations),
            Op::Join => return Err(Unsupported::LastThread),
            Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                return Err(Unsupported::GracePeriods);
            }
            Op::Halt => unreachable!("a thread that has halted takes no step"),
        }
        Ok(vec![self])
    }

    /// Returns the values that a read may return: the value that the current block has read or
    /// written there, else any possible value of the location.
    fn readable_values(&self, at: &Address, values: &PossibleValues) -> Result<Vec<Value>, Fault> {
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
    ) -> Result<PartialRun, Unsupported> {
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
        let value = check_range(program, &program.location(loc).ty, self.eval(value)?)?;
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
    ) -> Result<PartialRun, Unsupported> {
        let mut next = self.clone();
        let loc = self.locate(at)?;
        let (new, yields, operands) = match update {
            Update::Cas { expected, new, result } => {
                let operands = self.sources(expected) | self.sources(new);
                let (expected, new) = (self.eval(expected)?, self.eval(new)?);
                let equal = old == expected;
                let yields = match result {
                    CasResult::Success => Value::from(equal),
                    CasResult::Old => old,
                };
                (equal.then_some(new), yields, operands)
            }
            Update::Swap { new } => (Some(self.eval(new)?), old, self.sources(new)),
            Update::Add { by, wrap: Some(range) } => {
                let sum = i128::from(old) + i128::from(self.eval(by)?);
                (Some(crate::reference::congruent(sum, *range)), old, self.sources(by))
            }
            Update::Add { by, wrap: None } => {
                (Some(BinOp::Add.apply(old, self.eval(by)?)?), old, self.sources(by))
            }
            Update::Bits { op, by } => {
                (Some(op.apply(old, self.eval(by)?)?), old, self.sources(by))
            }
        };
        let new =
            new.map(|new| check_range(program, &program.location(loc).ty, new)).transpose()?;
        let access = Access { loads: true, stores: true };
        let sources = next.access(access, at, loc, operands, Some(old), new)?;
        if let Some(reg) = reg {
            next.set(program, thread, reg, yields, sources)?;
        }
        Ok(next)
    }

    /// Adds an access: a new node, or a part of the current block. Returns the nodes that its
    /// result depends on.
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
            // All later nodes are ordered after the block, so no dependency is needed.
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
        self.push_node(node)
    }

    fn end_block(&mut self) -> Result<(), Unsupported> {
        let block = self.block.take().expect("the end of a block follows its begin");
        let node = Node {
            access: Access { loads: true, stores: true },
            footprint: None,
            loc: Loc(0),
            address: 0,
            operands: 0,
            reads: block.reads.into_iter().collect(),
            writes: block.writes.into_iter().collect(),
        };
        self.push_node(node)?;
        Ok(())
    }

    /// Adds a node. Returns the set that contains only this node.
    fn push_node(&mut self, node: Node) -> Result<Nodes, Unsupported> {
        if self.nodes == MAX_NODES {
            return Err(Unsupported::TooLarge);
        }
        self.events.push(Event::Node(node));
        self.nodes += 1;
        Ok(1 << (self.nodes - 1))
    }

    /// Adds an event that orders accesses. Inside a block nothing is reordered, so the event is
    /// dropped.
    fn push_ordering_event(&mut self, event: Event) {
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
        self.registers[reg.index()] =
            check_range(program, &thread.registers[reg.index()].ty, value)?;
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

/// Returns the value if it is in the range of the type.
fn check_range(program: &Program, ty: &Type, value: Value) -> Result<Value, Fault> {
    match program.limits(ty) {
        Some((lo, hi)) if !(lo..=hi).contains(&value) => Err(Fault::OutOfRange),
        Some(_) | None => Ok(value),
    }
}
