//! Turns control flow into structured code.
//!
//! Source: Ramsey, *Beyond Relooper*. The algorithm walks the dominator tree. The target of a back
//! edge becomes a loop. A statement with several predecessors is placed after its immediate
//! dominator.
//!
//! DIVERGENCE: our target languages have `goto`, and people read the output. So statements that
//! leave a loop are placed after the loop, not inside it. A jump that is neither a fall-through nor
//! a `Break` nor a `Continue` is a [`Node::Goto`], so any control flow can be written, also
//! irreducible flow.
//!
//! Every reachable statement occurs exactly once, except `Halt`, which is repeated where this saves
//! a jump. An atomic block is one statement for the code around it. The flow inside it is
//! structured separately.

mod flow;
mod simplify;

use fencepost_ir::{Op, Pc, Thread};
use flow::Flow;
use std::collections::BTreeSet;

/// Structured code. Statements are identified by their program counter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// A statement with one successor: every statement except branches, `Halt` and the ends of
    /// atomic blocks.
    Plain(Pc),
    /// An atomic block, from this `AtomicBegin` to its end. No jump enters the block. A `Goto` to a
    /// label outside leaves it; this occurs only if the block has exits to different statements.
    Atomic(Pc, Vec<Node>),
    /// The branch at this program counter, with the code of both sides.
    If(Pc, Vec<Node>, Vec<Node>),
    /// An endless loop, left by jumps.
    Loop(Vec<Node>),
    /// Leaves the innermost loop.
    Break,
    /// Continues with the next iteration of the innermost loop.
    Continue,
    /// The target of a `Goto`: before the statement at this program counter, or at the end of an
    /// atomic block, before its `AtomicEnd`.
    Label(Pc),
    /// Jumps to a label.
    Goto(Pc),
    /// Ends the thread.
    Halt,
}

impl Node {
    /// Returns the nested code: the body of a block or loop, or the two sides of an `if`.
    pub fn children(&self) -> [&[Node]; 2] {
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
        node.children().into_iter().for_each(|part| for_each_node(part, visit));
    }
}

/// Returns the labels in the code.
pub fn labels(code: &[Node]) -> BTreeSet<Pc> {
    let mut found = BTreeSet::new();
    for_each_node(code, &mut |node| {
        if let Node::Label(pc) = node {
            found.insert(*pc);
        }
    });
    found
}

/// Returns the targets of all `Goto` nodes in the code.
pub fn targets(code: &[Node]) -> BTreeSet<Pc> {
    let mut found = BTreeSet::new();
    for_each_node(code, &mut |node| {
        if let Node::Goto(pc) = node {
            found.insert(*pc);
        }
    });
    found
}

/// Returns the code of a thread as a tree, without unreachable statements. The thread ends at the
/// end of the code: there is no final `Halt`.
pub fn structure(thread: &Thread) -> Vec<Node> {
    let flow = Flow::of_thread(thread);
    let mut code = Vec::new();
    Walk { thread, flow: &flow }.sequence(flow.entry(), FlowContext::default(), &mut code);
    simplify::simplify(&mut code);
    if code.last() == Some(&Node::Halt) {
        code.pop();
    }
    code
}

/// The syntax of a loop. The flag is the value of the branch condition for which the loop
/// continues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopForm<'a> {
    /// A loop that begins with its exit branch.
    While(Pc, bool, &'a [Node]),
    /// A loop that ends with its exit branch.
    DoWhile(&'a [Node], Pc, bool),
    /// Any other loop.
    Forever(&'a [Node]),
}

/// Returns the syntax for a loop with this body.
pub fn loop_form(body: &[Node]) -> LoopForm<'_> {
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
            LoopForm::While(pc, holds, rest)
        }
        [rest @ .., last] if leaves(last).is_some() && !has_continue(rest) => {
            let (pc, holds) = leaves(last).expect("tested above");
            LoopForm::DoWhile(rest, pc, holds)
        }
        _ => LoopForm::Forever(body),
    }
}

/// Returns whether code in a loop has a `Continue` of this loop.
fn has_continue(code: &[Node]) -> bool {
    code.iter().any(|node| match node {
        Node::Continue => true,
        Node::If(_, then, otherwise) => has_continue(then) || has_continue(otherwise),
        Node::Plain(_)
        | Node::Atomic(..)
        | Node::Loop(_)
        | Node::Break
        | Node::Label(_)
        | Node::Goto(_)
        | Node::Halt => false,
    })
}

