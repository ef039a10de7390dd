//! Preemption bounding: all interleavings with at most a given number of preemptions.
//!
//! A *preemption* is a switch away from a thread whose next move is enabled. Most errors need few
//! preemptions (\[BM08\] section 4, and the work on iterative context bounding that it builds
//! on). Small bounds therefore find many errors quickly.
//!
//! Direction: under-approximation; exact if the bound excluded no move.

use crate::event::Move;
use crate::explorer::{EarlyExit, Explorer, PushResult};
use crate::system::{End, System};
use std::ops::ControlFlow;

/// A state of the current execution.
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
                untried.extend(explorer.system.moves(thread));
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

/// Explores all interleavings that extend the current execution with at most `preemptions_left`
/// more preemptions.
pub(crate) fn explore<S: System>(
    explorer: &mut Explorer<'_, S>,
    preemptions_left: u32,
) -> ControlFlow<EarlyExit> {
    let mut frames = vec![Frame::new(explorer, preemptions_left)];
    while let Some(frame) = frames.last_mut() {
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
    ControlFlow::Continue(())
}
