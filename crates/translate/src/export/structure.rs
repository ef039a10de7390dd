//! From control flow to structured code.
//!
//! The method is that of Ramsey, *Beyond Relooper*: walk the dominator tree; a back edge makes a loop of
//! its target; a statement with several ways in stands after the one that dominates it. Two things are
//! different, because our targets have `goto` and want to be read by people. What leaves a loop stands after
//! the loop, not in it; and a jump for which neither falling through nor `Break` nor `Continue` is right is a
//! [`Node::Goto`], so that any control flow can be written, also one that no `if` and `while` make.
//!
//! Every reachable statement is there exactly once, but for `Halt`, which stands wherever it saves a jump.
//! An atomic block is one statement for the code around it, and its inside is a flow of its own.

mod flow;
mod tidy;

use fencepost_ir::{Op, Pc, Thread};
use flow::Flow;
use std::collections::BTreeSet;

/// Structured code. Statements are named by their place in the thread's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// A statement that just goes on: everything but branches, `Halt` and the ends of atomic blocks.
    Plain(Pc),
    /// An atomic block: from this `AtomicBegin` to its end. Nothing jumps into it. A `Goto` in it whose
    /// label is outside leaves it; there is one only if the block has ends that go on to different places.
    Atomic(Pc, Vec<Node>),
    /// The branch at this place.
    If(Pc, Vec<Node>, Vec<Node>),
    /// Again and again, until left.
    Loop(Vec<Node>),
    /// Leaves the innermost loop.
    Break,
    /// Begins the innermost loop again.
    Continue,
    /// What a `Goto` names; stands before the statement at this place, or at the end of an atomic block,
    /// before its `AtomicEnd`.
    Label(Pc),
    /// Goes there.
    Goto(Pc),
    /// The thread is done.
    Halt,
}

impl Node {
    /// The code inside of it: the body of a block or a loop, the two sides of an `if`.
    pub fn parts(&self) -> [&[Node]; 2] {
        match self {
            Node::Atomic(_, body) | Node::Loop(body) => [body, &[]],
            Node::If(_, then, otherwise) => [then, otherwise],
            Node::Plain(_)
            | Node::Break
            | Node::Continue
            | Node::Label(_)
            | Node::Goto(_)
            | Node::Halt => [&[], &[]],
        }
    }
}

/// Calls `visit` on every node of some code, at any depth.
pub fn for_each_node<'a>(code: &'a [Node], visit: &mut impl FnMut(&'a Node)) {
    for node in code {
        visit(node);
        node.parts().into_iter().for_each(|part| for_each_node(part, visit));
    }
}

/// The labels in some code.
pub fn labels(code: &[Node]) -> BTreeSet<Pc> {
    let mut found = BTreeSet::new();
    for_each_node(code, &mut |node| {
        if let Node::Label(pc) = node {
            found.insert(*pc);
        }
    });
    found
}

/// The labels that something in some code goes to.
pub fn targets(code: &[Node]) -> BTreeSet<Pc> {
    let mut found = BTreeSet::new();
    for_each_node(code, &mut |node| {
        if let Node::Goto(pc) = node {
            found.insert(*pc);
        }
    });
    found
}

/// The code of a thread as a tree. What cannot be reached is left out. Where the code comes to its end,
/// the thread is done: there is no `Halt` at the very end.
pub fn structure(thread: &Thread) -> Vec<Node> {
    let flow = Flow::of_thread(thread);
    let mut code = Vec::new();
    Walk { thread, flow: &flow }.sequence(flow.entry(), Around::default(), &mut code);
    tidy::tidy(&mut code);
    if code.last() == Some(&Node::Halt) {
        code.pop();
    }
    code
}

/// How a loop is written best. The branch leaves the loop on the side that is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounds<'a> {
    /// The branch comes first: goes on while its condition is this.
    While(Pc, bool, &'a [Node]),
    /// The branch comes last: goes on while its condition is this.
    DoWhile(&'a [Node], Pc, bool),
    /// Anything else.
    Forever(&'a [Node]),
}

/// How the loop with this body is written best.
pub fn rounds(body: &[Node]) -> Rounds<'_> {
    let leaves = |node: &Node| match node {
        Node::If(pc, then, otherwise) => match (&then[..], &otherwise[..]) {
            ([], [Node::Break]) => Some((*pc, true)),
            ([Node::Break], []) => Some((*pc, false)),
            _ => None,
        },
        _ => None,
    };
    match body {
        [first, rest @ ..] if leaves(first).is_some() => {
            let (pc, holds) = leaves(first).expect("tested above");
            Rounds::While(pc, holds, rest)
        }
        [rest @ .., last] if leaves(last).is_some() && !continues(rest) => {
            let (pc, holds) = leaves(last).expect("tested above");
            Rounds::DoWhile(rest, pc, holds)
        }
        _ => Rounds::Forever(body),
    }
}

/// Whether this code, in a loop, begins it again somewhere.
fn continues(code: &[Node]) -> bool {
    code.iter().any(|node| match node {
        Node::Continue => true,
        Node::If(_, then, otherwise) => continues(then) || continues(otherwise),
        Node::Plain(_)
        | Node::Atomic(..)
        | Node::Loop(_)
        | Node::Break
        | Node::Label(_)
        | Node::Goto(_)
        | Node::Halt => false,
    })
}

/// What is around the code that is being written.
#[derive(Clone, Copy, Default)]
struct Around {
    /// Where control goes at the end of it.
    next: Option<Pc>,
    /// The innermost loop: its head, and where control goes after it.
    inner: Option<(Pc, Option<Pc>)>,
}

struct Walk<'a> {
    thread: &'a Thread,
    flow: &'a Flow,
}

