//! One execution of the tested closure.
//!
//! Each thread of the program is a thread of the operating system, but only one of them runs at a
//! time: it runs until its next visible operation and then waits for the scheduler. Rejected for
//! now: coroutines. They are faster, but scoped threads and the access to the current coroutine
//! need unsafe code. Thread-local variables of the tested code are per thread, as usual.
//!
//! An execution can be abandoned at any time. Then its threads unwind. Operations in destructors
//! have no effect while a thread unwinds.
//!
//! A panic is a failure of the execution, even if the tested code catches it.

use crate::names::{Names, ThreadName};
use crate::op::{Kind, Op, Site};
use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::JoinHandle;

/// The tested closure.
pub(crate) type Body = Arc<dyn Fn() + Send + Sync>;

/// What a thread tells the scheduler.
enum Request {
    Op(Op),
    Panic(String),
}

/// Locks a mutex, also if a thread has panicked.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What all threads of an execution share.
struct Shared {
    /// The number of the execution in this process.
    number: u64,
    next_loc: AtomicU32,
    names: Arc<Mutex<Names>>,
    requests: Sender<(usize, Request)>,
    replies: Mutex<HashMap<usize, Sender<u64>>>,
    handles: Mutex<Vec<JoinHandle<()>>>,
}

/// A thread of an execution, seen from itself.
struct Context {
    index: usize,
    path: Vec<u32>,
    children: u32,
    replies: Receiver<u64>,
    shared: Arc<Shared>,
}

thread_local! {
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// The payload with which an abandoned thread unwinds.
struct Abandoned;

/// A thread that was announced to the scheduler and must be started.
pub(crate) struct NewThread {
    index: usize,
    context: Context,
}

/// How the current code must treat an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Not in a check: as in the standard library.
    Outside,
    /// In a check.
    Checked,
    /// In a thread of a check that unwinds: the operation has no effect.
    Unwinding,
}

/// Returns how the current code must treat an operation.
pub(crate) fn mode() -> Mode {
    let is_checked =
        CONTEXT.try_with(|context| context.try_borrow().is_ok_and(|context| context.is_some()));
    match is_checked {
        Ok(true) if std::thread::panicking() => Mode::Unwinding,
        Ok(true) => Mode::Checked,
        Ok(false) | Err(_) => Mode::Outside,
    }
}

fn with<T>(action: impl FnOnce(&mut Context) -> T) -> T {
    CONTEXT.with(|context| {
        action(context.borrow_mut().as_mut().expect("the code runs in a thread of a check"))
    })
}

/// Performs a visible operation and returns its result. In a check only.
pub(crate) fn perform(kind: Kind, at: Site) -> u64 {
    let reply = with(|context| {
        let sent = context.shared.requests.send((context.index, Request::Op(Op { kind, at })));
        sent.ok().and_then(|()| context.replies.recv().ok())
    });
    match reply {
        Some(reply) => reply,
        None => resume_unwind(Box::new(Abandoned)),
    }
}

/// Returns the number of an object in the current execution, which `tag` stores. A tag of another
/// execution is replaced.
pub(crate) fn location(tag: &AtomicU64) -> u32 {
    with(|context| {
        let stored = tag.load(Ordering::Relaxed);
        if stored >> 32 == context.shared.number {
            return stored as u32;
        }
        let loc = context.shared.next_loc.fetch_add(1, Ordering::Relaxed);
        tag.store(context.shared.number << 32 | u64::from(loc), Ordering::Relaxed);
        loc
    })
}

/// Announces a new thread. Returns its index.
pub(crate) fn new_thread() -> NewThread {
    with(|context| {
        let mut path = context.path.clone();
        path.push(context.children);
        context.children += 1;
        let index = lock(&context.shared.names).thread(ThreadName::Program(path.clone()));
        let shared = Arc::clone(&context.shared);
        let (sender, replies) = channel();
        lock(&shared.replies).insert(index, sender);
        NewThread { index, context: Context { index, path, children: 0, replies, shared } }
    })
}

