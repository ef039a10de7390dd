//! Conversion of panics to errors, so that a program on which an engine panics can be shrunk.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work` and turns a panic into an error.
///
/// # Errors
/// The error of `work`, or the message of its panic.
pub fn catch_panic<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let message = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_else(|| "panic without a message".into())
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(message(panic)))
}
