//! Simplifies structured code: removes unused labels, unreachable code, and nesting beside a branch
//! that jumps away.

use super::{Node, targets};
use fencepost_ir::Pc;
use std::collections::BTreeSet;

/// Simplifies the code to a fixpoint, without changing its meaning.
pub(super) fn simplify(code: &mut Vec<Node>) {
    loop {
        if !simplify_once(code, &targets(code)) {
            return;
        }
    }
}

/// Applies all simplifications once. Returns whether the code changed.
fn simplify_once(code: &mut Vec<Node>, targeted: &BTreeSet<Pc>) -> bool {
    let before = code.len();
    code.retain(|node| !matches!(node, Node::Label(pc) if !targeted.contains(pc)));
    let mut is_reachable = true;
    code.retain(|node| {
        is_reachable |= matches!(node, Node::Label(_));
        let keep = is_reachable;
        is_reachable &= falls_through(node);
        keep
    });
    let mut changed = code.len() != before;
    let mut at = 0;
    while at < code.len() {
        match &mut code[at] {
            Node::Atomic(_, body) | Node::Loop(body) => changed |= simplify_once(body, targeted),
            Node::If(_, then, otherwise) => {
                changed |= simplify_once(then, targeted);
                changed |= simplify_once(otherwise, targeted);
                // If one side jumps away, preferably as a single jump, the other side needs no
                // `else`.
                let rest = if is_jump(then) {
                    std::mem::take(otherwise)
                } else if is_jump(otherwise) {
                    std::mem::take(then)
                } else if !reaches_end(then) {
                    std::mem::take(otherwise)
                } else if !reaches_end(otherwise) {
                    std::mem::take(then)
                } else {
                    Vec::new()
                };
                changed |= !rest.is_empty();
                code.splice(at + 1..at + 1, rest);
            }
            Node::Plain(_)
            | Node::Break
            | Node::Continue
            | Node::Label(_)
            | Node::Goto(_)
            | Node::Halt => {}
        }
        at += 1;
    }
    changed
}

fn is_jump(code: &[Node]) -> bool {
    code.len() == 1 && !falls_through(&code[0]) && !matches!(code[0], Node::Loop(_) | Node::If(..))
}

/// Returns whether control can reach the node after this one in the same sequence.
fn falls_through(node: &Node) -> bool {
    match node {
        Node::Plain(_) | Node::Atomic(..) | Node::Label(_) => true,
        Node::If(_, then, otherwise) => reaches_end(then) || reaches_end(otherwise),
        Node::Loop(body) => has_break(body),
        Node::Break | Node::Continue | Node::Goto(_) | Node::Halt => false,
    }
}

/// Returns whether control can reach the end of the sequence.
fn reaches_end(code: &[Node]) -> bool {
    let mut is_reachable = true;
    for node in code {
        is_reachable |= matches!(node, Node::Label(_));
        is_reachable &= falls_through(node);
    }
    is_reachable
}

/// Returns whether code in a loop has a `Break` of this loop.
fn has_break(code: &[Node]) -> bool {
    code.iter().any(|node| match node {
        Node::Break => true,
        Node::If(_, then, otherwise) => has_break(then) || has_break(otherwise),
        Node::Plain(_)
        | Node::Atomic(..)
        | Node::Loop(_)
        | Node::Continue
        | Node::Label(_)
        | Node::Goto(_)
        | Node::Halt => false,
    })
}
