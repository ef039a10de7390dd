//! The threads that commit: one step takes the oldest store of a queue to memory.
//!
//! What a step waits for comes first, and so does the choice where a group has several locations.

use super::layout::{Buffers, Epochs, Pso, Queue, Queues, Tso};
use super::writer::Writer;
use crate::Origin;
use crate::formula::{all, any, eq, lt, num, positive, sub};
use fencepost_ir::{Expr, Label, Op, Program, Reg, Thread, Type, Value};

/// The thread that commits for a group (under TSO, for all), and the origins of its statements.
pub(super) fn thread(
    program: &Program,
    buffers: &Buffers,
    at: usize,
    name: String,
    label: Label,
) -> (Thread, Vec<Origin>) {
    let mut writer = Writer::new(program, Vec::new());
    writer.at(label, false);
    let over = writer.lasting("over", &Type::Bool);
    let [again, work, close, after, halt] = [(); 5].map(|()| writer.target());
    writer.bind(again);
    writer.begin(Origin::Commit(buffers.owner));
    let mut commit = Commit { buffers, writer, at };
    let can = commit.wait();
    commit.writer.jump_if(can, work);
    if at + 1 < buffers.committers() {
        commit.writer.set(&buffers.done, num(at as u32 + 2));
    }
    commit.writer.op_then(Op::Assign { reg: over, expr: num(1) }, close);
    commit.writer.bind(work);
    match &buffers.queues {
        Queues::Tso(tso) => commit.tso(tso),
        Queues::Pso(pso) => {
            let offset = commit.offset(pso);
            commit.pso(pso, offset);
        }
    }
    let mut writer = commit.writer;
    writer.bind(close);
    writer.end(Origin::Nothing, after);
    writer.bind(after);
    writer.branch(Expr::Var(over), halt, again, Origin::Nothing);
    writer.bind(halt);
    writer.original(Op::Halt, Origin::Nothing, halt);
    let (registers, code, origins) = writer.finish();
    (Thread { name, registers, code }, origins)
}

struct Commit<'a> {
    buffers: &'a Buffers,
    writer: Writer<'a>,
    /// Which of the threads that commit for the same thread.
    at: usize,
}

