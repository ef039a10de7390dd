//! Threads.

use crate::op::Kind;
use crate::run::{Mode, lock, mode, new_thread, perform};
use std::panic::Location;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The result of a thread of a check. It is there when the thread has finished.
type Slot<T> = Arc<Mutex<Option<T>>>;

/// A handle to wait for the end of a thread. Use it instead of [`std::thread::JoinHandle`].
#[derive(Debug)]
pub struct JoinHandle<T>(Handle<T>);

#[derive(Debug)]
enum Handle<T> {
    Std(std::thread::JoinHandle<T>),
    Checked(usize, Slot<T>),
}

/// Starts a thread. Use it instead of [`std::thread::spawn`].
#[track_caller]
pub fn spawn<F, T>(body: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    if mode() != Mode::Checked {
        return JoinHandle(Handle::Std(std::thread::spawn(body)));
    }
    let at = Location::caller();
    let thread = new_thread();
    let index = thread.index();
    let slot: Slot<T> = Arc::new(Mutex::new(None));
    let result = Arc::clone(&slot);
    perform(Kind::Spawn(index), at);
    thread.start(at, move || {
        let value = body();
        *lock(&result) = Some(value);
    });
    JoinHandle(Handle::Checked(index, slot))
}

impl<T> JoinHandle<T> {
    /// Waits for the end of the thread and returns its result. In a check, the result is never an
    /// error, because a panic ends the check.
    ///
    /// # Errors
    ///
    /// Outside of a check: the panic of the thread.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        match self.0 {
            Handle::Std(handle) => handle.join(),
            Handle::Checked(index, slot) => Ok(join_checked(index, &slot)),
        }
    }
}

#[track_caller]
fn join_checked<T>(index: usize, slot: &Slot<T>) -> T {
    assert!(mode() == Mode::Checked, "a thread of a check is joined in the same execution");
    perform(Kind::Join(index), Location::caller());
    lock(slot).take().expect("a finished thread has a result")
}

/// Gives other threads the opportunity to run. Use it instead of [`std::thread::yield_now`].
///
/// In a check it is a [spin hint](crate::hint::spin_loop).
#[track_caller]
pub fn yield_now() {
    match mode() {
        Mode::Outside | Mode::Unwinding => std::thread::yield_now(),
        Mode::Checked => {
            perform(Kind::SpinHint, Location::caller());
        }
    }
}

/// Waits for a time. Use it instead of [`std::thread::sleep`].
///
/// In a check no time passes, and any number of operations of other threads can come before the
/// end of the wait. It is a [spin hint](crate::hint::spin_loop), because loops poll with it.
#[track_caller]
pub fn sleep(time: Duration) {
    match mode() {
        Mode::Outside | Mode::Unwinding => std::thread::sleep(time),
        Mode::Checked => {
            perform(Kind::SpinHint, Location::caller());
        }
    }
}

/// A scope for threads that borrow. Use it instead of [`std::thread::Scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    inner: &'scope std::thread::Scope<'scope, 'env>,
    /// The threads of a check that the scope must join.
    threads: Mutex<Vec<usize>>,
}

/// A handle to wait for the end of a thread of a scope. Use it instead of
/// [`std::thread::ScopedJoinHandle`].
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T>(ScopedHandle<'scope, T>);

#[derive(Debug)]
enum ScopedHandle<'scope, T> {
    Std(std::thread::ScopedJoinHandle<'scope, T>),
    Checked(usize, Slot<T>),
}

/// Creates a scope for threads that borrow. Use it instead of [`std::thread::scope`].
///
/// ```
/// use fencepost_test::sync::atomic::{AtomicU32, Ordering};
/// use fencepost_test::thread;
///
/// fencepost_test::check(|| {
///     let counter = AtomicU32::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| counter.fetch_add(1, Ordering::Relaxed));
///         scope.spawn(|| counter.fetch_add(1, Ordering::Relaxed));
///     });
///     assert_eq!(counter.into_inner(), 2);
/// });
/// ```
#[track_caller]
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&Scope<'scope, 'env>) -> T,
{
    let at = Location::caller();
    std::thread::scope(|inner| {
        let scope = Scope { inner, threads: Mutex::new(Vec::new()) };
        let result = body(&scope);
        let threads = std::mem::take(&mut *lock(&scope.threads));
        if mode() == Mode::Checked {
            for thread in threads {
                perform(Kind::Join(thread), at);
            }
        }
        result
    })
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread that the scope joins.
    #[track_caller]
    pub fn spawn<F, T>(&self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        if mode() != Mode::Checked {
            return ScopedJoinHandle(ScopedHandle::Std(self.inner.spawn(body)));
        }
        let at = Location::caller();
        let thread = new_thread();
        let index = thread.index();
        let slot: Slot<T> = Arc::new(Mutex::new(None));
        let result = Arc::clone(&slot);
        lock(&self.threads).push(index);
        perform(Kind::Spawn(index), at);
        self.inner.spawn(move || {
            thread.run(at, move || {
                let value = body();
                *lock(&result) = Some(value);
            });
        });
        ScopedJoinHandle(ScopedHandle::Checked(index, slot))
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the end of the thread and returns its result. In a check, the result is never an
    /// error, because a panic ends the check.
    ///
    /// # Errors
    ///
    /// Outside of a check: the panic of the thread.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        match self.0 {
            ScopedHandle::Std(handle) => handle.join(),
            ScopedHandle::Checked(index, slot) => Ok(join_checked(index, &slot)),
        }
    }
}
