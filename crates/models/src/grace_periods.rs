//! Static facts about grace periods: what each waits for, and which are still to come.
//!
//! A grace period sees whether another thread is in a section and whether it has pending accesses.
//! The reductions use these facts to know for which threads this matters.

use fencepost_ir::grace_period::{self, Wait};
use fencepost_ir::{Domain, Op, Pc, Program, ThreadId, flow};

/// The facts about the grace periods of a program.
#[derive(Clone, Debug)]
pub struct GracePeriods {
    /// Whether there are any.
    pub occur: bool,
    /// Whether no thread may wait forever inside a section. Then a grace period ends in every run,
    /// and seeing a thread as early as possible loses no hang.
    pub always_end: bool,
    /// By thread: whether its code contains no cycle.
    pub is_acyclic: Vec<bool>,
    /// By thread and domain: what a grace period of the thread waits for.
    waits: Vec<Vec<Vec<Wait>>>,
    /// By thread and program counter: the domains (bit `1 << domain`) of the grace periods that are
    /// reachable from there.
    future: Vec<Vec<u64>>,
}

impl GracePeriods {
    /// Computes the facts.
    pub fn new(program: &Program) -> Self {
        let domain = |op: &Op| {
            if let Op::GracePeriod { domain, .. } = op { Some(*domain) } else { None }
        };
        let all = program.threads.iter().flat_map(|thread| &thread.code);
        let domains = all.filter_map(|stmt| domain(&stmt.op)).map(|d| d.index() + 1).max();
        let Some(domains) = domains else {
            let (is_acyclic, waits, future) = (Vec::new(), Vec::new(), Vec::new());
            return GracePeriods { occur: false, always_end: true, is_acyclic, waits, future };
        };
        let waits = |t| {
            let domains = (0..domains).map(Domain::from_index);
            domains.map(|domain| grace_period::waits(program, t, domain)).collect()
        };
        let future = |t| {
            let thread = program.thread(t);
            let bit = |op: &Op| domain(op).map_or(0, |domain| 1u64 << domain.index());
            let mut future: Vec<u64> = thread.code.iter().map(|stmt| bit(&stmt.op)).collect();
            let mut changed = true;
            while changed {
                changed = false;
                for (at, stmt) in thread.code.iter().enumerate().rev() {
                    let more = flow::successors(stmt).map(|next| future[next.index()]);
                    let more = more.fold(future[at], |all, more| all | more);
                    changed |= more != future[at];
                    future[at] = more;
                }
            }
            future
        };
        let is_acyclic = |thread| !flow::near_cycles(thread, |_| false).contains(&true);
        GracePeriods {
            occur: true,
            always_end: !grace_period::may_wait_inside(program),
            is_acyclic: program.threads.iter().map(is_acyclic).collect(),
            waits: program.thread_ids().map(waits).collect(),
            future: program.thread_ids().map(future).collect(),
        }
    }

    /// Returns what a grace period of a thread waits for.
    pub fn waits(&self, t: ThreadId, domain: Domain) -> &[Wait] {
        &self.waits[t.index()][domain.index()]
    }

    /// Returns the waits of all grace periods that are reachable from a program counter of a thread.
    pub fn future_waits(&self, t: ThreadId, pc: Pc) -> impl Iterator<Item = &Wait> {
        let future = self.future.get(t.index()).map_or(0, |future| future[pc.index()]);
        let domains = (0..u64::BITS).filter(move |domain| future >> domain & 1 != 0);
        domains.flat_map(move |domain| &self.waits[t.index()][domain as usize])
    }
}
