//! The two models with store buffers, by name: what models, translations and engines tell them apart by.

/// Which pending stores of a thread share a queue, and so keep their order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreBuffers {
    /// Total store order: all of a thread.
    Tso,
    /// Partial store order: those of a thread to the same location.
    Pso,
}

impl StoreBuffers {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            StoreBuffers::Tso => "tso",
            StoreBuffers::Pso => "pso",
        }
    }
}
