//! Optimal dynamic partial-order reduction: one execution for each trace.
//!
//! Source: \[AAJS14\]. A *trace* (Mazurkiewicz) is a set of executions that differ only in the
//! order of commuting moves. At the end of an execution, each of its
//! [races](crate::race_reversal) is reversed. The reversal is inserted into the wake-up tree of
//! the state before the first event of the race, unless the sleep set or the wake-up tree covers
//! it. Every trace is explored once, and there are no redundant executions.
//!
//! A [`Subtree`] is explored at a time: the executions that start with a given prefix. Reversals
//! that change a state of the prefix are returned, because other subtrees start there, too. A part
//! of a subtree may be explored already. Its branches are then [open or done](NodeState).
//!
//! Direction: exact.

use crate::event::TrackedMove;
use crate::explorer::{EarlyExit, Explorer, PushResult};
use crate::open_races::OpenRaces;
use crate::open_tree::NodeState;
use crate::sleep_set::SleepSet;
use crate::system::{End, System, moves_of};
use crate::wakeup_tree::{Branch, WakeupTree};
use std::ops::ControlFlow;

/// A state of the current execution.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// The moves that are not explored from this state.
    pub(crate) sleep: SleepSet,
    /// The sequences that remain to be explored.
    pub(crate) tree: WakeupTree,
    is_new: bool,
}

impl Node {
    /// Returns a state that no execution has visited.
    pub(crate) fn new(sleep: SleepSet, tree: WakeupTree) -> Self {
        Node { sleep, tree, is_new: true }
    }

    /// Returns a state of which only the sequences of the tree remain.
    pub(crate) fn open(sleep: SleepSet, tree: WakeupTree) -> Self {
        Node { sleep, tree, is_new: false }
    }
}

/// A set of executions to explore: those that start with the moves of a prefix and do not go on
/// with a move in the sleep set after it.
#[derive(Debug)]
pub(crate) struct Subtree {
    /// The start state, in the encoding of the function that creates the systems.
    pub(crate) start: Vec<u32>,
    /// The moves of the prefix. Earlier explorations took them, except for the last one if the
    /// subtree is new.
    pub(crate) prefix: Vec<TrackedMove>,
    /// The states before each move of the prefix. Their wake-up trees contain what is explored
    /// elsewhere.
    pub(crate) above: Vec<Node>,
    /// The state after the prefix.
    pub(crate) top: Node,
}

/// The result of exploring a subtree.
#[derive(Debug)]
pub(crate) struct SubtreeResult {
    /// Sequences that must be explored from states of the prefix: the number of events before the
    /// state, and the sequence.
    pub(crate) reversals: Vec<(usize, Vec<TrackedMove>)>,
    /// What remains, if the exploration is not complete.
    pub(crate) rest: Option<Stack>,
}

/// An exploration that is not complete.
#[derive(Debug)]
pub(crate) struct Stack {
    /// The states from the end of the prefix on, each with the sequences that remain.
    pub(crate) nodes: Vec<Node>,
    /// The events between the states.
    pub(crate) events: Vec<TrackedMove>,
}

/// The exploration of one subtree.
pub(crate) struct Optimal<'x, 'a, S> {
    pub(crate) explorer: &'x mut Explorer<'a, S>,
    /// The number of events of the prefix.
    pub(crate) base: usize,
    /// The states of the current execution.
    pub(crate) nodes: Vec<Node>,
    /// Reversals at states of the prefix.
    pub(crate) reversals: Vec<(usize, Vec<TrackedMove>)>,
    /// Whether the current execution failed.
    pub(crate) failed: bool,
    /// The races that later executions must reverse again.
    pub(crate) open_races: OpenRaces,
}

/// Explores a subtree. The execution is empty.
pub(crate) fn explore<S: System>(
    explorer: &mut Explorer<'_, S>,
    subtree: Subtree,
) -> ControlFlow<EarlyExit, SubtreeResult> {
    let Subtree { start: _, prefix, above, top } = subtree;
    let base = prefix.len();
    let mut optimal = Optimal {
        explorer,
        base,
        nodes: Vec::with_capacity(base + 1),
        reversals: Vec::new(),
        failed: false,
        open_races: OpenRaces::default(),
    };
    let mut failed = false;
    for (at, (mv, node)) in prefix.into_iter().zip(above).enumerate() {
        optimal.nodes.push(node);
        failed = optimal.take_planned(mv)?;
        if at + 1 == base && top.is_new {
            optimal.explorer.observe()?;
        } else {
            optimal.explorer.observe_again();
        }
    }
    if failed {
        optimal.end(End::Failed)?;
    } else {
        optimal.nodes.push(top);
        optimal.run()?;
    }
    let nodes = optimal.nodes.split_off(base);
    let rest = (!nodes.is_empty()).then(|| {
        assert!(
            nodes.iter().all(|node| !node.is_new),
            "an execution has passed through the states"
        );
        let execution = &optimal.explorer.execution;
        let events = (base..execution.len()).map(|event| execution.tracked(event)).collect();
        Stack { nodes, events }
    });
    ControlFlow::Continue(SubtreeResult { reversals: optimal.reversals, rest })
}

