//! Analyses the registers of a thread at the boundaries of steps.
//!
//! A register that is live at the beginning of no step is only used inside of steps. It is not part
//! of the state. All other registers are reset at the end of the step after which they are dead.

use fencepost_ir::flow::{live_registers, successors};
use fencepost_ir::{Op, Pc, Problem, Reg, Thread, ThreadId};
use std::collections::BTreeSet;

/// The record of one pass over a thread.
#[derive(Clone, Default, Debug)]
pub(super) struct PassRecord {
    /// The statements at which steps begin.
    pub(super) beginnings: BTreeSet<Pc>,
    /// The last statements of steps that can reset registers.
    pub(super) ends: BTreeSet<Pc>,
    /// The statements that really set their register in the text.
    pub(super) sets: BTreeSet<Pc>,
    /// The registers that the text mentions.
    pub(super) named: BTreeSet<Reg>,
    /// Whether an update needs the variable for its old value.
    pub(super) uses_old_value: bool,
}

/// The treatment of a thread's registers.
#[derive(Clone, Default, Debug)]
pub(super) struct RegisterPlan {
    /// The registers whose values are not used across steps.
    pub(super) scratch: BTreeSet<Reg>,
    /// By program counter: the registers that a step that ends here resets.
    pub(super) cleared: Vec<BTreeSet<Reg>>,
}

impl RegisterPlan {
    /// Computes the plan from the record of the first pass.
    pub(super) fn new(problem: &Problem, t: ThreadId, record: &PassRecord) -> RegisterPlan {
        let thread = problem.program.thread(t);
        let observed = problem.observed_registers(t, false);
        let live = live_registers(thread, &[], &observed);
        let registers = || (0..thread.registers.len()).map(Reg::from_index);
        let scratch: BTreeSet<Reg> = registers()
            .filter(|reg| !observed.contains(reg))
            .filter(|reg| record.beginnings.iter().all(|pc| !live[pc.index()][reg.index()]))
            .collect();
        // Forward analysis: the registers that may differ from 0.
        let mut dirty: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); thread.code.len()];
        let mut cleared = dirty.clone();
        let mut pending: BTreeSet<Pc> = (0..thread.code.len()).map(Pc::from_index).collect();
        while let Some(pc) = pending.pop_first() {
            let stmt = thread.stmt(pc);
            let mut now = dirty[pc.index()].clone();
            if record.sets.contains(&pc) {
                now.extend(stmt.op.target());
            }
            for next in successors(stmt) {
                let mut after = now.clone();
                if record.ends.contains(&pc) {
                    let dead: Vec<Reg> = (after.iter().copied())
                        .filter(|reg| !live[next.index()][reg.index()] && !observed.contains(reg))
                        .collect();
                    dead.iter().for_each(|reg| {
                        assert!(after.remove(reg), "dead registers are a subset of `after`")
                    });
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
        RegisterPlan { scratch, cleared }
    }

    /// Returns the registers to reset at the end of a step that ends with this statement.
    pub(super) fn cleared(&self, pc: Pc) -> impl Iterator<Item = Reg> + '_ {
        self.cleared.get(pc.index()).into_iter().flatten().copied()
    }
}

/// Returns the statements of the atomic block that begins here, its ends included.
pub(super) fn inside(thread: &Thread, begin: Pc) -> BTreeSet<Pc> {
    let mut visited = BTreeSet::new();
    let mut pending = vec![thread.stmt(begin).next];
    while let Some(pc) = pending.pop() {
        if visited.insert(pc) && !matches!(thread.stmt(pc).op, Op::AtomicEnd) {
            pending.extend(successors(thread.stmt(pc)));
        }
    }
    visited
}

/// Returns the ends of the atomic block that begins here.
pub(super) fn ends(thread: &Thread, begin: Pc) -> Vec<Pc> {
    let is_end = |pc: &Pc| matches!(thread.stmt(*pc).op, Op::AtomicEnd);
    inside(thread, begin).into_iter().filter(is_end).collect()
}
