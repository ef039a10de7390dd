//! When a state covers another: it stands for at least the same exact states.
//!
//! Source: \[KVY11\] 4.1 (`fd`) and 4.3 (`pd`), as in the book's page "Abstract store buffers", section
//! "When a state covers another". Direction: exact reading of that section.
//!
//! A state and all that may cover it agree on everything but which of the oldest stores are in the head,
//! and, in `pd` and `set`, on the values of classes. [`key`] leaves that out, so a covering state is
//! found among those with the same key.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use fencepost_ir::{Loc, Value};

use crate::buffer::Rules;
use crate::format::{CertState, CertThread, Domain, Element, Entry};

/// Location, epoch, not before a barrier, value: see [`Element::rank`].
type Rank = (Loc, u8, bool, Value);

/// The same number for a state and for all that cover it; rarely for others.
pub(crate) fn key(rules: Rules, state: &CertState) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&state.memory, &state.allocated).hash(&mut hasher);
    for thread in &state.threads {
        (thread.pc, &thread.registers, thread.epoch).hash(&mut hasher);
        let all = ranks(&thread.set, &thread.head);
        match rules.domain {
            Domain::Fd => all.hash(&mut hasher),
            Domain::Pd | Domain::Set => classes(&all).hash(&mut hasher),
        }
        youngest(rules, thread).hash(&mut hasher);
    }
    hasher.finish()
}

/// Whether `b` covers `a`.
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
        || youngest(rules, b) != youngest(rules, a)
    {
        return false;
    }
    let Some(rest) = rest(rules, &b.head, &a.head) else { return false };
    let mine = ranks(&b.set, &[]);
    let theirs = ranks(&a.set, &rest);
    match rules.domain {
        Domain::Fd => mine == theirs,
        Domain::Pd | Domain::Set => {
            classes(&mine) == classes(&theirs)
                && theirs.iter().all(|rank| mine.binary_search(rank).is_ok())
        }
    }
}

/// What follows the heads of `b` in those of `a`, if each head of `b` is the beginning of `a`'s.
fn rest(rules: Rules, b: &[Entry], a: &[Entry]) -> Option<Vec<Entry>> {
    let mut rest = Vec::new();
    let mut left = b;
    for group in a.chunk_by(|x, y| rules.same_group(x.loc, y.loc)) {
        let same = left.iter().take_while(|e| rules.same_group(e.loc, group[0].loc)).count();
        let (mine, others) = left.split_at(same);
        rest.extend(group.strip_prefix(mine)?);
        left = others;
    }
    left.is_empty().then_some(rest)
}

/// The ranks of elements, and of entries read as elements.
fn ranks(set: &[Element], entries: &[Entry]) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = set.iter().map(Element::rank).collect();
    ranks.extend(entries.iter().map(|e| (e.loc, e.epoch, !e.before, e.value)));
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

fn classes(ranks: &[Rank]) -> Vec<(Loc, u8, bool)> {
    let mut classes: Vec<_> =
        ranks.iter().map(|(loc, epoch, free, _)| (*loc, *epoch, *free)).collect();
    classes.dedup();
    classes
}

/// The youngest pending value of each location, where the domain keeps it.
fn youngest(rules: Rules, thread: &CertThread) -> BTreeMap<Loc, Value> {
    match rules.domain {
        Domain::Fd | Domain::Pd => {
            let entries = thread.head.iter().map(|e| (e.loc, e.value));
            let last = thread.set.iter().filter(|e| e.last).map(|e| (e.loc, e.value));
            entries.chain(last).collect()
        }
        Domain::Set => BTreeMap::new(),
    }
}
