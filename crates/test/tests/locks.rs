//! Mutual exclusion, spin loops, mutexes and condition variables.

use fencepost_test::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, fence};
use fencepost_test::sync::{Barrier, Condvar, Mutex};
use fencepost_test::{Checker, FailureKind, Model, Report, hint, thread};
use std::sync::Arc;
use std::time::Duration;

use Ordering::{Acquire, Relaxed, Release, SeqCst};

const MODELS: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

fn run(model: Model, body: impl Fn() + Send + Sync + 'static) -> Report {
    Checker::new().model(model).run(body)
}

fn is_panic(report: &Report) -> bool {
    report.failure().is_some_and(|failure| matches!(failure.kind(), FailureKind::Panic(_)))
}

fn kind(report: &Report) -> Option<&FailureKind> {
    report.failure().map(|failure| failure.kind())
}

/// Dekker's entry without waiting: at most one thread enters.
fn dekker_entry(order: Ordering) {
    let wants = [AtomicBool::new(false), AtomicBool::new(false)];
    let inside = AtomicU32::new(0);
    let enter = |own: usize| {
        wants[own].store(true, order);
        if !wants[1 - own].load(order) {
            inside.fetch_add(1, Relaxed);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| enter(0));
        scope.spawn(|| enter(1));
    });
    assert!(inside.into_inner() <= 1, "both threads entered");
}

#[test]
fn dekker_needs_sequentially_consistent_stores() {
    for model in MODELS {
        assert!(run(model, || dekker_entry(SeqCst)).is_verified(), "{model}");
    }
    assert!(run(Model::Sc, || dekker_entry(Relaxed)).is_verified());
    assert!(is_panic(&run(Model::Tso, || dekker_entry(Relaxed))));
    assert!(is_panic(&run(Model::Pso, || dekker_entry(Relaxed))));
}

/// Peterson's lock. `order` is that of the stores, and `fenced` adds a fence before the loop.
fn peterson(order: Ordering, fenced: bool) {
    let wants = [AtomicBool::new(false), AtomicBool::new(false)];
    let turn = AtomicUsize::new(0);
    let inside = AtomicBool::new(false);
    let work = |own: usize| {
        wants[own].store(true, order);
        turn.store(1 - own, order);
        if fenced {
            fence(SeqCst);
        }
        while wants[1 - own].load(Acquire) && turn.load(Acquire) == 1 - own {
            hint::spin_loop();
        }
        assert!(!inside.swap(true, Relaxed), "mutual exclusion");
        inside.store(false, Relaxed);
        wants[own].store(false, Release);
    };
    thread::scope(|scope| {
        scope.spawn(|| work(0));
        scope.spawn(|| work(1));
    });
}

#[test]
fn peterson_needs_a_fence_under_tso_and_more_under_pso() {
    for model in MODELS {
        let report = run(model, || peterson(SeqCst, false));
        assert!(report.is_verified(), "{model}: {report}");
    }
    let report = run(Model::Sc, || peterson(Relaxed, false));
    assert!(report.is_verified(), "{report}");
    assert!(is_panic(&run(Model::Tso, || peterson(Relaxed, false))));
    assert!(run(Model::Tso, || peterson(Relaxed, true)).is_verified());
    assert!(is_panic(&run(Model::Pso, || peterson(Relaxed, true))));
    let report = run(Model::Pso, || peterson(Release, true));
    assert!(report.is_verified(), "{report}");
}

/// A ticket lock with a plain counter behind it.
fn ticket_lock(threads: usize, unlock: Ordering) {
    let next = AtomicUsize::new(0);
    let serving = AtomicUsize::new(0);
    let counter = AtomicUsize::new(0);
    let work = || {
        let ticket = next.fetch_add(1, Relaxed);
        while serving.load(Acquire) != ticket {
            hint::spin_loop();
        }
        counter.store(counter.load(Relaxed) + 1, Relaxed);
        serving.store(ticket + 1, unlock);
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    assert_eq!(counter.into_inner(), threads);
}

#[test]
fn a_ticket_lock_needs_a_release_store_under_pso() {
    for model in MODELS {
        let report = run(model, || ticket_lock(2, Release));
        assert!(report.is_verified(), "{model}: {report}");
    }
    assert!(run(Model::Tso, || ticket_lock(2, Relaxed)).is_verified());
    assert!(is_panic(&run(Model::Pso, || ticket_lock(2, Relaxed))));
    let report = run(Model::Sc, || ticket_lock(3, Relaxed));
    assert!(report.is_verified(), "{report}");
}

#[test]
fn a_counter_behind_a_mutex_is_exact() {
    for model in MODELS {
        let report = run(model, || {
            let counter = Mutex::new(0);
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| *counter.lock().unwrap() += 1);
                }
            });
            assert_eq!(counter.into_inner().unwrap(), 3);
        });
        assert!(report.is_verified(), "{model}: {report}");
        assert_eq!(report.executions(), 6, "{model}");
    }
}

