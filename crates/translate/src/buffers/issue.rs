//! The statements of a thread with explicit buffers: what waits, what enters a queue, what is forwarded.
//!
//! Addresses and values are checked where the original checks them. An update that will fault may have to wait
//! first: it faults all the same, because whatever it waits for can always be committed.

use super::layout::{Buffers, Pso, Queues, Tso};
use super::writer::Writer;
use crate::Origin;
use crate::blocks::inside_blocks;
use crate::formula::{add, all, any, eq, guarded, lt, not, num, positive, sub};
use crate::groups::{Match, is_plain};
use fencepost_ir::assemble::Target;
use fencepost_ir::{Address, Expr, FenceKinds, Op, Pc, Program, Reg, Thread, Type};

/// A thread with its buffers, and the origins of its statements.
pub(super) fn thread(
    program: &Program,
    buffers: &Buffers,
    thread: &Thread,
) -> (Thread, Vec<Origin>) {
    let mut writer = Writer::new(program, thread.registers.clone());
    let targets = thread.code.iter().map(|_| writer.target()).collect();
    let halts = thread.code.iter().map(|_| writer.target()).collect();
    let mut issue = Issue { program, buffers, thread, writer, targets, halts };
    for (at, inside) in inside_blocks(thread).into_iter().enumerate() {
        issue.statement(Pc::from_index(at), inside);
    }
    let (registers, code, origins) = issue.writer.finish();
    (Thread { name: thread.name.clone(), registers, code }, origins)
}

struct Issue<'a> {
    program: &'a Program,
    buffers: &'a Buffers,
    thread: &'a Thread,
    writer: Writer<'a>,
    /// By program counter of the original: where the statement is.
    targets: Vec<Target>,
    /// By program counter of the original, for a `Halt`: where it is known that the thread is done.
    halts: Vec<Target>,
}

