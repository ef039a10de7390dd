//! The rules of the book's page "Abstract store buffers", one by one, on buffers made by hand.

use fencepost_ir::{FenceKinds, Loc, Pc};

use super::rules;
use crate::buffer::How::{self, Head, Kept, MoreToCome, Removed, TheLast};
use crate::buffer::Rules;
use crate::format::Domain::{self, Fd, Pd, Set};
use crate::format::Model::{Pso, Tso};
use crate::format::{CertState, CertThread, Element, Entry};
use crate::order::{covers, key};

const X: Loc = Loc(0);
const Y: Loc = Loc(1);

/// A thread with these buffers: `(location, value, epoch, before)`, in sets also whether it is the last.
fn thread(
    epoch: u8,
    head: &[(Loc, i32, u8, bool)],
    set: &[(Loc, i32, u8, bool, bool)],
) -> CertThread {
    let entry = |&(loc, value, epoch, before): &_| Entry { loc, value, epoch, before };
    let element =
        |&(loc, value, epoch, before, last): &_| Element { loc, value, epoch, before, last };
    CertThread {
        pc: Pc(0),
        registers: Vec::new(),
        epoch,
        head: head.iter().map(entry).collect(),
        set: set.iter().map(element).collect(),
    }
}

/// All commits: location, value, how.
fn commits(rules: Rules, thread: &CertThread) -> Vec<(Loc, i32, How)> {
    after(rules, thread).into_iter().map(|(loc, value, how, _)| (loc, value, how)).collect()
}

fn after(rules: Rules, thread: &CertThread) -> Vec<(Loc, i32, How, CertThread)> {
    let mut all = Vec::new();
    let Ok(()) = rules.for_each_commit(thread, &mut |c| {
        all.push((c.loc, c.value, c.how, c.after));
        Ok::<(), std::convert::Infallible>(())
    });
    all
}

#[test]
fn the_last_value_leaves_last() {
    let two = thread(0, &[], &[(X, 1, 0, false, false), (X, 2, 0, false, true)]);
    let fd = vec![(X, 1, Kept), (X, 1, Removed), (X, 2, Kept)];
    let pd = vec![(X, 1, MoreToCome), (X, 2, MoreToCome), (X, 2, TheLast)];
    for model in [Tso, Pso] {
        assert_eq!(commits(rules(model, Fd, 0), &two), fd);
        assert_eq!(commits(rules(model, Pd, 0), &two), pd);
    }
    let one = thread(0, &[], &[(X, 2, 0, false, true)]);
    assert_eq!(commits(rules(Pso, Fd, 0), &one), [(X, 2, Kept), (X, 2, Removed)]);
    let set = thread(0, &[], &[(X, 1, 0, false, false), (X, 2, 0, false, false)]);
    let all = [(X, 1, MoreToCome), (X, 1, TheLast), (X, 2, MoreToCome), (X, 2, TheLast)];
    assert_eq!(commits(rules(Pso, Set, 0), &set), all);
}

#[test]
fn older_classes_of_a_location_come_first() {
    let set = [(X, 1, 0, false, false), (X, 2, 0, false, false), (X, 1, 1, false, true)];
    let classes = thread(1, &[], &set);
    let fd = after(rules(Pso, Fd, 0), &classes);
    let short: Vec<_> = fd.iter().map(|(_, value, how, _)| (*value, *how)).collect();
    assert_eq!(short, [(1, Kept), (1, Removed), (2, Kept), (2, Removed)]);
    assert_eq!(fd[1].3, thread(1, &[], &[set[1], set[2]]), "the epoch 0 is still in use");
    let pd = after(rules(Pso, Pd, 0), &classes);
    let short: Vec<_> = pd.iter().map(|(_, value, how, _)| (*value, *how)).collect();
    assert_eq!(short, [(1, MoreToCome), (1, TheLast), (2, MoreToCome), (2, TheLast)]);
    assert_eq!(pd[1].3, thread(0, &[], &[(X, 1, 0, false, true)]), "epochs are renumbered");
}

