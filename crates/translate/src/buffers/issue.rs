//! Translates the statements of a thread with explicit buffers: stores enter a queue, loads forward
//! from it, fences and updates wait.
//!
//! Addresses and values are checked where the original checks them. An update that faults may have
//! to wait first. It still faults, because every store that it waits for can be committed.

use super::layout::{Pso, Queues, ThreadBuffers, Tso};
use super::writer::BlockWriter;
use crate::Origin;
use crate::atomic_blocks::in_atomic_block;
use crate::formula::{add, all, any, eq, lt, not, num, offset_or_zero, positive, sub};
use crate::groups::{Match, is_constant};
use fencepost_ir::assemble::Target;
use fencepost_ir::{Address, Expr, FenceKinds, Op, Pc, Program, Reg, Thread, Type};

/// Translates a thread, with the origins of its statements.
pub(super) fn translate_thread(
    program: &Program,
    buffers: &ThreadBuffers,
    thread: &Thread,
) -> (Thread, Vec<Origin>) {
    let mut writer = BlockWriter::new(program, thread.registers.clone());
    let targets = thread.code.iter().map(|_| writer.target()).collect();
    let halts = thread.code.iter().map(|_| writer.target()).collect();
    let mut translator = ThreadTranslator { program, buffers, thread, writer, targets, halts };
    for (at, inside) in in_atomic_block(thread).into_iter().enumerate() {
        translator.statement(Pc::from_index(at), inside);
    }
    let (registers, code, origins) = translator.writer.finish();
    (Thread { name: thread.name.clone(), registers, code }, origins)
}

struct ThreadTranslator<'a> {
    program: &'a Program,
    buffers: &'a ThreadBuffers,
    thread: &'a Thread,
    writer: BlockWriter<'a>,
    /// By program counter of the original: the position of the translated statement.
    targets: Vec<Target>,
    /// By program counter of an original `Halt`: its position after `done` is set.
    halts: Vec<Target>,
}

