//! Writes the code of threads and of `init`.

use super::group::Test;
use super::out::{Mark, Out};
use super::plan::{PassRecord, RegisterPlan};
use super::{Model, declare};
use crate::Unsupported;
use crate::export::actions::{Action, Env, Leaf};
use crate::export::checks::{RangeFacts, conjunction, is_true, ranges_of_init};
use crate::export::expr::{self, Dialect};
use crate::export::structure::{Node, structure, targets};
use crate::export::substitute::substitute;
use fencepost_ir::flow::live_registers;
use fencepost_ir::interval::Range;
use fencepost_ir::{Address, BinOp, Expr, Label, Observable, Pc, Property, Reg, Thread, ThreadId};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// The largest number of alternatives of a `choose`.
const MAX_ALTERNATIVES: i64 = 1_024;

/// Writes the code of one thread.
pub(super) struct Printer<'a> {
    pub(super) model: &'a Model<'a>,
    /// The thread; `None` for `init`.
    pub(super) t: Option<ThreadId>,
    pub(super) thread: &'a Thread,
    pub(super) plan: &'a RegisterPlan,
    pub(super) facts: RangeFacts<'a>,
    /// The live registers, by program counter and register.
    pub(super) live: Vec<Vec<bool>>,
    pub(super) out: Out,
    pub(super) record: PassRecord,
    pub(super) named: RefCell<BTreeSet<Reg>>,
    /// Whether an update needed the variable for its old value.
    pub(super) uses_old_value: Cell<bool>,
    /// Whether all code is already inside one step.
    pub(super) in_step: bool,
    /// The statement of the last comment.
    last_comment: Option<Label>,
    /// The targets of jumps.
    targets: BTreeSet<Pc>,
    /// The label of the innermost loop, if it has one.
    loop_label: Option<String>,
    /// The number of generated labels.
    labels: u32,
    /// Whether a jump targets the end.
    jumps_to_end: bool,
}

/// What follows the end of a list of nodes.
#[derive(Clone, Copy)]
pub(super) struct Following {
    /// The next iteration of the innermost loop.
    next_iteration: bool,
    /// The end of the code.
    done: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(
        model: &'a Model<'a>,
        t: Option<ThreadId>,
        thread: &'a Thread,
        registers: &'a [Range],
        plan: &'a RegisterPlan,
        live_at_end: &[Reg],
    ) -> Self {
        let program = &model.problem.program;
        Printer {
            model,
            t,
            thread,
            plan,
            facts: RangeFacts { program, ranges: model.ranges, registers },
            live: live_registers(thread, &[], live_at_end),
            out: Out::default(),
            record: PassRecord::default(),
            named: RefCell::default(),
            uses_old_value: Cell::new(false),
            in_step: false,
            last_comment: None,
            targets: BTreeSet::new(),
            loop_label: None,
            labels: 0,
            jumps_to_end: false,
        }
    }

    /// Returns the action of a statement.
    pub(super) fn action(&self, pc: Pc) -> Action {
        Action::of(&self.thread.stmt(pc).op, &Env::default())
    }

    /// Prints a leaf.
    pub(super) fn leaf(&self, leaf: &Leaf) -> String {
        let names = self.model.names;
        match leaf {
            Leaf::Reg(reg) => {
                let globals = self.model.globals.iter();
                let global = |t| globals.clone().find(|(which, _)| *which == (t, *reg));
                if let Some((_, name)) = self.t.and_then(global) {
                    return name.clone();
                }
                self.named.borrow_mut().insert(*reg);
                let mut hidden = self.model.hidden.iter();
                let find = |t| hidden.find(|(which, _)| *which == (t, *reg));
                if let Some((_, name)) = self.t.and_then(find) {
                    return name.clone();
                }
                names.register(self.t, *reg).to_string()
            }
            Leaf::Loc(loc) => names.location(*loc),
            Leaf::Element(base, _, index) => {
                names.place(&Address::fixed(*base), Some(&self.expr(index)))
            }
        }
    }

    /// Prints an expression.
    pub(super) fn expr(&self, expr: &Expr<Leaf>) -> String {
        expr::text(&self.guard_divisions(expr), Dialect::Promela, &|leaf| self.leaf(leaf))
    }

    /// Guards divisions against a divisor of 0. An assertion has already failed in that case, but
    /// SPIN executes a few more statements when it shows the trail, and would crash.
    fn guard_divisions(&self, expr: &Expr<Leaf>) -> Expr<Leaf> {
        let inner = |e: &Expr<Leaf>| Box::new(self.guard_divisions(e));
        match expr {
            Expr::Const(_) | Expr::Var(_) => expr.clone(),
            Expr::Unary(op, a) => Expr::Unary(*op, inner(a)),
            Expr::Binary(op, a, b) => {
                let result = Expr::Binary(*op, inner(a), inner(b));
                let (lo, hi) = self.facts.interval(b);
                if matches!(op, BinOp::Div | BinOp::Rem) && lo <= 0 && 0 <= hi {
                    Expr::Select(inner(b), Box::new(result), Box::new(Expr::Const(0)))
                } else {
                    result
                }
            }
            Expr::Select(c, a, b) => Expr::Select(inner(c), inner(a), inner(b)),
        }
    }