impl Walk<'_> {
    /// The code from this statement on, up to the end of what it dominates.
    fn sequence(&self, start: Pc, around: Around, out: &mut Vec<Node>) {
        let mut queue = vec![start];
        // The first of the queue is written now; the others follow in order.
        while let Some(here) = (!queue.is_empty()).then(|| queue.remove(0)) {
            out.push(Node::Label(here));
            let after = self.flow.after(here);
            let next = after.first().or(queue.first()).copied().or(around.next);
            if self.flow.is_head(here) {
                let mut body = Vec::new();
                let inside = Around { next: Some(here), inner: Some((here, next)) };
                let within = self.flow.within(here);
                let first = within.first().copied().or(inside.next);
                let on = self.statement(here, Around { next: first, ..inside }, &mut body);
                self.follow(on, within, inside, &mut body);
                out.push(Node::Loop(body));
                queue.splice(0..0, after.iter().copied());
            } else {
                let on = self.statement(here, Around { next, ..around }, out);
                queue.splice(0..0, after.iter().copied());
                queue.splice(0..0, on);
            }
        }
    }

    /// The code of a loop after its head.
    fn follow(&self, on: Option<Pc>, within: &[Pc], around: Around, out: &mut Vec<Node>) {
        let all: Vec<Pc> = on.iter().chain(within).copied().collect();
        for (at, start) in all.iter().enumerate() {
            let next = all.get(at + 1).copied().or(around.next);
            self.sequence(*start, Around { next, ..around }, out);
        }
    }

    /// One statement and, for a branch, both ways on. Otherwise tells what to write next, unless that has
    /// its place elsewhere.
    fn statement(&self, here: Pc, around: Around, out: &mut Vec<Node>) -> Option<Pc> {
        let stmt = self.thread.stmt(here);
        match &stmt.op {
            Op::Branch { then, otherwise, .. } => {
                let side = |to: Pc| {
                    let mut code = Vec::new();
                    if let Some(to) = self.go_on(here, to, around, &mut code) {
                        self.sequence(to, around, &mut code);
                    }
                    code
                };
                out.push(Node::If(here, side(*then), side(*otherwise)));
                None
            }
            Op::Halt => {
                out.push(Node::Halt);
                None
            }
            Op::AtomicBegin => {
                let inside = Flow::of_block(self.thread, here);
                let mut body = Vec::new();
                let end = inside.end();
                let alone = Around { next: end, inner: None };
                if inside.is_empty() {
                    debug_assert!(end.is_some(), "a block without statements ends at once");
                } else {
                    let walk = Walk { thread: self.thread, flow: &inside };
                    walk.sequence(inside.entry(), alone, &mut body);
                }
                body.extend(end.map(Node::Label));
                out.push(Node::Atomic(here, body));
                self.go_on(here, self.thread.stmt(end?).next, around, out)
            }
            Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. } => {
                out.push(Node::Plain(here));
                self.go_on(here, stmt.next, around, out)
            }
        }
    }

    /// Goes on to a statement: tells that it is to be written here, or jumps to where it is.
    fn go_on(&self, from: Pc, to: Pc, around: Around, out: &mut Vec<Node>) -> Option<Pc> {
        if self.flow.is_only_way(from, to) {
            return Some(to);
        }
        self.jump(to, around, out);
        None
    }

    /// Goes to a statement that has its place elsewhere.
    fn jump(&self, to: Pc, around: Around, out: &mut Vec<Node>) {
        let to = self.flow.resolve(self.thread, to);
        if around.next == Some(to) {
            return;
        }
        out.push(match (around.inner, &self.thread.stmt(to).op) {
            (Some((head, _)), _) if head == to => Node::Continue,
            (Some((_, Some(after))), _) if after == to => Node::Break,
            (_, Op::Halt) => Node::Halt,
            _ => Node::Goto(to),
        });
    }
}