#[test]
fn only_the_smallest_epoch_is_committed_under_pso() {
    let both = thread(1, &[(X, 1, 0, false), (Y, 1, 1, false)], &[]);
    assert_eq!(
        after(rules(Pso, Fd, 1), &both),
        [(X, 1, Head, thread(0, &[(Y, 1, 0, false)], &[]))]
    );
    let behind = thread(2, &[(Y, 1, 0, false)], &[(X, 7, 1, false, true)]);
    let left = thread(1, &[], &[(X, 7, 0, false, true)]);
    assert_eq!(after(rules(Pso, Fd, 1), &behind), [(Y, 1, Head, left)]);
    let only = thread(1, &[(Y, 1, 0, false)], &[]);
    assert_eq!(after(rules(Pso, Fd, 1), &only), [(Y, 1, Head, thread(0, &[], &[]))]);
}

#[test]
fn heads_go_first_and_keep_their_order() {
    let mixed = thread(0, &[(Y, 1, 0, false), (X, 1, 0, false)], &[(Y, 3, 0, false, true)]);
    let left = thread(0, &[(X, 1, 0, false)], &[(Y, 3, 0, false, true)]);
    assert_eq!(after(rules(Tso, Fd, 2), &mixed), [(Y, 1, Head, left)]);
    let by_location = thread(0, &[(X, 1, 0, false)], &[(Y, 3, 0, false, true)]);
    let all = [(X, 1, Head), (Y, 3, Kept), (Y, 3, Removed)];
    assert_eq!(commits(rules(Pso, Fd, 2), &by_location), all);
}

#[test]
fn what_is_before_a_barrier_goes_first_under_tso() {
    let set = [(X, 1, 0, true, false), (X, 2, 0, false, true), (Y, 3, 0, false, true)];
    let barrier = thread(0, &[], &set);
    assert_eq!(commits(rules(Tso, Fd, 0), &barrier), [(X, 1, Kept), (X, 1, Removed)]);
    let all = [(X, 1, Kept), (X, 1, Removed), (Y, 3, Kept), (Y, 3, Removed)];
    assert_eq!(commits(rules(Pso, Fd, 0), &barrier), all, "no matter under PSO");
}

#[test]
fn stores_go_into_the_head_while_there_is_room() {
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
    assert_eq!(pso.forwarded(&own, X), [3]);
    own.head.remove(0);
    pso.store(&mut own, X, 4);
    assert_eq!(own.head.len(), 1, "not before older ones that are in the set");

    let tso = rules(Tso, Fd, 1);
    let mut own = thread(0, &[], &[]);
    tso.store(&mut own, Y, 1);
    tso.store(&mut own, X, 2);
    assert_eq!(own, thread(0, &[(Y, 1, 0, false)], &[(X, 2, 0, false, true)]));
    assert_eq!((tso.forwarded(&own, X), tso.forwarded(&own, Y)), (vec![2], vec![1]));
}

#[test]
fn loads_in_the_domain_set_read_the_youngest_class() {
    let set = [(X, 1, 0, false, false), (X, 2, 1, false, false), (X, 3, 1, false, false)];
    assert_eq!(rules(Pso, Set, 0).forwarded(&thread(1, &[], &set), X), [2, 3]);
    assert!(rules(Pso, Set, 0).forwarded(&thread(1, &[], &set), Y).is_empty());
}