    /// Returns the step that begins at a statement, for the lines that stand for it.
    pub(super) fn mark(&self, pc: Pc, choices: Vec<u32>) -> Option<Mark> {
        let pc = match self.t {
            Some(t) => self.model.lowered.origins[t.index()].get(pc.index()).copied().flatten()?,
            None => pc,
        };
        Some((self.t, pc, choices))
    }

    /// Returns a comment with the source text of these statements, unless the last comment has it.
    pub(super) fn comment(&mut self, pcs: &[Pc]) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        for pc in pcs {
            let label = self.thread.stmt(*pc).label;
            if self.last_comment == Some(label) {
                continue;
            }
            self.last_comment = Some(label);
            let info = self.model.problem.program.label(label);
            let text = info.text.replace("*/", "* /");
            let part = match (self.model.export.line)(info.span) {
                Some(line) => format!("line {line}: {text}"),
                None => text,
            };
            if !parts.contains(&part) && !part.is_empty() {
                parts.push(part);
            }
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Returns assignments that reset the dead registers after this statement.
    pub(super) fn clear(&self, last: Pc) -> Vec<String> {
        let clear = |reg| format!("{} = 0", self.leaf(&Leaf::Reg(reg)));
        self.plan.cleared(last).map(clear).collect()
    }

    /// Returns assertions of the invariants that mention written locations.
    pub(super) fn invariants(&self, written: &[Leaf]) -> Result<Vec<String>, Unsupported> {
        let touched: BTreeSet<_> = written.iter().flat_map(Leaf::locations).collect();
        let mut lines = Vec::new();
        for property in &self.model.problem.properties {
            let Property::Invariant(condition) = property else { continue };
            let mut mentioned = false;
            condition.expr.for_each_var(&mut |what| match what {
                Observable::Loc(loc) => mentioned |= touched.contains(loc),
                Observable::Reg(..) | Observable::At(..) => {}
            });
            if mentioned {
                lines.push(self.invariant(&condition.expr)?);
            }
        }
        Ok(lines)
    }

    fn invariant(&self, condition: &Expr<Observable>) -> Result<String, Unsupported> {
        let expr = substitute(condition, &|what| match what {
            Observable::Loc(loc) => Expr::Var(Leaf::Loc(*loc)),
            Observable::Reg(_, reg) => Expr::Var(Leaf::Reg(*reg)),
            Observable::At(..) => unreachable!("lowering replaces control points"),
        });
        let checked = conjunction(self.facts.expr_precondition(&expr)?, expr);
        Ok(format!("assert({})", self.expr(&checked)))
    }

    /// Writes the whole code.
    fn body(&mut self, nodes: &[Node]) -> Result<(), Unsupported> {
        self.targets = targets(nodes);
        self.list(nodes, Following { next_iteration: false, done: true })
    }

    pub(super) fn list(&mut self, nodes: &[Node], after: Following) -> Result<(), Unsupported> {
        let mut at = 0;
        while at < nodes.len() {
            let last = |next: usize| if next == nodes.len() { after } else { NOTHING };
            let is_jump_target = at > 0 && exits_by_jump(&nodes[at - 1]) || self.out.has_prefix();
            if self.in_step {
                at += self.node(&nodes[at], last(at + 1), is_jump_target)?;
                continue;
            }
            let many = self.group(&nodes[at..]);
            let pcs: Vec<Pc> = nodes[at..at + many].iter().filter_map(plain).collect();
            if let Some(Node::If(branch, then, otherwise)) = nodes.get(at + many)
                && let Some(test) = self.test(&pcs, *branch)?
            {
                let after = last(at + many + 1);
                self.branch(&test, then, otherwise, after)?;
                at += many + 1;
                continue;
            }
            if many > 0 {
                self.step(&pcs, is_jump_target)?;
                at += many;
            } else {
                at += self.node(&nodes[at], last(at + 1), is_jump_target)?;
            }
        }
        Ok(())
    }

    /// Writes one node. Returns the number of nodes written.
    fn node(
        &mut self,
        node: &Node,
        after: Following,
        is_jump_target: bool,
    ) -> Result<usize, Unsupported> {
        match node {
            Node::Plain(pc) => self.plain(*pc)?,
            Node::Atomic(pc, _) => self.block(*pc, is_jump_target)?,
            Node::If(branch, then, otherwise) => {
                let action = self.action(*branch);
                let precondition = self.facts.precondition(&action, self.thread)?;
                let Action::Branch { cond: condition, .. } = action else {
                    unreachable!("an `if` node is a branch")
                };
                self.record.beginnings.insert(*branch);
                if !is_true(&precondition) {
                    self.out.line(&format!("assert({});", self.expr(&precondition)));
                }
                let test = Test { condition, mark: None, comment: self.comment(&[*branch]) };
                self.branch(&test, then, otherwise, after)?;
            }
            Node::Loop(body) => self.write_loop(body)?,
            Node::Break => self.out.line("break;"),
            Node::Continue => {
                if !after.next_iteration {
                    let label =
                        self.loop_label.clone().expect("a loop with a `Continue` has a label");
                    self.out.line(&format!("goto {label};"));
                }
            }
            Node::Label(pc) => {
                if self.targets.contains(pc) {
                    // A label needs a statement, and the following node may not write one.
                    self.out.prefix_line(&format!("at_{}: ", pc.0));
                    self.out.line("skip;");
                    self.record.beginnings.insert(*pc);
                }
            }
            Node::Goto(pc) => self.out.line(&format!("goto at_{};", pc.0)),
            Node::Halt => {
                if !after.done {
                    self.jumps_to_end = true;
                    self.out.line(&format!("goto {};", self.end_label()));
                }
            }
        }
        Ok(1)
    }

    /// Writes an `if` with two alternatives.
    fn branch(
        &mut self,
        test: &Test,
        then: &[Node],
        otherwise: &[Node],
        after: Following,
    ) -> Result<(), Unsupported> {
        self.out.commented("if", test.comment.as_deref());
        let guards = [format!("({})", self.expr(&test.condition)), "else".into()];
        for (guard, side) in guards.iter().zip([then, otherwise]) {
            let inner = self.inside(|this| this.list(side, after))?;
            self.out.mark(test.mark.as_ref());
            if inner.lines() == 0 {
                self.out.line(&format!(":: {guard};"));
            } else if inner.lines() == 1 && inner.steps.is_empty() {
                self.out.line(&format!(":: {guard} -> {}", inner.text.trim()));
            } else {
                self.out.line(&format!(":: {guard} ->"));
                self.out.append(inner);
            }
        }
        self.out.line("fi;");
        Ok(())
    }

    /// Returns lines that are indented by one more level.
    pub(super) fn inside(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<(), Unsupported>,
    ) -> Result<Out, Unsupported> {
        let inner = self.out.inner();
        let outer = std::mem::replace(&mut self.out, inner);
        let result = write(self);
        let inner = std::mem::replace(&mut self.out, outer);
        result.map(|()| inner)
    }

    fn write_loop(&mut self, body: &[Node]) -> Result<(), Unsupported> {
        let label = has_early_continue(body, true).then(|| {
            self.labels += 1;
            format!("again_{}", self.labels)
        });
        if let Some(label) = &label {
            self.out.prefix_line(&format!("{label}: "));
        }
        self.out.line("do");
        let outer = std::mem::replace(&mut self.loop_label, label);
        let inner =
            self.inside(|this| this.list(body, Following { next_iteration: true, done: false }))?;
        self.loop_label = outer;
        if inner.lines() == 0 {
            self.out.line(":: skip;");
        } else {
            self.out.line("::");
            self.out.append(inner);
        }
        self.out.line("od;");
        Ok(())
    }

    /// Writes a statement that is not part of a group, or any statement inside a step.
    fn plain(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let action = self.action(pc);
        self.record.beginnings.insert(pc);
        let mut comment = self.comment(&[pc]);
        let lines = self.statements_of(&action)?;
        match action {
            Action::Choose { reg, lo, hi } => {
                self.record.sets.insert(pc);
                if hi - lo >= MAX_ALTERNATIVES {
                    return Err(Unsupported::TooManyAlternatives(MAX_ALTERNATIVES));
                }
                self.lines(&lines);
                let name = self.leaf(&Leaf::Reg(reg));
                self.out.commented("if", comment.as_deref());
                for (at, value) in (lo..=hi).enumerate() {
                    let mark = self.mark(pc, vec![at as u32]);
                    self.out.mark(mark.as_ref());
                    self.out.line(&format!(":: {name} = {value};"));
                }
                self.out.line("fi;");
            }
            Action::Assume(condition) => {
                self.lines(&lines);
                if self.t.is_none() {
                    // An `init` that blocks is not a deadlock: the run does not exist.
                    self.labels += 1;
                    self.out.prefix_line(&format!("end_{}: ", self.labels));
                }
                let condition = self.expr(&condition);
                self.out.commented(&format!("({condition});"), comment.as_deref());
            }
            Action::Nothing
            | Action::Fence
            | Action::Assign { .. }
            | Action::Load { .. }
            | Action::Store { .. }
            | Action::Update(_)
            | Action::Drain(_)
            | Action::Branch { .. }
            | Action::Assert(_) => {
                for line in lines {
                    self.out.commented(&format!("{line};"), comment.take().as_deref());
                }
            }
        }
        Ok(())
    }

    fn lines(&mut self, lines: &[String]) {
        lines.iter().for_each(|line| self.out.line(&format!("{line};")));
    }

    fn end_label(&self) -> String {
        "stop".into()
    }
}

impl Printer<'_> {
    /// Writes code that is already inside one step, up to its end.
    pub(super) fn write_in_step(&mut self, nodes: &[Node]) -> Result<(), Unsupported> {
        self.in_step = true;
        self.body(nodes)?;
        self.finish();
        Ok(())
    }