/// Waits for a flag. If `checks_locked` is false, the flag is checked before the mutex is locked,
/// and the wake-up can be lost.
fn wait_for_flag(checks_locked: bool) {
    let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let other = Arc::clone(&shared);
    let handle = thread::spawn(move || {
        let (flag, mutex, condvar) = &*other;
        let guard = mutex.lock().unwrap();
        flag.store(true, SeqCst);
        drop(guard);
        condvar.notify_one();
    });
    let (flag, mutex, condvar) = &*shared;
    if checks_locked {
        let mut guard = mutex.lock().unwrap();
        while !flag.load(SeqCst) {
            guard = condvar.wait(guard).unwrap();
        }
    } else if !flag.load(SeqCst) {
        drop(condvar.wait(mutex.lock().unwrap()).unwrap());
    }
    handle.join().unwrap();
}

#[test]
fn a_lost_wake_up_is_a_deadlock() {
    for model in MODELS {
        let report = run(model, || wait_for_flag(true));
        assert!(report.is_verified(), "{model}: {report}");
        let report = run(model, || wait_for_flag(false));
        assert_eq!(kind(&report), Some(&FailureKind::Deadlock), "{model}: {report}");
    }
}

#[test]
fn one_notification_wakes_any_one_waiter() {
    let wake = |all: bool, woken: usize| {
        let counters = (AtomicUsize::new(9), AtomicUsize::new(0));
        let shared = Arc::new((Mutex::new(()), Condvar::new(), counters));
        let waiter = |own: usize| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (mutex, condvar, (first, waiting)) = &*shared;
                let guard = mutex.lock().unwrap();
                waiting.fetch_add(1, SeqCst);
                drop(condvar.wait(guard).unwrap());
                let _ = first.compare_exchange(9, own, SeqCst, SeqCst);
            })
        };
        let handles = [waiter(0), waiter(1)];
        while shared.2.1.load(SeqCst) < 2 {
            thread::yield_now();
        }
        drop(shared.0.lock().unwrap());
        if all {
            shared.1.notify_all();
        } else {
            shared.1.notify_one();
            shared.1.notify_one();
        }
        for handle in handles {
            handle.join().unwrap();
        }
        assert_ne!(shared.2.0.load(SeqCst), woken, "this thread was first");
    };
    for all in [false, true] {
        assert!(run(Model::Sc, move || wake(all, 9)).is_verified());
        for woken in [0, 1] {
            let report = run(Model::Sc, move || wake(all, woken));
            assert!(is_panic(&report), "{report}");
        }
    }
}

/// Two threads lock two mutexes, in the same or in opposite orders.
fn two_mutexes(opposite: bool) {
    let one = Arc::new(Mutex::new(0));
    let two = Arc::new(Mutex::new(0));
    let (other_one, other_two) = (Arc::clone(&one), Arc::clone(&two));
    let handle = thread::spawn(move || {
        let (first, second) =
            if opposite { (other_two, other_one) } else { (other_one, other_two) };
        let _first = first.lock().unwrap();
        *second.lock().unwrap() += 1;
    });
    let first = one.lock().unwrap();
    *two.lock().unwrap() += 1;
    drop(first);
    handle.join().unwrap();
}

#[test]
fn opposite_lock_orders_deadlock() {
    let report = run(Model::Sc, || two_mutexes(false));
    assert!(report.is_verified(), "{report}");
    assert_eq!(report.executions(), 2);
    let report = run(Model::Sc, || two_mutexes(true));
    assert_eq!(kind(&report), Some(&FailureKind::Deadlock), "{report}");
}

