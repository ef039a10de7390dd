//! Preemption bounding: all interleavings with at most a given number of preemptions.
//!
//! A *preemption* is a switch away from a thread whose next move is enabled. Most errors need few
//! preemptions (\[BM08\] section 4, and the work on iterative context bounding that it builds
//! on). Small bounds therefore find many errors quickly.
//!
//! Direction: under-approximation; exact if the bound excluded no move.

use crate::event::Move;
use crate::explorer::{EarlyExit, Explorer, PushResult};
use crate::system::{End, System, moves_of};
use std::ops::ControlFlow;

/// The interleavings that start with given moves and go on with one of the untried moves of the
/// state after them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Branch {
    /// The start state, in the encoding of the function that creates the systems.
    pub(crate) start: Vec<u32>,
    moves: Vec<Move>,
    /// The state after the moves. `None` if it was not reached yet.
    frame: Option<Frame>,
    preemptions: u32,
}

impl Branch {
    /// Returns all interleavings with at most this number of preemptions.
    pub(crate) fn all(start: Vec<u32>, preemptions: u32) -> Self {
        Branch { start, moves: Vec::new(), frame: None, preemptions }
    }
}

/// A state of the current execution.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Frame {
    /// The moves that remain to be tried, in reverse order.
    untried: Vec<Move>,
    /// The thread of the last event.
    last: Option<usize>,
    /// Whether a move of that thread is enabled.
    last_is_enabled: bool,
    preemptions_left: u32,
    /// Whether some move was enabled, or the execution was cut here.
    extended_or_cut: bool,
    spinning: bool,
}

impl Frame {
    fn new<S: System>(explorer: &mut Explorer<'_, S>, preemptions_left: u32) -> Self {
        let mut untried = Vec::new();
        for thread in explorer.thread_order() {
            if !explorer.system.has_halted(thread) {
                untried.extend(moves_of(thread, explorer.system.alternatives(thread)));
            }
        }
        untried.reverse();
        let last = explorer.execution.last_thread();
        Frame {
            untried,
            last,
            last_is_enabled: false,
            preemptions_left,
            extended_or_cut: false,
            spinning: false,
        }
    }
}

/// Explores a branch. The execution is empty. Returns the rest if there are too many executions.
pub(crate) fn explore<S: System>(
    explorer: &mut Explorer<'_, S>,
    branch: Branch,
) -> ControlFlow<EarlyExit, Vec<Branch>> {
    for mv in &branch.moves {
        explorer.check_cancelled()?;
        if explorer.push(mv.clone(), None) != PushResult::Taken {
            // A cancelled system may leave out work.
            explorer.check_cancelled()?;
            panic!("the moves of a branch must be enabled");
        }
        explorer.observe_again();
    }
    let Branch { start, moves, frame, preemptions } = branch;
    let mut frames = vec![frame.unwrap_or_else(|| Frame::new(explorer, preemptions))];
    while let Some(frame) = frames.last_mut() {
        if explorer.is_too_large() {
            let rest = frames.into_iter().enumerate().filter(|(_, it)| !it.untried.is_empty());
            let branch = |(above, frame)| {
                let events = &explorer.execution.events()[..moves.len() + above];
                let moves = events.iter().map(|event| event.mv.clone()).collect();
                Branch { start: start.clone(), moves, frame: Some(frame), preemptions }
            };
            return ControlFlow::Continue(rest.map(branch).collect());
        }
        if explorer.is_at_event_limit() && !frame.extended_or_cut {
            frame.untried.clear();
            frame.extended_or_cut = true;
            explorer.end(End::Cut)?;
        }
        if let Some(mv) = frame.untried.pop() {
            explorer.check_cancelled()?;
            let own = frame.last == Some(mv.thread);
            let preempts = frame.last_is_enabled && !own;
            if preempts && frame.preemptions_left == 0 {
                explorer.counts.bounded = true;
                frame.untried.clear();
                continue;
            }
            let pushed = explorer.push(mv, None);
            match pushed {
                PushResult::Blocked => continue,
                PushResult::Spinning => {
                    frame.spinning = true;
                    continue;
                }
                PushResult::Taken | PushResult::Failed => {
                    frame.extended_or_cut = true;
                    frame.last_is_enabled |= own;
                }
            }
            explorer.observe()?;
            if pushed == PushResult::Failed {
                explorer.end(End::Failed)?;
                explorer.pop();
                continue;
            }
            let preemptions_left = frame.preemptions_left - u32::from(preempts);
            frames.push(Frame::new(explorer, preemptions_left));
            continue;
        }
        if !frame.extended_or_cut {
            let spinning = frame.spinning;
            let halted = explorer.have_all_halted();
            explorer.end(if halted { End::Complete } else { End::Stuck { spinning } })?;
        }
        frames.pop();
        if !frames.is_empty() {
            explorer.pop();
        }
    }
    ControlFlow::Continue(Vec::new())
}
