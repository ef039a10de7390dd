//! Writes steps outside of atomic blocks: a group is an access with the local statements around it.
//!
//! A register that only carries a value between statements of a group is not set. Its value is
//! substituted where it is read.

use super::code::Printer;
use super::out::Mark;
use crate::Unsupported;
use crate::export::actions::{Action, Env, Leaf, UpdateAction};
use crate::export::checks::is_true;
use crate::export::structure::Node;
use fencepost_ir::{BinOp, Expr, INT_LIMITS, Pc, Reg};

/// The largest size of an expression after substitution.
const MAX_SIZE: usize = 24;

/// A branch condition at the end of a group.
pub(super) struct Test {
    pub(super) condition: Expr<Leaf>,
    pub(super) mark: Option<Mark>,
    pub(super) comment: Option<String>,
}

impl Printer<'_> {
    /// Returns the number of leading nodes that form one group: at most one access, and local
    /// statements.
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

    /// Returns the step of a group, which is the step of its access.
    fn mark_of(&self, pcs: &[Pc]) -> Option<Mark> {
        let accesses = |pc: &&Pc| self.action(**pc).accesses();
        self.mark(*pcs.iter().find(accesses)?, Vec::new())
    }

    /// Returns the condition of a branch after a group that only computes this condition.
    pub(super) fn test(&mut self, pcs: &[Pc], branch: Pc) -> Result<Option<Test>, Unsupported> {
        let Action::Branch { then, otherwise, .. } = self.action(branch) else {
            unreachable!("an `if` is at a branch")
        };
        let live = |reg: Reg| {
            self.live[then.index()][reg.index()] || self.live[otherwise.index()][reg.index()]
        };
        let Some((env, statements)) = self.substitute_registers(pcs, &live)? else {
            return Ok(None);
        };
        if !statements.is_empty() {
            return Ok(None);
        }
        let action = Action::of(&self.thread.stmt(branch).op, &env);
        if !is_true(&self.facts.precondition(&action, self.thread)?) {
            return Ok(None);
        }
        let Action::Branch { cond: condition, .. } = action else {
            unreachable!("the statement is a branch")
        };
        if size(&condition) > MAX_SIZE {
            return Ok(None);
        }
        let begin = pcs.first().copied().unwrap_or(branch);
        self.record.beginnings.insert(begin);
        let mark = self.mark_of(pcs);
        let all: Vec<Pc> = pcs.iter().copied().chain([branch]).collect();
        Ok(Some(Test { condition, mark, comment: self.comment(&all) }))
    }

    /// Writes a group as one step. `is_jump_target`: a jump may target the group.
    pub(super) fn step(&mut self, pcs: &[Pc], is_jump_target: bool) -> Result<(), Unsupported> {
        let last = *pcs.last().expect("a group is not empty");
        let after = self.thread.stmt(last).next;
        let live = |reg: Reg| self.live[after.index()][reg.index()];
        let mut lines = match self.substitute_registers(pcs, &live)? {
            Some((_, statements)) => self.record_statements(statements),
            None => {
                let mut all = Vec::new();
                for pc in pcs {
                    all.extend(self.statements_of(&self.action(*pc))?);
                    self.record.sets.insert(*pc);
                }
                all
            }
        };
        if lines.is_empty() {
            return Ok(());
        }
        let written: Vec<Leaf> =
            pcs.iter().filter_map(|pc| self.action(*pc).written_place().cloned()).collect();
        lines.extend(self.invariants(&written)?);
        self.record.beginnings.insert(pcs[0]);
        self.record.ends.insert(last);
        lines.extend(self.clear(last));
        let (mark, comment) = (self.mark_of(pcs), self.comment(pcs));
        self.write_step(&lines, mark.as_ref(), comment.as_deref(), is_jump_target);
        Ok(())
    }

    /// Writes lines as one step.
    pub(super) fn write_step(
        &mut self,
        lines: &[String],
        mark: Option<&Mark>,
        comment: Option<&str>,
        is_jump_target: bool,
    ) {
        if let [line] = lines
            && !line.starts_with("if ")
        {
            self.out.mark(mark);
            self.out.commented(&format!("{line};"), comment);
            return;
        }
        // SPIN allows no jump to a `d_step`, but allows one to an `if` with a single alternative.
        if is_jump_target {
            self.out.line("if");
            self.out.prefix_line(":: ");
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
        if is_jump_target {
            self.out.line("fi;");
        }
    }

    fn record_statements(&mut self, statements: Vec<(Pc, Vec<String>)>) -> Vec<String> {
        let mut all = Vec::new();
        for (pc, lines) in statements {
            self.record.sets.insert(pc);
            all.extend(lines);
        }
        all
    }

    /// Substitutes the values of registers that are dead after the group. Returns the substitution
    /// and the remaining statements; `None` if the substitution is not possible.
    #[expect(
        clippy::type_complexity,
        reason = "a statement is its lines of text with its program counter"
    )]
    fn substitute_registers(
        &self,
        pcs: &[Pc],
        live: &impl Fn(Reg) -> bool,
    ) -> Result<Option<(Env, Vec<(Pc, Vec<String>)>)>, Unsupported> {
        let mut env = Env::default();
        let mut statements = Vec::new();
        for pc in pcs {
            let op = &self.thread.stmt(*pc).op;
            let action = Action::of(op, &env);
            let precondition = self.facts.precondition(&action, self.thread)?;
            if let Some((reg, value)) = action.register_assignment()
                && !live(reg)
                && is_true(&precondition)
                && size(value) <= MAX_SIZE
            {
                env.registers.insert(reg, value.clone());
                continue;
            }
            let lines = self.statements_of(&action)?;
            if let Some(reg) = op.target() {
                // A substituted value must not read the new value of the register.
                if env.registers.values().any(|value| mentions(value, reg)) {
                    return Ok(None);
                }
                env.registers.remove(&reg);
            }
            // A substituted value must not read the new value of the place.
            if let Some(place) = action.written_place()
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

    /// Returns the statements of an action, after an assertion that it does not fault.
    pub(super) fn statements_of(&self, action: &Action) -> Result<Vec<String>, Unsupported> {
        let precondition = self.facts.precondition(action, self.thread)?;
        let mut lines = Vec::new();
        if !is_true(&precondition) {
            lines.push(format!("assert({})", self.expr(&precondition)));
        }
        let set = |to: &Leaf, value| format!("{} = {}", self.leaf(to), self.expr(value));
        match action {
            Action::Assign { reg, value } => lines.push(set(&Leaf::Reg(*reg), value)),
            Action::Load { reg, from, .. } => {
                lines.push(set(&Leaf::Reg(*reg), &Expr::Var(from.clone())));
            }
            Action::Store { to, value } => lines.push(set(to, value)),
            Action::Update(update_action) => lines.extend(self.update(update_action)),
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

    fn update(&self, update_action: &UpdateAction) -> Vec<String> {
        let target = update_action.reg.map(|reg| self.leaf(&Leaf::Reg(reg)));
        let place = self.leaf(&update_action.at);
        if let Some(writes) = update_action.succeeds() {
            let (writes, new) = (self.expr(&writes), self.expr(&update_action.operand));
            if let (true, Some(reg)) = (update_action.yields_old(), &target) {
                // The register may occur in the operands and in the address.
                self.uses_old_value.set(true);
                let old_value = super::declare::OLD_VALUE;
                let write = format!("if :: ({writes}) -> {place} = {new}; :: else fi");
                return vec![
                    format!("{old_value} = {place}"),
                    write,
                    format!("{reg} = {old_value}"),
                ];
            }
            return vec![match target {
                Some(reg) => format!(
                    "if :: ({writes}) -> {place} = {new}; {reg} = 1; :: else -> {reg} = 0; fi"
                ),
                None => format!("if :: ({writes}) -> {place} = {new}; :: else fi"),
            }];
        }
        let new = update_action.new_value();
        let write = format!("{place} = {}", self.expr(&without_negative(&new)));
        match (update_action.reg, target) {
            (Some(reg), Some(target)) => {
                if mentions(&new, reg) || mentions(&update_action.old, reg) {
                    self.uses_old_value.set(true);
                    let old_value = super::declare::OLD_VALUE;
                    vec![format!("{old_value} = {place}"), write, format!("{target} = {old_value}")]
                } else {
                    vec![format!("{target} = {place}"), write]
                }
            }
            _ => vec![write],
        }
    }
}

/// Returns a sum with a negative constant as a difference.
fn without_negative(sum: &Expr<Leaf>) -> Expr<Leaf> {
    match sum {
        Expr::Binary(BinOp::Add, a, b) => match **b {
            Expr::Const(less) if less < 0 && less > INT_LIMITS.0 => {
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

/// Returns whether an expression has such a leaf, also inside of indices.
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

/// Returns whether an expression may read a location of the place.
fn reads(expr: &Expr<Leaf>, place: &Leaf) -> bool {
    let Some((start, len)) = place.location_range() else { return false };
    has(expr, &|leaf| {
        leaf.location_range()
            .is_some_and(|(at, many)| at.0 < start.0 + len && start.0 < at.0 + many)
    })
}