impl Commit<'_> {
    /// Waits until there is something to commit, or nothing left to do. Tells whether it is the first.
    fn wait(&mut self) -> Expr<Reg> {
        let (can, some) = match &self.buffers.queues {
            Queues::Tso(_) => {
                let pending = self.writer.get("pending", &self.buffers.pending);
                (positive(pending.clone()), positive(pending))
            }
            Queues::Pso(pso) if pso.queues[self.at].count.len == 1 => {
                let (can, count) = self.can(pso, num(0));
                (can, positive(count))
            }
            Queues::Pso(pso) => return self.choose(pso),
        };
        let over = self.is_over();
        self.writer.assume(any([can, over]));
        some
    }

    /// Whether there is nothing left to do: the thread is done and nothing is pending. Threads that commit
    /// for the same one end one after another, for the fewest states.
    fn is_over(&mut self) -> Expr<Reg> {
        let done = self.writer.get("done", &self.buffers.done);
        let turn = eq(done, num(self.at as u32 + 1));
        if self.at > 0 || !self.buffers.counts_apart() {
            return turn;
        }
        let pending = self.writer.get("pending", &self.buffers.pending);
        all([turn, eq(pending, num(0))])
    }

    /// Whether the oldest store at an offset can be committed, and how many are pending there.
    fn can(&mut self, pso: &Pso, offset: Expr<Reg>) -> (Expr<Reg>, Expr<Reg>) {
        let queue = &pso.queues[self.at];
        let count = self.writer.read("count", &queue.count, offset.clone());
        let mut can = positive(count.clone());
        if let Some(stamps) = &queue.stamps {
            let oldest = self.buffers.entry(offset, num(0));
            let stamp = self.writer.read("stamp", stamps, oldest);
            can = all([can, eq(stamp, num(0))]);
        }
        (can, count)
    }

    /// Chooses a location of a group and waits until a store can be committed there, or chooses to end and waits
    /// for that. Tells whether it is the first.
    fn choose(&mut self, pso: &Pso) -> Expr<Reg> {
        let size = pso.queues[self.at].count.len;
        let offset = self.offset(pso);
        let reg = self.writer.register("offset", &up_to(size));
        self.writer.op(Op::Choose { reg, lo: 0, hi: size as Value });
        let [look, waited] = [(); 2].map(|()| self.writer.target());
        self.writer.jump_if(lt(offset.clone(), num(size)), look);
        let over = self.is_over();
        self.writer.assume(over);
        self.writer.op_then(Op::Skip, waited);
        self.writer.bind(look);
        let (can, _) = self.can(pso, offset.clone());
        self.writer.assume(can);
        self.writer.bind(waited);
        lt(offset, num(size))
    }

    /// Which location of the group is committed to: the chosen one, if there are several.
    fn offset(&mut self, pso: &Pso) -> Expr<Reg> {
        match pso.queues[self.at].count.len {
            1 => num(0),
            size => Expr::Var(self.writer.register("offset", &up_to(size))),
        }
    }

    /// Commits the oldest store of TSO.
    fn tso(&mut self, tso: &Tso) {
        let (buffers, writer) = (self.buffers, &mut self.writer);
        let place = writer.read("where", &tso.places, num(0));
        let value = writer.read("value", &tso.values, num(0));
        let stored = writer.target();
        for (at, group) in buffers.groups.iter().enumerate() {
            let next = writer.target();
            let last = at + 1 == buffers.groups.len();
            if !last {
                let end = group.before + group.size() + 1;
                writer.jump_unless(lt(place.clone(), num(end)), next);
            }
            let offset = sub(place.clone(), num(group.before + 1));
            let offset = if group.size() == 1 { num(0) } else { offset };
            let store = Op::Store { to: group.address(offset), value: value.clone() };
            writer.op_then(store, stored);
            writer.bind(next);
        }
        writer.bind(stored);
        for at in 1..buffers.room {
            let place = writer.read("where", &tso.places, num(at));
            writer.store(tso.places.at(num(at - 1)), place);
            let value = writer.read("value", &tso.values, num(at));
            writer.store(tso.values.at(num(at - 1)), value);
        }
        writer.store(tso.places.at(num(buffers.room - 1)), num(0));
        writer.store(tso.values.at(num(buffers.room - 1)), num(0));
        let pending = writer.get("pending", &buffers.pending);
        writer.set(&buffers.pending, sub(pending, num(1)));
        if let Some(barrier) = &tso.barrier {
            let before = writer.get("barrier", barrier);
            writer.when(positive(before.clone()), |writer| {
                writer.set(barrier, sub(before, num(1)));
            });
        }
    }

    /// Commits the oldest store of PSO at an offset.
    fn pso(&mut self, pso: &Pso, offset: Expr<Reg>) {
        let (buffers, writer) = (self.buffers, &mut self.writer);
        let Queue { count, values, stamps, barrier } = &pso.queues[self.at];
        let entry = |at| buffers.entry(offset.clone(), num(at));
        let value = writer.read("value", values, entry(0));
        writer.store(buffers.groups[self.at].address(offset.clone()), value);
        for (purpose, array) in [("value", Some(values)), ("stamp", stamps.as_ref())] {
            let Some(array) = array else { continue };
            for at in 1..buffers.room {
                let moved = writer.read(purpose, array, entry(at));
                writer.store(array.at(entry(at - 1)), moved);
            }
            writer.store(array.at(entry(buffers.room - 1)), num(0));
        }
        let before = writer.read("count", count, offset.clone());
        writer.store(count.at(offset.clone()), sub(before, num(1)));
        if buffers.counts_apart() {
            let pending = writer.get("pending", &buffers.pending);
            writer.set(&buffers.pending, sub(pending, num(1)));
        }
        if let (Some(barrier), Some(waiting)) = (barrier, &pso.waiting) {
            let before = writer.read("barrier", barrier, offset.clone());
            writer.when(positive(before.clone()), |writer| {
                writer.store(barrier.at(offset.clone()), sub(before, num(1)));
                let all = writer.get("waiting", waiting);
                writer.set(waiting, sub(all, num(1)));
            });
        }
        if let Some(epochs) = &pso.epochs {
            self.leave_epoch(pso, epochs);
        }
    }

    /// A store of epoch 0 is gone. If it was the last one, all epochs are counted down.
    fn leave_epoch(&mut self, pso: &Pso, epochs: &Epochs) {
        let writer = &mut self.writer;
        let stores = writer.read("stores", &epochs.pending, num(0));
        writer.store(epochs.pending.at(num(0)), sub(stores.clone(), num(1)));
        writer.when(eq(stores, num(1)), |writer| {
            for at in 1..epochs.pending.len {
                let stores = writer.read("stores", &epochs.pending, num(at));
                writer.store(epochs.pending.at(num(at - 1)), stores);
            }
            writer.store(epochs.pending.at(num(epochs.pending.len - 1)), num(0));
            let stamps = pso.queues.iter().filter_map(|queue| queue.stamps.as_ref());
            for array in stamps.chain([&epochs.current]) {
                for at in 0..array.len {
                    let epoch = writer.read("epoch", array, num(at));
                    writer.when(positive(epoch.clone()), |writer| {
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
