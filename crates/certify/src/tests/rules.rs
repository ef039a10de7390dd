//! Tests each rule of the book's page "Abstract store buffers" on hand-written buffers.

use fencepost_ir::{FenceKinds, Loc, Pc, Value};

use super::rules;
use crate::buffer::CommitKind::{self, ClassKept, ClassRemoved, ElementKept, ElementRemoved, Head};
use crate::buffer::Rules;
use crate::covering::{cover_key, covers};
use crate::format::Domain::{self, Fd, Pd, Set};
use crate::format::Model::{Pso, Tso};
use crate::format::{CertState, CertThread, Element, Entry};

const X: Loc = Loc(0);
const Y: Loc = Loc(1);

/// Returns a thread with the given buffers. Entries are `(location, value, epoch, before_barrier)`;
/// elements also have `last`.
fn thread(
    epoch: u8,
    head: &[(Loc, Value, u8, bool)],
    set: &[(Loc, Value, u8, bool, bool)],
) -> CertThread {
    let entry =
        |&(loc, value, epoch, before_barrier): &_| Entry { loc, value, epoch, before_barrier };
    let element = |&(loc, value, epoch, before_barrier, last): &_| Element {
        loc,
        value,
        epoch,
        before_barrier,
        last,
    };
    CertThread {
        pc: Pc(0),
        registers: Vec::new(),
        epoch,
        head: head.iter().map(entry).collect(),
        set: set.iter().map(element).collect(),
    }
}

/// Returns the location, value and kind of all commits.
fn commits(rules: Rules, thread: &CertThread) -> Vec<(Loc, Value, CommitKind)> {
    commits_with_result(rules, thread)
        .into_iter()
        .map(|(loc, value, kind, _)| (loc, value, kind))
        .collect()
}

/// Returns all commits with the thread afterwards.
fn commits_with_result(
    rules: Rules,
    thread: &CertThread,
) -> Vec<(Loc, Value, CommitKind, CertThread)> {
    let mut all = Vec::new();
    let Ok(()) = rules.for_each_commit(thread, &mut |c| {
        all.push((c.loc, c.value, c.kind, c.after));
        Ok::<(), std::convert::Infallible>(())
    });
    all
}

#[test]
fn last_value_is_removed_last() {
    let two = thread(0, &[], &[(X, 1, 0, false, false), (X, 2, 0, false, true)]);
    let fd = vec![(X, 1, ElementKept), (X, 1, ElementRemoved), (X, 2, ElementKept)];
    let pd = vec![(X, 1, ClassKept), (X, 2, ClassKept), (X, 2, ClassRemoved)];
    for model in [Tso, Pso] {
        assert_eq!(commits(rules(model, Fd, 0), &two), fd);
        assert_eq!(commits(rules(model, Pd, 0), &two), pd);
    }
    let one = thread(0, &[], &[(X, 2, 0, false, true)]);
    assert_eq!(commits(rules(Pso, Fd, 0), &one), [(X, 2, ElementKept), (X, 2, ElementRemoved)]);
    let set = thread(0, &[], &[(X, 1, 0, false, false), (X, 2, 0, false, false)]);
    let all = [(X, 1, ClassKept), (X, 1, ClassRemoved), (X, 2, ClassKept), (X, 2, ClassRemoved)];
    assert_eq!(commits(rules(Pso, Set, 0), &set), all);
}

#[test]
fn older_classes_of_a_location_commit_first() {
    let set = [(X, 1, 0, false, false), (X, 2, 0, false, false), (X, 1, 1, false, true)];
    let classes = thread(1, &[], &set);
    let fd = commits_with_result(rules(Pso, Fd, 0), &classes);
    let short: Vec<_> = fd.iter().map(|(_, value, kind, _)| (*value, *kind)).collect();
    assert_eq!(
        short,
        [(1, ElementKept), (1, ElementRemoved), (2, ElementKept), (2, ElementRemoved)]
    );
    assert_eq!(fd[1].3, thread(1, &[], &[set[1], set[2]]), "epoch 0 must stay in use");
    let pd = commits_with_result(rules(Pso, Pd, 0), &classes);
    let short: Vec<_> = pd.iter().map(|(_, value, kind, _)| (*value, *kind)).collect();
    assert_eq!(short, [(1, ClassKept), (1, ClassRemoved), (2, ClassKept), (2, ClassRemoved)]);
    assert_eq!(pd[1].3, thread(0, &[], &[(X, 1, 0, false, true)]), "epochs must be renumbered");
}