impl NewThread {
    /// Returns the index of the thread.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Runs `body` as the new thread, on the current thread of the operating system.
    /// `at` is the place of its end.
    pub(crate) fn run(self, at: Site, body: impl FnOnce()) {
        run_thread(self.context, at, body);
    }

    /// Starts a thread of the operating system that runs `body` as the new thread.
    pub(crate) fn start(self, at: Site, body: impl FnOnce() + Send + 'static) {
        let shared = Arc::clone(&self.context.shared);
        let handle = std::thread::spawn(move || self.run(at, body));
        lock(&shared.handles).push(handle);
    }
}

fn run_thread(context: Context, at: Site, body: impl FnOnce()) {
    if context.replies.recv().is_err() {
        return;
    }
    CONTEXT.set(Some(context));
    let result = catch_unwind(AssertUnwindSafe(|| {
        body();
        perform(Kind::Finish, at);
    }));
    // The panic hook has told the scheduler about a panic.
    drop(result);
    CONTEXT.set(None);
}

/// Installs the panic hook that tells the scheduler about panics in a check.
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if mode() == Mode::Outside {
                return previous(info);
            }
            let message = match info.payload().downcast_ref::<&str>() {
                Some(text) => text,
                None => info.payload().downcast_ref::<String>().map_or("(no text)", String::as_str),
            };
            let place = info.location().map(|at| format!(" at {at}")).unwrap_or_default();
            let message = format!("panic{place}: {message}");
            with(|context| {
                // The scheduler is gone if the execution was abandoned.
                let _ = context.shared.requests.send((context.index, Request::Panic(message)));
            });
        }));
    });
}

/// A running execution, seen from the scheduler.
pub(crate) struct Run {
    shared: Arc<Shared>,
    requests: Receiver<(usize, Request)>,
}

impl Run {
    /// Starts an execution. Its first thread waits for the reply to `Begin`.
    pub(crate) fn new(body: &Body, at: Site, names: &Arc<Mutex<Names>>) -> Run {
        static NUMBER: AtomicU64 = AtomicU64::new(1);
        install_hook();
        let (sender, requests) = channel();
        let (reply, replies) = channel();
        let index = lock(names).thread(ThreadName::Program(Vec::new()));
        let shared = Arc::new(Shared {
            number: NUMBER.fetch_add(1, Ordering::Relaxed) & 0xffff_ffff,
            next_loc: AtomicU32::new(0),
            names: Arc::clone(names),
            requests: sender,
            replies: Mutex::new(HashMap::from([(index, reply)])),
            handles: Mutex::new(Vec::new()),
        });
        let context =
            Context { index, path: Vec::new(), children: 0, replies, shared: Arc::clone(&shared) };
        let body = Arc::clone(body);
        NewThread { index, context }.start(at, move || body());
        Run { shared, requests }
    }

    /// Lets a thread go on with the result of its operation, until its next operation. `Err` is
    /// the message of a panic.
    pub(crate) fn resume(&self, thread: usize, result: u64) -> Result<Op, String> {
        self.reply(thread, result);
        match self.requests.recv() {
            Ok((from, Request::Op(op))) => {
                assert_eq!(from, thread, "only the resumed thread runs");
                Ok(op)
            }
            Ok((_, Request::Panic(message))) => Err(message),
            Err(_) => unreachable!("the execution itself keeps a sender"),
        }
    }

    /// Lets a thread end.
    pub(crate) fn finish(&self, thread: usize) {
        self.reply(thread, 0);
    }

    fn reply(&self, thread: usize, result: u64) {
        let sent = lock(&self.shared.replies).get(&thread).map(|sender| sender.send(result));
        assert!(matches!(sent, Some(Ok(()))), "a resumed thread waits for its reply");
    }
}

impl Drop for Run {
    /// Abandons the execution and waits until its threads have ended.
    fn drop(&mut self) {
        lock(&self.shared.replies).clear();
        loop {
            let Some(handle) = lock(&self.shared.handles).pop() else { return };
            // A thread that unwinds has ended, too.
            let _ = handle.join();
        }
    }
}
