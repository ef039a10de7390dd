//! What a state has more than one of sequential consistency: how far an attack is.
//!
//! *What happens after the attacker's accesses* is kept as a set of threads, those that have done something of the
//! kind, and a level for each address: nobody has touched it, has read it, has written it, after the accesses. An event
//! happens after them, too, when its thread is in the set, or when it conflicts with what is noted of an address. Addresses
//! are those of the monitor: locations, then an allocator for each pool.
//!
//! Levels that can make no difference any more are forgotten, so that they tell no states apart.

use fencepost_ir::{Loc, Op, ThreadId, Value};
use fencepost_models::bits::{Field, Reader, Writer};
use fencepost_models::shape::Shape;
use fencepost_monitor::{Access, Action};

const BIT: Field = Field::new(0, 1);
const LEVEL: Field = Field::new(0, 2);
const PHASE: Field = Field::new(0, 2);

/// How far an attack is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// There is none.
    Calm,
    /// The attacker delays its stores.
    Delaying,
    /// It has made the access.
    Frozen,
}

/// What of an address happened after the accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Untouched,
    Read,
    Written,
}

/// Who may touch what.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    /// By address: the threads that may read it.
    readers: Vec<u64>,
    /// By address: the threads that may write it.
    writers: Vec<u64>,
    /// Where allocators begin.
    locations: usize,
    /// The addresses on which threads can conflict.
    shared: Vec<u32>,
    threads: usize,
}

impl Addresses {
    /// Those of a program.
    pub(super) fn new(shape: &Shape<'_>) -> Self {
        let program = shape.program();
        let (mut readers, mut writers) = (shape.readers.clone(), shape.writers.clone());
        let locations = writers.len();
        readers.resize(locations + program.pools.len(), 0);
        writers.resize(locations + program.pools.len(), 0);
        for t in program.thread_ids() {
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

    /// The threads that allocate, by pool.
    pub(super) fn allocators(&self) -> &[u64] {
        &self.writers[self.locations..]
    }

    /// Whether another thread may write the address.
    pub(super) fn others_write(&self, address: u32, t: ThreadId) -> bool {
        self.writers[address as usize] & !bit(t) != 0
    }

    /// Whether another thread may touch the location.
    pub(super) fn others_touch(&self, loc: Loc, t: ThreadId) -> bool {
        (self.readers[loc.index()] | self.writers[loc.index()]) & !bit(t) != 0
    }
}

fn bit(t: ThreadId) -> u64 {
    1 << t.index()
}

/// The part itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Part {
    pub(super) phase: Phase,
    /// Whose attack it is, unless all is calm.
    pub(super) attacker: ThreadId,
    /// Whether the attacker's loads wait behind a store-load fence.
    pub(super) barred: bool,
    /// By location: the youngest delayed value. When the attacker is frozen, only that there is one counts.
    pub(super) buffer: Vec<Option<Value>>,
    /// The threads that have done something after the accesses.
    reached: u64,
    /// By address.
    levels: Vec<Level>,
}

impl Part {
    /// All is calm.
    pub(super) fn calm(addresses: &Addresses) -> Self {
        Part {
            phase: Phase::Calm,
            attacker: ThreadId(0),
            barred: false,
            buffer: vec![None; addresses.locations],
            reached: 0,
            levels: vec![Level::Untouched; addresses.readers.len()],
        }
    }

    /// An attack begins.
    pub(super) fn delays(&mut self, attacker: ThreadId, loc: Loc, value: Value) {
        self.phase = Phase::Delaying;
        self.attacker = attacker;
        self.buffer[loc.index()] = Some(value);
    }

    /// The attacker reads or allocates, and may go on.
    pub(super) fn looks(&mut self, addresses: &Addresses, access: Access) {
        self.note(access);
        self.forget(addresses);
    }

    /// The attacker makes the access.
    pub(super) fn freezes(&mut self, addresses: &Addresses, access: Access) {
        self.phase = Phase::Frozen;
        self.barred = false;
        self.reached = 0;
        self.levels.fill(Level::Untouched);
        for (at, value) in self.buffer.iter_mut().enumerate() {
            let counts =
                value.is_some() && addresses.others_touch(Loc::from_index(at), self.attacker);
            *value = counts.then_some(0);
        }
        self.looks(addresses, access);
    }

    /// Whether an action of another thread happens after the accesses.
    pub(super) fn reaches(&self, t: ThreadId, action: Action<'_>) -> bool {
        let mut is_reached = self.reached & bit(t) != 0;
        accesses(action, |access| {
            let least = if access.writes { Level::Read } else { Level::Written };
            is_reached |= self.levels[access.address as usize] >= least;
        });
        is_reached
    }

    /// Whether an action touches something in the buffer.
    pub(super) fn meets(&self, action: Action<'_>) -> bool {
        let mut meets = false;
        accesses(action, |access| {
            meets |= self.buffer.get(access.address as usize).is_some_and(Option::is_some);
        });
        meets
    }

    /// Notes an action that happens after the accesses.
    pub(super) fn goes_on(&mut self, t: ThreadId, action: Action<'_>) {
        self.reached |= bit(t);
        accesses(action, |access| self.note(access));
    }

    /// Whether a thread has done something after the accesses.
    pub(super) fn has_reached(&self, t: ThreadId) -> bool {
        self.reached & bit(t) != 0
    }

    fn note(&mut self, access: Access) {
        let level = if access.writes { Level::Written } else { Level::Read };
        let known = &mut self.levels[access.address as usize];
        *known = level.max(*known);
    }

    /// Forgets levels that matter to nobody: the attacker does not react, and whatever is in the set needs none.
    pub(super) fn forget(&mut self, addresses: &Addresses) {
        let others = !(bit(self.attacker) | self.reached);
        for (at, level) in self.levels.iter_mut().enumerate() {
            let reads = addresses.readers[at] & others != 0;
            let writes = addresses.writers[at] & others != 0;
            let most = match (reads, writes) {
                (false, false) => Level::Untouched,
                // A write does not ask what it conflicts with.
                (false, true) => Level::Read,
                (true, true) => Level::Written,
                // Reads conflict with writes only.
                (true, false) if *level == Level::Read => Level::Untouched,
                (true, false) => Level::Written,
            };
            *level = most.min(*level);
        }
    }

    /// Packs it.
    pub(super) fn encode(&self, shape: &Shape<'_>, addresses: &Addresses, writer: &mut Writer) {
        writer.put(PHASE, self.phase as Value);
        if self.phase != Phase::Calm {
            writer.put(Field::for_count(addresses.threads), self.attacker.index() as Value);
            writer.put(BIT, self.barred.into());
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

    /// Unpacks it. Returns how many bytes it has.
    pub(super) fn decode(
        &mut self,
        shape: &Shape<'_>,
        addresses: &Addresses,
        bytes: &[u8],
    ) -> usize {
        let mut reader = Reader::new(bytes);
        self.phase = match reader.get(PHASE) {
            0 => Phase::Calm,
            1 => Phase::Delaying,
            _ => Phase::Frozen,
        };
        self.attacker = ThreadId(0);
        self.barred = false;
        self.buffer.fill(None);
        self.reached = 0;
        self.levels.fill(Level::Untouched);
        if self.phase != Phase::Calm {
            let attacker = reader.get(Field::for_count(addresses.threads));
            self.attacker = ThreadId::from_index(attacker as usize);
            self.barred = reader.get(BIT) == 1;
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

/// What an action does to addresses.
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
