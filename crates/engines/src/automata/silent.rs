//! Silent commits: commits of stores whose value memory holds already.
//!
//! Such a commit changes nothing but the buffer: control, registers and memory are as before. So
//! from a state, the contents after any number of silent commits are reachable, and the search adds
//! them to the state at once. Direction: exact.
//!
//! Without this, a loop that stores to several locations under PSO leaves contents in which the
//! number of stores to each location differs, in an order that depends on the commits. With x = 1
//! committed from (xyz)*, the contents are yz(xyz)*, then yzyz(xyz)*, and so on. With all silent
//! commits, they are (yz)+(xyz)*, and the same commits in another order lead to the same language.
//!
//! *Cycles* are executed without silent commits ([`super::cycle`]): leaving out a silent commit is
//! always possible. If the cycle is not executable then, it is not used.
//!
//! *Sleep sets.* A transition that sleeps before silent commits also sleeps after them if it is
//! independent of the commits. Then its effect after them is its effect before them, followed by
//! these commits.
//!
//! Not in \[LW10\]. The tables of the paper are computed without silent commits.

use super::transition::{Transition, Transitions};
use super::{Symbolic, SymbolicState};
use fencepost_automata::{Language, Letter};
use fencepost_ir::{StoreBuffers, ThreadId};
use fencepost_models::mutation::Mutation;
use fencepost_models::symbolic::letter;

/// Any number of silent commits of one store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SilentCommits {
    /// The thread whose stores are committed.
    pub(super) thread: ThreadId,
    /// The store.
    pub(super) letter: Letter,
    /// The contents of the thread's buffer before the commits.
    pub(super) before: Language,
}

/// Adds to a state the contents after silent commits. Returns the commits in their order, and the
/// transitions that still sleep.
pub(super) fn commit_silently(
    machine: &Symbolic<'_>,
    state: &mut SymbolicState,
    sleep: Transitions,
) -> (Vec<SilentCommits>, Transitions) {
    let mut sleep = sleep;
    let mut commits = Vec::new();
    let discipline = &machine.model.0;
    for thread in (0..state.pending.len()).map(ThreadId::from_index) {
        if state.pending[thread.index()] == Language::EPSILON {
            continue;
        }
        // Under TSO, a commit makes the next store the oldest. It may be silent, too.
        loop {
            let round = state.pending[thread.index()];
            for loc in &machine.shape.thread(thread).stores {
                // A commit to a freed record fails.
                if machine.shape.is_freeable(*loc) {
                    continue;
                }
                let before = state.pending[thread.index()];
                let mut languages = discipline.languages();
                let mut value = state.memory.values[loc.index()];
                if discipline.mutated.is(Mutation::SilentCommitsIgnoreMemory) {
                    value = languages.last_values(before, loc.0).first().copied().unwrap_or(value);
                }
                let store = letter(*loc, value);
                let after = discipline.commit_repeatedly(&mut languages, before, store);
                drop(languages);
                if after == before {
                    continue;
                }
                sleep = sleep.independent_of(machine, state, Transition::Commit(thread));
                state.pending[thread.index()] = after;
                commits.push(SilentCommits { thread, letter: store, before });
            }
            if discipline.grouping == StoreBuffers::Pso || state.pending[thread.index()] == round {
                break;
            }
        }
    }
    (commits, sleep)
}
