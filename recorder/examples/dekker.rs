//! Records an execution of Dekker's entry protocol: set your flag, then read the flag of the other.
//!
//! `cargo run -p fencepost-record --example dekker [fenced] [concurrent] > dekker.jsonl`, then
//! `fencepost monitor dekker.jsonl`. Without `concurrent`, one thread runs after the other.

use fencepost_record::{AtomicBool, TraceError, fence, take_trace, thread};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// The number of attempts of each thread to enter.
const ROUNDS: u32 = 50;

struct Lock {
    wants: [AtomicBool; 2],
    fenced: bool,
}

impl Lock {
    /// Tries to enter the critical section. Returns whether it did.
    fn enter(&self, me: usize) -> bool {
        self.wants[me].store(true, Relaxed);
        if self.fenced {
            fence(SeqCst);
        }
        let entered = !self.wants[1 - me].load(Relaxed);
        self.wants[me].store(false, Relaxed);
        if self.fenced {
            fence(SeqCst);
        }
        entered
    }

    /// Tries to enter several times. Returns how often it did.
    fn run(&self, me: usize, rounds: u32) -> usize {
        thread(["left", "right"][me], || (0..rounds).filter(|_| self.enter(me)).count())
    }
}

/// Runs both threads and returns the trace.
pub(crate) fn record(fenced: bool, concurrent: bool) -> Result<String, TraceError> {
    let wants = ["left wants", "right wants"].map(|name| AtomicBool::new(name, false));
    let lock = Lock { wants, fenced };
    std::thread::scope(|scope| {
        if concurrent {
            scope.spawn(|| lock.run(0, ROUNDS));
            scope.spawn(|| lock.run(1, ROUNDS));
        } else {
            let _ = scope.spawn(|| lock.run(0, 1)).join();
            scope.spawn(|| lock.run(1, 1));
        }
    });
    take_trace()
}

fn main() {
    let is_given = |word| std::env::args().skip(1).any(|argument| argument == word);
    match record(is_given("fenced"), is_given("concurrent")) {
        Ok(trace) => print!("{trace}"),
        Err(error) => {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
    }
}
