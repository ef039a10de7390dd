//! Bugs of ours, caught: the reader gets a message that can be reported, and an exit code of its own.

use std::io::Write;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is being done, for the message.
static DOING: Mutex<String> = Mutex::new(String::new());

/// What the panic said that nobody has caught yet.
static SAID: Mutex<Option<String>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Replaces the standard message of a panic by ours.
pub(crate) fn install() {
    panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let message = (payload.downcast_ref::<&str>().copied())
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        let said = format!("{message}{}", place.unwrap_or_default());
        let mut first = lock(&SAID);
        if first.is_some() {
            return; // one thread's panic makes others panic; the first tells the story
        }
        let doing = lock(&DOING).clone();
        let text = format!(
            "fencepost {version}: internal error: {said}{doing}\n\
             This is a bug in Fencepost, not in your program. Please report it with this message,\n\
             the command line and, if you can, the input.\n",
            version = env!("CARGO_PKG_VERSION"),
            doing = if doing.is_empty() { doing } else { format!("\n  while {doing}") },
        );
        // Nobody can be told that the message could not be printed.
        let _ = std::io::stderr().write_all(text.as_bytes());
        *first = Some(said);
    }));
}

/// Runs something; a panic in it becomes an error with what it said.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| lock(&SAID).take().unwrap_or_default())
}

/// The same, with what is being done for the message.
pub(crate) fn guarded_while<T>(doing: String, work: impl FnOnce() -> T) -> Result<T, String> {
    *lock(&DOING) = doing;
    let result = guarded(work);
    lock(&DOING).clear();
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
        // A panic in a thread of a search, and the one it causes where the thread is joined.
        let broken: Result<(), String> = guarded(|| {
            std::thread::scope(|scope| {
                scope.spawn(|| panic!("deep inside")).join().expect("joined");
            });
        });
        assert!(broken.unwrap_err().starts_with("deep inside"));
    }
}
