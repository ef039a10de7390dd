//! Auxiliary locations of threads.
//!
//! While code is lowered, it is not known how many threads there are and which of their locations
//! are read. So auxiliary locations have numbers outside of memory, and [`assign`] gives those that
//! are read their places when all code is there.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Address, Expr, Loc, Location, Op, Reg, Thread, Type};

/// What an auxiliary location of a thread holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Aux {
    /// 0 before the thread is created, 1 then, 2 if it is never created.
    Started,
    /// Whether the thread has ended.
    Done,
    /// The argument of its function.
    Argument,
    /// The result of its function.
    Result,
}

const KINDS: [(Aux, &str); 4] = [
    (Aux::Started, "started"),
    (Aux::Done, "done"),
    (Aux::Argument, "argument"),
    (Aux::Result, "result"),
];

/// The first auxiliary number.
const FIRST: u32 = 1 << 24;
/// The distance between two kinds; more than the largest number of threads.
const STRIDE: u32 = 256;

/// Returns whether a location is auxiliary.
pub(super) fn is_auxiliary(loc: Loc) -> bool {
    loc.0 >= FIRST
}

/// Returns an auxiliary location.
pub(super) fn location(kind: Aux, thread: u32) -> Loc {
    Loc(FIRST + kind as u32 * STRIDE + thread)
}

/// Returns the address of an auxiliary location of a thread whose number may not be a constant.
/// `threads` is the number of threads so far; [`assign`] corrects it.
pub(super) fn address(kind: Aux, thread: Expr<Reg>, threads: u32) -> Address {
    match thread.as_const() {
        Some(thread) if (0..i64::from(threads)).contains(&thread) => {
            Address::fixed(location(kind, thread as u32))
        }
        _ => Address::element(location(kind, 0), threads, thread),
    }
}

fn read(loc: Loc) -> Option<(Aux, u32)> {
    let at = loc.0.checked_sub(FIRST)?;
    let (kind, _) = KINDS.get((at / STRIDE) as usize)?;
    Some((*kind, at % STRIDE))
}

fn address_of(op: &mut Op) -> Option<&mut Address> {
    match op {
        Op::Load { from: at, .. } | Op::Store { to: at, .. } | Op::Update { at, .. } => Some(at),
        _ => None,
    }
}

/// Returns whether an operation loads an auxiliary location.
pub(super) fn is_load(op: &Op) -> bool {
    matches!(op, Op::Load { from, .. } if is_auxiliary(from.base) && from.pointer.is_none())
}

/// Gives the auxiliary locations that are read their places after the other locations. Stores to
/// the others become `skip`s.
pub(super) fn assign(threads: &mut [Thread], names: &[String], locations: &mut Vec<Location>) {
    let count = threads.len() as u32;
    let mut used: BTreeSet<(Aux, u32)> = BTreeSet::new();
    for stmt in threads.iter().flat_map(|thread| &thread.code) {
        let Op::Load { from, .. } = &stmt.op else { continue };
        let Some((kind, thread)) = read(from.base) else { continue };
        match from.index {
            Some(_) => used.extend((0..count).map(|thread| (kind, thread))),
            None => {
                used.insert((kind, thread));
            }
        }
    }
    let mut places: BTreeMap<(Aux, u32), Loc> = BTreeMap::new();
    for (kind, thread) in used {
        let what = KINDS.iter().find(|(k, _)| *k == kind).map_or("", |(_, what)| what);
        let owner = names.get(thread as usize).map_or("?", |name| name.as_str());
        let ty = match kind {
            Aux::Started => Type::Int { range: Some((0, 2)) },
            Aux::Done => Type::Bool,
            Aux::Argument | Aux::Result => Type::Int { range: Some((i64::MIN, i64::MAX)) },
        };
        places.insert((kind, thread), Loc::from_index(locations.len()));
        locations.push(Location { name: format!("%{what} {owner}"), ty, init: 0 });
    }
    for stmt in threads.iter_mut().flat_map(|thread| &mut thread.code) {
        let Some(at) = address_of(&mut stmt.op) else { continue };
        let Some(key) = read(at.base) else { continue };
        match places.get(&key) {
            Some(place) => {
                at.base = *place;
                if let Some((len, _)) = &mut at.index {
                    *len = count;
                }
            }
            None => stmt.op = Op::Skip,
        }
    }
}
