//! Optimal dynamic partial-order reduction: one execution for each trace.
//!
//! Source: \[AAJS14\]. A *trace* (Mazurkiewicz) is a set of executions that differ only in the
//! order of commuting moves. At the end of an execution, each of its
//! [races](crate::race_reversal) is reversed. The reversal is inserted into the wake-up tree of
//! the state before the first event of the race, unless the sleep set or the wake-up tree covers
//! it. Every trace is explored once, and there are no redundant executions.
//!
//! Direction: exact.

use crate::explorer::{EarlyExit, Explorer, PushResult};
use crate::sleep_set::{SleepSet, Sleeper};
use crate::system::{End, System};
use crate::wakeup_tree::{Branch, WakeupTree};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A state of the current execution.
pub(crate) struct Node {
    /// The moves that are not explored from this state.
    pub(crate) sleep: SleepSet,
    /// The sequences that remain to be explored.
    pub(crate) tree: WakeupTree,
    is_new: bool,
}

impl Node {
    fn new(sleep: SleepSet, tree: WakeupTree) -> Self {
        Node { sleep, tree, is_new: true }
    }
}

/// The exploration of one part.
pub(crate) struct Optimal<'x, 'a, S> {
    pub(crate) explorer: &'x mut Explorer<'a, S>,
    /// The number of events before the part.
    pub(crate) base: usize,
    /// The states of the current execution, from `base` on.
    pub(crate) nodes: Vec<Node>,
    /// The first event whose races were not searched yet.
    pub(crate) first_unchecked: usize,
    /// Whether the current execution failed.
    pub(crate) failed: bool,
    /// The reversals that were tried for the current execution: the removed events, and the thread
    /// whose move was tried.
    pub(crate) tried_reversals: BTreeSet<(Vec<usize>, usize)>,
}

/// Explores all traces that extend the current execution and do not start with a move in the sleep
/// set.
pub(crate) fn explore<S: System>(
    explorer: &mut Explorer<'_, S>,
    sleep: SleepSet,
) -> ControlFlow<EarlyExit> {
    let base = explorer.execution.len();
    let nodes = vec![Node::new(sleep, WakeupTree::default())];
    let tried_reversals = BTreeSet::new();
    Optimal { explorer, base, nodes, first_unchecked: base, failed: false, tried_reversals }.run()
}

impl<S: System> Optimal<'_, '_, S> {
    fn run(&mut self) -> ControlFlow<EarlyExit> {
        while let Some(node) = self.nodes.last_mut() {
            if node.is_new {
                node.is_new = false;
                if node.tree.is_empty() {
                    self.choose_first_move()?;
                }
            } else if let Some(branch) = node.tree.pop_first() {
                self.follow_branch(branch)?;
            } else {
                self.nodes.pop();
                if !self.nodes.is_empty() {
                    self.backtrack();
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn node(&mut self) -> &mut Node {
        self.nodes.last_mut().expect("there is a current state")
    }

    /// Takes the first enabled move at a state with an empty wake-up tree. If the move has
    /// alternatives, adds all enabled ones to the wake-up tree. Ends the execution if no move
    /// remains.
    fn choose_first_move(&mut self) -> ControlFlow<EarlyExit> {
        if self.explorer.is_at_event_limit() {
            return self.end(End::Cut);
        }
        let (mut asleep, mut spinning) = (false, false);
        for thread in self.explorer.thread_order() {
            if self.explorer.system.has_halted(thread) {
                continue;
            }
            let moves = self.explorer.system.moves(thread);
            let combined = self.explorer.combined_footprint(&moves);
            for mv in moves {
                self.explorer.check_cancelled()?;
                if self.node().sleep.contains(&mv) {
                    asleep = true;
                    continue;
                }
                match self.explorer.push(mv.clone(), combined.as_deref()) {
                    PushResult::Blocked => {}
                    PushResult::Spinning => spinning = true,
                    pushed @ (PushResult::Taken | PushResult::Failed) => match &combined {
                        None => return self.enter_state(pushed, WakeupTree::default()),
                        Some(footprint) => {
                            self.explorer.pop();
                            self.node().tree.push(mv, footprint.clone());
                        }
                    },
                }
            }
            if !self.node().tree.is_empty() {
                return ControlFlow::Continue(());
            }
        }
        let halted = self.explorer.have_all_halted();
        self.end(match (asleep, halted) {
            (true, _) => End::Redundant,
            (false, true) => End::Complete,
            (false, false) => End::Stuck { spinning },
        })
    }

    /// Takes the move of a branch of the wake-up tree.
    fn follow_branch(&mut self, branch: Branch) -> ControlFlow<EarlyExit> {
        self.explorer.check_cancelled()?;
        let Branch { mv, footprint, next } = branch;
        let combined = mv.has_alternatives().then_some(footprint.as_slice());
        let pushed = self.explorer.push(mv, combined);
        self.enter_state(pushed, next)
    }

    /// Handles a new event: enters the state after it, with its wake-up tree.
    fn enter_state(&mut self, pushed: PushResult, tree: WakeupTree) -> ControlFlow<EarlyExit> {
        if matches!(pushed, PushResult::Blocked | PushResult::Spinning) {
            // A cancelled system may leave out work.
            self.explorer.check_cancelled()?;
            panic!("a planned move must be enabled when it is taken");
        }
        self.explorer.observe()?;
        if pushed == PushResult::Failed {
            self.end(End::Failed)?;
            self.backtrack();
            return ControlFlow::Continue(());
        }
        let execution = &self.explorer.execution;
        let last = execution.len() - 1;
        let thread = execution.events()[last].mv.thread;
        let node = self.nodes.last().expect("there is a current state");
        let sleep = node.sleep.after(thread, execution.footprint(last));
        self.nodes.push(Node::new(sleep, tree));
        ControlFlow::Continue(())
    }

    /// Removes the last event and adds its move to the sleep set: all its continuations are
    /// explored.
    fn backtrack(&mut self) {
        let last = self.explorer.execution.len() - 1;
        let footprint = self.explorer.execution.footprint(last).to_vec();
        let mv = self.explorer.pop();
        self.first_unchecked = self.first_unchecked.min(last);
        if mv.has_alternatives() {
            // Another choice can put the move into a different position of a race that was already
            // checked.
            self.first_unchecked = self.base;
        }
        self.node().sleep.insert(Sleeper { mv, footprint });
    }

    /// Counts an execution that has ended, and reverses its races.
    fn end(&mut self, end: End) -> ControlFlow<EarlyExit> {
        self.explorer.end(end)?;
        self.failed = end == End::Failed;
        self.reverse_races()
    }
}
