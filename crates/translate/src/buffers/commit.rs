//! Builds the committer threads. One step moves the oldest store of a queue to memory.
//!
//! The block of a step first waits for its conditions. If a group has several locations, the block
//! first chooses one of them.

use super::layout::{Epochs, GroupQueues, Pso, Queues, ThreadBuffers, Tso};
use super::writer::BlockWriter;
use crate::Origin;
use crate::formula::{all, any, eq, lt, num, positive, sub};
use fencepost_ir::{Expr, Label, Op, Program, Reg, Thread, Type, Value};

/// Builds the committer thread of a group (under TSO, of all groups), with the origins of its
/// statements.
pub(super) fn committer_thread(
    program: &Program,
    buffers: &ThreadBuffers,
    at: usize,
    name: String,
    label: Label,
) -> (Thread, Vec<Origin>) {
    let mut writer = BlockWriter::new(program, Vec::new());
    writer.at(label, false);
    let finished = writer.persistent_register("over", &Type::Bool);
    let [again, work, close, after, halt] = [(); 5].map(|()| writer.target());
    writer.bind(again);
    writer.begin(Origin::Commit(buffers.owner));
    let mut commit = CommitterWriter { buffers, writer, at };
    let can_commit = commit.wait_for_work();
    commit.writer.jump_if(can_commit, work);
    if at + 1 < buffers.committer_count() {
        commit.writer.write_single(&buffers.done, num(at as u32 + 2));
    }
    commit.writer.op_then(Op::Assign { reg: finished, expr: num(1) }, close);
    commit.writer.bind(work);
    match &buffers.queues {
        Queues::Tso(tso) => commit.commit_tso(tso),
        Queues::Pso(pso) => {
            let offset = commit.offset(pso);
            commit.commit_pso(pso, offset);
        }
    }
    let mut writer = commit.writer;
    writer.bind(close);
    writer.end(Origin::Nothing, after);
    writer.bind(after);
    writer.branch(Expr::Var(finished), halt, again, Origin::Nothing);
    writer.bind(halt);
    writer.op_with_origin(Op::Halt, Origin::Nothing, halt);
    let (registers, code, origins) = writer.finish();
    (Thread { name, registers, code }, origins)
}

struct CommitterWriter<'a> {
    buffers: &'a ThreadBuffers,
    writer: BlockWriter<'a>,
    /// The index of this committer among those of the same thread.
    at: usize,
}

