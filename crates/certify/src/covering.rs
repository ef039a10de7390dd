//! The covering relation of abstract states: a state covers another if it represents at least the
//! same exact states.
//!
//! Source: \[KVY11\] 4.1 (`fd`) and 4.3 (`pd`), as the book's page "Abstract store buffers" defines
//! the covering relation. Direction: exact with respect to that definition.
//!
//! A state and the states that may cover it differ only in which of the oldest stores are in the
//! head and, in `pd` and `set`, in the values of classes. [`cover_key`] ignores these differences,
//! so a covering state has the same key.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use fencepost_ir::{Loc, Value};

use crate::buffer::Rules;
use crate::format::{CertState, CertThread, Domain, Element, Entry};

/// Location, epoch, not before a barrier, value: see [`Element::sort_key`].
type SortKey = (Loc, u8, bool, Value);

/// Returns a hash that is equal for a state and all states that cover it.
pub(crate) fn cover_key(rules: Rules, state: &CertState) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&state.memory, &state.allocated).hash(&mut hasher);
    for thread in &state.threads {
        (thread.pc, &thread.registers, thread.epoch).hash(&mut hasher);
        let all = sort_keys(&thread.set, &thread.head);
        match rules.domain {
            Domain::Fd => all.hash(&mut hasher),
            Domain::Pd | Domain::Set => classes(&all).hash(&mut hasher),
        }
        youngest_values(rules, thread).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns whether `b` covers `a`.
pub(crate) fn covers(rules: Rules, b: &CertState, a: &CertState) -> bool {
    b.memory == a.memory
        && b.allocated == a.allocated
        && b.threads.len() == a.threads.len()
        && b.threads.iter().zip(&a.threads).all(|(b, a)| thread_covers(rules, b, a))
}

fn thread_covers(rules: Rules, b: &CertThread, a: &CertThread) -> bool {
    if b == a {
        return true;
    }
    if (b.pc, &b.registers, b.epoch) != (a.pc, &a.registers, a.epoch)
        || youngest_values(rules, b) != youngest_values(rules, a)
    {
        return false;
    }
    let Some(rest) = head_remainder(rules, &b.head, &a.head) else { return false };
    let covering_keys = sort_keys(&b.set, &[]);
    let covered_keys = sort_keys(&a.set, &rest);
    match rules.domain {
        Domain::Fd => covering_keys == covered_keys,
        Domain::Pd | Domain::Set => {
            classes(&covering_keys) == classes(&covered_keys)
                && covered_keys.iter().all(|sort_key| covering_keys.binary_search(sort_key).is_ok())
        }
    }
}

/// Returns the entries of `a` that follow the heads of `b`; `None` unless each head of `b` is a
/// prefix of the corresponding head of `a`.
fn head_remainder(rules: Rules, b: &[Entry], a: &[Entry]) -> Option<Vec<Entry>> {
    let mut rest = Vec::new();
    let mut left = b;
    for group in a.chunk_by(|x, y| rules.are_in_same_group(x.loc, y.loc)) {
        let same = left.iter().take_while(|e| rules.are_in_same_group(e.loc, group[0].loc)).count();
        let (prefix, others) = left.split_at(same);
        rest.extend(group.strip_prefix(prefix)?);
        left = others;
    }
    left.is_empty().then_some(rest)
}

/// Returns the sort keys of elements, and of entries read as elements, without duplicates.
fn sort_keys(set: &[Element], entries: &[Entry]) -> Vec<SortKey> {
    let mut sort_keys: Vec<SortKey> = set.iter().map(Element::sort_key).collect();
    sort_keys.extend(entries.iter().map(|e| (e.loc, e.epoch, !e.before_barrier, e.value)));
    sort_keys.sort_unstable();
    sort_keys.dedup();
    sort_keys
}

fn classes(sort_keys: &[SortKey]) -> Vec<(Loc, u8, bool)> {
    let mut classes: Vec<_> =
        sort_keys.iter().map(|(loc, epoch, free, _)| (*loc, *epoch, *free)).collect();
    classes.dedup();
    classes
}

/// Returns the youngest pending value of each location; empty in the domain `set`.
fn youngest_values(rules: Rules, thread: &CertThread) -> BTreeMap<Loc, Value> {
    match rules.domain {
        Domain::Fd | Domain::Pd => {
            let entries = thread.head.iter().map(|e| (e.loc, e.value));
            let last = thread.set.iter().filter(|e| e.last).map(|e| (e.loc, e.value));
            entries.chain(last).collect()
        }
        Domain::Set => BTreeMap::new(),
    }
}
