//! Reports, replay of failures, and the types outside of a check.

use fencepost_test::sync::atomic::{
    AtomicBool, AtomicI8, AtomicI64, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering, fence,
};
use fencepost_test::sync::{Condvar, Mutex};
use fencepost_test::{Checker, FailureKind, Model, hint, thread};
use std::panic::catch_unwind;
use std::process::Command;
use std::sync::Arc;

use Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

/// Whether both threads can read the old value under TSO.
fn store_buffering() {
    let x = AtomicU32::new(0);
    let y = AtomicU32::new(0);
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(|| {
            x.store(1, Relaxed);
            y.load(Relaxed)
        });
        let other = scope.spawn(|| {
            y.store(1, Relaxed);
            x.load(Relaxed)
        });
        (one.join().unwrap(), other.join().unwrap())
    });
    assert!(one + other > 0, "both threads read the old value");
}

#[test]
fn a_failure_shows_pending_stores_and_places() {
    let report = Checker::new().model(Model::Tso).run(store_buffering);
    let text = report.to_string();
    println!("{text}");
    for part in [
        "both threads read the old value",
        "reports.rs:",
        "(pending)",
        "~ commit",
        "FENCEPOST_REPLAY='tso:main",
        "model tso",
        "objects:",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    assert!(!text.contains("crates/test/src"), "a place in the library:\n{text}");
}

#[test]
fn check_panics_for_a_failure() {
    let result = catch_unwind(|| Checker::new().model(Model::Tso).check(store_buffering));
    let message = *result.unwrap_err().downcast::<String>().unwrap();
    assert!(message.starts_with("violated: panic at"), "{message}");
}

/// The check that [`a_seed_replays_only_the_failed_execution`] runs in another process.
#[test]
fn replayed_check() {
    if std::env::var("FENCEPOST_REPLAY").is_err() {
        return;
    }
    Checker::new().model(Model::Tso).check(store_buffering);
}

#[test]
fn a_seed_replays_only_the_failed_execution() {
    let report = Checker::new().model(Model::Tso).run(store_buffering);
    let replay = |seed: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", "replayed_check"])
            .env("FENCEPOST_REPLAY", seed)
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    let seed = report.failure().unwrap().seed();
    let (success, text) = replay(seed);
    assert!(!success && text.contains("both threads read the old value"), "{text}");
    assert!(text.contains(&format!("FENCEPOST_REPLAY='{seed}'")), "{text}");
    assert!(text.contains("1 executions") || text.contains("1 execution,"), "{text}");
    let (success, text) = replay("tso:main*900");
    assert!(!success && text.contains("the seed does not fit"), "{text}");
    let (success, text) = replay("tso:main*2");
    assert!(success && text.contains("the replayed execution did not fail"), "{text}");
}

#[test]
fn limits_are_part_of_the_verdict() {
    let body = || {
        let x = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let x = Arc::clone(&x);
                thread::spawn(move || x.fetch_add(1, Relaxed))
            })
            .collect();
        threads.into_iter().for_each(|thread| drop(thread.join()));
    };
    let report = Checker::new().max_executions(2).run(body);
    assert!(!report.is_verified() && report.failure().is_none(), "{report}");
    assert!(report.bound().is_some_and(|bound| bound.contains("executions")));
    assert!(catch_unwind(|| Checker::new().max_executions(2).check(body)).is_err());
    Checker::new().max_executions(2).accept_bounded().check(body);
    let report = Checker::new().run(body);
    assert!(report.is_verified(), "{report}");
    assert_eq!(report.executions(), 6);
}

#[test]
fn a_closure_with_a_state_of_its_own_is_not_deterministic() {
    let runs = std::sync::atomic::AtomicU32::new(0);
    let report = Checker::new().run(move || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.fetch_add(1, Relaxed));
            if runs.fetch_add(1, Relaxed) == 0 {
                x.store(1, Relaxed);
            } else {
                x.load(Relaxed);
            }
        });
    });
    let kind = report.failure().map(|failure| failure.kind());
    assert_eq!(kind, Some(&FailureKind::NotDeterministic), "{report}");
}

#[test]
fn a_static_starts_each_execution_with_its_real_value() {
    static X: AtomicU32 = AtomicU32::new(5);
    fencepost_test::check(|| {
        assert_eq!(X.load(Relaxed), 5);
        let handle = thread::spawn(|| X.fetch_add(1, Relaxed));
        X.fetch_add(1, Relaxed);
        handle.join().unwrap();
        assert_eq!(X.load(Relaxed), 7);
    });
    assert_eq!(X.load(Relaxed), 5);
}

#[test]
fn a_unique_reference_sees_and_sets_the_value() {
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        Checker::new().model(model).check(|| {
            let mut x = AtomicU32::new(1);
            thread::scope(|scope| {
                scope.spawn(|| x.store(2, Relaxed));
            });
            assert_eq!(*x.get_mut(), 2);
            *x.get_mut() += 1;
            assert_eq!(x.load(Relaxed), 3);
            x.store(4, Relaxed);
            assert_eq!(x.into_inner(), 4);
        });
    }
}