#[test]
fn only_the_smallest_epoch_commits_under_pso() {
    let both = thread(1, &[(X, 1, 0, false), (Y, 1, 1, false)], &[]);
    assert_eq!(
        commits_with_result(rules(Pso, Fd, 1), &both),
        [(X, 1, Head, thread(0, &[(Y, 1, 0, false)], &[]))]
    );
    let behind = thread(2, &[(Y, 1, 0, false)], &[(X, 7, 1, false, true)]);
    let left = thread(1, &[], &[(X, 7, 0, false, true)]);
    assert_eq!(commits_with_result(rules(Pso, Fd, 1), &behind), [(Y, 1, Head, left)]);
    let only = thread(1, &[(Y, 1, 0, false)], &[]);
    assert_eq!(commits_with_result(rules(Pso, Fd, 1), &only), [(Y, 1, Head, thread(0, &[], &[]))]);
}

#[test]
fn heads_commit_first_and_in_order() {
    let mixed = thread(0, &[(Y, 1, 0, false), (X, 1, 0, false)], &[(Y, 3, 0, false, true)]);
    let left = thread(0, &[(X, 1, 0, false)], &[(Y, 3, 0, false, true)]);
    assert_eq!(commits_with_result(rules(Tso, Fd, 2), &mixed), [(Y, 1, Head, left)]);
    let by_location = thread(0, &[(X, 1, 0, false)], &[(Y, 3, 0, false, true)]);
    let all = [(X, 1, Head), (Y, 3, ElementKept), (Y, 3, ElementRemoved)];
    assert_eq!(commits(rules(Pso, Fd, 2), &by_location), all);
}

#[test]
fn stores_before_a_barrier_commit_first_under_tso() {
    let set = [(X, 1, 0, true, false), (X, 2, 0, false, true), (Y, 3, 0, false, true)];
    let barrier = thread(0, &[], &set);
    assert_eq!(commits(rules(Tso, Fd, 0), &barrier), [(X, 1, ElementKept), (X, 1, ElementRemoved)]);
    let all =
        [(X, 1, ElementKept), (X, 1, ElementRemoved), (Y, 3, ElementKept), (Y, 3, ElementRemoved)];
    assert_eq!(
        commits(rules(Pso, Fd, 0), &barrier),
        all,
        "barriers must not order commits under PSO"
    );
}

#[test]
fn stores_enter_the_head_up_to_k_entries() {
    let pso = rules(Pso, Fd, 1);
    let mut own = thread(0, &[], &[]);
    pso.store(&mut own, Y, 1);
    pso.store(&mut own, X, 2);
    assert_eq!(own, thread(0, &[(X, 2, 0, false), (Y, 1, 0, false)], &[]));
    pso.store(&mut own, X, 3);
    pso.store(&mut own, X, 2);
    let set = [(X, 2, 0, false, true), (X, 3, 0, false, false)];
    assert_eq!(own, thread(0, &[(X, 2, 0, false), (Y, 1, 0, false)], &set));
    pso.store(&mut own, X, 3);
    assert_eq!(pso.forwarded_values(&own, X), [3]);
    own.head.remove(0);
    pso.store(&mut own, X, 4);
    assert_eq!(
        own.head.len(),
        1,
        "a store must not enter the head while older stores are in the set"
    );

    let tso = rules(Tso, Fd, 1);
    let mut own = thread(0, &[], &[]);
    tso.store(&mut own, Y, 1);
    tso.store(&mut own, X, 2);
    assert_eq!(own, thread(0, &[(Y, 1, 0, false)], &[(X, 2, 0, false, true)]));
    assert_eq!((tso.forwarded_values(&own, X), tso.forwarded_values(&own, Y)), (vec![2], vec![1]));
}

