//! All interleavings with at most so many preemptions.
//!
//! A *preemption* is a switch away from a thread that could go on. Most errors need few of them (\[BM08\] section 4 and the
//! work on iterative context bounding it builds on), so small bounds find much in little time; but with a bound
//! nothing is proved, unless it was never in the way.

use super::explorer::{End, Explorer};
use super::path::{Move, Pushed};

/// A state on the path.
struct Frame {
    /// What is still to be tried.
    open: Vec<Move>,
    /// The thread that moved last, and whether it can go on.
    last: Option<usize>,
    last_goes_on: bool,
    /// Preemptions left.
    left: u32,
    /// Whether something could happen at all.
    moved: bool,
    waiting: bool,
}

impl Frame {
    fn new(explorer: &Explorer<'_, '_>, left: u32) -> Self {
        let last = explorer.path.events.last().map(|event| event.made.thread);
        let threads = explorer.threads();
        let order = (0..threads).map(|offset| (last.unwrap_or(0) + offset) % threads);
        let open = order.filter(|t| !explorer.path.has_halted(*t));
        let mut open: Vec<Move> = open.flat_map(|t| explorer.moves(t)).collect();
        open.reverse();
        Frame { open, last, last_goes_on: false, left, moved: false, waiting: false }
    }
}

/// Explores all interleavings that begin with the path at hand and have at most `left` more
/// preemptions. True when done, false when there are more runs than wanted, or nobody wants more.
pub(crate) fn explore(explorer: &mut Explorer<'_, '_>, left: u32) -> bool {
    let mut frames = vec![Frame::new(explorer, left)];
    while let Some(frame) = frames.last_mut() {
        if explorer.path.events.len() >= explorer.longest && !frame.moved {
            frame.open.clear();
            frame.moved = true;
            if !explorer.end(End::Cut) {
                return false;
            }
        }
        if let Some(made) = frame.open.pop() {
            let preempts = frame.last_goes_on && frame.last != Some(made.thread);
            if preempts && frame.left == 0 {
                explorer.tally.bounded = true;
                frame.open.clear();
                continue;
            }
            let own = frame.last == Some(made.thread);
            match explorer.path.push(made) {
                Pushed::Blocked => continue,
                Pushed::Waiting => {
                    frame.waiting = true;
                    continue;
                }
                Pushed::Wrong(trouble) => {
                    (frame.moved, frame.last_goes_on) = (true, frame.last_goes_on || own);
                    if !explorer.wrong(trouble) || !explorer.end(End::Wrong) {
                        return false;
                    }
                    explorer.path.pop();
                    continue;
                }
                Pushed::Yes => {
                    (frame.moved, frame.last_goes_on) = (true, frame.last_goes_on || own)
                }
            }
            if explorer.fired() {
                return false;
            }
            let left = frame.left - u32::from(preempts);
            frames.push(Frame::new(explorer, left));
            continue;
        }
        if !frame.moved {
            let halted = (0..explorer.threads()).all(|t| explorer.path.has_halted(t));
            let waiting = frame.waiting;
            let end = if halted { End::Complete } else { End::Stuck { waiting } };
            if !explorer.end(end) {
                return false;
            }
        }
        frames.pop();
        if !frames.is_empty() {
            explorer.path.pop();
        }
    }
    true
}