impl CommitterWriter<'_> {
    /// Waits until a store can be committed or the committer is finished. Returns the condition of
    /// the first case.
    fn wait_for_work(&mut self) -> Expr<Reg> {
        let (can_commit, has_pending) = match &self.buffers.queues {
            Queues::Tso(_) => {
                let pending = self.writer.read_single("pending", &self.buffers.pending);
                (positive(pending.clone()), positive(pending))
            }
            Queues::Pso(pso) if pso.queues[self.at].count.len == 1 => {
                let (can_commit, count) = self.can_commit(pso, num(0));
                (can_commit, positive(count))
            }
            Queues::Pso(pso) => return self.choose_location(pso),
        };
        let finished = self.finished_condition();
        self.writer.assume(any([can_commit, finished]));
        has_pending
    }

    /// Returns the condition under which the committer is finished: the thread is done and no store
    /// is pending. The committers of a thread finish in a fixed order, which reduces the number of
    /// states.
    fn finished_condition(&mut self) -> Expr<Reg> {
        let done = self.writer.read_single("done", &self.buffers.done);
        let turn = eq(done, num(self.at as u32 + 1));
        if self.at > 0 || !self.buffers.has_pending_counter() {
            return turn;
        }
        let pending = self.writer.read_single("pending", &self.buffers.pending);
        all([turn, eq(pending, num(0))])
    }

    /// Returns the condition under which the oldest store at an offset can be committed, and the
    /// number of pending stores there.
    fn can_commit(&mut self, pso: &Pso, offset: Expr<Reg>) -> (Expr<Reg>, Expr<Reg>) {
        let queue = &pso.queues[self.at];
        let count = self.writer.read("count", &queue.count, offset.clone());
        let mut can_commit = positive(count.clone());
        if let Some(stamps) = &queue.stamps {
            let oldest = self.buffers.entry_index(offset, num(0));
            let stamp = self.writer.read("stamp", stamps, oldest);
            can_commit = all([can_commit, eq(stamp, num(0))]);
        }
        (can_commit, count)
    }

    /// Chooses a location of the group and waits until a store to it can be committed, or chooses
    /// to finish and waits until that is possible. Returns the condition of the first case.
    fn choose_location(&mut self, pso: &Pso) -> Expr<Reg> {
        let size = pso.queues[self.at].count.len;
        let offset = self.offset(pso);
        let reg = self.writer.scratch_register("offset", &up_to(size));
        self.writer.op(Op::Choose { reg, lo: 0, hi: size as Value });
        let [check, waited] = [(); 2].map(|()| self.writer.target());
        self.writer.jump_if(lt(offset.clone(), num(size)), check);
        let finished = self.finished_condition();
        self.writer.assume(finished);
        self.writer.op_then(Op::Skip, waited);
        self.writer.bind(check);
        let (can_commit, _) = self.can_commit(pso, offset.clone());
        self.writer.assume(can_commit);
        self.writer.bind(waited);
        lt(offset, num(size))
    }

    /// Returns the offset of the location that is committed to: the chosen one, if there are
    /// several.
    fn offset(&mut self, pso: &Pso) -> Expr<Reg> {
        match pso.queues[self.at].count.len {
            1 => num(0),
            size => Expr::Var(self.writer.scratch_register("offset", &up_to(size))),
        }
    }

    /// Commits the oldest store of the TSO queue.
    fn commit_tso(&mut self, tso: &Tso) {
        let (buffers, writer) = (self.buffers, &mut self.writer);
        let target = writer.read("where", &tso.targets, num(0));
        let value = writer.read("value", &tso.values, num(0));
        let stored = writer.target();
        for (at, group) in buffers.groups.iter().enumerate() {
            let next = writer.target();
            let last = at + 1 == buffers.groups.len();
            if !last {
                let end = group.first_slot + group.size() + 1;
                writer.jump_unless(lt(target.clone(), num(end)), next);
            }
            let offset = sub(target.clone(), num(group.first_slot + 1));
            let offset = if group.size() == 1 { num(0) } else { offset };
            let store = Op::Store { to: group.address(offset), value: value.clone() };
            writer.op_then(store, stored);
            writer.bind(next);
        }
        writer.bind(stored);
        for at in 1..buffers.capacity {
            let target = writer.read("where", &tso.targets, num(at));
            writer.store(tso.targets.at(num(at - 1)), target);
            let value = writer.read("value", &tso.values, num(at));
            writer.store(tso.values.at(num(at - 1)), value);
        }
        writer.store(tso.targets.at(num(buffers.capacity - 1)), num(0));
        writer.store(tso.values.at(num(buffers.capacity - 1)), num(0));
        let pending = writer.read_single("pending", &buffers.pending);
        writer.write_single(&buffers.pending, sub(pending, num(1)));
        if let Some(barrier) = &tso.barrier {
            let before = writer.read_single("barrier", barrier);
            writer.if_holds(positive(before.clone()), |writer| {
                writer.write_single(barrier, sub(before, num(1)));
            });
        }
    }

    /// Commits the oldest store of the PSO queue at an offset.
    fn commit_pso(&mut self, pso: &Pso, offset: Expr<Reg>) {
        let (buffers, writer) = (self.buffers, &mut self.writer);
        let GroupQueues { count, values, stamps, barrier } = &pso.queues[self.at];
        let entry = |at| buffers.entry_index(offset.clone(), num(at));
        let value = writer.read("value", values, entry(0));
        writer.store(buffers.groups[self.at].address(offset.clone()), value);
        for (purpose, array) in [("value", Some(values)), ("stamp", stamps.as_ref())] {
            let Some(array) = array else { continue };
            for at in 1..buffers.capacity {
                let moved = writer.read(purpose, array, entry(at));
                writer.store(array.at(entry(at - 1)), moved);
            }
            writer.store(array.at(entry(buffers.capacity - 1)), num(0));
        }
        let before = writer.read("count", count, offset.clone());
        writer.store(count.at(offset.clone()), sub(before, num(1)));
        if buffers.has_pending_counter() {
            let pending = writer.read_single("pending", &buffers.pending);
            writer.write_single(&buffers.pending, sub(pending, num(1)));
        }
        if let (Some(barrier), Some(barrier_sum)) = (barrier, &pso.barrier_sum) {
            let before = writer.read("barrier", barrier, offset.clone());
            writer.if_holds(positive(before.clone()), |writer| {
                writer.store(barrier.at(offset.clone()), sub(before, num(1)));
                let all = writer.read_single("waiting", barrier_sum);
                writer.write_single(barrier_sum, sub(all, num(1)));
            });
        }
        if let Some(epochs) = &pso.epochs {
            self.leave_epoch(pso, epochs);
        }
    }

    /// Removes a committed store from epoch 0. If it was the last one, decrements all epochs.
    fn leave_epoch(&mut self, pso: &Pso, epochs: &Epochs) {
        let writer = &mut self.writer;
        let stores = writer.read("stores", &epochs.pending, num(0));
        writer.store(epochs.pending.at(num(0)), sub(stores.clone(), num(1)));
        writer.if_holds(eq(stores, num(1)), |writer| {
            for at in 1..epochs.pending.len {
                let stores = writer.read("stores", &epochs.pending, num(at));
                writer.store(epochs.pending.at(num(at - 1)), stores);
            }
            writer.store(epochs.pending.at(num(epochs.pending.len - 1)), num(0));
            let stamps = pso.queues.iter().filter_map(|queue| queue.stamps.as_ref());
            for array in stamps.chain([&epochs.current]) {
                for at in 0..array.len {
                    let epoch = writer.read("epoch", array, num(at));
                    writer.if_holds(positive(epoch.clone()), |writer| {
                        writer.store(array.at(num(at)), sub(epoch, num(1)));
                    });
                }
            }
        });
    }
}

fn up_to(most: u32) -> Type {
    Type::Int { range: Some((0, most as Value)) }
}
