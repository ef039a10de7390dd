//! Which objects a thread may access through pointers.
//!
//! The analysis follows the addresses of objects, not their values: for each register and location,
//! the objects from whose addresses its value may be computed. So an index that takes many values
//! does not make a pointer to an array a pointer to everything.
//!
//! Direction: over-approximation, without regard to the order of statements. Variables that share a
//! register have the objects of all of them. A pointer outside of
//! the object from which it was computed is a fault anyway.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Reg, Stmt, Update, WideOp};

use super::aux;
use super::memory::function_at;
use super::pass::Pass;
use super::plan::{ObjectId, PoolPlan};

/// The objects from whose addresses a value may be computed.
type Objects = BTreeSet<ObjectId>;

/// The facts about all registers and locations.
#[derive(Default)]
struct Facts {
    /// By thread and register.
    registers: BTreeMap<(usize, Reg), Objects>,
    locations: BTreeMap<Loc, Objects>,
    changed: bool,
}

impl Pass<'_> {
    /// Returns the objects that each thread may access through pointers. The cells of a pool are
    /// one object: its first cell.
    pub(super) fn pointees(&self) -> Vec<Objects> {
        let facts = self.facts();
        let of_thread = |(thread, code): (usize, &fencepost_ir::Thread)| {
            let pointers = code.code.iter().filter_map(|stmt| stmt.op.address()?.pointer.as_ref());
            pointers.flat_map(|pointer| self.sources(&facts, thread, &pointer.value)).collect()
        };
        self.threads.iter().enumerate().map(of_thread).collect()
    }

    /// Finds the types of allocated objects that may be freed. The registers of a freed pointer are
    /// in use where it is compared with null, so their assignments are still in the code.
    pub(super) fn find_freed(&mut self) {
        if self.freed.is_empty() {
            return;
        }
        let facts = self.facts();
        let pointers = self.freed.iter();
        let objects: Objects = pointers
            .flat_map(|(thread, pointer)| self.sources(&facts, *thread as usize, pointer))
            .collect();
        for id in objects {
            let ObjectId::Cell(number, _) = id else { continue };
            let pools = [&self.plan.pools, &self.next.pools];
            let [old, new] = pools.map(|pools| pools.get(number as usize));
            let Some(ty) = new.map(PoolPlan::object_type) else { continue };
            // If the numbers of pools have changed, the next pass finds the type.
            let is_same = old.is_none_or(|old| old.object_type() == ty);
            if is_same && !self.next.freed.contains(&ty) {
                self.next.freed.push(ty);
            }
        }
    }

    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        for (at, location) in self.memory.locations.iter().enumerate() {
            let objects = self.objects_at(location.init);
            facts.add_location(Loc::from_index(at), &objects);
        }
        facts.changed = true;
        // Terminates: the sets only grow.
        while std::mem::take(&mut facts.changed) {
            for (thread, code) in self.threads.iter().enumerate() {
                code.code.iter().for_each(|stmt| self.follow(&mut facts, thread, stmt));
            }
        }
        facts
    }

    fn follow(&self, facts: &mut Facts, thread: usize, stmt: &Stmt) {
        match &stmt.op {
            Op::Assign { reg, expr } => {
                let objects = self.sources(facts, thread, expr);
                facts.add_register((thread, *reg), &objects);
            }
            Op::New { reg, pool } => {
                if let Some(number) = self.memory.pool_number(*pool) {
                    let objects = Objects::from([ObjectId::Cell(number, 0)]);
                    facts.add_register((thread, *reg), &objects);
                }
            }
            Op::Load { reg, from } => {
                for loc in self.touched(facts, thread, from) {
                    let objects = facts.locations.get(&loc).cloned().unwrap_or_default();
                    facts.add_register((thread, *reg), &objects);
                }
            }
            Op::Store { to, value } => {
                let objects = self.sources(facts, thread, value);
                self.write(facts, thread, to, &objects);
            }
            Op::Update { reg, at, update } => {
                if let Some(reg) = reg {
                    for loc in self.touched(facts, thread, at) {
                        let objects = facts.locations.get(&loc).cloned().unwrap_or_default();
                        facts.add_register((thread, *reg), &objects);
                    }
                }
                let (Update::Cas { new: value, .. }
                | Update::Swap { new: value }
                | Update::Add { by: value, .. }
                | Update::Bits { by: value, .. }) = update;
                let objects = self.sources(facts, thread, value);
                self.write(facts, thread, at, &objects);
            }
            _ => {}
        }
    }

    fn write(&self, facts: &mut Facts, thread: usize, at: &Address, objects: &Objects) {
        if !objects.is_empty() {
            for loc in self.touched(facts, thread, at) {
                facts.add_location(loc, objects);
            }
        }
    }

    /// Returns the locations that an access may touch.
    fn touched(&self, facts: &Facts, thread: usize, at: &Address) -> Vec<Loc> {
        if let Some(pointer) = &at.pointer {
            let objects = self.sources(facts, thread, &pointer.value);
            let is_one = |loc: &Loc| {
                self.scalar_of(*loc).is_some_and(|(id, _)| objects.contains(&first_cell(id)))
            };
            return pointer.targets.iter().map(|(_, loc)| *loc).filter(is_one).collect();
        }
        let len = match &at.index {
            None => 1,
            // When the access was lowered, some threads were not known.
            Some(_) if aux::is_auxiliary(at.base) => self.threads.len() as u32,
            Some((len, _)) => *len,
        };
        let (cells, stride) = match &at.cell {
            Some((pool, _)) => {
                let pool = self.memory.pools.get(pool.index());
                pool.map_or((1, 0), |pool| (pool.cells, pool.stride))
            }
            None => (1, 0),
        };
        let cell = |cell: u32| (0..len).map(move |index| Loc(at.base.0 + cell * stride + index));
        (0..cells).flat_map(cell).collect()
    }

    fn objects_at(&self, number: i64) -> Objects {
        if function_at(self.program, number).is_some() {
            return Objects::new();
        }
        self.memory.object_at(number).map(|(id, _)| first_cell(id)).into_iter().collect()
    }

    /// Returns the objects from whose addresses the value of an expression may be computed.
    fn sources(&self, facts: &Facts, thread: usize, expr: &Expr<Reg>) -> Objects {
        match expr {
            Expr::Const(value) => self.objects_at(*value),
            Expr::Var(reg) => facts.registers.get(&(thread, *reg)).cloned().unwrap_or_default(),
            Expr::Unary(_, a) => self.sources(facts, thread, a),
            // A truth value contains no address.
            Expr::Binary(
                BinOp::Eq
                | BinOp::Ne
                | BinOp::Lt
                | BinOp::Le
                | BinOp::Gt
                | BinOp::Ge
                | BinOp::And
                | BinOp::Or
                | BinOp::Wide(WideOp::UnsignedLt | WideOp::UnsignedLe),
                ..,
            ) => Objects::new(),
            Expr::Binary(_, a, b) => {
                let mut objects = self.sources(facts, thread, a);
                objects.extend(self.sources(facts, thread, b));
                objects
            }
            Expr::Select(_, a, b) => {
                let mut objects = self.sources(facts, thread, a);
                objects.extend(self.sources(facts, thread, b));
                objects
            }
        }
    }
}

impl Facts {
    fn add_register(&mut self, key: (usize, Reg), objects: &Objects) {
        let known = self.registers.entry(key).or_default();
        let before = known.len();
        known.extend(objects);
        self.changed |= known.len() > before;
    }

    fn add_location(&mut self, loc: Loc, objects: &Objects) {
        let known = self.locations.entry(loc).or_default();
        let before = known.len();
        known.extend(objects);
        self.changed |= known.len() > before;
    }
}

fn first_cell(id: ObjectId) -> ObjectId {
    match id {
        ObjectId::Cell(pool, _) => ObjectId::Cell(pool, 0),
        ObjectId::Global(_) | ObjectId::ThreadLocal(..) | ObjectId::Local(..) => id,
    }
}
