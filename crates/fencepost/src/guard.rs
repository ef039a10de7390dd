//! Bugs of ours, caught: the reader gets a message that can be reported, and an exit code of its own.

use std::cell::RefCell;
use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;

thread_local! {
    /// What this thread is doing, for the message.
    static DOING: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What the last caught panic said.
static SAID: Mutex<String> = Mutex::new(String::new());

/// Replaces the standard message of a panic by ours.
pub(crate) fn install() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let message = (payload.downcast_ref::<&str>().copied())
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        let said = format!("{message}{}", place.unwrap_or_default());
        let doing = DOING.with(|doing| doing.borrow().clone());
        let text = format!(
            "fencepost {version}: internal error: {said}{doing}\n\
             This is a bug in Fencepost, not in your program. Please report it with this message,\n\
             the command line and, if you can, the input.\n",
            version = env!("CARGO_PKG_VERSION"),
            doing = if doing.is_empty() { doing } else { format!("\n  while {doing}") },
        );
        // The message is all there is to say; nobody can be told that it could not be printed.
        let _ = std::io::stderr().write_all(text.as_bytes());
        if let Ok(mut last) = SAID.lock() {
            *last = said;
        }
    }));
}

/// Runs something; a panic in it becomes an error with what it said.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| SAID.lock().map(|said| said.clone()).unwrap_or_default())
}

/// The same, with what is being done for the message.
pub(crate) fn guarded_while<T>(doing: String, work: impl FnOnce() -> T) -> Result<T, String> {
    DOING.with(|slot| *slot.borrow_mut() = doing);
    let result = guarded(work);
    DOING.with(|slot| slot.borrow_mut().clear());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        install();
        let broken: Result<(), String> =
            guarded_while("testing".into(), || panic!("a queue is never {}", "negative"));
        let said = broken.unwrap_err();
        assert!(said.starts_with("a queue is never negative (crates/fencepost/src"), "{said}");
        assert_eq!(guarded(|| 7), Ok(7));
    }
}
