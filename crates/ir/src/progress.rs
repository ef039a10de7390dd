//! Progress points: the statements of a thread outside of all loops that the thread can leave.
//!
//! A thread that stays in a loop which it could leave does not get on. A thread that executes
//! progress points again and again does: for example, it passes its lock in the body of an infinite
//! loop. An infinite loop without an exit is not something to wait for, so its own statements are
//! progress points, except those in inner loops.

use crate::flow::{predecessors, successors};
use crate::ids::Pc;
use crate::program::Thread;

/// Returns for each program counter whether it is a progress point.
pub fn progress_points(thread: &Thread) -> Vec<bool> {
    let mut points = vec![true; thread.code.len()];
    let predecessors = predecessors(thread);
    for (last, head) in retreating_edges(thread) {
        let body = loop_body(thread, &predecessors, last, head);
        let is_left = (0..thread.code.len())
            .filter(|at| body[*at])
            .any(|at| successors(&thread.code[at]).any(|next| !body[next.index()]));
        if is_left {
            points.iter_mut().zip(&body).for_each(|(point, inside)| *point &= !inside);
        }
    }
    points
}

/// Returns the edges that lead back to a statement on the path of a depth-first search. Each closes
/// a loop. Loops with the same head have different edges.
fn retreating_edges(thread: &Thread) -> Vec<(Pc, Pc)> {
    let mut found = Vec::new();
    let mut seen = vec![false; thread.code.len()];
    let mut on_path = vec![false; thread.code.len()];
    let mut path: Vec<(Pc, Vec<Pc>)> = Vec::new();
    let mut enter = (!thread.code.is_empty()).then_some(Pc(0));
    loop {
        if let Some(pc) = enter.take() {
            seen[pc.index()] = true;
            on_path[pc.index()] = true;
            path.push((pc, successors(thread.stmt(pc)).collect()));
        }
        let Some((pc, rest)) = path.last_mut() else { return found };
        match rest.pop() {
            Some(next) if on_path[next.index()] => found.push((*pc, next)),
            Some(next) if !seen[next.index()] => enter = Some(next),
            Some(_) => {}
            None => {
                on_path[pc.index()] = false;
                path.pop();
            }
        }
    }
}

/// Returns the statements of the loop with this head and this last statement: those that reach the
/// last statement without passing the head, and that the head reaches.
fn loop_body(thread: &Thread, predecessors: &[Vec<Pc>], last: Pc, head: Pc) -> Vec<bool> {
    let mut after_head = vec![false; thread.code.len()];
    let mut open = vec![head];
    while let Some(pc) = open.pop() {
        if !std::mem::replace(&mut after_head[pc.index()], true) {
            open.extend(successors(thread.stmt(pc)));
        }
    }
    let mut body = vec![false; thread.code.len()];
    body[head.index()] = true;
    let mut open = vec![last];
    while let Some(pc) = open.pop() {
        if after_head[pc.index()] && !std::mem::replace(&mut body[pc.index()], true) {
            open.extend(&predecessors[pc.index()]);
        }
    }
    body
}
