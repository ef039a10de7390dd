//! Panics as errors, so that a program on which an engine panics can be shrunk.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `work` returns, or the message with which it panics.
///
/// # Errors
/// That of `work`, or the message of its panic.
pub fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let message = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
            .unwrap_or_else(|| "it panics".into())
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(message(panic)))
}