#[test]
fn fences_mark_and_count() {
    let pso = rules(Pso, Pd, 1);
    let mut own = thread(0, &[], &[]);
    for value in 0..6 {
        assert!(pso.fence(&mut own, FenceKinds::STORE_STORE));
        assert!(pso.fence(&mut own, FenceKinds::STORE_STORE), "the second one changes nothing");
        assert_eq!(own.epoch, value.clamp(0, 3) as u8, "and none counts beyond 3");
        pso.store(&mut own, X, value);
    }
    assert_eq!(own.set.iter().filter(|e| e.epoch == 3).count(), 3);
    assert!(!pso.fence(&mut own, FenceKinds::FULL));
    assert!(pso.fence(&mut own, FenceKinds::LOAD_LOAD) && !own.behind_barrier());

    let set = [(X, 1, 0, true, false), (X, 2, 0, true, false), (X, 1, 0, false, true)];
    let mut own = thread(0, &[], &set);
    assert!(pso.fence(&mut own, FenceKinds::STORE_LOAD));
    assert_eq!(own, thread(0, &[], &[(X, 1, 0, true, true), (X, 2, 0, true, false)]), "united");

    let mut own = thread(0, &[(X, 1, 0, false)], &[]);
    let both = FenceKinds::STORE_LOAD.union(FenceKinds::STORE_STORE);
    assert!(rules(Tso, Fd, 1).fence(&mut own, both));
    assert_eq!(own, thread(0, &[(X, 1, 0, true)], &[]), "no epochs under TSO");
    assert!(rules(Pso, Fd, 1).fence(&mut own, both));
    assert_eq!(own, thread(1, &[(X, 1, 0, true)], &[]));
}

#[test]
fn updates_wait() {
    let pending = thread(0, &[(X, 1, 0, false)], &[]);
    assert!(!rules(Tso, Fd, 1).may_update(&pending, Y));
    assert!(rules(Pso, Fd, 1).may_update(&pending, Y));
    assert!(!rules(Pso, Fd, 1).may_update(&pending, X));
    let in_order = thread(1, &[(X, 1, 0, false)], &[]);
    assert!(!rules(Pso, Fd, 1).may_update(&in_order, Y), "an older epoch");
    let barrier = thread(0, &[(X, 1, 0, true)], &[]);
    assert!(!rules(Pso, Fd, 1).may_update(&barrier, Y), "a barrier");
}

/// Whether the first covers the second; then their keys are the same.
fn covered(rules: Rules, b: &CertThread, a: &CertThread) -> bool {
    let state = |own: &CertThread| {
        let threads = vec![own.clone()];
        CertState { memory: vec![0, 0], allocated: Vec::new(), threads }
    };
    let (b, a) = (state(b), state(a));
    let yes = covers(rules, &b, &a);
    assert!(!yes || key(rules, &b) == key(rules, &a), "{b:?} covers {a:?}, but is not found");
    yes
}

#[test]
fn covering_reads_heads_as_elements() {
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
            assert!(!covered(rules, &other_last, &long), "another youngest value");
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
fn covering_allows_more_values_only_where_classes_do() {
    let few = thread(0, &[], &[(X, 2, 0, false, true)]);
    let more = thread(0, &[], &[(X, 1, 0, false, false), (X, 2, 0, false, true)]);
    let other = thread(0, &[], &[(X, 2, 0, false, true), (Y, 1, 0, false, true)]);
    assert!(!covered(rules(Tso, Fd, 0), &more, &few));
    assert!(covered(rules(Tso, Pd, 0), &more, &few));
    assert!(!covered(rules(Tso, Pd, 0), &few, &more));
    assert!(!covered(rules(Tso, Pd, 0), &other, &few), "another class");
    let without_last = |own: &CertThread| {
        let mut own = own.clone();
        own.set.iter_mut().for_each(|e| e.last = false);
        own
    };
    let (few, more, other) = (without_last(&few), without_last(&more), without_last(&other));
    assert!(covered(rules(Tso, Domain::Set, 0), &more, &few));
    assert!(!covered(rules(Tso, Domain::Set, 0), &other, &few), "another class");
    let epoch = CertThread { epoch: 1, ..few.clone() };
    assert!(!covered(rules(Pso, Domain::Set, 0), &epoch, &few), "another epoch");
}

#[test]
fn heads_are_compared_by_location_under_pso() {
    let both = thread(0, &[(X, 1, 0, false), (Y, 1, 0, false)], &[]);
    let second = thread(0, &[(Y, 1, 0, false)], &[(X, 1, 0, false, true)]);
    assert!(covered(rules(Pso, Fd, 1), &second, &both));
    assert!(!covered(rules(Tso, Fd, 2), &second, &both), "not the beginning of the queue");
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
