//! Writes the code of one thread as `.fp` source.
//!
//! A critical section becomes a block again. The block begins where control enters the section and
//! ends at the `Leave` in the same sequence. A `Leave` before a jump is the lowering of a jump out
//! of the block. Every jump is checked against this structure. If one does not fit, there is no
//! text.

use super::super::expr::{Dialect, negated_condition, text};
use super::super::names::Names;
use super::super::structure::{LoopForm, Node, labels, loop_form, structure, targets};
use super::super::text::TextWriter;
use super::fixed::FixedWidth;
use super::typed::{TypedExpr, TypedWriter, ValueType, atom, constant, convert, type_name};
use super::{control_point_name, has_no_syntax};
use fencepost_ir::{
    Address, BinOp, CasResult, Expr, FenceKinds, Op, Pc, Problem, Reg, Stmt, Thread, ThreadId,
    Update, Value, flow,
};
use std::collections::{BTreeMap, BTreeSet};

/// The number of a critical section; `None` outside.
type Section = Option<usize>;

pub(super) struct Code<'a, 'b> {
    problem: &'a Problem,
    names: &'a Names,
    width: Option<FixedWidth>,
    id: Option<ThreadId>,
    thread: &'a Thread,
    out: &'a mut TextWriter<'b>,
    /// Registers that cannot be declared without a value, because their type excludes 0.
    undeclared: BTreeSet<Reg>,
    sections: usize,
    /// The section of each label.
    labels: BTreeMap<Pc, Section>,
    /// The target of each jump, with the section in which its label must be.
    jumps: Vec<(Pc, Section)>,
}