impl ThreadTranslator<'_> {
    fn statement(&mut self, pc: Pc, inside: bool) {
        let stmt = self.thread.stmt(pc);
        let origin = Origin::Statement(pc);
        self.writer.at(stmt.label, stmt.critical);
        self.writer.bind(self.targets[pc.index()]);
        let next = self.targets[stmt.next.index()];
        match &stmt.op {
            Op::Join | Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                unreachable!("`Unsupported::check` rejects these programs")
            }
            Op::AtomicEnd => self.end_block(pc, origin),
            Op::Branch { cond, then, otherwise } => {
                let (then, otherwise) =
                    (self.targets[then.index()], self.targets[otherwise.index()]);
                self.writer.branch(cond.clone(), then, otherwise, origin);
            }
            Op::Halt => {
                self.writer.write_single(&self.buffers.done, num(1));
                let halted = self.halts[pc.index()];
                self.writer.bind(halted);
                self.writer.op_with_origin(Op::Halt, origin, halted);
            }
            op if inside => self.writer.op_with_origin(op.clone(), origin, next),
            Op::AtomicBegin => {
                self.writer.begin(origin);
                self.wait_until_drained();
                self.writer.clear_then(next);
            }
            Op::Load { reg, from } => self.load(pc, *reg, from),
            Op::Store { to, value } => self.store(pc, to, value),
            Op::Update { at, .. } => self.update(pc, at),
            Op::Fence(kinds) => self.fence(pc, *kinds),
            Op::Drain(at) => self.drain(pc, at),
            op @ (Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::Invoke { .. }
            | Op::Return { .. }) => self.writer.op_with_origin(op.clone(), origin, next),
        }
    }

    /// Copies a statement unchanged.
    fn copy_statement(&mut self, pc: Pc) {
        let stmt = self.thread.stmt(pc);
        let next = self.targets[stmt.next.index()];
        self.writer.op_with_origin(stmt.op.clone(), Origin::Statement(pc), next);
    }

    /// Ends the block of a statement. If the thread then halts, the same step marks the thread as
    /// done.
    fn end_block(&mut self, pc: Pc, origin: Origin) {
        let mut next = self.thread.stmt(pc).next;
        // A chain of `skip` may be a cycle.
        for _ in 0..self.thread.code.len() {
            match self.thread.stmt(next).op {
                Op::Skip => next = self.thread.stmt(next).next,
                Op::Halt => {
                    self.writer.write_single(&self.buffers.done, num(1));
                    return self.writer.end(origin, self.halts[next.index()]);
                }
                _ => break,
            }
        }
        let next = self.targets[self.thread.stmt(pc).next.index()];
        self.writer.end(origin, next);
    }

    fn wait_until_drained(&mut self) {
        let pending = self.writer.read_single("pending", &self.buffers.pending);
        self.writer.assume(eq(pending, num(0)));
    }

    /// Returns the type of the location at an address.
    fn type_of(&self, at: &Address) -> Type {
        self.program.location(at.base).ty.clone()
    }

    /// Emits a load that faults if the address does.
    fn check_address(&mut self, at: &Address) {
        if !is_constant(at) {
            let reg = self.writer.scratch_register("value", &self.type_of(at));
            self.writer.op(Op::Load { reg, from: at.clone() });
        }
    }

    fn load(&mut self, pc: Pc, reg: Reg, from: &Address) {
        let matches = self.buffers.matches(from);
        let load_barrier = match &self.buffers.queues {
            Queues::Tso(Tso { barrier, .. }) => barrier,
            Queues::Pso(Pso { barrier_sum, .. }) => barrier_sum,
        };
        if matches.is_empty() && load_barrier.is_none() {
            return self.copy_statement(pc);
        }
        self.writer.begin(Origin::Statement(pc));
        // The value in memory must fit the register, even if a pending store hides it.
        let ty = self.type_of(from);
        let own = &self.thread.registers[reg.index()].ty;
        let limits = |ty| self.program.limits(ty);
        let fits = match (limits(&ty), limits(own)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(inner), Some(outer)) => outer.0 <= inner.0 && inner.1 <= outer.1,
        };
        let fits = matches.is_empty() || (fits && is_constant(from));
        let target = if fits { reg } else { self.writer.scratch_register("value", &ty) };
        if !matches.is_empty() {
            self.writer.op(Op::Load { reg: target, from: from.clone() });
        }
        if let Some(load_barrier) = load_barrier {
            let barrier_sum = self.writer.read_single("barrier", load_barrier);
            self.writer.assume(eq(barrier_sum, num(0)));
        }
        if matches.is_empty() {
            self.writer.op(Op::Load { reg: target, from: from.clone() });
        }
        self.forward(&matches, target);
        if target != reg {
            self.writer.op(Op::Assign { reg, expr: Expr::Var(target) });
        }
        self.end_block(pc, Origin::Nothing);
    }

    /// Loads the youngest pending store to the location, if there is one, into a register.
    fn forward(&mut self, matches: &[Match], target: Reg) {
        let (buffers, writer) = (self.buffers, &mut self.writer);
        match &buffers.queues {
            Queues::Tso(tso) if !matches.is_empty() => {
                for at in 0..buffers.capacity {
                    let stored_to = writer.read("where", &tso.targets, num(at));
                    writer.if_holds(targets_location(buffers, matches, &stored_to), |writer| {
                        writer.op(Op::Load { reg: target, from: tso.values.at(num(at)) });
                    });
                }
            }
            Queues::Tso(_) => {}
            Queues::Pso(pso) => {
                for Match { group, when, offset } in matches {
                    let queue = &pso.queues[*group];
                    let offset = offset_or_zero(when, offset.clone());
                    let count = writer.read("count", &queue.count, offset.clone());
                    let pending = when.clone().into_iter().chain([positive(count.clone())]);
                    writer.if_holds(all(pending), |writer| {
                        let youngest = buffers.entry_index(offset, sub(count, num(1)));
                        writer.op(Op::Load { reg: target, from: queue.values.at(youngest) });
                    });
                }
            }
        }
    }

    fn store(&mut self, pc: Pc, to: &Address, value: &Expr<Reg>) {
        let buffers = self.buffers;
        self.writer.begin(Origin::Statement(pc));
        self.check_address(to);
        let matches = buffers.matches(to);
        let [Match { group, when: None, offset }] = matches.as_slice() else {
            unreachable!("the group of a store is built from its address");
        };
        let values = match &buffers.queues {
            Queues::Tso(tso) => &tso.values.ty,
            Queues::Pso(pso) => &pso.queues[*group].values.ty,
        };
        let value = self.range_checked(to, value, values);
        let writer = &mut self.writer;
        match &buffers.queues {
            Queues::Tso(tso) => {
                let pending = writer.read_single("pending", &buffers.pending);
                writer.assume(lt(pending.clone(), num(buffers.capacity)));
                let slot = add(num(buffers.groups[*group].first_slot + 1), offset.clone());
                writer.store(tso.targets.at(pending.clone()), slot);
                writer.store(tso.values.at(pending.clone()), value);
                writer.write_single(&buffers.pending, add(pending, num(1)));
            }
            Queues::Pso(pso) => {
                let queue = &pso.queues[*group];
                let count = writer.read("count", &queue.count, offset.clone());
                writer.assume(lt(count.clone(), num(buffers.capacity)));
                let entry = buffers.entry_index(offset.clone(), count.clone());
                writer.store(queue.values.at(entry.clone()), value);
                writer.store(queue.count.at(offset.clone()), add(count, num(1)));
                if let (Some(epochs), Some(stamps)) = (&pso.epochs, &queue.stamps) {
                    let epoch = writer.read_single("epoch", &epochs.current);
                    writer.store(stamps.at(entry), epoch.clone());
                    let before = writer.read("stores", &epochs.pending, epoch.clone());
                    writer.store(epochs.pending.at(epoch), add(before, num(1)));
                }
                if buffers.has_pending_counter() {
                    let pending = writer.read_single("pending", &buffers.pending);
                    writer.write_single(&buffers.pending, add(pending, num(1)));
                }
            }
        }
        self.end_block(pc, Origin::Nothing);
    }

    /// Returns the value of a store. Adds a range check unless the value is a constant that fits,
    /// or the limits of the queue are at least as strict, so that the store into the queue faults.
    fn range_checked(&mut self, to: &Address, value: &Expr<Reg>, queue: &Type) -> Expr<Reg> {
        let ty = self.type_of(to);
        let Some((lo, hi)) = self.program.limits(&ty) else { return value.clone() };
        let known = value.as_const().is_some_and(|value| lo <= value && value <= hi);
        let alike = self.program.limits(queue).is_some_and(|(l, h)| lo <= l && h <= hi);
        if known || alike {
            return value.clone();
        }
        let reg = self.writer.scratch_register("value", &ty);
        self.writer.op(Op::Assign { reg, expr: value.clone() });
        Expr::Var(reg)
    }

    fn update(&mut self, pc: Pc, at: &Address) {
        let buffers = self.buffers;
        let matches = buffers.matches(at);
        match &buffers.queues {
            Queues::Tso(_) => {
                self.writer.begin(Origin::Statement(pc));
                self.wait_until_drained();
            }
            Queues::Pso(Pso { epochs: None, barrier_sum: None, .. }) if matches.is_empty() => {
                return self.copy_statement(pc);
            }
            Queues::Pso(pso) => {
                self.writer.begin(Origin::Statement(pc));
                if !matches.is_empty() {
                    self.check_address(at);
                }
                self.wait_until_committed(&matches);
                let writer = &mut self.writer;
                if let Some(barrier_sum) = &pso.barrier_sum {
                    let barrier_sum = writer.read_single("barrier", barrier_sum);
                    writer.assume(eq(barrier_sum, num(0)));
                }
                // The oldest pending epoch is 0. If the current epoch is 0, no older store is
                // pending.
                if let Some(epochs) = &pso.epochs {
                    let epoch = writer.read_single("epoch", &epochs.current);
                    writer.assume(eq(epoch, num(0)));
                }
            }
        }
        self.writer.op(self.thread.stmt(pc).op.clone());
        self.end_block(pc, Origin::Nothing);
    }

    fn drain(&mut self, pc: Pc, at: &Address) {
        let matches = self.buffers.matches(at);
        if matches.is_empty() {
            return self.copy_statement(pc);
        }
        self.writer.begin(Origin::Statement(pc));
        self.check_address(at);
        self.wait_until_committed(&matches);
        self.end_block(pc, Origin::Nothing);
    }

    /// Waits until no store to the location is pending.
    fn wait_until_committed(&mut self, matches: &[Match]) {
        let (buffers, writer) = (self.buffers, &mut self.writer);
        match &buffers.queues {
            Queues::Tso(tso) => {
                for at in 0..buffers.capacity {
                    let target = writer.read("where", &tso.targets, num(at));
                    writer.assume(not(targets_location(buffers, matches, &target)));
                }
            }
            Queues::Pso(pso) => {
                for Match { group, when, offset } in matches {
                    let offset = offset_or_zero(when, offset.clone());
                    let count = writer.read("count", &pso.queues[*group].count, offset);
                    let elsewhere = when.clone().map(not).into_iter();
                    writer.assume(any(elsewhere.chain([eq(count, num(0))])));
                }
            }
        }
    }

    fn fence(&mut self, pc: Pc, kinds: FenceKinds) {
        let (buffers, origin) = (self.buffers, Origin::Statement(pc));
        if kinds == FenceKinds::FULL {
            self.writer.begin(origin);
            self.wait_until_drained();
            return self.end_block(pc, Origin::Nothing);
        }
        let has = |kind| kinds.contains(kind);
        let (loads_wait, new_epoch) = (has(FenceKinds::STORE_LOAD), has(FenceKinds::STORE_STORE));
        let writer = &mut self.writer;
        match &buffers.queues {
            Queues::Tso(Tso { barrier: Some(barrier), .. }) if loads_wait => {
                writer.begin(origin);
                let pending = writer.read_single("pending", &buffers.pending);
                writer.write_single(barrier, pending);
            }
            Queues::Pso(pso) if loads_wait || new_epoch => {
                writer.begin(origin);
                if let Some(barrier_sum) = &pso.barrier_sum
                    && loads_wait
                {
                    for queue in &pso.queues {
                        let barrier = queue
                            .barrier
                            .as_ref()
                            .expect("a thread with store-load fences has barriers");
                        for at in 0..barrier.len {
                            let count = writer.read("count", &queue.count, num(at));
                            writer.store(barrier.at(num(at)), count);
                        }
                    }
                    let pending = writer.read_single("pending", &buffers.pending);
                    writer.write_single(barrier_sum, pending);
                }
                if let Some(epochs) = &pso.epochs
                    && new_epoch
                {
                    let epoch = writer.read_single("epoch", &epochs.current);
                    let stores = writer.read("stores", &epochs.pending, epoch.clone());
                    writer.if_holds(positive(stores), |writer| {
                        writer.write_single(&epochs.current, add(epoch, num(1)));
                    });
                }
            }
            Queues::Tso(_) | Queues::Pso(_) => return self.copy_statement(pc),
        }
        self.end_block(pc, Origin::Nothing);
    }
}

/// Returns the condition under which an entry of the TSO queue targets the location of an address.
fn targets_location(buffers: &ThreadBuffers, matches: &[Match], target: &Expr<Reg>) -> Expr<Reg> {
    any(matches.iter().map(|Match { group, when, offset }| {
        let slot = add(num(buffers.groups[*group].first_slot + 1), offset.clone());
        all(when.clone().into_iter().chain([eq(target.clone(), slot)]))
    }))
}