    fn finish(&mut self) {
        if self.jumps_to_end {
            let label = self.end_label();
            self.out.line(&format!("{label}: skip;"));
        }
    }
}

/// Writes the code of a thread, and returns the record of the pass.
pub(super) fn thread(
    model: &Model<'_>,
    t: ThreadId,
    plan: &RegisterPlan,
) -> Result<(Out, PassRecord), Unsupported> {
    let thread = model.problem.program.thread(t);
    let live_at_end = model.problem.observed_registers(t, false);
    let registers = &model.ranges.registers[t.index()];
    let mut printer = Printer::new(model, Some(t), thread, registers, plan, &live_at_end);
    printer.out.indent();
    printer.body(&structure(thread))?;
    printer.finish();
    if printer.out.lines() == 0 {
        printer.out.line("skip;");
    }
    printer.record.named = printer.named.take();
    printer.record.uses_old_value = printer.uses_old_value.get();
    Ok((printer.out, printer.record))
}

/// Writes the code of `init` and starts the threads. Returns whether an update needs the variable
/// for its old value.
pub(super) fn init(model: &Model<'_>, out: &mut Out) -> Result<bool, Unsupported> {
    let program = &model.problem.program;
    out.indent();
    let (mut lines, mut uses_old_value) = (Out::default(), false);
    if let Some(init) = &program.init {
        let registers = ranges_of_init(program);
        let plan = RegisterPlan::default();
        let mut printer = Printer::new(model, None, init, &registers, &plan, &[]);
        printer.out = out.inner();
        printer.write_in_step(&structure(init))?;
        declare::registers(model, &printer, out);
        uses_old_value = printer.uses_old_value.get();
        lines = printer.out;
    }
    out.line("atomic {");
    out.append(lines);
    out.indent();
    let facts = RangeFacts { program, ranges: model.ranges, registers: &[] };
    for property in &model.problem.properties {
        if let Property::Invariant(condition) = property {
            let text = declare::condition(model, &facts, &condition.expr, false)?;
            out.line(&format!("assert({text});"));
        }
    }
    for t in program.thread_ids() {
        out.line(&format!("run {}();", model.names.threads[t.index()]));
    }
    out.outdent();
    out.line("}");
    out.outdent();
    Ok(uses_old_value)
}

