//! Renamed states: threads, locations and values change places.

use crate::machine::Machine;
use crate::model::MemoryModel;
use crate::mutation::{Mutated, Mutation};
use crate::shape::Shape;
use crate::state::State;
use fencepost_ir::symmetry::{Class, Symmetry};
use fencepost_ir::{Loc, Reg, ThreadId, Value};
use std::collections::BTreeMap;

/// A permutation of the threads. It determines what happens to locations and values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Renaming(pub(super) Vec<ThreadId>);

impl Renaming {
    /// Returns the new thread.
    #[inline]
    pub fn thread(&self, t: ThreadId) -> ThreadId {
        self.0[t.index()]
    }

    /// Returns whether nothing moves.
    pub(super) fn is_identity(&self) -> bool {
        self.0.iter().enumerate().all(|(at, t)| t.index() == at)
    }

    /// Returns the renaming that undoes this one.
    pub(super) fn inverse(&self) -> Renaming {
        let mut inverse = self.clone();
        for (at, t) in self.0.iter().enumerate() {
            inverse.0[t.index()] = ThreadId::from_index(at);
        }
        inverse
    }

    /// Returns the renaming that applies `first`, then this one.
    pub(super) fn after(&self, first: &Renaming) -> Renaming {
        Renaming(first.0.iter().map(|t| self.thread(*t)).collect())
    }
}

/// The thread that a location or value belongs to, and its family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Owner {
    /// The group of the thread.
    group: u32,
    /// The family, numbered over all groups.
    pub(super) family: u32,
    /// The thread.
    pub(super) thread: ThreadId,
}

/// What belongs to which thread.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    /// The threads of each group, in ascending order.
    pub(super) groups: Vec<Vec<ThreadId>>,
    /// By thread: the position in its group.
    positions: Vec<usize>,
    /// By location: its owner.
    pub(super) location_owners: Vec<Option<Owner>>,
    /// By thread: the locations that it owns, in the order of their families.
    pub(super) owned: Vec<Vec<Loc>>,
    location_families: Vec<Vec<Loc>>,
    /// By class: the owners of values, in ascending order of the values.
    value_owners: Vec<Vec<(Value, Owner)>>,
    value_families: Vec<Vec<Value>>,
    /// By location: the class of its values, as an index into `value_owners`.
    pub(super) location_classes: Vec<Option<u32>>,
    /// The locations that a renaming moves or whose values it moves.
    changed_locations: Vec<Loc>,
    /// By thread and program counter: the live registers whose values move, with their classes.
    pub(super) changed_registers: Vec<Vec<Vec<(Reg, u32)>>>,
    /// The locations that no thread owns, but whose values may belong to a thread.
    pub(super) shared_with_class: Vec<Loc>,
    /// Whether some value belongs to a thread.
    pub(super) has_values: bool,
    mutated: Mutated,
}

impl Tables {
    pub(super) fn new(shape: &Shape<'_>, symmetry: &Symmetry, mutated: Mutated) -> Self {
        let program = shape.program();
        let mut numbers: BTreeMap<Class, u32> = BTreeMap::new();
        for (class, _) in symmetry.groups.iter().flat_map(|group| &group.values) {
            let next = numbers.len() as u32;
            numbers.entry(*class).or_insert(next);
        }
        let mut tables = Tables {
            groups: symmetry.groups.iter().map(|group| group.threads.clone()).collect(),
            positions: vec![0; program.threads.len()],
            location_owners: vec![None; program.locations.len()],
            owned: vec![Vec::new(); program.threads.len()],
            location_families: Vec::new(),
            value_owners: vec![Vec::new(); numbers.len()],
            value_families: Vec::new(),
            location_classes: (symmetry.location_classes.iter())
                .map(|class| class.and_then(|class| numbers.get(&class).copied()))
                .collect(),
            changed_locations: Vec::new(),
            changed_registers: Vec::new(),
            shared_with_class: Vec::new(),
            has_values: !numbers.is_empty(),
            mutated,
        };
        for (at, group) in symmetry.groups.iter().enumerate() {
            for (position, t) in group.threads.iter().enumerate() {
                tables.positions[t.index()] = position;
            }
            for locations in &group.locations {
                let family = tables.location_families.len() as u32;
                for (loc, thread) in locations.iter().zip(&group.threads) {
                    let owner = Owner { group: at as u32, family, thread: *thread };
                    tables.location_owners[loc.index()] = Some(owner);
                    tables.owned[thread.index()].push(*loc);
                }
                tables.location_families.push(locations.clone());
            }
            for (class, values) in &group.values {
                let family = tables.value_families.len() as u32;
                for (value, thread) in values.iter().zip(&group.threads) {
                    let owner = Owner { group: at as u32, family, thread: *thread };
                    tables.value_owners[numbers[class] as usize].push((*value, owner));
                }
                tables.value_families.push(values.clone());
            }
        }
        for owners in &mut tables.value_owners {
            owners.sort_unstable_by_key(|(value, _)| *value);
        }
        let is_changed = |at: &usize| {
            tables.location_owners[*at].is_some() || tables.location_classes[*at].is_some()
        };
        tables.changed_locations =
            (0..program.locations.len()).filter(is_changed).map(Loc::from_index).collect();
        let is_owned = |loc: &Loc| tables.location_owners[loc.index()].is_some();
        tables.shared_with_class =
            tables.changed_locations.iter().filter(|loc| !is_owned(loc)).copied().collect();
        for t in program.thread_ids() {
            let classes = &symmetry.register_classes[t.index()];
            let changed: Vec<(Reg, u32)> = (classes.iter().enumerate())
                .filter_map(|(reg, class)| Some((Reg::from_index(reg), *numbers.get(&(*class)?)?)))
                .collect();
            let live = |dead: &Vec<Reg>| {
                changed.iter().filter(|(reg, _)| !dead.contains(reg)).copied().collect()
            };
            tables.changed_registers.push(shape.thread(t).dead.iter().map(live).collect());
        }
        tables
    }

