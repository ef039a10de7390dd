//! The rules for valid states of a program and an abstraction:
//!
//! - The numbers of values, cells, threads and registers match the program. Program counters are
//!   inside the code.
//! - The locations of pending stores exist. Under SC there are no pending stores.
//! - The head of a group has at most k entries. Under PSO, heads are sorted by location.
//! - Elements are sorted by [`Element::sort_key`](crate::Element::sort_key), without duplicates.
//! - Each location with elements has exactly one last value, in its youngest class. In the domain
//!   `set` there are no last values.
//! - Within the head of a group, epochs do not decrease, and of entries with the same epoch those
//!   before a barrier come first. Elements are not older than the head of their group.
//! - The epochs in use are 0, 1, ... without gaps. The current epoch is the largest in use or the
//!   next one. It is 0 if nothing is pending, and under TSO.
//!
//! These rules are not needed for soundness: a certificate with other states must be closed, too. A
//! violation shows that the writer and the checker disagree on the meaning of states.

use std::collections::BTreeSet;

use crate::buffer::{Class, LAST_EPOCH, Rules};
use crate::format::{CertState, CertThread, Domain, Element, Entry, Model};
use crate::semantics::Semantics;

/// Checks that a state is valid. The error is a message.
pub(crate) fn check(semantics: &Semantics<'_>, state: &CertState) -> Result<(), String> {
    let program = semantics.program;
    check_count("values in memory", state.memory.len(), program.locations.len())?;
    check_count("cells", state.allocated.len(), semantics.cell_count())?;
    check_count("threads", state.threads.len(), program.threads.len())?;
    for (thread, code) in state.threads.iter().zip(&program.threads) {
        let within = |what: String| format!("thread {}: {what}", code.name);
        check_count("registers", thread.registers.len(), code.registers.len()).map_err(within)?;
        if thread.pc.index() >= code.code.len() {
            return Err(within(format!("statement {} does not exist", thread.pc)));
        }
        if let Some(store) = thread.pending().find(|s| s.loc.index() >= program.locations.len()) {
            return Err(within(format!("location {} does not exist", store.loc)));
        }
        check_pending(semantics.rules, thread).map_err(within)?;
    }
    Ok(())
}

fn check_count(what: &str, found: usize, expected: usize) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{found} {what}, but the program has {expected}"))
    }
}

fn check_pending(rules: Rules, thread: &CertThread) -> Result<(), String> {
    if rules.model == Model::Sc && !thread.has_no_pending_store() {
        return Err("stores are pending under sc".into());
    }
    check_heads(rules, thread)?;
    check_elements(rules, thread)?;
    check_epochs(rules, thread)
}

fn check_heads(rules: Rules, thread: &CertThread) -> Result<(), String> {
    let by_location = thread.head.is_sorted_by_key(|entry| entry.loc);
    if rules.model == Model::Pso && !by_location {
        return Err("the head is not sorted by location".into());
    }
    for group in thread.head.chunk_by(|a, b| rules.are_in_same_group(a.loc, b.loc)) {
        if group.len() > rules.k as usize {
            return Err(format!("a head has {} entries, but k is {}", group.len(), rules.k));
        }
        let age = |class: Class| (class.epoch, !class.before_barrier);
        if !group.is_sorted_by_key(|entry| age(entry.class())) {
            return Err("the epochs or barrier marks of a head are not in order".into());
        }
        let youngest = group.last().map(Entry::class).map(age);
        let mut behind = thread.set.iter().filter(|e| rules.are_in_same_group(e.loc, group[0].loc));
        if behind.any(|element| Some(age(element.class())) < youngest) {
            return Err("an element of the set is older than the head of its group".into());
        }
    }
    Ok(())
}

fn check_elements(rules: Rules, thread: &CertThread) -> Result<(), String> {
    if !thread.set.is_sorted_by(|a, b| a.sort_key() < b.sort_key()) {
        return Err("the elements of the set are not sorted or contain a duplicate".into());
    }
    for of_location in thread.set.chunk_by(|a, b| a.loc == b.loc) {
        let last: Vec<Class> = of_location.iter().filter(|e| e.last).map(Element::class).collect();
        let youngest = of_location.last().map(Element::class);
        match (rules.domain, &last[..]) {
            (Domain::Set, []) => {}
            (Domain::Set, _) => {
                return Err("an element is marked as last value, but the domain is set".into());
            }
            (Domain::Fd | Domain::Pd, [one]) if Some(*one) == youngest => {}
            (Domain::Fd | Domain::Pd, [_]) => {
                return Err("the last value is not in the youngest class".into());
            }
            (Domain::Fd | Domain::Pd, all) => {
                return Err(format!("a location has {} last values instead of one", all.len()));
            }
        }
    }
    Ok(())
}

fn check_epochs(rules: Rules, thread: &CertThread) -> Result<(), String> {
    let used: BTreeSet<u8> = thread.pending().map(|store| store.epoch).collect();
    let valid = match (rules.model, used.last()) {
        (Model::Sc | Model::Tso, youngest) => thread.epoch == 0 && youngest.is_none_or(|e| *e == 0),
        (Model::Pso, None) => thread.epoch == 0,
        (Model::Pso, Some(youngest)) => {
            let without_gaps = usize::from(*youngest) + 1 == used.len();
            let next = youngest.saturating_add(1);
            let current = thread.epoch == *youngest || thread.epoch == next;
            without_gaps && current && thread.epoch <= LAST_EPOCH
        }
    };
    if valid {
        Ok(())
    } else {
        Err(format!("invalid epochs: {used:?} in use, current epoch {}", thread.epoch))
    }
}