const NOTHING: Following = Following { next_iteration: false, done: false };

fn plain(node: &Node) -> Option<Pc> {
    match node {
        Node::Plain(pc) => Some(*pc),
        Node::Atomic(..)
        | Node::If(..)
        | Node::Loop(_)
        | Node::Break
        | Node::Continue
        | Node::Label(_)
        | Node::Goto(_)
        | Node::Halt => None,
    }
}

/// Returns whether control may jump to the node after this one.
fn exits_by_jump(node: &Node) -> bool {
    match node {
        Node::Loop(_) | Node::Label(_) => true,
        Node::If(_, then, otherwise) => {
            [then, otherwise].iter().any(|side| side.last().is_some_and(exits_by_jump))
        }
        Node::Plain(_)
        | Node::Atomic(..)
        | Node::Break
        | Node::Continue
        | Node::Goto(_)
        | Node::Halt => false,
    }
}

/// Returns whether a loop has a `Continue` that is not at its end.
fn has_early_continue(nodes: &[Node], at_end: bool) -> bool {
    nodes.iter().enumerate().any(|(at, node)| {
        let at_end = at_end && at + 1 == nodes.len();
        match node {
            Node::Continue => !at_end,
            Node::If(_, then, otherwise) => {
                has_early_continue(then, at_end) || has_early_continue(otherwise, at_end)
            }
            Node::Plain(_)
            | Node::Atomic(..)
            | Node::Loop(_)
            | Node::Break
            | Node::Label(_)
            | Node::Goto(_)
            | Node::Halt => false,
        }
    })
}
