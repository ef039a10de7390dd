//! What is known of a thread's registers at the beginnings and ends of steps.
//!
//! A register that is live at the beginning of no step is only used inside of steps: it is no part of a
//! state. The others are cleared at the end of the step after which nobody reads them.

use fencepost_ir::flow::{live_registers, successors};
use fencepost_ir::{Op, Pc, Problem, Reg, Thread, ThreadId};
use std::collections::BTreeSet;

/// What was seen when a thread was written.
#[derive(Clone, Default, Debug)]
pub(super) struct Seen {
    /// Where statements of the model begin.
    pub(super) beginnings: BTreeSet<Pc>,
    /// The last statements of steps that can clear registers.
    pub(super) ends: BTreeSet<Pc>,
    /// The statements whose registers are really set.
    pub(super) sets: BTreeSet<Pc>,
    /// The registers that the text names.
    pub(super) named: BTreeSet<Reg>,
    /// Whether a value is kept on the way in an update.
    pub(super) keeps: bool,
}

/// What to do with a thread's registers.
#[derive(Clone, Default, Debug)]
pub(super) struct Plan {
    /// Those that hold nothing between steps.
    pub(super) scratch: BTreeSet<Reg>,
    /// By program counter: those that may be cleared at the end of a step that ends with it.
    pub(super) cleared: Vec<BTreeSet<Reg>>,
}

impl Plan {
    /// From what was seen in a first writing.
    pub(super) fn new(problem: &Problem, t: ThreadId, seen: &Seen) -> Plan {
        let thread = problem.program.thread(t);
        let kept = problem.kept_registers(t, false);
        let live = live_registers(thread, &[], &kept);
        let registers = || (0..thread.registers.len()).map(Reg::from_index);
        let scratch: BTreeSet<Reg> = registers()
            .filter(|reg| !kept.contains(reg))
            .filter(|reg| seen.beginnings.iter().all(|pc| !live[pc.index()][reg.index()]))
            .collect();
        // Forwards: what may hold something.
        let mut dirty: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); thread.code.len()];
        let mut cleared = dirty.clone();
        let mut pending: BTreeSet<Pc> = (0..thread.code.len()).map(Pc::from_index).collect();
        while let Some(pc) = pending.pop_first() {
            let stmt = thread.stmt(pc);
            let mut now = dirty[pc.index()].clone();
            if seen.sets.contains(&pc) {
                now.extend(stmt.op.target());
            }
            for next in successors(stmt) {
                let mut after = now.clone();
                if seen.ends.contains(&pc) {
                    let dead: Vec<Reg> = (after.iter().copied())
                        .filter(|reg| !live[next.index()][reg.index()] && !kept.contains(reg))
                        .collect();
                    dead.iter().for_each(|reg| assert!(after.remove(reg), "it was there"));
                    cleared[pc.index()].extend(dead.into_iter().filter(|r| !scratch.contains(r)));
                }
                let known = &mut dirty[next.index()];
                let before = known.len();
                known.extend(after);
                if known.len() > before {
                    pending.insert(next);
                }
            }
        }
        Plan { scratch, cleared }
    }

    /// The registers to clear at the end of a step that ends with this statement.
    pub(super) fn cleared(&self, pc: Pc) -> impl Iterator<Item = Reg> + '_ {
        self.cleared.get(pc.index()).into_iter().flatten().copied()
    }
}

/// The statements of the atomic block that begins at this one, its ends included.
pub(super) fn inside(thread: &Thread, begin: Pc) -> BTreeSet<Pc> {
    let mut seen = BTreeSet::new();
    let mut pending = vec![thread.stmt(begin).next];
    while let Some(pc) = pending.pop() {
        if seen.insert(pc) && !matches!(thread.stmt(pc).op, Op::AtomicEnd) {
            pending.extend(successors(thread.stmt(pc)));
        }
    }
    seen
}

/// The ends of that block.
pub(super) fn ends(thread: &Thread, begin: Pc) -> Vec<Pc> {
    let is_end = |pc: &Pc| matches!(thread.stmt(*pc).op, Op::AtomicEnd);
    inside(thread, begin).into_iter().filter(is_end).collect()
}
