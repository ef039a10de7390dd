//! One execution for each trace: optimal dynamic partial-order reduction.
//!
//! Source: \[AAJS14\]. A *trace* (Mazurkiewicz) is a set of executions that differ only in the order of moves that
//! commute. After an execution, each [race](crate::race) in it is reversed, and the reversal goes into the wakeup tree
//! of the state before the first event of the race, unless it is known to lead to what was, or will be, explored. So
//! every trace is explored once, and no redundant execution is begun.
//!
//! Direction: exact.

use crate::explorer::{Explorer, Halt, Pushed};
use crate::sleep::{SleepSet, Sleeper};
use crate::system::{End, System};
use crate::wakeup::{Branch, WakeupTree};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A state on the execution.
pub(crate) struct Node {
    /// What need not be explored from it.
    pub(crate) sleep: SleepSet,
    /// What is still to be explored.
    pub(crate) tree: WakeupTree,
    /// Not looked at yet.
    fresh: bool,
}

impl Node {
    fn new(sleep: SleepSet, tree: WakeupTree) -> Self {
        Node { sleep, tree, fresh: true }
    }
}

/// The exploration of one part.
pub(crate) struct Optimal<'x, 'a, S> {
    pub(crate) explorer: &'x mut Explorer<'a, S>,
    /// How many events come before what is explored.
    pub(crate) base: usize,
    /// The states from there on.
    pub(crate) nodes: Vec<Node>,
    /// From this event on races were not looked for yet.
    pub(crate) new: usize,
    /// Whether the execution at hand has failed.
    pub(crate) failed: bool,
    /// Reversals that were tried after the execution at hand: which events were removed, and whose move was tried.
    pub(crate) tried: BTreeSet<(Vec<usize>, usize)>,
}

/// Explores all traces that begin with the execution at hand and with no move that is asleep.
pub(crate) fn explore<S: System>(
    explorer: &mut Explorer<'_, S>,
    sleep: SleepSet,
) -> ControlFlow<Halt> {
    let base = explorer.execution.len();
    let nodes = vec![Node::new(sleep, WakeupTree::default())];
    let tried = BTreeSet::new();
    Optimal { explorer, base, nodes, new: base, failed: false, tried }.run()
}

impl<S: System> Optimal<'_, '_, S> {
    fn run(&mut self) -> ControlFlow<Halt> {
        while let Some(node) = self.nodes.last_mut() {
            if node.fresh {
                node.fresh = false;
                if node.tree.is_empty() {
                    self.begin()?;
                }
            } else if let Some(branch) = node.tree.pop_first() {
                self.descend(branch)?;
            } else {
                self.nodes.pop();
                if !self.nodes.is_empty() {
                    self.ascend();
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn node(&mut self) -> &mut Node {
        self.nodes.last_mut().expect("the exploration is at a state")
    }

    /// Chooses a move at a state whose wakeup tree is empty.
    fn begin(&mut self) -> ControlFlow<Halt> {
        if self.explorer.is_too_long() {
            return self.end(End::Cut);
        }
        let (mut sleeping, mut spinning) = (false, false);
        for thread in self.explorer.order() {
            if self.explorer.system.has_halted(thread) {
                continue;
            }
            let moves = self.explorer.system.moves(thread);
            let alternatives = self.explorer.alternatives(&moves);
            for made in moves {
                if self.node().sleep.contains(&made) {
                    sleeping = true;
                    continue;
                }
                match self.explorer.push(made.clone(), alternatives.as_deref()) {
                    Pushed::Blocked => {}
                    Pushed::Spinning => spinning = true,
                    pushed @ (Pushed::Yes | Pushed::Failed) => match &alternatives {
                        None => return self.arrive(pushed, WakeupTree::default()),
                        Some(footprint) => {
                            self.explorer.pop();
                            self.node().tree.push(made, footprint.clone());
                        }
                    },
                }
            }
            if !self.node().tree.is_empty() {
                return ControlFlow::Continue(());
            }
        }
        let halted = self.explorer.have_all_halted();
        self.end(match (sleeping, halted) {
            (true, _) => End::Redundant,
            (false, true) => End::Complete,
            (false, false) => End::Stuck { spinning },
        })
    }

    /// Goes on along a branch.
    fn descend(&mut self, branch: Branch) -> ControlFlow<Halt> {
        let Branch { made, footprint, next } = branch;
        let alternatives = made.has_alternatives().then_some(footprint.as_slice());
        let pushed = self.explorer.push(made, alternatives);
        self.arrive(pushed, next)
    }

    /// There is one more event.
    fn arrive(&mut self, pushed: Pushed, tree: WakeupTree) -> ControlFlow<Halt> {
        assert!(
            matches!(pushed, Pushed::Yes | Pushed::Failed),
            "a move that was possible is possible again"
        );
        self.explorer.observe()?;
        if pushed == Pushed::Failed {
            self.end(End::Failed)?;
            self.ascend();
            return ControlFlow::Continue(());
        }
        let execution = &self.explorer.execution;
        let last = execution.len() - 1;
        let thread = execution.events()[last].made.thread;
        let node = self.nodes.last().expect("the exploration is at a state");
        let sleep = node.sleep.after(thread, execution.footprint(last));
        self.nodes.push(Node::new(sleep, tree));
        ControlFlow::Continue(())
    }

    /// Takes an event back: everything that begins with it was explored.
    fn ascend(&mut self) {
        let last = self.explorer.execution.len() - 1;
        let footprint = self.explorer.execution.footprint(last).to_vec();
        let made = self.explorer.pop();
        self.new = self.new.min(last);
        if made.has_alternatives() {
            // Another choice may come to another place in a race that was looked at already.
            self.new = self.base;
        }
        self.node().sleep.insert(Sleeper { made, footprint });
    }

    /// The execution has ended: counts it and reverses its races.
    fn end(&mut self, end: End) -> ControlFlow<Halt> {
        self.explorer.end(end)?;
        self.failed = end == End::Failed;
        self.reverse_races()
    }
}