impl<S: System> Optimal<'_, '_, S> {
    /// Explores until no state behind the prefix remains, or there are too many executions.
    fn run(&mut self) -> ControlFlow<EarlyExit> {
        while self.nodes.len() > self.base && !self.explorer.is_too_large() {
            let node = self.node();
            if node.is_new {
                node.is_new = false;
                if node.tree.is_empty() {
                    self.choose_first_move()?;
                }
            } else if let Some(branch) = node.tree.pop_first() {
                self.follow_branch(branch)?;
            } else {
                self.nodes.pop();
                if self.nodes.len() > self.base {
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
            let alternatives = self.explorer.system.alternatives(thread);
            let combined = self.explorer.combined_footprint(&alternatives);
            for mv in moves_of(thread, alternatives) {
                self.explorer.check_cancelled()?;
                if self.node().sleep.contains(&mv) {
                    asleep = true;
                    continue;
                }
                match self.explorer.push(mv.clone(), combined.as_deref()) {
                    PushResult::Blocked => {}
                    PushResult::Spinning => spinning = true,
                    pushed @ (PushResult::Taken | PushResult::Failed) => match &combined {
                        None => {
                            let failed = pushed == PushResult::Failed;
                            return self.enter_state(failed, WakeupTree::default());
                        }
                        Some(footprint) => {
                            self.explorer.pop();
                            let first = TrackedMove { mv, footprint: footprint.clone() };
                            let (state, next) = (NodeState::Planned, WakeupTree::default());
                            self.node().tree.push(Branch { first, state, next });
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

    /// Takes the move of a branch of the wake-up tree, unless the branch is done.
    fn follow_branch(&mut self, branch: Branch) -> ControlFlow<EarlyExit> {
        let Branch { first, state, next } = branch;
        match state {
            NodeState::Planned => {
                let failed = self.take_planned(first)?;
                return self.enter_state(failed, next);
            }
            NodeState::Open(sleep) => {
                let failed = self.take_planned(first)?;
                assert!(!failed, "an execution that goes on has not failed");
                self.explorer.observe_again();
                self.nodes.push(Node::open(sleep, next));
            }
            NodeState::Done => self.node().sleep.insert(first),
        }
        ControlFlow::Continue(())
    }

    /// Takes a planned move. Returns whether the execution failed.
    fn take_planned(&mut self, planned: TrackedMove) -> ControlFlow<EarlyExit, bool> {
        self.explorer.check_cancelled()?;
        let TrackedMove { mv, footprint } = planned;
        let combined = mv.has_alternatives().then_some(footprint.as_slice());
        match self.explorer.push(mv, combined) {
            PushResult::Taken => ControlFlow::Continue(false),
            PushResult::Failed => ControlFlow::Continue(true),
            PushResult::Blocked | PushResult::Spinning => {
                // A cancelled system may leave out work.
                self.explorer.check_cancelled()?;
                panic!("a planned move must be enabled when it is taken");
            }
        }
    }

    /// Handles a new event: enters the state after it, with its wake-up tree.
    fn enter_state(&mut self, failed: bool, tree: WakeupTree) -> ControlFlow<EarlyExit> {
        self.explorer.observe()?;
        if failed {
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
    /// explored. If nothing remains at the state before it, nothing reads its sleep set any more.
    fn backtrack(&mut self) {
        let last = self.explorer.execution.len() - 1;
        if !self.node().tree.is_empty() {
            let event = self.explorer.execution.tracked(last);
            self.node().sleep.insert(event);
        }
        self.explorer.pop();
        self.open_races.truncate(last);
    }

    /// Counts an execution that has ended, and reverses its races.
    fn end(&mut self, end: End) -> ControlFlow<EarlyExit> {
        self.explorer.end(end)?;
        self.failed = end == End::Failed;
        self.reverse_races()?;
        #[cfg(test)]
        self.assert_all_races_are_reversed()?;
        ControlFlow::Continue(())
    }
}
