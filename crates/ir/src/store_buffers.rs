//! The two memory models with FIFO store buffers, TSO and PSO.

/// Which pending stores of a thread share a FIFO queue and therefore commit in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreBuffers {
    /// Total store order: one queue for each thread.
    Tso,
    /// Partial store order: one queue for each thread and location.
    Pso,
}

impl StoreBuffers {
    /// Returns the model's name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            StoreBuffers::Tso => "tso",
            StoreBuffers::Pso => "pso",
        }
    }
}
