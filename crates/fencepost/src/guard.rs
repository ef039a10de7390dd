//! Panics of Fencepost become a message for a bug report, and an error of the caller.

use crate::output::plain_message;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A description of the current task, for the message.
static CURRENT_TASK: Mutex<String> = Mutex::new(String::new());

/// The message of the first panic that [`catch_panic`] has not yet returned.
static FIRST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Whether panics of other threads than the main thread are not shown.
static ARE_HIDDEN: AtomicBool = AtomicBool::new(false);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Replaces the standard panic message. The main thread calls this.
pub(crate) fn install() {
    let main_thread = std::thread::current().id();
    panic::set_hook(Box::new(move |info| {
        if ARE_HIDDEN.load(Ordering::Relaxed) && std::thread::current().id() != main_thread {
            return;
        }
        let payload = info.payload();
        let message = (payload.downcast_ref::<&str>().copied())
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
        let panic = format!("{message}{}", place.unwrap_or_default());
        let mut first = lock(&FIRST_PANIC);
        if first.is_some() {
            // A panic in one thread makes other threads panic. Only the first one is informative.
            return;
        }
        let task = lock(&CURRENT_TASK).clone();
        let text = format!(
            "fencepost {version}: internal error: {panic}{task}\n\
             This is a bug in Fencepost, not in your program. Please report it with this message,\n\
             the command line and, if you can, the input.\n",
            version = env!("CARGO_PKG_VERSION"),
            task = if task.is_empty() { task } else { format!("\n  while {task}") },
        );
        plain_message(&text);
        *first = Some(panic);
    }));
}

/// Hides panics of other threads than the main thread, or shows them again. Hide a panic only where
/// its work is done again.
pub(crate) fn hide_panics(hide: bool) {
    ARE_HIDDEN.store(hide, Ordering::Relaxed);
}

/// Runs `work`. A panic becomes an error with its message.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let caught = panic::catch_unwind(AssertUnwindSafe(work));
    caught.map_err(|_| lock(&FIRST_PANIC).take().unwrap_or_default())
}

/// Runs `work` as [`catch_panic`] does. The message of a panic mentions the task.
pub(crate) fn catch_panic_while<T>(task: String, work: impl FnOnce() -> T) -> Result<T, String> {
    *lock(&CURRENT_TASK) = task;
    let result = catch_panic(work);
    lock(&CURRENT_TASK).clear();
    result
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Installs the hook for a test. Only one test at a time may panic or hide panics.
    pub(crate) fn lock_panics() -> MutexGuard<'static, ()> {
        static PANICS: Mutex<()> = Mutex::new(());
        let guard = lock(&PANICS);
        install();
        guard
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let _panics = lock_panics();
        let result: Result<(), String> =
            catch_panic_while("testing".into(), || panic!("a queue is never {}", "negative"));
        let panic = result.unwrap_err();
        assert!(panic.starts_with("a queue is never negative (crates/fencepost/src"), "{panic}");
        assert_eq!(catch_panic(|| 7), Ok(7));
        // A panic in a spawned thread causes a second panic where the thread is joined.
        let result: Result<(), String> = catch_panic(|| {
            std::thread::scope(|scope| {
                scope.spawn(|| panic!("deep inside")).join().expect("joined");
            });
        });
        assert!(result.unwrap_err().starts_with("deep inside"));
    }
}
