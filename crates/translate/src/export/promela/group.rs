//! Steps outside of atomic blocks: an access with the local statements around it.
//!
//! A register that only carries a value from one statement of a group to another one is not set: what reads it gets
//! the value itself.

use super::code::Printer;
use super::out::Mark;
use crate::Unsupported;
use crate::export::checks::is_true;
use crate::export::steps::{Action, Change, Env, Leaf};
use crate::export::structure::Node;
use fencepost_ir::{BinOp, Expr, Pc, Reg};

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
            Node::Plain(pc) => {
                let action = self.action(*pc);
                accesses += usize::from(action.accesses());
                (action.accesses() && accesses == 1) || action.is_local()
            }
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
        let accesses = |pc: &&Pc| self.action(**pc).accesses();
        self.mark(*pcs.iter().find(accesses)?, Vec::new())
    }

    /// The condition of a branch after a group that does nothing but compute it.
    pub(super) fn test(&mut self, pcs: &[Pc], branch: Pc) -> Result<Option<Test>, Unsupported> {
        let Action::Branch { then, otherwise, .. } = self.action(branch) else {
            unreachable!("an `if` is at a branch")
        };
        let live = |reg: Reg| {
            self.live[then.index()][reg.index()] || self.live[otherwise.index()][reg.index()]
        };
        let Some((env, statements)) = self.compute(pcs, &live)? else { return Ok(None) };
        if !statements.is_empty() {
            return Ok(None);
        }
        let action = Action::of(&self.thread.stmt(branch).op, &env);
        if !is_true(&self.facts.right(&action, self.thread)?) {
            return Ok(None);
        }
        let Action::Branch { cond: condition, .. } = action else { unreachable!("as before") };
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
                    all.extend(self.operate(&self.action(*pc))?);
                    self.seen.sets.insert(*pc);
                }
                all
            }
        };
        if lines.is_empty() {
            return Ok(());
        }
        let written: Vec<Leaf> =
            pcs.iter().filter_map(|pc| self.action(*pc).written().cloned()).collect();
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
            let action = Action::of(op, &env);
            let right = self.facts.right(&action, self.thread)?;
            if let Some((reg, value)) = action.sets()
                && !live(reg)
                && is_true(&right)
                && size(value) <= LARGE
            {
                env.registers.insert(reg, value.clone());
                continue;
            }
            let lines = self.operate(&action)?;
            if let Some(reg) = op.target() {
                // What was computed from its old value must not be computed from the new one.
                if env.registers.values().any(|value| mentions(value, reg)) {
                    return Ok(None);
                }
                env.registers.remove(&reg);
            }
            // The same for what was read before.
            if let Some(place) = action.written()
                && env.registers.values().any(|value| reads(value, place))
            {
                return Ok(None);
            }
            if !lines.is_empty() {
                statements.push((*pc, lines));
            }
        }
        Ok(Some((env, statements)))
    }

    /// The statements of an action, what must hold first.
    pub(super) fn operate(&self, action: &Action) -> Result<Vec<String>, Unsupported> {
        let right = self.facts.right(action, self.thread)?;
        let mut lines = Vec::new();
        if !is_true(&right) {
            lines.push(format!("assert({})", self.expr(&right)));
        }
        let set = |to: &Leaf, value| format!("{} = {}", self.leaf(to), self.expr(value));
        match action {
            Action::Assign { reg, value } => lines.push(set(&Leaf::Reg(*reg), value)),
            Action::Load { reg, from, .. } => {
                lines.push(set(&Leaf::Reg(*reg), &Expr::Var(from.clone())));
            }
            Action::Store { to, value } => lines.push(set(to, value)),
            Action::Update(change) => lines.extend(self.update(change)),
            Action::Assert(cond) => lines.push(format!("assert({})", self.expr(cond))),
            Action::Nothing
            | Action::Fence
            | Action::Choose { .. }
            | Action::Drain(_)
            | Action::Branch { .. }
            | Action::Assume(_) => {}
        }
        Ok(lines)
    }

    fn update(&self, change: &Change) -> Vec<String> {
        let target = change.reg.map(|reg| self.leaf(&Leaf::Reg(reg)));
        let place = self.leaf(&change.at);
        if let Some(writes) = change.succeeds() {
            let (writes, new) = (self.expr(&writes), self.expr(&change.by));
            return vec![match target {
                Some(reg) => format!(
                    "if :: ({writes}) -> {place} = {new}; {reg} = 1; :: else -> {reg} = 0; fi"
                ),
                None => format!("if :: ({writes}) -> {place} = {new}; :: else fi"),
            }];
        }
        let new = change.written();
        let write = format!("{place} = {}", self.expr(&without_negative(&new)));
        match (change.reg, target) {
            (Some(reg), Some(target)) => {
                if mentions(&new, reg) || mentions(&change.old, reg) {
                    self.kept.set(true);
                    let kept = super::declare::KEPT;
                    vec![format!("{kept} = {place}"), write, format!("{target} = {kept}")]
                } else {
                    vec![format!("{target} = {place}"), write]
                }
            }
            _ => vec![write],
        }
    }
}

/// The sum with a negative number as a difference.
fn without_negative(sum: &Expr<Leaf>) -> Expr<Leaf> {
    match sum {
        Expr::Binary(BinOp::Add, a, b) => match **b {
            Expr::Const(less) if less < 0 && less > i32::MIN => {
                Expr::Binary(BinOp::Sub, a.clone(), Box::new(Expr::Const(-less)))
            }
            _ => sum.clone(),
        },
        _ => sum.clone(),
    }
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
    let Some((start, len)) = place.stretch() else { return false };
    has(expr, &|leaf| {
        leaf.stretch().is_some_and(|(at, many)| at.0 < start.0 + len && start.0 < at.0 + many)
    })
}
