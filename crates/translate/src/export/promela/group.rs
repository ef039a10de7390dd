//! Steps outside of atomic blocks: an access with the local statements around it.
//!
//! A register that only carries a value from one statement of a group to another one is not set: what reads it gets
//! the value itself.

use super::code::Printer;
use super::out::Mark;
use crate::Unsupported;
use crate::export::checks::{Env, View, always_right};
use crate::export::guards::{Leaf, is_true};
use crate::export::structure::Node;
use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Pc, Reg, Update};

/// How large an expression may become when values are put where they are read.
const LARGE: usize = 24;

/// A test at the end of a group, with what it tests.
pub(super) struct Test {
    pub(super) condition: Expr<Leaf>,
    pub(super) mark: Option<Mark>,
    pub(super) comment: Option<String>,
}

impl Printer<'_> {
    /// How many of the nodes are one group: at most one access, and local statements.
    pub(super) fn group(&self, nodes: &[Node]) -> usize {
        let mut accesses = 0;
        let in_group = |node: &&Node| match node {
            Node::Plain(pc) => match &self.thread.stmt(*pc).op {
                Op::Load { .. } | Op::Store { .. } | Op::Update { .. } => {
                    accesses += 1;
                    accesses == 1
                }
                Op::Assign { .. } | Op::Assert(_) | Op::Skip | Op::Fence(_) | Op::Drain(_) => true,
                Op::Choose { .. }
                | Op::Assume(_)
                | Op::Branch { .. }
                | Op::New { .. }
                | Op::Free { .. }
                | Op::Leave
                | Op::AtomicBegin
                | Op::AtomicEnd
                | Op::Invoke { .. }
                | Op::Return { .. }
                | Op::Halt => false,
            },
            Node::Atomic(..)
            | Node::If(..)
            | Node::Loop(_)
            | Node::Break
            | Node::Continue
            | Node::Label(_)
            | Node::Goto(_)
            | Node::Halt => false,
        };
        nodes.iter().take_while(in_group).count()
    }

    /// The step that a group is: that of its access.
    fn mark_of(&self, pcs: &[Pc]) -> Option<Mark> {
        let accesses = |pc: &&Pc| self.thread.stmt(**pc).op.access().is_some();
        self.mark(*pcs.iter().find(accesses)?, Vec::new())
    }

    /// The condition of a branch after a group that does nothing but compute it.
    pub(super) fn test(&mut self, pcs: &[Pc], branch: Pc) -> Result<Option<Test>, Unsupported> {
        let Op::Branch { cond, then, otherwise } = &self.thread.stmt(branch).op else {
            unreachable!("an `if` is at a branch")
        };
        let live = |reg: Reg| {
            self.live[then.index()][reg.index()] || self.live[otherwise.index()][reg.index()]
        };
        let Some((env, statements)) = self.compute(pcs, &live)? else { return Ok(None) };
        if !statements.is_empty() {
            return Ok(None);
        }
        let op = &self.thread.stmt(branch).op;
        if !is_true(&always_right(op, self.thread, &self.facts, &env)?) {
            return Ok(None);
        }
        let condition = env.value(cond);
        if size(&condition) > LARGE {
            return Ok(None);
        }
        let begin = pcs.first().copied().unwrap_or(branch);
        self.seen.beginnings.insert(begin);
        let mark = self.mark_of(pcs);
        let all: Vec<Pc> = pcs.iter().copied().chain([branch]).collect();
        Ok(Some(Test { condition, mark, comment: self.comment(&all) }))
    }

    /// Writes a group as one step. With `jumped`, something may jump to it.
    pub(super) fn step(&mut self, pcs: &[Pc], jumped: bool) -> Result<(), Unsupported> {
        let last = *pcs.last().expect("a group is not empty");
        let after = self.thread.stmt(last).next;
        let live = |reg: Reg| self.live[after.index()][reg.index()];
        let mut lines = match self.compute(pcs, &live)? {
            Some((_, statements)) => self.emit(statements),
            None => {
                let mut all = Vec::new();
                for pc in pcs {
                    all.extend(self.operate(*pc, &Env::default())?);
                    self.seen.sets.insert(*pc);
                }
                all
            }
        };
        if lines.is_empty() {
            return Ok(());
        }
        let written: Vec<&Address> =
            pcs.iter().filter_map(|pc| written(&self.thread.stmt(*pc).op)).collect();
        lines.extend(self.invariants(&written)?);
        self.seen.beginnings.insert(pcs[0]);
        self.seen.ends.insert(last);
        lines.extend(self.clear(last));
        let (mark, comment) = (self.mark_of(pcs), self.comment(pcs));
        self.put(&lines, mark.as_ref(), comment.as_deref(), jumped);
        Ok(())
    }

    /// Lines that are one step.
    pub(super) fn put(
        &mut self,
        lines: &[String],
        mark: Option<&Mark>,
        comment: Option<&str>,
        jumped: bool,
    ) {
        if let [line] = lines
            && !line.starts_with("if ")
        {
            self.out.mark(mark);
            self.out.commented(&format!("{line};"), comment);
            return;
        }
        // SPIN does not let anything jump to a d_step, but to an `if` that has only this to offer.
        if jumped {
            self.out.line("if");
            self.out.begin(":: ");
        }
        self.out.mark(mark);
        self.out.commented("d_step {", comment);
        self.out.indent();
        self.out.mark(mark);
        for line in lines {
            self.out.line(&format!("{line};"));
        }
        self.out.outdent();
        self.out.line("};");
        if jumped {
            self.out.line("fi;");
        }
    }

    fn emit(&mut self, statements: Vec<(Pc, Vec<String>)>) -> Vec<String> {
        let mut all = Vec::new();
        for (pc, lines) in statements {
            self.seen.sets.insert(pc);
            all.extend(lines);
        }
        all
    }

    /// Values in place of registers that are dead after the group, and the statements that are left. None
    /// when that cannot be done.
    #[expect(
        clippy::type_complexity,
        reason = "statements are lines of text with where they are from"
    )]
    fn compute(
        &self,
        pcs: &[Pc],
        live: &impl Fn(Reg) -> bool,
    ) -> Result<Option<(Env, Vec<(Pc, Vec<String>)>)>, Unsupported> {
        let mut env = Env::default();
        let mut statements = Vec::new();
        for pc in pcs {
            let op = &self.thread.stmt(*pc).op;
            let right = always_right(op, self.thread, &self.facts, &env)?;
            let value = match op {
                Op::Assign { reg, expr } => Some((*reg, env.value(expr))),
                Op::Load { reg, from } => Some((*reg, env.read(from))),
                Op::Skip
                | Op::Choose { .. }
                | Op::Store { .. }
                | Op::Update { .. }
                | Op::Fence(_)
                | Op::Drain(_)
                | Op::Branch { .. }
                | Op::Assume(_)
                | Op::Assert(_)
                | Op::New { .. }
                | Op::Free { .. }
                | Op::Leave
                | Op::AtomicBegin
                | Op::AtomicEnd
                | Op::Invoke { .. }
                | Op::Return { .. }
                | Op::Halt => None,
            };
            if let Some((reg, value)) = value
                && !live(reg)
                && is_true(&right)
                && size(&value) <= LARGE
            {
                env.registers.insert(reg, value);
                continue;
            }
            let lines = self.operate(*pc, &env)?;
            if let Some(reg) = op.target() {
                // What was computed from its old value must not be computed from the new one.
                if env.registers.values().any(|value| mentions(value, reg)) {
                    return Ok(None);
                }
                env.registers.remove(&reg);
            }
            if let Some(at) = written(op) {
                // The same for what was read before.
                let place = env.place(at);
                if env.registers.values().any(|value| reads(value, &place)) {
                    return Ok(None);
                }
            }
            if !lines.is_empty() {
                statements.push((*pc, lines));
            }
        }
        Ok(Some((env, statements)))
    }

    /// The statements of an operation, what must hold first.
    pub(super) fn operate(&self, pc: Pc, env: &Env) -> Result<Vec<String>, Unsupported> {
        let op = &self.thread.stmt(pc).op;
        let right = always_right(op, self.thread, &self.facts, env)?;
        let mut lines = Vec::new();
        if !is_true(&right) {
            lines.push(format!("assert({})", self.expr(&right)));
        }
        let value = |e: &Expr<Reg>| self.expr(&env.value(e));
        let place = |at: &Address| self.leaf(&env.place(at));
        match op {
            Op::Assign { reg, expr } => {
                lines.push(format!("{} = {}", self.leaf(&Leaf::Reg(*reg)), value(expr)));
            }
            Op::Load { reg, from } => {
                lines.push(format!("{} = {}", self.leaf(&Leaf::Reg(*reg)), place(from)));
            }
            Op::Store { to, value: expr } => lines.push(format!("{} = {}", place(to), value(expr))),
            Op::Update { reg, at, update } => lines.extend(self.update(*reg, at, update, env)),
            Op::Assert(cond) => lines.push(format!("assert({})", value(cond))),
            Op::Skip
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::Choose { .. }
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Halt => {}
        }
        Ok(lines)
    }

    fn update(&self, reg: Option<Reg>, at: &Address, update: &Update, env: &Env) -> Vec<String> {
        let place = env.place(at);
        let target = reg.map(|reg| self.leaf(&Leaf::Reg(reg)));
        let text = self.leaf(&place);
        let new = match update {
            Update::Cas { expected, new } => {
                let (expected, new) = (env.value(expected), self.expr(&env.value(new)));
                let equal = Expr::Binary(BinOp::Eq, Box::new(Expr::Var(place)), Box::new(expected));
                let equal = self.expr(&equal);
                return vec![match target {
                    Some(reg) => format!(
                        "if :: ({equal}) -> {text} = {new}; {reg} = 1; :: else -> {reg} = 0; fi"
                    ),
                    None => format!("if :: ({equal}) -> {text} = {new}; :: else fi"),
                }];
            }
            Update::Swap { new } => env.value(new),
            Update::Add { by } => {
                let (op, by) = match env.value(by) {
                    Expr::Const(less) if less < 0 && less > i32::MIN => {
                        (BinOp::Sub, Expr::Const(-less))
                    }
                    more => (BinOp::Add, more),
                };
                Expr::Binary(op, Box::new(Expr::Var(place.clone())), Box::new(by))
            }
            Update::Bits { op, by } => {
                Expr::Binary(*op, Box::new(Expr::Var(place.clone())), Box::new(env.value(by)))
            }
        };
        let change = format!("{text} = {}", self.expr(&new));
        match (reg, target) {
            (Some(reg), Some(target)) => {
                let read = Expr::Var(place);
                if mentions(&new, reg) || mentions(&read, reg) {
                    self.kept.set(true);
                    let kept = super::declare::KEPT;
                    vec![format!("{kept} = {text}"), change, format!("{target} = {kept}")]
                } else {
                    vec![format!("{target} = {text}"), change]
                }
            }
            _ => vec![change],
        }
    }
}