#[test]
fn loads_in_domain_set_read_the_youngest_class() {
    let set = [(X, 1, 0, false, false), (X, 2, 1, false, false), (X, 3, 1, false, false)];
    assert_eq!(rules(Pso, Set, 0).forwarded_values(&thread(1, &[], &set), X), [2, 3]);
    assert!(rules(Pso, Set, 0).forwarded_values(&thread(1, &[], &set), Y).is_empty());
}

#[test]
fn fences_set_barriers_and_epochs() {
    let pso = rules(Pso, Pd, 1);
    let mut own = thread(0, &[], &[]);
    for value in 0..6 {
        assert!(pso.fence(&mut own, FenceKinds::STORE_STORE));
        assert!(pso.fence(&mut own, FenceKinds::STORE_STORE), "a second fence must change nothing");
        assert_eq!(own.epoch, value.clamp(0, 3) as u8, "the epoch must not exceed 3");
        pso.store(&mut own, X, value);
    }
    assert_eq!(own.set.iter().filter(|e| e.epoch == 3).count(), 3);
    assert!(!pso.fence(&mut own, FenceKinds::FULL));
    assert!(pso.fence(&mut own, FenceKinds::LOAD_LOAD) && !own.has_store_before_barrier());

    let set = [(X, 1, 0, true, false), (X, 2, 0, true, false), (X, 1, 0, false, true)];
    let mut own = thread(0, &[], &set);
    assert!(pso.fence(&mut own, FenceKinds::STORE_LOAD));
    assert_eq!(
        own,
        thread(0, &[], &[(X, 1, 0, true, true), (X, 2, 0, true, false)]),
        "equal classes must be united"
    );

    let mut own = thread(0, &[(X, 1, 0, false)], &[]);
    let both = FenceKinds::STORE_LOAD.union(FenceKinds::STORE_STORE);
    assert!(rules(Tso, Fd, 1).fence(&mut own, both));
    assert_eq!(own, thread(0, &[(X, 1, 0, true)], &[]), "TSO must not use epochs");
    assert!(rules(Pso, Fd, 1).fence(&mut own, both));
    assert_eq!(own, thread(1, &[(X, 1, 0, true)], &[]));
}

#[test]
fn updates_wait_for_pending_stores() {
    let pending = thread(0, &[(X, 1, 0, false)], &[]);
    assert!(!rules(Tso, Fd, 1).may_update(&pending, Y));
    assert!(rules(Pso, Fd, 1).may_update(&pending, Y));
    assert!(!rules(Pso, Fd, 1).may_update(&pending, X));
    let in_order = thread(1, &[(X, 1, 0, false)], &[]);
    assert!(!rules(Pso, Fd, 1).may_update(&in_order, Y), "a store with an older epoch is pending");
    let barrier = thread(0, &[(X, 1, 0, true)], &[]);
    assert!(!rules(Pso, Fd, 1).may_update(&barrier, Y), "a store before a barrier is pending");
}

/// Returns whether `b` covers `a`. Asserts that the keys are then equal.
fn covered(rules: Rules, b: &CertThread, a: &CertThread) -> bool {
    let state = |own: &CertThread| {
        let threads = vec![own.clone()];
        CertState { memory: vec![0, 0], allocated: Vec::new(), threads }
    };
    let (b, a) = (state(b), state(a));
    let yes = covers(rules, &b, &a);
    assert!(
        !yes || cover_key(rules, &b) == cover_key(rules, &a),
        "{b:?} covers {a:?}, but the keys differ"
    );
    yes
}