/// The context of the code under construction.
#[derive(Clone, Copy, Default)]
struct FlowContext {
    /// The statement after the code.
    next: Option<Pc>,
    /// The innermost loop: its head, and the statement after it.
    innermost_loop: Option<(Pc, Option<Pc>)>,
}

struct Walk<'a> {
    thread: &'a Thread,
    flow: &'a Flow,
}

impl Walk<'_> {
    /// Writes the code from this statement to the end of its dominated region.
    fn sequence(&self, start: Pc, context: FlowContext, out: &mut Vec<Node>) {
        let mut queue = vec![start];
        // Writes the first element of the queue; the others follow in order.
        while let Some(here) = (!queue.is_empty()).then(|| queue.remove(0)) {
            out.push(Node::Label(here));
            let after = self.flow.after(here);
            let next = after.first().or(queue.first()).copied().or(context.next);
            if self.flow.is_head(here) {
                let mut body = Vec::new();
                let inside = FlowContext { next: Some(here), innermost_loop: Some((here, next)) };
                let within = self.flow.after_in_loop(here);
                let first = within.first().copied().or(inside.next);
                let on = self.statement(here, FlowContext { next: first, ..inside }, &mut body);
                self.loop_body(on, within, inside, &mut body);
                out.push(Node::Loop(body));
                queue.splice(0..0, after.iter().copied());
            } else {
                let on = self.statement(here, FlowContext { next, ..context }, out);
                queue.splice(0..0, after.iter().copied());
                queue.splice(0..0, on);
            }
        }
    }

    /// Writes the body of a loop after its head.
    fn loop_body(&self, on: Option<Pc>, within: &[Pc], context: FlowContext, out: &mut Vec<Node>) {
        let all: Vec<Pc> = on.iter().chain(within).copied().collect();
        for (at, start) in all.iter().enumerate() {
            let next = all.get(at + 1).copied().or(context.next);
            self.sequence(*start, FlowContext { next, ..context }, out);
        }
    }

    /// Writes one statement and, for a branch, both sides. Returns the statement to write next,
    /// unless it is placed elsewhere.
    fn statement(&self, here: Pc, context: FlowContext, out: &mut Vec<Node>) -> Option<Pc> {
        let stmt = self.thread.stmt(here);
        match &stmt.op {
            Op::Branch { then, otherwise, .. } => {
                let side = |to: Pc| {
                    let mut code = Vec::new();
                    if let Some(to) = self.continue_to(here, to, context, &mut code) {
                        self.sequence(to, context, &mut code);
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
            Op::Join | Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                unreachable!("`Unsupported::check` rejects these programs")
            }
            Op::AtomicBegin => {
                let inside = Flow::of_block(self.thread, here);
                let mut body = Vec::new();
                let end = inside.end();
                let alone = FlowContext { next: end, innermost_loop: None };
                if inside.is_empty() {
                    debug_assert!(end.is_some(), "an empty block ends where it begins");
                } else {
                    let walk = Walk { thread: self.thread, flow: &inside };
                    walk.sequence(inside.entry(), alone, &mut body);
                }
                body.extend(end.map(Node::Label));
                out.push(Node::Atomic(here, body));
                self.continue_to(here, self.thread.stmt(end?).next, context, out)
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
                self.continue_to(here, stmt.next, context, out)
            }
        }
    }

    /// Continues with a statement. Returns it if it is written here; else emits a jump to its
    /// place.
    fn continue_to(
        &self,
        from: Pc,
        to: Pc,
        context: FlowContext,
        out: &mut Vec<Node>,
    ) -> Option<Pc> {
        if self.flow.is_sole_predecessor(from, to) {
            return Some(to);
        }
        self.jump(to, context, out);
        None
    }

    /// Emits a jump to a statement that is placed elsewhere.
    fn jump(&self, to: Pc, context: FlowContext, out: &mut Vec<Node>) {
        let to = self.flow.resolve(self.thread, to);
        if context.next == Some(to) {
            return;
        }
        out.push(match (context.innermost_loop, &self.thread.stmt(to).op) {
            (Some((head, _)), _) if head == to => Node::Continue,
            (Some((_, Some(after))), _) if after == to => Node::Break,
            (_, Op::Halt) => Node::Halt,
            _ => Node::Goto(to),
        });
    }
}
