//! Classes of registers and locations that exchange values.

use super::Class;
use crate::expr::{BinOp, Expr};
use crate::ids::{Loc, Reg, ThreadId};
use crate::op::{Address, CasResult, Op, Update};
use crate::program::{Problem, Program};
use crate::property::{Observable, Property};
use crate::value::Type;

/// Where the value of an expression comes from.
#[derive(Clone, Copy)]
enum Source {
    /// A constant, which may belong to any class.
    Constant,
    /// A register or location.
    Slot(usize),
    /// A computation. A renaming must keep its value.
    Plain,
}

/// The classes, as sets of slots: first the locations, then the registers of all threads.
pub(super) struct Classes<'p> {
    program: &'p Program,
    first_register: Vec<usize>,
    /// The union-find forest.
    parents: Vec<usize>,
    /// Whether the class of a root is plain.
    plain: Vec<bool>,
}

impl<'p> Classes<'p> {
    /// Computes the classes. The threads of each candidate set have equal code, so their registers
    /// have the same classes, and so have the locations that they access at the same place.
    pub(super) fn new(problem: &'p Problem, candidates: &[Vec<ThreadId>]) -> Self {
        let program = &problem.program;
        let mut slots = program.locations.len();
        let first = |thread: &crate::program::Thread| {
            slots += thread.registers.len();
            slots - thread.registers.len()
        };
        let first_register: Vec<usize> = program.threads.iter().map(first).collect();
        let parents = (0..slots).collect();
        let mut classes = Classes { program, first_register, parents, plain: vec![false; slots] };
        for t in program.thread_ids() {
            for stmt in &program.thread(t).code {
                classes.add_op(t, &stmt.op);
            }
        }
        for threads in candidates {
            for t in &threads[1..] {
                classes.unite_threads(threads[0], *t);
            }
        }
        classes.add_types();
        classes.add_properties(problem);
        classes
    }

    /// Returns the class of a register. `None` if it is plain.
    pub(super) fn register(&self, t: ThreadId, reg: usize) -> Option<Class> {
        self.class(self.first_register[t.index()] + reg)
    }

    /// Returns the class of a location. `None` if it is plain.
    pub(super) fn location(&self, loc: Loc) -> Option<Class> {
        self.class(loc.index())
    }

    /// Returns the class of an observable. `None` if it is plain.
    pub(super) fn observable(&self, what: Observable) -> Option<Class> {
        match what {
            Observable::Loc(loc) => self.location(loc),
            Observable::Reg(t, reg) => self.register(t, reg.index()),
            Observable::At(..) => None,
        }
    }

    fn class(&self, slot: usize) -> Option<Class> {
        let root = self.root(slot);
        (!self.plain[root]).then_some(Class(root as u32))
    }

    fn root(&self, mut slot: usize) -> usize {
        while self.parents[slot] != slot {
            slot = self.parents[slot];
        }
        slot
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parents[high] = low;
        self.plain[low] |= self.plain[high];
    }

    fn make_plain(&mut self, source: Source) {
        if let Source::Slot(slot) = source {
            let root = self.root(slot);
            self.plain[root] = true;
        }
    }

    /// Records that two values are compared, or that one of them is copied to the other.
    fn meet(&mut self, a: Source, b: Source) -> Source {
        match (a, b) {
            (Source::Constant, other) | (other, Source::Constant) => other,
            (Source::Slot(a), Source::Slot(b)) => {
                self.unite(a, b);
                Source::Slot(a)
            }
            (other, Source::Plain) | (Source::Plain, other) => {
                self.make_plain(other);
                Source::Plain
            }
        }
    }

    /// Returns the source of the value of an expression. `leaf` gives the source of a leaf.
    fn add_expr<V>(&mut self, expr: &Expr<V>, leaf: &dyn Fn(&V) -> Source) -> Source {
        match expr {
            Expr::Const(_) => Source::Constant,
            Expr::Var(var) => leaf(var),
            Expr::Unary(_, a) => self.add_plain(a, leaf),
            Expr::Binary(op, a, b) => {
                if matches!(op, BinOp::Eq | BinOp::Ne) {
                    let (a, b) = (self.add_expr(a, leaf), self.add_expr(b, leaf));
                    self.meet(a, b);
                    Source::Plain
                } else {
                    self.add_plain(a, leaf);
                    self.add_plain(b, leaf)
                }
            }
            Expr::Select(condition, a, b) => {
                self.add_plain(condition, leaf);
                let (a, b) = (self.add_expr(a, leaf), self.add_expr(b, leaf));
                self.meet(a, b)
            }
        }
    }

    /// Records that a renaming must keep the value of an expression.
    fn add_plain<V>(&mut self, expr: &Expr<V>, leaf: &dyn Fn(&V) -> Source) -> Source {
        let source = self.add_expr(expr, leaf);
        self.make_plain(source);
        Source::Plain
    }