/// Where an operation writes.
pub(super) fn written(op: &Op) -> Option<&Address> {
    op.access().filter(|access| access.stores).and(op.address())
}

fn size(expr: &Expr<Leaf>) -> usize {
    match expr {
        Expr::Const(_) | Expr::Var(Leaf::Reg(_) | Leaf::Loc(_)) => 1,
        Expr::Var(Leaf::Element(_, _, index)) => 1 + size(index),
        Expr::Unary(_, a) => 1 + size(a),
        Expr::Binary(_, a, b) => 1 + size(a) + size(b),
        Expr::Select(c, a, b) => 1 + size(c) + size(a) + size(b),
    }
}

/// Whether an expression has such a leaf, inside of indices, too.
fn has(expr: &Expr<Leaf>, is_it: &dyn Fn(&Leaf) -> bool) -> bool {
    let mut found = false;
    expr.for_each_var(&mut |leaf| {
        found |= is_it(leaf);
        if let Leaf::Element(_, _, index) = leaf {
            found |= has(index, is_it);
        }
    });
    found
}

fn mentions(expr: &Expr<Leaf>, reg: Reg) -> bool {
    has(expr, &|leaf| *leaf == Leaf::Reg(reg))
}

/// Whether an expression may read what is written there.
fn reads(expr: &Expr<Leaf>, place: &Leaf) -> bool {
    let stretch = |place: &Leaf| match place {
        Leaf::Reg(_) => None,
        Leaf::Loc(loc) => Some((*loc, 1)),
        Leaf::Element(base, len, _) => Some((*base, *len)),
    };
    let Some((start, len)): Option<(Loc, u32)> = stretch(place) else { return false };
    has(expr, &|leaf| {
        stretch(leaf).is_some_and(|(at, many)| at.0 < start.0 + len && start.0 < at.0 + many)
    })
}