#[test]
fn covering_reads_head_entries_as_elements() {
    let long = thread(0, &[(X, 1, 0, false), (X, 2, 0, false)], &[]);
    let mixed = thread(0, &[(X, 1, 0, false)], &[(X, 2, 0, false, true)]);
    let set = thread(0, &[], &[(X, 1, 0, false, false), (X, 2, 0, false, true)]);
    let other_last = thread(0, &[], &[(X, 1, 0, false, true), (X, 2, 0, false, false)]);
    for model in [Tso, Pso] {
        for domain in [Fd, Pd] {
            let rules = rules(model, domain, 2);
            assert!(covered(rules, &mixed, &long) && covered(rules, &set, &mixed));
            assert!(covered(rules, &set, &long) && covered(rules, &set, &set));
            assert!(!covered(rules, &long, &mixed) && !covered(rules, &mixed, &set));
            assert!(!covered(rules, &other_last, &long), "the youngest values differ");
        }
    }
    let one_or_more = thread(0, &[], &[(X, 1, 0, false, true)]);
    let two_or_more = thread(0, &[(X, 1, 0, false)], &[(X, 1, 0, false, true)]);
    assert!(!covered(rules(Pso, Fd, 2), &two_or_more, &one_or_more));
    let wrong_start = thread(0, &[(X, 2, 0, false)], &[(X, 1, 0, false, false)]);
    assert!(!covered(rules(Pso, Pd, 2), &wrong_start, &long));
    let marked = thread(0, &[], &[(X, 1, 0, true, false), (X, 2, 0, true, true)]);
    assert!(!covered(rules(Pso, Pd, 2), &marked, &long));
}

#[test]
fn covering_allows_more_values_only_in_pd_and_set() {
    let few = thread(0, &[], &[(X, 2, 0, false, true)]);
    let more = thread(0, &[], &[(X, 1, 0, false, false), (X, 2, 0, false, true)]);
    let other = thread(0, &[], &[(X, 2, 0, false, true), (Y, 1, 0, false, true)]);
    assert!(!covered(rules(Tso, Fd, 0), &more, &few));
    assert!(covered(rules(Tso, Pd, 0), &more, &few));
    assert!(!covered(rules(Tso, Pd, 0), &few, &more));
    assert!(!covered(rules(Tso, Pd, 0), &other, &few), "the classes differ");
    let without_last = |own: &CertThread| {
        let mut own = own.clone();
        own.set.iter_mut().for_each(|e| e.last = false);
        own
    };
    let (few, more, other) = (without_last(&few), without_last(&more), without_last(&other));
    assert!(covered(rules(Tso, Domain::Set, 0), &more, &few));
    assert!(!covered(rules(Tso, Domain::Set, 0), &other, &few), "the classes differ");
    let epoch = CertThread { epoch: 1, ..few.clone() };
    assert!(!covered(rules(Pso, Domain::Set, 0), &epoch, &few), "the epochs differ");
}

#[test]
fn heads_are_compared_by_location_under_pso() {
    let both = thread(0, &[(X, 1, 0, false), (Y, 1, 0, false)], &[]);
    let second = thread(0, &[(Y, 1, 0, false)], &[(X, 1, 0, false, true)]);
    assert!(covered(rules(Pso, Fd, 1), &second, &both));
    assert!(!covered(rules(Tso, Fd, 2), &second, &both), "the head is not a prefix of the queue");
}

#[test]
fn covering_compares_memory_and_control() {
    let own = CertThread { registers: vec![0], ..thread(0, &[], &[]) };
    let state = CertState { memory: vec![0], allocated: vec![false], threads: vec![own] };
    let changes: [fn(&mut CertState); 4] = [
        |s| s.memory[0] = 1,
        |s| s.allocated[0] = true,
        |s| s.threads[0].pc = Pc(1),
        |s| s.threads[0].registers[0] = 1,
    ];
    for domain in [Fd, Pd, Set] {
        assert!(covers(rules(Pso, domain, 0), &state, &state));
        for change in changes {
            let mut other = state.clone();
            change(&mut other);
            assert!(!covers(rules(Pso, domain, 0), &other, &state), "{other:?}");
        }
    }
}
