//! Locks, the updates of Linux that have a condition, and `smp_rmb` with updates without a result.

use super::{ACQUIRE, FULL, RELEASE, check, code};

#[test]
fn a_lock_is_taken_by_an_update_with_acquire_order() {
    let lock = ["update %1 = cas(x, 0, 1)", "branch %1 -> @2 else @0", ACQUIRE];
    for name in ["spin_lock", "mtx_lock", "lock"] {
        check(
            &format!("{name}(x); {}(&x);", name.replace("lock", "unlock")),
            &[&lock[..], &[RELEASE, "store x = 0"]].concat(),
        );
    }
    check("int r0 = spin_trylock(x);", &["update r0 = cas(x, 0, 1)", ACQUIRE]);
    check("int r0 = spin_is_locked(x);", &["load %1 = x", "assign r0 = %1 != 0"]);
}

/// A failed call is a load without fences.
#[test]
fn only_a_successful_compare_and_exchange_of_linux_has_fences() {
    let call = |before: &[&str], after: &[&str]| {
        let (first, last) = (2 + before.len(), 4 + before.len() + after.len());
        assert!(first < last);
        let mut all = vec!["load %1 = x".to_string()];
        all.push(format!("branch %1 != 3 -> @{last} else @2"));
        all.extend(before.iter().map(ToString::to_string));
        all.push("update %2 = cas(x, 3, 4)".into());
        all.extend(after.iter().map(ToString::to_string));
        all.push(format!("branch %2 -> @{last} else @0"));
        all
    };
    let (none, acquire, release, full): (&[&str], &[&str], &[&str], &[&str]) =
        (&[], &[ACQUIRE], &[RELEASE], &[FULL]);
    for (suffix, before, after) in [
        ("", full, full),
        ("_acquire", none, acquire),
        ("_release", release, none),
        ("_relaxed", none, none),
    ] {
        let mut expected = call(before, after);
        expected.push("assign r0 = %1".into());
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        for name in ["cmpxchg", "atomic_cmpxchg"] {
            check(&format!("int r0 = {name}{suffix}(x, 3, 4);"), &expected);
        }
        let discarded: Vec<&str> = if suffix == "_relaxed" {
            vec!["update cas(x, 3, 4)"]
        } else {
            expected[..expected.len() - 1].to_vec()
        };
        check(&format!("cmpxchg{suffix}(x, 3, 4);"), &discarded);
    }
    check(
        "int r1 = 3; int r0 = try_cmpxchg(x, &r1, 4);",
        &[
            "assign r1 = 3",
            "load %3 = x",
            "branch %3 != r1 -> @7 else @3",
            FULL,
            "update %4 = cas(x, r1, 4)",
            FULL,
            "branch %4 -> @7 else @1",
            "assign %2 = %3 == r1",
            "assign r1 = %3",
            "assign r0 = %2",
        ],
    );
}

#[test]
fn an_addition_with_a_condition_is_a_load_if_it_adds_nothing() {
    for (call, stop, sum, value) in [
        ("atomic_add_unless(x, 2, 5)", "%1 == 5", "(%1 +w 2)", "%1 != 5"),
        ("atomic_fetch_add_unless(x, 2, 5)", "%1 == 5", "(%1 +w 2)", "%1"),
        ("atomic_inc_not_zero(x)", "%1 == 0", "(%1 +w 1)", "%1 != 0"),
    ] {
        let mut found = code(&format!("int r0 = {call};"));
        // The sum wraps around.
        let update = found.remove(3);
        assert!(update.starts_with("update %2 = cas(x, %1, ") && update.contains(sum), "{update}");
        let stop = format!("branch {stop} -> @6 else @2");
        let last = format!("assign r0 = {value}");
        let expected = ["load %1 = x", &stop, FULL, FULL, "branch %2 -> @6 else @0", &last];
        assert_eq!(found, expected, "{call}");
    }
}

/// A fence would order the update with the loads.
#[test]
fn a_read_barrier_does_not_order_updates_without_a_result() {
    check(
        "int r0; int r1; r0 = *x; atomic_inc(y); smp_rmb(); r1 = xchg_relaxed(y, 2);",
        &[
            "load r0 = x[%2]",
            "assign %1 = %1 | (r0 & 0)",
            "update fetch_add(y, 1)",
            "assign %2 = %1",
            "update r1 = swap(y[%2], 2)",
            "assign %1 = %1 | (r1 & 0)",
        ],
    );
    let fence = "fence load_load";
    check("int r0 = *x; smp_rmb(); *y = 1;", &["load r0 = x", fence, "store y = 1"]);
    check("atomic_inc(y); smp_wmb();", &["update fetch_add(y, 1)", "fence store_store"]);
}