#[test]
fn try_lock_sees_both_results() {
    let report = run(Model::Sc, || {
        let mutex = Mutex::new(());
        thread::scope(|scope| {
            scope.spawn(|| drop(mutex.lock().unwrap()));
            assert!(mutex.try_lock().is_ok(), "the mutex is locked");
        });
    });
    assert!(is_panic(&report), "{report}");
}

#[test]
fn a_spin_loop_that_nobody_ends_is_a_hang() {
    let report = run(Model::Tso, || {
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| flag.load(Relaxed));
            while !flag.load(Relaxed) {
                hint::spin_loop();
            }
        });
    });
    assert_eq!(kind(&report), Some(&FailureKind::Hang), "{report}");
}

#[test]
fn a_loop_without_a_hint_is_a_bound() {
    let report = Checker::new().max_events(40).run(|| {
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| flag.store(true, Relaxed));
            while !flag.load(Relaxed) {}
        });
    });
    assert!(report.failure().is_none());
    assert!(report.bound().is_some_and(|bound| bound.contains("40 events")), "{report}");
}

#[test]
fn a_spin_lock_with_compare_exchange_is_correct() {
    for model in MODELS {
        let report = run(model, || {
            let locked = AtomicBool::new(false);
            let counter = AtomicU32::new(0);
            let work = || {
                while locked.compare_exchange(false, true, Acquire, Relaxed).is_err() {
                    hint::spin_loop();
                }
                counter.store(counter.load(Relaxed) + 1, Relaxed);
                locked.store(false, Release);
            };
            thread::scope(|scope| {
                scope.spawn(work);
                scope.spawn(work);
            });
            assert_eq!(counter.into_inner(), 2);
        });
        assert!(report.is_verified(), "{model}: {report}");
    }
}

#[test]
fn a_spin_loop_that_gives_up_is_a_bound() {
    let body = |is_set: bool| {
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| flag.store(is_set, Relaxed));
            for _ in 0..5 {
                if flag.load(Relaxed) {
                    return;
                }
                hint::spin_loop();
            }
        });
    };
    for is_set in [true, false] {
        let report = run(Model::Sc, move || body(is_set));
        assert!(report.failure().is_none(), "{report}");
        assert!(report.bound().is_some_and(|bound| bound.contains("locks.rs")), "{report}");
    }
}

#[test]
fn a_yield_that_is_not_in_a_loop_is_no_wait() {
    let report = run(Model::Sc, || {
        let x = AtomicU32::new(0);
        thread::scope(|scope| {
            scope.spawn(|| x.load(Relaxed));
            thread::yield_now();
            let read = x.load(Relaxed);
            thread::yield_now();
            x.store(read + 1, Relaxed);
        });
        assert_eq!(x.into_inner(), 1);
    });
    assert!(report.is_verified(), "{report}");
}

#[test]
fn one_notification_does_not_wake_two_waiters() {
    let wake = |notifications: usize| {
        let mutex = Mutex::new(());
        let condvar = Condvar::new();
        let waiting = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let guard = mutex.lock().unwrap();
                    waiting.fetch_add(1, SeqCst);
                    drop(condvar.wait(guard).unwrap());
                });
            }
            while waiting.load(SeqCst) < 2 {
                hint::spin_loop();
            }
            drop(mutex.lock().unwrap());
            for _ in 0..notifications {
                condvar.notify_one();
            }
        });
    };
    let report = run(Model::Sc, move || wake(1));
    assert_eq!(kind(&report), Some(&FailureKind::Deadlock), "{report}");
    let report = run(Model::Sc, move || wake(2));
    assert!(report.is_verified(), "{report}");
}

#[test]
fn a_barrier_has_one_leader_in_each_round() {
    let body = || {
        let barrier = Barrier::new(2);
        let leaders = AtomicUsize::new(0);
        let work = || {
            for _ in 0..2 {
                if barrier.wait().is_leader() {
                    leaders.fetch_add(1, Relaxed);
                }
            }
        };
        thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
        });
        assert_eq!(leaders.into_inner(), 2);
    };
    body();
    let report = run(Model::Sc, body);
    assert!(report.is_verified(), "{report}");
}

#[test]
fn a_thread_that_sleeps_in_a_loop_waits_for_a_change() {
    let report = run(Model::Tso, || {
        let flag = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| flag.store(true, Relaxed));
            while !flag.load(Relaxed) {
                thread::sleep(Duration::from_secs(1));
            }
        });
    });
    assert!(report.is_verified(), "{report}");
}
