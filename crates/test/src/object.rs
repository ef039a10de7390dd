//! The identity of shared objects.
//!
//! An object gets its number in an execution when it is first used. The number is stored in the
//! object, so it moves with the object. An object that exists before the check, such as a static,
//! starts each execution with its value from before. Its real value does not change.

use crate::op::{Site, Target};
use crate::run::location;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of an object.
pub(crate) struct Object {
    /// The number of the last execution that used the object and its number there. 0 if none.
    tag: AtomicU64,
    site: Site,
}

impl Object {
    /// Creates the identity of an object that the caller creates.
    #[track_caller]
    pub(crate) const fn new() -> Self {
        Object { tag: AtomicU64::new(0), site: Location::caller() }
    }

    /// Returns the object for an operation. `init` is its value before the execution.
    pub(crate) fn target(&self, init: u64) -> Target {
        Target { loc: location(&self.tag), init, site: self.site }
    }

    /// Makes the object a new one, whose value is its real value.
    pub(crate) fn reset(&mut self) {
        self.tag.store(0, Ordering::Relaxed);
    }
}
