//! The memory models.

use std::fmt;

/// A memory model of hardware.
///
/// A check explores what the hardware can do with the operations in the order of the source. It
/// does not explore what a compiler can do, and not all that the language allows. The mapping is:
///
/// | operation | `Sc` | `Tso` (x86) | `Pso` (SPARC) |
/// |---|---|---|---|
/// | load | memory | own pending store, else memory | as `Tso` |
/// | store, `Relaxed` | memory | pending: one queue for each thread | pending: one queue for each thread and object |
/// | store, `Release` | memory | as `Relaxed` | pending, and commits after all earlier stores of the thread |
/// | store, `SeqCst` | memory | waits for the own queue, then memory | waits for all own queues, then memory |
/// | read-modify-write | memory | waits for the own queue, then memory | waits for the own queue of the object and for stores before a `Release` fence; with `Release`, `AcqRel` or `SeqCst`: for all own queues |
/// | `fence(SeqCst)` | nothing | waits for the own queue | waits for all own queues |
/// | `fence(Release)`, `fence(AcqRel)` | nothing | nothing | later stores commit after all earlier ones |
/// | `fence(Acquire)` | nothing | nothing | nothing |
/// | mutex, condition variable, start and end of a thread | memory | read-modify-write | read-modify-write, locking as `Acquire`, all else as `Release` |
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Model {
    /// Sequential consistency.
    #[default]
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        })
    }
}
