//! Many concurrent accesses of all kinds: the trace has all of them, in program order, and every
//! read follows the write that it reads.

use fencepost_record::{AtomicBool, AtomicU32, fence, take_trace, thread};
use std::collections::HashMap;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

const THREADS: u32 = 4;
const ROUNDS: u32 = 200;

static COUNTER: AtomicU32 = AtomicU32::new("counter", 0);
static TURN: AtomicU32 = AtomicU32::new("turn", 0);
static LOCK: AtomicBool = AtomicBool::new("lock", false);

/// Returns the number of recorded events of a round: fences of orderings count, too.
fn round(me: u32) -> usize {
    COUNTER.fetch_add(1, Relaxed);
    assert!(COUNTER.compare_exchange(u32::MAX, 0, Relaxed, Relaxed).is_err());
    TURN.store(me, Release);
    let mut events = 2 + 2;
    if LOCK.compare_exchange(false, true, Acquire, Relaxed).is_ok() {
        TURN.load(Acquire);
        LOCK.store(false, SeqCst);
        events += 1 + 3;
    }
    fence(SeqCst);
    TURN.swap(me, AcqRel);
    events + 1 + 1 + 2
}

/// Returns the value of a field of a line.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
    rest.split(['"', ',', '}']).find(|part| !part.is_empty())
}

#[test]
fn every_read_follows_its_write() {
    let names: Vec<String> = (0..THREADS).map(|me| format!("t{me}")).collect();
    let expected: usize = std::thread::scope(|scope| {
        let threads = names.iter().zip(0..).map(|(name, me)| {
            scope.spawn(move || thread(name, || (0..ROUNDS).map(|_| round(me)).sum::<usize>()))
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum()
    });
    assert_eq!(COUNTER.load(Relaxed), THREADS * ROUNDS);
    let trace = take_trace().expect("all threads have ended");
    assert_eq!(trace.lines().count(), expected + 1);
    let mut writes: HashMap<&str, u32> = HashMap::new();
    for line in trace.lines() {
        let op = field(line, "op").expect("every line has an op");
        let Some(address) = field(line, "address") else {
            assert_eq!(op, "fence", "{line}");
            continue;
        };
        let writes = writes.entry(address).or_default();
        *writes += u32::from(op == "store" || op == "update");
        let index = field(line, "index").and_then(|index| index.parse().ok());
        assert_eq!(index, Some(*writes), "{line}");
    }
    assert_eq!(writes["counter"], THREADS * ROUNDS);
    // The next trace lacks the writes of this one.
    COUNTER.load(Relaxed);
    let error = take_trace().expect_err("the writes were taken before").to_string();
    assert!(error.contains("that is not in the log"), "{error}");
}
