//! Structured code without what it does not need: labels that nothing names, what cannot be reached, and
//! nesting beside a branch that jumps away.

use super::{Node, targets};
use fencepost_ir::Pc;
use std::collections::BTreeSet;

/// Makes the code simpler without changing what it does.
pub(super) fn tidy(code: &mut Vec<Node>) {
    loop {
        if !prune(code, &targets(code)) {
            return;
        }
    }
}

/// One round; tells whether anything changed.
fn prune(code: &mut Vec<Node>, named: &BTreeSet<Pc>) -> bool {
    let before = code.len();
    code.retain(|node| !matches!(node, Node::Label(pc) if !named.contains(pc)));
    let mut goes_on = true;
    code.retain(|node| {
        goes_on |= matches!(node, Node::Label(_));
        let keep = goes_on;
        goes_on &= falls_through(node);
        keep
    });
    let mut changed = code.len() != before;
    let mut at = 0;
    while at < code.len() {
        match &mut code[at] {
            Node::Atomic(_, body) | Node::Loop(body) => changed |= prune(body, named),
            Node::If(_, then, otherwise) => {
                changed |= prune(then, named);
                changed |= prune(otherwise, named);
                // When one side jumps away, best in a single word, the other one needs no `else`.
                let rest = if is_jump(then) {
                    std::mem::take(otherwise)
                } else if is_jump(otherwise) {
                    std::mem::take(then)
                } else if !ends(then) {
                    std::mem::take(otherwise)
                } else if !ends(otherwise) {
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

/// Whether control can come to what follows. (Within a loop: what follows in the same sequence.)
fn falls_through(node: &Node) -> bool {
    match node {
        Node::Plain(_) | Node::Atomic(..) | Node::Label(_) => true,
        Node::If(_, then, otherwise) => ends(then) || ends(otherwise),
        Node::Loop(body) => breaks(body),
        Node::Break | Node::Continue | Node::Goto(_) | Node::Halt => false,
    }
}

/// Whether control can come to the end of the sequence.
fn ends(code: &[Node]) -> bool {
    let mut goes_on = true;
    for node in code {
        goes_on |= matches!(node, Node::Label(_));
        goes_on &= falls_through(node);
    }
    goes_on
}

/// Whether this code, in a loop, leaves it.
fn breaks(code: &[Node]) -> bool {
    code.iter().any(|node| match node {
        Node::Break => true,
        Node::If(_, then, otherwise) => breaks(then) || breaks(otherwise),
        Node::Plain(_)
        | Node::Atomic(..)
        | Node::Loop(_)
        | Node::Continue
        | Node::Label(_)
        | Node::Goto(_)
        | Node::Halt => false,
    })
}