/// Operations whose results must be the same in a check and outside.
fn arithmetic() {
    let x = AtomicU8::new(250);
    assert_eq!(x.fetch_add(10, SeqCst), 250);
    assert_eq!(x.fetch_sub(5, SeqCst), 4);
    assert_eq!(x.fetch_nand(0xf0, SeqCst), 255);
    assert_eq!(x.fetch_or(0x30, SeqCst), 0x0f);
    assert_eq!(x.fetch_xor(0xff, SeqCst), 0x3f);
    assert_eq!(x.fetch_and(0x80, SeqCst), 0xc0);
    assert_eq!(x.load(SeqCst), 0x80);
    let y = AtomicI8::new(-3);
    assert_eq!(y.fetch_min(-5, SeqCst), -3);
    assert_eq!(y.fetch_max(4, SeqCst), -5);
    assert_eq!(y.fetch_add(127, SeqCst), 4);
    assert_eq!(y.swap(-1, SeqCst), -125);
    assert_eq!(y.compare_exchange(1, 2, AcqRel, Acquire), Err(-1));
    assert_eq!(y.compare_exchange(-1, 2, AcqRel, Acquire), Ok(-1));
    let update = |value: i8| (value < 3).then_some(value + 1);
    assert_eq!(y.fetch_update(SeqCst, SeqCst, update), Ok(2));
    assert_eq!(y.fetch_update(SeqCst, SeqCst, update), Err(3));
    let z = AtomicI64::new(i64::MIN);
    assert_eq!(z.fetch_sub(1, Relaxed), i64::MIN);
    assert_eq!(z.into_inner(), i64::MAX);
    let flag = AtomicBool::new(true);
    assert!(flag.fetch_nand(true, SeqCst));
    assert!(!flag.fetch_not(SeqCst));
    assert!(flag.fetch_and(false, SeqCst));
    assert!(!flag.fetch_or(true, SeqCst));
    assert!(flag.fetch_xor(true, SeqCst));
    assert!(!flag.load(SeqCst));
    let mut value = 7;
    let pointer = AtomicPtr::new(&raw mut value);
    assert_eq!(pointer.swap(std::ptr::null_mut(), AcqRel), &raw mut value);
    assert!(pointer.load(Acquire).is_null());
}

#[test]
fn operations_have_the_same_results_in_a_check_and_outside() {
    arithmetic();
    Checker::new().model(Model::Pso).check(arithmetic);
}

#[test]
fn outside_of_a_check_the_types_behave_like_those_of_std() {
    let shared = Arc::new((Mutex::new(0), Condvar::new(), AtomicUsize::new(0)));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                shared.2.fetch_add(1, SeqCst);
                *shared.0.lock().unwrap() += 1;
                shared.1.notify_all();
            })
        })
        .collect();
    let count = shared.1.wait_while(shared.0.lock().unwrap(), |count| *count < 4).unwrap();
    assert_eq!(*count, 4);
    drop(count);
    for handle in threads {
        handle.join().unwrap();
    }
    fence(SeqCst);
    hint::spin_loop();
    thread::yield_now();
    assert_eq!(shared.2.load(SeqCst), 4);
    let borrowed = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| borrowed.fetch_add(1, SeqCst));
    });
    assert_eq!(borrowed.into_inner(), 1);
    let result = thread::spawn(|| panic!("expected")).join();
    assert!(result.is_err());
}

#[test]
fn a_panic_in_a_thread_unwinds_all_threads() {
    let report = Checker::new().run(|| {
        let mutex = Mutex::new(0);
        let condvar = Condvar::new();
        thread::scope(|scope| {
            scope.spawn(|| drop(condvar.wait(mutex.lock().unwrap())));
            scope.spawn(|| panic!("in a thread"));
            let _guard = mutex.lock().unwrap();
            thread::yield_now();
        });
    });
    let kind = report.failure().map(|failure| failure.kind());
    let Some(FailureKind::Panic(message)) = kind else { panic!("{report}") };
    assert!(message.contains("in a thread") && message.contains("reports.rs"), "{message}");
}

#[test]
fn threads_can_start_threads() {
    let report = Checker::new().run(|| {
        let x = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let x = Arc::clone(&x);
                thread::spawn(move || {
                    let inner = Arc::clone(&x);
                    let handle = thread::spawn(move || inner.load(Relaxed));
                    handle.join().unwrap()
                })
            })
            .collect();
        for handle in threads {
            assert_eq!(handle.join().unwrap(), 0);
        }
        x.store(1, Relaxed);
    });
    assert!(report.is_verified(), "{report}");
    assert_eq!(report.executions(), 1);
}
