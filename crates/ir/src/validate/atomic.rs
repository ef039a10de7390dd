//! The rule *Atomic*: the boundaries and the contents of atomic blocks.

use super::{Rule, Validator};
use crate::flow;
use crate::ids::Pc;
use crate::op::Op;
use crate::program::Thread;

impl Validator<'_> {
    /// Follows the control flow from the entry. Each reachable statement is either inside or
    /// outside of an atomic block.
    pub(super) fn atomic(&mut self, thread: &Thread) {
        let mut inside: Vec<Option<bool>> = vec![None; thread.code.len()];
        inside[0] = Some(false);
        let mut pending = vec![Pc(0)];
        while let Some(pc) = pending.pop() {
            let stmt = thread.stmt(pc);
            let now = inside[pc.index()] == Some(true);
            let (allowed, after) = match stmt.op {
                Op::AtomicBegin => (!now, true),
                Op::AtomicEnd => (now, false),
                Op::Halt
                | Op::Leave
                | Op::Invoke { .. }
                | Op::Return { .. }
                | Op::Join
                | Op::SectionBegin { .. }
                | Op::SectionEnd { .. }
                | Op::GracePeriod { .. } => (!now, now),
                Op::Skip
                | Op::Assign { .. }
                | Op::Choose { .. }
                | Op::Load { .. }
                | Op::Store { .. }
                | Op::Update { .. }
                | Op::Fence(_)
                | Op::Drain(_)
                | Op::Branch { .. }
                | Op::Assume(_)
                | Op::Assert(_)
                | Op::New { .. }
                | Op::Free { .. } => (true, now),
            };
            let place = format!("{} {pc}", thread.name);
            self.check(allowed, Rule::Atomic, || {
                format!("{place} is {:?}, inside an atomic block: {now}", stmt.op)
            });
            for next in flow::successors(stmt) {
                match inside[next.index()] {
                    None => {
                        inside[next.index()] = Some(after);
                        pending.push(next);
                    }
                    Some(known) => self.check(known == after, Rule::Atomic, || {
                        format!("{place} jumps across the boundary of an atomic block to {next}")
                    }),
                }
            }
        }
    }
}
