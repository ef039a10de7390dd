//! The state of an attack, in addition to an SC state.
//!
//! *The events that happen after the accesses of the attacker* are represented by a set of threads
//! (those with such an event) and a level for each address: not touched, read, or written after the
//! accesses. A further event happens after the accesses if its thread is in the set or if it
//! conflicts with the level of an address. Addresses are those of the monitor: locations, then one
//! allocator for each pool.
//!
//! Irrelevant levels are reset, so that they do not distinguish states.

use fencepost_ir::{Loc, Op, ThreadId, Value};
use fencepost_models::bits::{Field, Reader, Writer};
use fencepost_models::shape::Shape;
use fencepost_monitor::{Access, Action};

const BIT: Field = Field::new(0, 1);
const LEVEL: Field = Field::new(0, 2);
const PHASE: Field = Field::new(0, 2);

/// The phase of an attack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// No attack.
    NoAttack,
    /// The attacker delays its stores.
    Delaying,
    /// The attacker has made the access and stopped.
    Frozen,
}

/// The strongest access to an address that happens after the accesses of the attacker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Untouched,
    Read,
    Written,
}

/// The threads that may access each address.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    /// By address: the threads that may read it.
    readers: Vec<u64>,
    /// By address: the threads that may write it.
    writers: Vec<u64>,
    /// The number of locations: the address of the first allocator.
    locations: usize,
    /// The addresses on which threads can conflict.
    shared: Vec<u32>,
    threads: usize,
}

impl Addresses {
    /// Computes the accesses of a program.
    pub(super) fn new(shape: &Shape<'_>) -> Self {
        let program = shape.program();
        let (mut readers, mut writers) = (shape.readers.clone(), shape.writers.clone());
        let locations = writers.len();
        readers.resize(locations + program.pools.len(), 0);
        writers.resize(locations + program.pools.len(), 0);
        // The last thread has no conflict: it runs when the attack is over.
        let last = program.last_thread();
        for t in program.thread_ids().filter(|t| Some(*t) != last) {
            for stmt in &program.thread(t).code {
                if let Op::New { pool, .. } = stmt.op {
                    writers[locations + pool.index()] |= 1u64 << t.index();
                }
            }
        }
        let conflicts = |at: &u32| {
            let (readers, writers) = (readers[*at as usize], writers[*at as usize]);
            writers != 0 && (readers | writers).count_ones() > 1
        };
        let shared = (0..readers.len() as u32).filter(conflicts).collect();
        Addresses { readers, writers, locations, shared, threads: program.threads.len() }
    }

    /// Returns the threads that allocate, by pool.
    pub(super) fn allocators(&self) -> &[u64] {
        &self.writers[self.locations..]
    }

    /// Returns whether another thread may write the address.
    pub(super) fn others_write(&self, address: u32, t: ThreadId) -> bool {
        self.writers[address as usize] & !bit(t) != 0
    }

    /// Returns whether another thread may access the location.
    pub(super) fn others_touch(&self, loc: Loc, t: ThreadId) -> bool {
        (self.readers[loc.index()] | self.writers[loc.index()]) & !bit(t) != 0
    }
}

fn bit(t: ThreadId) -> u64 {
    1 << t.index()
}

/// The state of an attack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AttackState {
    pub(super) phase: Phase,
    /// The attacker, if there is an attack.
    pub(super) attacker: ThreadId,
    /// Whether a store-load fence blocks the loads of the attacker.
    pub(super) loads_blocked: bool,
    /// By location: the youngest delayed value. If the attacker is frozen, only whether there is
    /// one matters.
    pub(super) buffer: Vec<Option<Value>>,
    /// The threads with an event that happens after the accesses of the attacker.
    reached: u64,
    /// The level of each address.
    levels: Vec<Level>,
}

impl AttackState {
    /// The state without an attack.
    pub(super) fn no_attack(addresses: &Addresses) -> Self {
        AttackState {
            phase: Phase::NoAttack,
            attacker: ThreadId(0),
            loads_blocked: false,
            buffer: vec![None; addresses.locations],
            reached: 0,
            levels: vec![Level::Untouched; addresses.readers.len()],
        }
    }

    /// Adds a delayed store, which starts the attack if there is none.
    pub(super) fn delay_store(&mut self, attacker: ThreadId, loc: Loc, value: Value) {
        self.phase = Phase::Delaying;
        self.attacker = attacker;
        self.buffer[loc.index()] = Some(value);
    }

    /// Records a load or an allocation of the attacker.
    pub(super) fn record_attacker_access(&mut self, addresses: &Addresses, access: Access) {
        self.raise_level(access);
        self.reset_irrelevant_levels(addresses);
    }

    /// Records *the* access of the attacker, which ends the delaying phase.
    pub(super) fn freeze(&mut self, addresses: &Addresses, access: Access) {
        self.phase = Phase::Frozen;
        self.loads_blocked = false;
        self.reached = 0;
        self.levels.fill(Level::Untouched);
        for (at, value) in self.buffer.iter_mut().enumerate() {
            let counts =
                value.is_some() && addresses.others_touch(Loc::from_index(at), self.attacker);
            *value = counts.then_some(0);
        }
        self.record_attacker_access(addresses, access);
    }

