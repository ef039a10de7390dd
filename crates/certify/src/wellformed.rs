//! Which states make sense for a program and an abstraction. The rules:
//!
//! - There are as many values, cells, threads and registers as the program has, and program counters are
//!   inside the code.
//! - Pending stores go to locations that exist. Under SC there are none.
//! - The head of a group has at most k entries; under PSO heads are listed by location.
//! - Elements are in the order of [`Element::rank`](crate::Element::rank), none twice.
//! - Each location with elements has one last value, in its youngest class; none in the domain `set`.
//! - Within a group, later entries of the head have no smaller epoch and are not before a barrier when
//!   earlier ones are not; and elements are not older than the head.
//! - Epochs in use are 0, 1, ... without gaps; the current one is the largest in use or the next.
//!   With nothing pending, and under TSO, it is 0.
//!
//! States beyond these rules would do no harm to what a certificate proves: a certificate has to be
//! closed with them, too. But they show that its writer means something else than its reader.

use std::collections::BTreeSet;

use crate::buffer::{LAST_EPOCH, Mark, Rules};
use crate::format::{CertState, CertThread, Domain, Element, Entry, Model};
use crate::semantics::Semantics;

/// What is wrong with a state, if anything.
pub(crate) fn check(semantics: &Semantics<'_>, state: &CertState) -> Result<(), String> {
    let program = semantics.program;
    count("values in memory", state.memory.len(), program.locations.len())?;
    count("cells", state.allocated.len(), semantics.cells())?;
    count("threads", state.threads.len(), program.threads.len())?;
    for (thread, code) in state.threads.iter().zip(&program.threads) {
        let within = |what: String| format!("thread {}: {what}", code.name);
        count("registers", thread.registers.len(), code.registers.len()).map_err(within)?;
        if thread.pc.index() >= code.code.len() {
            return Err(within(format!("there is no statement {}", thread.pc)));
        }
        if let Some(store) = thread.pending().find(|s| s.loc.index() >= program.locations.len()) {
            return Err(within(format!("there is no location {}", store.loc)));
        }
        pending(semantics.rules, thread).map_err(within)?;
    }
    Ok(())
}

fn count(what: &str, found: usize, due: usize) -> Result<(), String> {
    if found == due { Ok(()) } else { Err(format!("{found} {what}, but the program has {due}")) }
}

fn pending(rules: Rules, thread: &CertThread) -> Result<(), String> {
    if rules.model == Model::Sc && !thread.nothing_pending() {
        return Err("stores are pending under sc".into());
    }
    heads(rules, thread)?;
    elements(rules, thread)?;
    epochs(rules, thread)
}

fn heads(rules: Rules, thread: &CertThread) -> Result<(), String> {
    let by_location = thread.head.is_sorted_by_key(|entry| entry.loc);
    if rules.model == Model::Pso && !by_location {
        return Err("the head is not in the order of locations".into());
    }
    for group in thread.head.chunk_by(|a, b| rules.same_group(a.loc, b.loc)) {
        if group.len() > rules.k as usize {
            return Err(format!("a head of {} entries, but k is {}", group.len(), rules.k));
        }
        let age = |mark: Mark| (mark.epoch, !mark.before);
        if !group.is_sorted_by_key(|entry| age(entry.mark())) {
            return Err("epochs or barriers do not fit the order of a head".into());
        }
        let youngest = group.last().map(Entry::mark).map(age);
        let mut behind = thread.set.iter().filter(|e| rules.same_group(e.loc, group[0].loc));
        if behind.any(|element| Some(age(element.mark())) < youngest) {
            return Err("an element is older than the head before it".into());
        }
    }
    Ok(())
}

fn elements(rules: Rules, thread: &CertThread) -> Result<(), String> {
    if !thread.set.is_sorted_by(|a, b| a.rank() < b.rank()) {
        return Err("elements are not in order, or one is there twice".into());
    }
    for of_location in thread.set.chunk_by(|a, b| a.loc == b.loc) {
        let last: Vec<Mark> = of_location.iter().filter(|e| e.last).map(Element::mark).collect();
        let youngest = of_location.last().map(Element::mark);
        match (rules.domain, &last[..]) {
            (Domain::Set, []) => {}
            (Domain::Set, _) => return Err("a last value, but the domain is set".into()),
            (Domain::Fd | Domain::Pd, [one]) if Some(*one) == youngest => {}
            (Domain::Fd | Domain::Pd, [_]) => {
                return Err("a last value that is not in the youngest class".into());
            }
            (Domain::Fd | Domain::Pd, all) => {
                return Err(format!("{} last values of one location", all.len()));
            }
        }
    }
    Ok(())
}

fn epochs(rules: Rules, thread: &CertThread) -> Result<(), String> {
    let used: BTreeSet<u8> = thread.pending().map(|store| store.epoch).collect();
    let sound = match (rules.model, used.last()) {
        (Model::Sc | Model::Tso, youngest) => thread.epoch == 0 && youngest.is_none_or(|e| *e == 0),
        (Model::Pso, None) => thread.epoch == 0,
        (Model::Pso, Some(youngest)) => {
            let without_gaps = usize::from(*youngest) + 1 == used.len();
            let next = youngest.saturating_add(1);
            let current = thread.epoch == *youngest || thread.epoch == next;
            without_gaps && current && thread.epoch <= LAST_EPOCH
        }
    };
    if sound { Ok(()) } else { Err(format!("epochs {used:?}, the current one {}", thread.epoch)) }
}