    fn add_op(&mut self, t: ThreadId, op: &Op) {
        let first = self.first_register[t.index()];
        let slot = |reg: Reg| first + reg.index();
        let leaf = |reg: &Reg| Source::Slot(slot(*reg));
        match op {
            Op::Assign { reg, expr } => {
                let value = self.add_expr(expr, &leaf);
                self.meet(leaf(reg), value);
            }
            Op::Load { reg, from } => {
                let memory = self.add_address(from, &leaf);
                self.meet(leaf(reg), memory);
            }
            Op::Store { to, value } => {
                let memory = self.add_address(to, &leaf);
                let value = self.add_expr(value, &leaf);
                self.meet(memory, value);
            }
            Op::Update { reg, at, update } => {
                let memory = self.add_address(at, &leaf);
                let yields = self.add_update(update, memory, &leaf);
                if let Some(reg) = reg {
                    self.meet(leaf(reg), yields);
                }
            }
            Op::Drain(at) => {
                self.add_address(at, &leaf);
            }
            Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => {
                self.add_plain(cond, &leaf);
            }
            Op::Choose { reg, .. } | Op::New { reg, .. } => self.make_plain(leaf(reg)),
            Op::Free { cell, .. } => {
                self.add_plain(cell, &leaf);
            }
            // No program with one of these statements has a group.
            Op::Invoke { .. }
            | Op::Return { .. }
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. } => {}
            Op::Skip
            | Op::Fence(_)
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Join
            | Op::Halt => {}
        }
    }

    /// Returns the source of what an update yields.
    fn add_update(
        &mut self,
        update: &Update,
        memory: Source,
        leaf: &dyn Fn(&Reg) -> Source,
    ) -> Source {
        match update {
            Update::Cas { expected, new, result } => {
                for value in [expected, new] {
                    let value = self.add_expr(value, leaf);
                    self.meet(memory, value);
                }
                match result {
                    CasResult::Success => Source::Plain,
                    CasResult::Old => memory,
                }
            }
            Update::Swap { new } => {
                let new = self.add_expr(new, leaf);
                self.meet(memory, new);
                memory
            }
            Update::Add { by, .. } | Update::Bits { by, .. } => {
                self.make_plain(memory);
                self.add_plain(by, leaf)
            }
        }
    }

    /// Returns the source of the values at an address. All locations of the address have one class.
    fn add_address(&mut self, address: &Address, leaf: &dyn Fn(&Reg) -> Source) -> Source {
        let locations = locations(self.program, address);
        for pair in locations.windows(2) {
            self.unite(pair[0].index(), pair[1].index());
        }
        if let Some((_, cell)) = &address.cell {
            self.add_plain(cell, leaf);
        }
        if let Some((_, index)) = &address.index {
            self.add_expr(index, leaf);
        }
        if let Some(pointer) = &address.pointer {
            self.add_plain(&pointer.value, leaf);
        }
        locations.first().map_or(Source::Plain, |loc| Source::Slot(loc.index()))
    }

    fn unite_threads(&mut self, a: ThreadId, b: ThreadId) {
        let (first, second) = (self.first_register[a.index()], self.first_register[b.index()]);
        for reg in 0..self.program.thread(a).registers.len() {
            self.unite(first + reg, second + reg);
        }
        let code = |t: ThreadId| &self.program.thread(t).code;
        for (a, b) in code(a).iter().zip(code(b)) {
            if let (Some(a), Some(b)) = (a.op.address(), b.op.address()) {
                let (a, b) = (locations(self.program, a), locations(self.program, b));
                if let (Some(a), Some(b)) = (a.first(), b.first()) {
                    self.unite(a.index(), b.index());
                }
            }
        }
    }

    /// References are plain: a pool gives its cells to threads in a fixed order.
    fn add_types(&mut self) {
        for (at, location) in self.program.locations.iter().enumerate() {
            if matches!(location.ty, Type::Ref(_)) {
                self.make_plain(Source::Slot(at));
            }
        }
        for (first, thread) in self.first_register.clone().into_iter().zip(&self.program.threads) {
            for (at, register) in thread.registers.iter().enumerate() {
                if matches!(register.ty, Type::Ref(_)) {
                    self.make_plain(Source::Slot(first + at));
                }
            }
        }
    }

    fn add_properties(&mut self, problem: &Problem) {
        let first_register = self.first_register.clone();
        let leaf = |what: &Observable| match what {
            Observable::Loc(loc) => Source::Slot(loc.index()),
            Observable::Reg(t, reg) => Source::Slot(first_register[t.index()] + reg.index()),
            Observable::At(..) => Source::Plain,
        };
        let invariants = problem.properties.iter().filter_map(|property| match property {
            Property::Invariant(condition)
            | Property::FinalForall(condition)
            | Property::FinalNever(condition) => Some(condition),
            Property::Assertions
            | Property::MutualExclusion
            | Property::DeadlockFree
            | Property::Progress
            | Property::Operations(_) => None,
        });
        for condition in invariants.chain(&problem.sometimes) {
            self.add_plain(&condition.expr, &leaf);
        }
    }
}

/// Returns the locations that an address may denote.
pub(super) fn locations(program: &Program, address: &Address) -> Vec<Loc> {
    if let Some(pointer) = &address.pointer {
        return pointer.targets.iter().map(|(_, loc)| *loc).collect();
    }
    let (cells, stride) = match &address.cell {
        Some((pool, _)) => (program.pool(*pool).cells, program.pool(*pool).stride),
        None => (1, 0),
    };
    let len = address.index.as_ref().map_or(1, |(len, _)| *len);
    let base = address.base.0;
    let cell = |cell| (0..len).map(move |at| Loc(base + cell * stride + at));
    (0..cells).flat_map(cell).collect()
}
