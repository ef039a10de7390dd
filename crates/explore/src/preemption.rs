//! All interleavings with at most so many preemptions.
//!
//! A *preemption* is a switch away from a thread that could go on. Most errors need few of them (\[BM08\] section 4 and the
//! work on iterative context bounding that it builds on), so small bounds find much in little time.
//!
//! Direction: under-approximation, unless the bound kept nothing from being explored.

use crate::event::Move;
use crate::explorer::{Explorer, Halt, Pushed};
use crate::system::{End, System};
use std::ops::ControlFlow;

/// A state on the execution.
struct Frame {
    /// What is still to be tried, the next one last.
    open: Vec<Move>,
    /// The thread that moved last, and whether it can go on.
    last: Option<usize>,
    last_goes_on: bool,
    /// Preemptions left.
    left: u32,
    /// Whether some move was possible, or the execution was cut here.
    moved: bool,
    spinning: bool,
}

impl Frame {
    fn new<S: System>(explorer: &mut Explorer<'_, S>, left: u32) -> Self {
        let mut open = Vec::new();
        for thread in explorer.order() {
            if !explorer.system.has_halted(thread) {
                open.extend(explorer.system.moves(thread));
            }
        }
        open.reverse();
        let last = explorer.execution.last_thread();
        Frame { open, last, last_goes_on: false, left, moved: false, spinning: false }
    }
}

/// Explores all interleavings that begin with the execution at hand and have at most `left` more preemptions.
pub(crate) fn explore<S: System>(explorer: &mut Explorer<'_, S>, left: u32) -> ControlFlow<Halt> {
    let mut frames = vec![Frame::new(explorer, left)];
    while let Some(frame) = frames.last_mut() {
        if explorer.is_too_long() && !frame.moved {
            frame.open.clear();
            frame.moved = true;
            explorer.end(End::Cut)?;
        }
        if let Some(made) = frame.open.pop() {
            let own = frame.last == Some(made.thread);
            let preempts = frame.last_goes_on && !own;
            if preempts && frame.left == 0 {
                explorer.counts.bounded = true;
                frame.open.clear();
                continue;
            }
            let pushed = explorer.push(made, None);
            match pushed {
                Pushed::Blocked => continue,
                Pushed::Spinning => {
                    frame.spinning = true;
                    continue;
                }
                Pushed::Yes | Pushed::Failed => {
                    frame.moved = true;
                    frame.last_goes_on |= own;
                }
            }
            explorer.observe()?;
            if pushed == Pushed::Failed {
                explorer.end(End::Failed)?;
                explorer.pop();
                continue;
            }
            let left = frame.left - u32::from(preempts);
            frames.push(Frame::new(explorer, left));
            continue;
        }
        if !frame.moved {
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