impl<'a, 'b> Code<'a, 'b> {
    pub(super) fn new(
        problem: &'a Problem,
        names: &'a Names,
        width: Option<FixedWidth>,
        (id, thread): (Option<ThreadId>, &'a Thread),
        out: &'a mut TextWriter<'b>,
    ) -> Self {
        let (undeclared, labels, jumps) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        Code { problem, names, width, id, thread, out, undeclared, sections: 0, labels, jumps }
    }

    pub(super) fn write(mut self) -> Option<()> {
        self.declare();
        let tree = structure(self.thread);
        self.sequence(&tree, None, None)?;
        let fits = |(to, section): &(Pc, Section)| self.labels.get(to) == Some(section);
        self.jumps.iter().all(fits).then_some(())
    }

    fn declare(&mut self) {
        let mut used =
            self.id.map(|id| self.problem.observed_registers(id, true)).unwrap_or_default();
        for stmt in &self.thread.code {
            used.extend(flow::uses(&stmt.op));
            used.extend(stmt.op.target().filter(|_| !self.is_control_point(stmt)));
        }
        let mut by_type: Vec<(String, Vec<&str>)> = Vec::new();
        for (at, register) in self.thread.registers.iter().enumerate() {
            let reg = Reg::from_index(at);
            let limits = self.problem.program.limits(&register.ty);
            if !used.contains(&reg) {
                continue;
            }
            if limits.is_some_and(|(lo, hi)| lo > 0 || hi < 0) {
                self.undeclared.insert(reg);
                continue;
            }
            let ty = type_name(&self.problem.program, &register.ty, self.width);
            let name = self.names.register(self.id, reg);
            match by_type.iter_mut().find(|(known, _)| *known == ty) {
                Some((_, names)) => names.push(name),
                None => by_type.push((ty, vec![name])),
            }
        }
        for (ty, names) in by_type {
            self.out.line(&format!("{ty} {};", names.join(", ")));
        }
    }

    /// Writes code inside a critical section or outside. `around` is the section of the innermost
    /// loop.
    fn sequence(&mut self, code: &[Node], inside: Section, around: Section) -> Option<()> {
        let mut at = 0;
        while at < code.len() {
            // A label stays before the block, because jumps into the block are not possible.
            let is_label = matches!(code[at], Node::Label(_));
            let begins = inside.is_none() && !is_label && self.is_critical(&code[at]);
            if begins {
                let end = at + code[at..].iter().position(|node| self.always_leaves(node))?;
                self.sections += 1;
                let mut section = code[at..=end].to_vec();
                strip_leave(&mut section);
                self.out.open("critical {");
                self.sequence(&section, Some(self.sections), around)?;
                self.out.close("}");
                at = end + 1;
                continue;
            }
            self.node(&code[at], code.get(at + 1), inside, around)?;
            // The jump after a `Leave` is written together with it.
            let leaves = matches!(code[at], Node::Plain(pc) if self.is_leave(pc));
            at += if leaves { 2 } else { 1 };
        }
        Some(())
    }

    fn is_leave(&self, pc: Pc) -> bool {
        matches!(self.thread.stmt(pc).op, Op::Leave)
    }

    /// Returns whether every path through the node ends by leaving the critical section.
    fn always_leaves(&self, node: &Node) -> bool {
        let all = |code: &[Node]| code.last().is_some_and(|last| self.always_leaves(last));
        match node {
            Node::Plain(pc) => self.is_leave(*pc),
            Node::If(_, then, otherwise) => all(then) && all(otherwise),
            Node::Atomic(..)
            | Node::Loop(_)
            | Node::Break
            | Node::Continue
            | Node::Label(_)
            | Node::Goto(_)
            | Node::Halt => false,
        }
    }

    /// Returns whether control may leave a critical section in this code without a jump.
    fn may_leave(&self, code: &[Node]) -> bool {
        code.iter().enumerate().any(|(at, node)| match node {
            Node::Plain(pc) => self.is_leave(*pc) && !code.get(at + 1).is_some_and(is_jump),
            Node::If(_, then, otherwise) => self.may_leave(then) || self.may_leave(otherwise),
            Node::Loop(body) => self.may_leave(body),
            Node::Atomic(..)
            | Node::Break
            | Node::Continue
            | Node::Label(_)
            | Node::Goto(_)
            | Node::Halt => false,
        })
    }

    /// Returns whether the whole node is in a critical section, and control does not leave it by
    /// falling through.
    fn is_critical(&self, node: &Node) -> bool {
        let all = |code: &[Node]| {
            let stays = code.iter().all(|node| is_jump(node) || self.is_critical(node));
            stays && !self.may_leave(code)
        };
        match node {
            Node::Plain(pc) | Node::Label(pc) => self.thread.stmt(*pc).critical,
            Node::Atomic(pc, _) => self.thread.stmt(*pc).critical,
            Node::If(pc, ..) => self.thread.stmt(*pc).critical,
            Node::Loop(body) => all(body),
            Node::Break | Node::Continue | Node::Goto(_) | Node::Halt => false,
        }
    }

    fn node(
        &mut self,
        node: &Node,
        next: Option<&Node>,
        inside: Section,
        around: Section,
    ) -> Option<()> {
        match node {
            Node::Plain(pc) if self.is_leave(*pc) => {
                // The front end adds the `Leave` to a jump out of the section.
                let jump = next.filter(|next| is_jump(next) && inside.is_some())?;
                self.jump(jump, inside, None, around)?;
            }
            Node::Plain(pc) => self.statement(self.thread.stmt(*pc))?,
            Node::Atomic(pc, body) => {
                let stmt = self.thread.stmt(*pc);
                self.out.open_statement("atomic {", stmt);
                // Other exits than the end of the block have no syntax: their labels are outside.
                if !targets(body).is_subset(&labels(body)) {
                    return None;
                }
                self.sequence(body, inside, inside)?;
                self.out.close("}");
            }
            Node::If(pc, then, otherwise) => {
                let stmt = self.thread.stmt(*pc);
                let (holds, first, second) = if then.is_empty() {
                    (false, otherwise, then)
                } else {
                    (true, then, otherwise)
                };
                let cond = self.condition(stmt, holds)?;
                self.out.open_statement(&format!("if ({cond}) {{"), stmt);
                self.sequence(first, inside, around)?;
                if !second.is_empty() {
                    self.out.close("} else {");
                    self.out.indent_again();
                    self.sequence(second, inside, around)?;
                }
                self.out.close("}");
            }
            Node::Loop(body) => match loop_form(body) {
                LoopForm::While(pc, holds, rest) => {
                    let stmt = self.thread.stmt(pc);
                    if stmt.critical != inside.is_some() {
                        return self.forever(body, inside);
                    }
                    let cond = self.condition(stmt, holds)?;
                    self.out.open_statement(&format!("while ({cond}) {{"), stmt);
                    self.sequence(rest, inside, inside)?;
                    self.out.close("}");
                }
                LoopForm::DoWhile(rest, pc, holds) => {
                    let stmt = self.thread.stmt(pc);
                    if stmt.critical != inside.is_some() {
                        return self.forever(body, inside);
                    }
                    let cond = self.condition(stmt, holds)?;
                    self.out.open("do {");
                    self.sequence(rest, inside, inside)?;
                    self.out.close_statement(&format!("}} while ({cond});"), stmt);
                }
                LoopForm::Forever(body) => self.forever(body, inside)?,
            },
            Node::Break | Node::Continue | Node::Goto(_) | Node::Halt => {
                self.jump(node, inside, inside, around)?;
            }
            Node::Label(pc) => {
                self.labels.insert(*pc, inside);
                self.out.line(&format!("{}:;", label(*pc)));
            }
        }
        Some(())
    }

    fn forever(&mut self, body: &[Node], inside: Section) -> Option<()> {
        self.out.open("loop {");
        self.sequence(body, inside, inside)?;
        self.out.close("}");
        Some(())
    }

    /// Writes a jump from one section to another, or within one.
    fn jump(&mut self, node: &Node, from: Section, to: Section, around: Section) -> Option<()> {
        debug_assert!(from == to || to.is_none(), "sections do not nest");
        let line = match node {
            Node::Break if around == to => "break;".into(),
            Node::Continue if around == to => "continue;".into(),
            Node::Goto(pc) => {
                self.jumps.push((*pc, to));
                format!("goto {};", label(*pc))
            }
            Node::Halt if to.is_none() => "return;".into(),
            _ => return None,
        };
        self.out.line(&line);
        Some(())
    }

    fn statement(&mut self, stmt: &Stmt) -> Option<()> {
        let line = match &stmt.op {
            Op::Skip => "skip;".into(),
            Op::Assign { reg, expr } => {
                let value = self.value(expr, &self.value_type(*reg))?;
                self.assign(*reg, &value)
            }
            Op::Choose { .. } if self.is_control_point(stmt) => {
                let name = control_point_name(&self.problem.program, self.id?, stmt.label)?;
                format!("{name}: skip;")
            }
            Op::Choose { reg, lo, hi } => {
                let value = self.choice(*lo, *hi, &self.value_type(*reg))?;
                self.assign(*reg, &value)
            }
            Op::Load { reg, from } => {
                let (place, kind) = self.place(from)?;
                self.assign_typed(*reg, place, &kind)?
            }
            Op::Store { to, value } => {
                let (place, kind) = self.place(to)?;
                format!("{place} = {};", self.value(value, &kind)?)
            }
            Op::Update { reg, at, update } => {
                let (place, kind) = self.place(at)?;
                let value = |expr| self.value(expr, &kind);
                let (call, result_type) = match update {
                    Update::Cas { expected, new, result } => {
                        let (name, yields) = match result {
                            CasResult::Success => ("cas", ValueType::Bool),
                            CasResult::Old => ("cmpxchg", kind.clone()),
                        };
                        let operands = format!("{}, {}", value(expected)?, value(new)?);
                        (format!("{name}({place}, {operands})"), yields)
                    }
                    Update::Swap { new } => {
                        (format!("swap({place}, {})", value(new)?), kind.clone())
                    }
                    Update::Add { by, .. } => {
                        (format!("fetch_add({place}, {})", value(by)?), ValueType::Int)
                    }
                    Update::Bits { op, by } => {
                        let word = match op {
                            BinOp::BitAnd => "fetch_and",
                            BinOp::BitOr => "fetch_or",
                            _ => "fetch_xor",
                        };
                        (format!("{word}({place}, {})", value(by)?), kind.clone())
                    }
                };
                match (update, &kind) {
                    (Update::Cas { .. } | Update::Swap { .. }, _) => {}
                    (Update::Bits { .. }, ValueType::Int | ValueType::Bool) => {}
                    (Update::Add { .. }, ValueType::Int) => {}
                    (Update::Add { .. } | Update::Bits { .. }, _) => return None,
                }
                match reg {
                    Some(reg) => self.assign_typed(*reg, call, &result_type)?,
                    None => format!("{call};"),
                }
            }
            Op::Fence(FenceKinds::FULL) => "fence;".into(),
            Op::Fence(kinds) if kinds.name().is_empty() => "skip;".into(),
            Op::Fence(kinds) => format!("fence {};", kinds.name().replace(" + ", ", ")),
            Op::Drain(at) => format!("drain {};", self.place(at)?.0),
            Op::Assume(cond) => format!("assume({});", self.value(cond, &ValueType::Bool)?),
            Op::Assert(cond) => format!("assert({});", self.value(cond, &ValueType::Bool)?),
            Op::New { reg, pool } => {
                let new = format!("new {}", self.problem.program.pool(*pool).name);
                self.assign_typed(*reg, new, &ValueType::Ref(*pool))?
            }
            Op::Free { pool, cell } => {
                format!("free({});", self.value(cell, &ValueType::Ref(*pool))?)
            }
            op if has_no_syntax(op) => return Some(()),
            Op::Branch { .. } | Op::Leave | Op::AtomicBegin | Op::AtomicEnd | Op::Halt => {
                unreachable!("not a plain statement")
            }
            Op::Join | Op::SectionBegin { .. } | Op::SectionEnd { .. } | Op::GracePeriod { .. } => {
                unreachable!("`Unsupported::check` rejects these programs")
            }
            Op::Invoke { .. } | Op::Return { .. } => unreachable!("handled by `has_no_syntax`"),
        };
        self.out.statement(&line, stmt);
        Some(())
    }

    /// Returns whether an invariant mentions the statement as a control point.
    fn is_control_point(&self, stmt: &Stmt) -> bool {
        let is_mentioned = |(id, label): (ThreadId, _)| Some(id) == self.id && label == stmt.label;
        self.problem.control_points().into_iter().any(is_mentioned)
    }

    /// Writes an assignment of an expression of this type to a register.
    fn assign_typed(&mut self, reg: Reg, text_: String, kind: &ValueType) -> Option<String> {
        let written = convert(atom(text_), kind, &self.value_type(reg))?;
        let value = text(&written, Dialect::Fp, &String::clone);
        Some(self.assign(reg, &value))
    }

    fn assign(&mut self, reg: Reg, value: &str) -> String {
        let name = self.names.register(self.id, reg);
        if self.undeclared.remove(&reg) {
            let ty = &self.thread.registers[reg.index()].ty;
            return format!(
                "{} {name} = {value};",
                type_name(&self.problem.program, ty, self.width)
            );
        }
        format!("{name} = {value};")
    }

    fn choice(&self, lo: Value, hi: Value, kind: &ValueType) -> Option<String> {
        if matches!(kind, ValueType::Int | ValueType::Literal) {
            return Some(format!("choose({lo}..={hi})"));
        }
        let all: Option<Vec<TypedExpr>> = (lo..=hi).map(|value| constant(value, kind)).collect();
        let all: Vec<String> =
            all?.iter().map(|value| text(value, Dialect::Fp, &String::clone)).collect();
        Some(format!("choose({})", all.join(", ")))
    }

    fn value_type(&self, reg: Reg) -> ValueType {
        ValueType::of(&self.thread.registers[reg.index()].ty)
    }

    fn value(&self, expr: &Expr<Reg>, expected: &ValueType) -> Option<String> {
        let leaf =
            |reg: &Reg| (self.names.register(self.id, *reg).to_string(), self.value_type(*reg));
        let written = TypedWriter { leaf: &leaf }.write(expr, expected)?;
        Some(text(&written, Dialect::Fp, &String::clone))
    }

    /// Writes the condition of a branch, or its negation.
    fn condition(&self, stmt: &Stmt, holds: bool) -> Option<String> {
        let Op::Branch { cond, .. } = &stmt.op else {
            unreachable!("only branches have a condition")
        };
        if holds {
            self.value(cond, &ValueType::Bool)
        } else {
            self.value(&negated_condition(cond), &ValueType::Bool)
        }
    }

    /// Writes the place of an access, with its type.
    fn place(&self, at: &Address) -> Option<(String, ValueType)> {
        let program = &self.problem.program;
        let kind = ValueType::of(&program.location(at.base).ty);
        let index = match &at.index {
            Some((_, index)) => Some(self.value(index, &ValueType::Int)?),
            None => None,
        };
        let Some((pool, cell)) = &at.cell else {
            let kind = ValueType::of(&self.names.variable(at.base).0.ty);
            return Some((self.names.place(at, index.as_deref()), kind));
        };
        let of = match cell {
            Expr::Var(_) => self.value(cell, &ValueType::Ref(*pool))?,
            _ => format!("({})", self.value(cell, &ValueType::Ref(*pool))?),
        };
        let (_, field) = program.location(at.base).name.split_once('.')?;
        let place = match index {
            Some(index) => format!("{of}.{}[{index}]", field.strip_suffix("[0]")?),
            None => format!("{of}.{field}"),
        };
        Some((place, kind))
    }
}

/// Removes the final `Leave` from every path of a section.
fn strip_leave(section: &mut Vec<Node>) {
    match section.last_mut() {
        Some(Node::If(_, then, otherwise)) => {
            strip_leave(then);
            strip_leave(otherwise);
        }
        _ => {
            section.pop();
        }
    }
}

fn is_jump(node: &Node) -> bool {
    matches!(node, Node::Break | Node::Continue | Node::Goto(_) | Node::Halt)
}

fn label(pc: Pc) -> String {
    format!("at_{}", pc.0)
}