impl Issue<'_> {
    fn statement(&mut self, pc: Pc, inside: bool) {
        let stmt = self.thread.stmt(pc);
        let origin = Origin::Statement(pc);
        self.writer.at(stmt.label, stmt.critical);
        self.writer.bind(self.targets[pc.index()]);
        let next = self.targets[stmt.next.index()];
        match &stmt.op {
            Op::AtomicEnd => self.end(pc, origin),
            Op::Branch { cond, then, otherwise } => {
                let (then, otherwise) =
                    (self.targets[then.index()], self.targets[otherwise.index()]);
                self.writer.branch(cond.clone(), then, otherwise, origin);
            }
            Op::Halt => {
                self.writer.set(&self.buffers.done, num(1));
                let halted = self.halts[pc.index()];
                self.writer.bind(halted);
                self.writer.original(Op::Halt, origin, halted);
            }
            op if inside => self.writer.original(op.clone(), origin, next),
            Op::AtomicBegin => {
                self.writer.begin(origin);
                self.wait_for_all();
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
            | Op::Return { .. }) => self.writer.original(op.clone(), origin, next),
        }
    }

    /// The statement as it is.
    fn same(&mut self, pc: Pc) {
        let stmt = self.thread.stmt(pc);
        let next = self.targets[stmt.next.index()];
        self.writer.original(stmt.op.clone(), Origin::Statement(pc), next);
    }

    /// Ends the block of a statement. If the thread is done then, that is part of the step.
    fn end(&mut self, pc: Pc, origin: Origin) {
        let mut next = self.thread.stmt(pc).next;
        // A chain of `skip` may go round.
        for _ in 0..self.thread.code.len() {
            match self.thread.stmt(next).op {
                Op::Skip => next = self.thread.stmt(next).next,
                Op::Halt => {
                    self.writer.set(&self.buffers.done, num(1));
                    return self.writer.end(origin, self.halts[next.index()]);
                }
                _ => break,
            }
        }
        let next = self.targets[self.thread.stmt(pc).next.index()];
        self.writer.end(origin, next);
    }

    fn wait_for_all(&mut self) {
        let pending = self.writer.get("pending", &self.buffers.pending);
        self.writer.assume(eq(pending, num(0)));
    }

    /// The type of what an address means.
    fn type_of(&self, at: &Address) -> Type {
        self.program.location(at.base).ty.clone()
    }

    /// Faults where the address does.
    fn touch(&mut self, at: &Address) {
        if !is_plain(at) {
            let reg = self.writer.register("value", &self.type_of(at));
            self.writer.op(Op::Load { reg, from: at.clone() });
        }
    }

    fn load(&mut self, pc: Pc, reg: Reg, from: &Address) {
        let matches = self.buffers.matches(from);
        let waits = match &self.buffers.queues {
            Queues::Tso(Tso { barrier, .. }) => barrier,
            Queues::Pso(Pso { waiting, .. }) => waiting,
        };
        if matches.is_empty() && waits.is_none() {
            return self.same(pc);
        }
        self.writer.begin(Origin::Statement(pc));
        // What is in memory must fit where it is put, even if a pending store hides it.
        let ty = self.type_of(from);
        let own = &self.thread.registers[reg.index()].ty;
        let limits = |ty| self.program.limits(ty);
        let fits = match (limits(&ty), limits(own)) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(inner), Some(outer)) => outer.0 <= inner.0 && inner.1 <= outer.1,
        };
        let fits = matches.is_empty() || (fits && is_plain(from));
        let target = if fits { reg } else { self.writer.register("value", &ty) };
        if !matches.is_empty() {
            self.writer.op(Op::Load { reg: target, from: from.clone() });
        }
        if let Some(waits) = waits {
            let waiting = self.writer.get("barrier", waits);
            self.writer.assume(eq(waiting, num(0)));
        }
        if matches.is_empty() {
            self.writer.op(Op::Load { reg: target, from: from.clone() });
        }
        self.forward(&matches, target);
        if target != reg {
            self.writer.op(Op::Assign { reg, expr: Expr::Var(target) });
        }
        self.end(pc, Origin::Nothing);
    }

    /// Puts the youngest pending store to the location, if there is one, into a register.
    fn forward(&mut self, matches: &[Match], target: Reg) {
        let (buffers, writer) = (self.buffers, &mut self.writer);
        match &buffers.queues {
            Queues::Tso(tso) if !matches.is_empty() => {
                for at in 0..buffers.room {
                    let place = writer.read("where", &tso.places, num(at));
                    writer.when(is_at(buffers, matches, &place), |writer| {
                        writer.op(Op::Load { reg: target, from: tso.values.at(num(at)) });
                    });
                }
            }
            Queues::Tso(_) => {}
            Queues::Pso(pso) => {
                for Match { group, when, offset } in matches {
                    let queue = &pso.queues[*group];
                    let offset = guarded(when, offset.clone());
                    let count = writer.read("count", &queue.count, offset.clone());
                    let pending = when.clone().into_iter().chain([positive(count.clone())]);
                    writer.when(all(pending), |writer| {
                        let youngest = buffers.entry(offset, sub(count, num(1)));
                        writer.op(Op::Load { reg: target, from: queue.values.at(youngest) });
                    });
                }
            }
        }
    }

    fn store(&mut self, pc: Pc, to: &Address, value: &Expr<Reg>) {
        let buffers = self.buffers;
        self.writer.begin(Origin::Statement(pc));
        self.touch(to);
        let matches = buffers.matches(to);
        let [Match { group, when: None, offset }] = matches.as_slice() else {
            unreachable!("a store is into one group, which was made from it");
        };
        let values = match &buffers.queues {
            Queues::Tso(tso) => &tso.values.ty,
            Queues::Pso(pso) => &pso.queues[*group].values.ty,
        };
        let value = self.checked(to, value, values);
        let writer = &mut self.writer;
        match &buffers.queues {
            Queues::Tso(tso) => {
                let pending = writer.get("pending", &buffers.pending);
                writer.assume(lt(pending.clone(), num(buffers.room)));
                let slot = add(num(buffers.groups[*group].before + 1), offset.clone());
                writer.store(tso.places.at(pending.clone()), slot);
                writer.store(tso.values.at(pending.clone()), value);
                writer.set(&buffers.pending, add(pending, num(1)));
            }
            Queues::Pso(pso) => {
                let queue = &pso.queues[*group];
                let count = writer.read("count", &queue.count, offset.clone());
                writer.assume(lt(count.clone(), num(buffers.room)));
                let entry = buffers.entry(offset.clone(), count.clone());
                writer.store(queue.values.at(entry.clone()), value);
                writer.store(queue.count.at(offset.clone()), add(count, num(1)));
                if let (Some(epochs), Some(stamps)) = (&pso.epochs, &queue.stamps) {
                    let epoch = writer.get("epoch", &epochs.current);
                    writer.store(stamps.at(entry), epoch.clone());
                    let before = writer.read("stores", &epochs.pending, epoch.clone());
                    writer.store(epochs.pending.at(epoch), add(before, num(1)));
                }
                if buffers.counts_apart() {
                    let pending = writer.get("pending", &buffers.pending);
                    writer.set(&buffers.pending, add(pending, num(1)));
                }
            }
        }
        self.end(pc, Origin::Nothing);
    }

    /// The value of a store; what faults when it does not fit its location, or faults in a queue.
    fn checked(&mut self, to: &Address, value: &Expr<Reg>, queue: &Type) -> Expr<Reg> {
        let ty = self.type_of(to);
        let Some((lo, hi)) = self.program.limits(&ty) else { return value.clone() };
        let known = value.as_const().is_some_and(|value| lo <= value && value <= hi);
        let alike = self.program.limits(queue).is_some_and(|(l, h)| lo <= l && h <= hi);
        if known || alike {
            return value.clone();
        }
        let reg = self.writer.register("value", &ty);
        self.writer.op(Op::Assign { reg, expr: value.clone() });
        Expr::Var(reg)
    }

    fn update(&mut self, pc: Pc, at: &Address) {
        let buffers = self.buffers;
        let matches = buffers.matches(at);
        match &buffers.queues {
            Queues::Tso(_) => {
                self.writer.begin(Origin::Statement(pc));
                self.wait_for_all();
            }
            Queues::Pso(Pso { epochs: None, waiting: None, .. }) if matches.is_empty() => {
                return self.same(pc);
            }
            Queues::Pso(pso) => {
                self.writer.begin(Origin::Statement(pc));
                if !matches.is_empty() {
                    self.touch(at);
                }
                self.wait_for(&matches);
                let writer = &mut self.writer;
                if let Some(waiting) = &pso.waiting {
                    let waiting = writer.get("barrier", waiting);
                    writer.assume(eq(waiting, num(0)));
                }
                // The oldest pending epoch is 0: none is older than the current one if that is 0, too.
                if let Some(epochs) = &pso.epochs {
                    let epoch = writer.get("epoch", &epochs.current);
                    writer.assume(eq(epoch, num(0)));
                }
            }
        }
        self.writer.op(self.thread.stmt(pc).op.clone());
        self.end(pc, Origin::Nothing);
    }

    fn drain(&mut self, pc: Pc, at: &Address) {
        let matches = self.buffers.matches(at);
        if matches.is_empty() {
            return self.same(pc);
        }
        self.writer.begin(Origin::Statement(pc));
        self.touch(at);
        self.wait_for(&matches);
        self.end(pc, Origin::Nothing);
    }

    /// Waits until no store to the location is pending.
    fn wait_for(&mut self, matches: &[Match]) {
        let (buffers, writer) = (self.buffers, &mut self.writer);
        match &buffers.queues {
            Queues::Tso(tso) => {
                for at in 0..buffers.room {
                    let place = writer.read("where", &tso.places, num(at));
                    writer.assume(not(is_at(buffers, matches, &place)));
                }
            }
            Queues::Pso(pso) => {
                for Match { group, when, offset } in matches {
                    let offset = guarded(when, offset.clone());
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
            self.wait_for_all();
            return self.end(pc, Origin::Nothing);
        }
        let has = |kind| kinds.contains(kind);
        let (loads_wait, new_epoch) = (has(FenceKinds::STORE_LOAD), has(FenceKinds::STORE_STORE));
        let writer = &mut self.writer;
        match &buffers.queues {
            Queues::Tso(Tso { barrier: Some(barrier), .. }) if loads_wait => {
                writer.begin(origin);
                let pending = writer.get("pending", &buffers.pending);
                writer.set(barrier, pending);
            }
            Queues::Pso(pso) if loads_wait || new_epoch => {
                writer.begin(origin);
                if let Some(waiting) = &pso.waiting
                    && loads_wait
                {
                    for queue in &pso.queues {
                        let barrier = queue.barrier.as_ref().expect("there are such fences");
                        for at in 0..barrier.len {
                            let count = writer.read("count", &queue.count, num(at));
                            writer.store(barrier.at(num(at)), count);
                        }
                    }
                    let pending = writer.get("pending", &buffers.pending);
                    writer.set(waiting, pending);
                }
                if let Some(epochs) = &pso.epochs
                    && new_epoch
                {
                    let epoch = writer.get("epoch", &epochs.current);
                    let stores = writer.read("stores", &epochs.pending, epoch.clone());
                    writer.when(positive(stores), |writer| {
                        writer.set(&epochs.current, add(epoch, num(1)));
                    });
                }
            }
            Queues::Tso(_) | Queues::Pso(_) => return self.same(pc),
        }
        self.end(pc, Origin::Nothing);
    }
}

/// Whether an entry of the queue of TSO is to a location that an address means.
fn is_at(buffers: &Buffers, matches: &[Match], place: &Expr<Reg>) -> Expr<Reg> {
    any(matches.iter().map(|Match { group, when, offset }| {
        let slot = add(num(buffers.groups[*group].before + 1), offset.clone());
        all(when.clone().into_iter().chain([eq(place.clone(), slot)]))
    }))
}