    /// Returns whether an action of another thread happens after the accesses of the attacker.
    pub(super) fn happens_after(&self, t: ThreadId, action: Action<'_>) -> bool {
        let mut is_reached = self.reached & bit(t) != 0;
        accesses(action, |access| {
            let least = if access.writes { Level::Read } else { Level::Written };
            is_reached |= self.levels[access.address as usize] >= least;
        });
        is_reached
    }

    /// Returns whether an action accesses a location in the buffer.
    pub(super) fn touches_buffer(&self, action: Action<'_>) -> bool {
        let mut touches = false;
        accesses(action, |access| {
            touches |= self.buffer.get(access.address as usize).is_some_and(Option::is_some);
        });
        touches
    }

    /// Records an action that happens after the accesses of the attacker.
    pub(super) fn record_action(&mut self, t: ThreadId, action: Action<'_>) {
        self.reached |= bit(t);
        accesses(action, |access| self.raise_level(access));
    }

    /// Returns whether a thread has an event that happens after the accesses of the attacker.
    pub(super) fn has_reached(&self, t: ThreadId) -> bool {
        self.reached & bit(t) != 0
    }

    fn raise_level(&mut self, access: Access) {
        let level = if access.writes { Level::Written } else { Level::Read };
        let entry = &mut self.levels[access.address as usize];
        *entry = level.max(*entry);
    }

    /// Resets irrelevant levels. Levels matter only to helpers that are not in the set.
    pub(super) fn reset_irrelevant_levels(&mut self, addresses: &Addresses) {
        let others = !(bit(self.attacker) | self.reached);
        for (at, level) in self.levels.iter_mut().enumerate() {
            let reads = addresses.readers[at] & others != 0;
            let writes = addresses.writers[at] & others != 0;
            let cap = match (reads, writes) {
                (false, false) => Level::Untouched,
                // A write conflicts with reads and writes alike.
                (false, true) => Level::Read,
                (true, true) => Level::Written,
                // A read conflicts with writes only.
                (true, false) if *level == Level::Read => Level::Untouched,
                (true, false) => Level::Written,
            };
            *level = cap.min(*level);
        }
    }

    /// Packs the state.
    pub(super) fn encode(&self, shape: &Shape<'_>, addresses: &Addresses, writer: &mut Writer) {
        writer.put(PHASE, self.phase as Value);
        if self.phase != Phase::NoAttack {
            writer.put(Field::for_count(addresses.threads), self.attacker.index() as Value);
            writer.put(BIT, self.loads_blocked.into());
            for loc in &shape.thread(self.attacker).stores {
                let value = self.buffer[loc.index()];
                writer.put(BIT, value.is_some().into());
                if let (Some(value), Phase::Delaying) = (value, self.phase) {
                    writer.put(shape.location_fields[loc.index()], value);
                }
            }
            for t in 0..addresses.threads {
                writer.put(BIT, ((self.reached >> t) & 1) as Value);
            }
            for at in &addresses.shared {
                writer.put(LEVEL, self.levels[*at as usize] as Value);
            }
        }
        writer.align();
    }

    /// Unpacks a state. Returns its number of bytes.
    pub(super) fn decode(
        &mut self,
        shape: &Shape<'_>,
        addresses: &Addresses,
        bytes: &[u8],
    ) -> usize {
        let mut reader = Reader::new(bytes);
        self.phase = match reader.get(PHASE) {
            0 => Phase::NoAttack,
            1 => Phase::Delaying,
            _ => Phase::Frozen,
        };
        self.attacker = ThreadId(0);
        self.loads_blocked = false;
        self.buffer.fill(None);
        self.reached = 0;
        self.levels.fill(Level::Untouched);
        if self.phase != Phase::NoAttack {
            let attacker = reader.get(Field::for_count(addresses.threads));
            self.attacker = ThreadId::from_index(attacker as usize);
            self.loads_blocked = reader.get(BIT) == 1;
            for loc in &shape.thread(self.attacker).stores {
                if reader.get(BIT) == 1 {
                    let delaying = self.phase == Phase::Delaying;
                    let field = shape.location_fields[loc.index()];
                    let value = if delaying { reader.get(field) } else { 0 };
                    self.buffer[loc.index()] = Some(value);
                }
            }
            for t in 0..addresses.threads {
                self.reached |= (reader.get(BIT) as u64) << t;
            }
            for at in &addresses.shared {
                self.levels[*at as usize] = match reader.get(LEVEL) {
                    0 => Level::Untouched,
                    1 => Level::Read,
                    _ => Level::Written,
                };
            }
        }
        reader.align()
    }
}

/// Calls `visit` for each access of an action.
fn accesses(action: Action<'_>, mut visit: impl FnMut(Access)) {
    match action {
        Action::Load(address) => visit(Access::read(address)),
        Action::Store(address) => visit(Access::write(address)),
        Action::Update { address, writes } => visit(Access { address, reads: true, writes }),
        Action::Direct(address) => visit(Access::update(address)),
        Action::Block(all) => all.iter().copied().for_each(visit),
        Action::Fence { .. } | Action::Drain(_) => {}
    }
}