    /// Returns the renaming that moves nothing.
    pub(super) fn identity(&self) -> Renaming {
        Renaming((0..self.positions.len()).map(ThreadId::from_index).collect())
    }

    /// Returns the renamings that exchange two neighbours of a group.
    pub(super) fn exchanges(&self) -> impl Iterator<Item = Renaming> {
        self.groups.iter().flat_map(|group| group.windows(2)).map(|pair| {
            let mut renaming = self.identity();
            renaming.0.swap(pair[0].index(), pair[1].index());
            renaming
        })
    }

    /// Returns the owner of a value of a class.
    #[inline]
    pub(super) fn value_owner(&self, class: u32, value: Value) -> Option<Owner> {
        let owners = &self.value_owners[class as usize];
        let at = owners.binary_search_by_key(&value, |(value, _)| *value).ok()?;
        Some(owners[at].1)
    }

    /// Returns the renamed location.
    #[inline]
    pub(crate) fn location(&self, renaming: &Renaming, loc: Loc) -> Loc {
        match self.location_owners[loc.index()] {
            Some(owner) => {
                let position = self.positions[renaming.thread(owner.thread).index()];
                self.location_families[owner.family as usize][position]
            }
            None => loc,
        }
    }

    #[inline]
    fn value(&self, renaming: &Renaming, class: u32, value: Value) -> Value {
        match self.value_owner(class, value) {
            Some(owner) if !self.mutated.is(Mutation::SymmetryIgnoresValues) => {
                let position = self.positions[renaming.thread(owner.thread).index()];
                self.value_families[owner.family as usize][position]
            }
            Some(_) | None => value,
        }
    }

    #[inline]
    fn value_at(&self, renaming: &Renaming, loc: Loc, value: Value) -> Value {
        match self.location_classes[loc.index()] {
            Some(class) => self.value(renaming, class, value),
            None => value,
        }
    }

    /// Returns whether some renaming changes memory.
    #[inline]
    pub(super) fn changes_memory(&self) -> bool {
        !self.changed_locations.is_empty()
    }

    /// Renames a state. Returns false if the model does not support it.
    pub(super) fn rename<M: MemoryModel>(
        &self,
        machine: &Machine<'_, M>,
        from: &State<M::Pending>,
        renaming: &Renaming,
        to: &mut State<M::Pending>,
    ) -> bool {
        to.memory.values.copy_from_slice(&from.memory.values);
        to.memory.allocated.copy_from_slice(&from.memory.allocated);
        self.rename_memory(&from.memory.values, renaming, &mut to.memory.values);
        let mut threads = machine.shape.program().thread_ids();
        threads.all(|t| self.rename_thread(machine, from, t, renaming, to))
    }

    /// Renames the values of memory. `to` is a copy of `from`.
    pub(super) fn rename_memory(&self, from: &[Value], renaming: &Renaming, to: &mut [Value]) {
        for loc in &self.changed_locations {
            let value = self.value_at(renaming, *loc, from[loc.index()]);
            to[self.location(renaming, *loc).index()] = value;
        }
    }

    /// Renames one thread of a state. Returns false if the model does not support it.
    pub(super) fn rename_thread<M: MemoryModel>(
        &self,
        machine: &Machine<'_, M>,
        from: &State<M::Pending>,
        t: ThreadId,
        renaming: &Renaming,
        to: &mut State<M::Pending>,
    ) -> bool {
        let (shape, thread, new) = (&machine.shape, machine.shape.thread(t), renaming.thread(t));
        let pc = from.pcs[t.index()];
        to.pcs[new.index()] = pc;
        let first = shape.thread(new).registers;
        let registers = thread.registers..thread.registers + thread.register_fields.len();
        let new_registers = first..first + registers.len();
        to.registers[new_registers].copy_from_slice(&from.registers[registers]);
        for (reg, class) in &self.changed_registers[t.index()][pc.index()] {
            let value = &mut to.registers[first + reg.index()];
            *value = self.value(renaming, *class, *value);
        }
        let store = |loc, value| {
            if self.mutated.is(Mutation::SymmetryIgnoresPendingStores) {
                return (loc, value);
            }
            (self.location(renaming, loc), self.value_at(renaming, loc, value))
        };
        machine.model.rename_pending(shape, (&from.pending, t), (&mut to.pending, new), &store)
    }

    /// Returns whether the values of a renamed state can be packed.
    pub(super) fn fits<M: MemoryModel>(
        &self,
        machine: &Machine<'_, M>,
        state: &State<M::Pending>,
    ) -> bool {
        let shape = &machine.shape;
        let memory = shape.location_fields.iter().zip(&state.memory.values);
        let registers = shape.threads.iter().flat_map(|thread| &thread.register_fields);
        memory.chain(registers.zip(&state.registers)).all(|(field, value)| field.holds(*value))
    }
}
