//! Code under construction: statements in a row, with jumps to places that may come later.
//!
//! `finish` turns it into the final form, in which a statement names its successors: jumps and
//! `skip`s vanish, unless nothing else is left of an endless loop or they mark a place for a fence,
//! and what cannot be reached is dropped.

use std::collections::BTreeSet;

use fencepost_ir::{Expr, Label, Op, Pc, Reg, Stmt, flow};

/// A place in the code that jumps may go to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Target(usize);

#[derive(Clone, Debug)]
enum Item {
    Op {
        op: Op,
        reset: bool,
    },
    Branch {
        cond: Expr<Reg>,
        then: Target,
        otherwise: Target,
    },
    Jump(Target),
    /// Does nothing, but stays: a place for a fence.
    Mark,
}

#[derive(Clone, Debug)]
struct Line {
    label: Label,
    critical: bool,
    item: Item,
}

/// How many statements the search for dead resets may look at.
const RESET_EFFORT: usize = 5_000_000;

/// Code under construction.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    lines: Vec<Line>,
    /// The position of each target; unbound ones are at the end.
    targets: Vec<usize>,
}

impl Code {
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// A place to be fixed later by [`Code::bind`].
    pub(super) fn target(&mut self) -> Target {
        self.targets.push(usize::MAX);
        Target(self.targets.len() - 1)
    }

    /// Fixes a place: what is added next.
    pub(super) fn bind(&mut self, target: Target) {
        self.targets[target.0] = self.lines.len();
    }

    pub(super) fn op(&mut self, label: Label, op: Op, critical: bool) {
        self.lines.push(Line { label, critical, item: Item::Op { op, reset: false } });
    }

    /// An assignment that is needed only if the register may be read before it is set again.
    pub(super) fn reset(&mut self, label: Label, reg: Reg, critical: bool) {
        let op = Op::Assign { reg, expr: Expr::Const(0) };
        self.lines.push(Line { label, critical, item: Item::Op { op, reset: true } });
    }

    pub(super) fn branch(
        &mut self,
        label: Label,
        cond: Expr<Reg>,
        then: Target,
        otherwise: Target,
        critical: bool,
    ) {
        self.lines.push(Line { label, critical, item: Item::Branch { cond, then, otherwise } });
    }

    pub(super) fn jump(&mut self, label: Label, target: Target, critical: bool) {
        self.lines.push(Line { label, critical, item: Item::Jump(target) });
    }

    /// A statement that does nothing and stays.
    pub(super) fn mark(&mut self, label: Label, critical: bool) {
        self.lines.push(Line { label, critical, item: Item::Mark });
    }

    /// The final code. The last line must not lead on (`Halt`).
    pub(super) fn finish(mut self) -> Vec<Stmt> {
        self.remove_dead_resets();
        let resolved = self.resolve();
        let entry = resolved[0];
        let mut reachable = BTreeSet::from([entry]);
        let mut pending = vec![entry];
        while let Some(at) = pending.pop() {
            for next in self.successors(at) {
                if reachable.insert(resolved[next]) {
                    pending.push(resolved[next]);
                }
            }
        }
        let order: Vec<usize> =
            std::iter::once(entry).chain(reachable.into_iter().filter(|at| *at != entry)).collect();
        let mut pcs = vec![Pc(0); self.lines.len()];
        for (pc, at) in order.iter().enumerate() {
            pcs[*at] = Pc::from_index(pc);
        }
        let pc = |at: usize| pcs[resolved[at]];
        order
            .iter()
            .map(|at| {
                let Line { label, critical, item } = &self.lines[*at];
                let next = match item {
                    Item::Op { op: Op::Halt, .. } | Item::Branch { .. } => Pc(0),
                    Item::Op { .. } | Item::Mark => pc(at + 1),
                    Item::Jump(target) => pc(self.targets[target.0]),
                };
                let op = match item {
                    Item::Op { op, .. } => op.clone(),
                    Item::Branch { cond, then, otherwise } => Op::Branch {
                        cond: cond.clone(),
                        then: pc(self.targets[then.0]),
                        otherwise: pc(self.targets[otherwise.0]),
                    },
                    Item::Jump(_) | Item::Mark => Op::Skip,
                };
                Stmt { label: *label, op, next, critical: *critical }
            })
            .collect()
    }

    fn successors(&self, at: usize) -> Vec<usize> {
        match &self.lines[at].item {
            Item::Op { op: Op::Halt, .. } => Vec::new(),
            Item::Op { .. } | Item::Mark => vec![at + 1],
            Item::Jump(target) => vec![self.targets[target.0]],
            Item::Branch { then, otherwise, .. } => {
                vec![self.targets[then.0], self.targets[otherwise.0]]
            }
        }
    }

    /// Where a line leads on to without doing anything.
    fn leads_to(&self, at: usize) -> Option<usize> {
        match &self.lines[at].item {
            Item::Op { op: Op::Skip, .. } => Some(at + 1),
            Item::Jump(target) => Some(self.targets[target.0]),
            // A branch stays even if both ways are one: it may fault, and where loads are
            // performed late it waits for them.
            Item::Branch { .. } | Item::Op { .. } | Item::Mark => None,
        }
    }

    /// For each line, the first one on the way from it that does something; in an endless loop of
    /// lines that do nothing, one of them.
    fn resolve(&self) -> Vec<usize> {
        const UNKNOWN: usize = usize::MAX;
        let mut resolved = vec![UNKNOWN; self.lines.len()];
        let mut on_path = vec![false; self.lines.len()];
        for start in 0..self.lines.len() {
            let mut path = Vec::new();
            let mut at = start;
            let end = loop {
                if resolved[at] != UNKNOWN {
                    break resolved[at];
                }
                if on_path[at] {
                    break at;
                }
                on_path[at] = true;
                path.push(at);
                match self.leads_to(at) {
                    Some(next) => at = next,
                    None => break at,
                }
            };
            for at in path {
                resolved[at] = end;
                on_path[at] = false;
            }
        }
        resolved
    }

    /// Turns resets of registers that are set again before they are read into `skip`s.
    fn remove_dead_resets(&mut self) {
        let mut effort = 0;
        let mut seen = vec![usize::MAX; self.lines.len()];
        for at in 0..self.lines.len() {
            let Item::Op { op: Op::Assign { reg, .. }, reset: true } = self.lines[at].item else {
                continue;
            };
            let mut pending = vec![at + 1];
            let mut live = false;
            while let Some(here) = pending.pop() {
                if seen[here] == at {
                    continue;
                }
                seen[here] = at;
                effort += 1;
                let (reads, sets) = self.touches(here, reg);
                live |= reads;
                if live || effort > RESET_EFFORT {
                    break;
                }
                if !sets {
                    pending.extend(self.successors(here));
                }
            }
            if effort > RESET_EFFORT {
                return;
            }
            if !live {
                self.lines[at].item = Item::Op { op: Op::Skip, reset: false };
            }
        }
    }

    /// Whether a line reads a register, and whether it sets it.
    fn touches(&self, at: usize, reg: Reg) -> (bool, bool) {
        match &self.lines[at].item {
            Item::Op { op, .. } => (flow::uses(op).contains(&reg), op.target() == Some(reg)),
            Item::Branch { cond, .. } => {
                let mut reads = false;
                cond.for_each_var(&mut |var| reads |= *var == reg);
                (reads, false)
            }
            Item::Jump(_) | Item::Mark => (false, false),
        }
    }
}
