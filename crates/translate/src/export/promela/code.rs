//! The code of a thread, and of `init`.

use super::group::Test;
use super::out::{Mark, Out};
use super::plan::{Plan, Seen};
use super::{Model, declare};
use crate::Unsupported;
use crate::export::checks::{Facts, both, is_true, ranges_of_init};
use crate::export::expr::{self, Dialect};
use crate::export::steps::{Action, Env, Leaf};
use crate::export::structure::{Node, structure, targets};
use crate::export::substitute::substitute;
use fencepost_ir::flow::live_registers;
use fencepost_ir::interval::Range;
use fencepost_ir::{Address, BinOp, Expr, Label, Observable, Pc, Property, Reg, Thread, ThreadId};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// How many alternatives of a `choose` are written out.
const ALTERNATIVES: i64 = 1_024;

/// Writes the code of one thread.
pub(super) struct Printer<'a> {
    pub(super) model: &'a Model<'a>,
    /// Whose code it is; none for `init`.
    pub(super) t: Option<ThreadId>,
    pub(super) thread: &'a Thread,
    pub(super) plan: &'a Plan,
    pub(super) facts: Facts<'a>,
    /// By program counter and register.
    pub(super) live: Vec<Vec<bool>>,
    pub(super) out: Out,
    pub(super) seen: Seen,
    pub(super) named: RefCell<BTreeSet<Reg>>,
    /// Whether a value had to be kept on the way.
    pub(super) kept: Cell<bool>,
    /// Whether everything is inside of one step already.
    pub(super) direct: bool,
    /// What the last comment was about.
    said: Option<Label>,
    /// The statements that something goes to.
    targets: BTreeSet<Pc>,
    /// The innermost loop's label, if it has one.
    again: Option<String>,
    /// How many labels were given out.
    labels: u32,
    /// Whether something goes to the end.
    stops: bool,
}

/// What comes after the end of a list of nodes.
#[derive(Clone, Copy)]
pub(super) struct After {
    /// The innermost loop begins again.
    again: bool,
    /// Nothing: the code is done.
    done: bool,
}

impl<'a> Printer<'a> {
    pub(super) fn new(
        model: &'a Model<'a>,
        t: Option<ThreadId>,
        thread: &'a Thread,
        registers: &'a [Range],
        plan: &'a Plan,
        kept: &[Reg],
    ) -> Self {
        let program = &model.problem.program;
        Printer {
            model,
            t,
            thread,
            plan,
            facts: Facts { program, ranges: model.ranges, registers },
            live: live_registers(thread, &[], kept),
            out: Out::default(),
            seen: Seen::default(),
            named: RefCell::default(),
            kept: Cell::new(false),
            direct: false,
            said: None,
            targets: BTreeSet::new(),
            again: None,
            labels: 0,
            stops: false,
        }
    }

    /// What a statement does.
    pub(super) fn action(&self, pc: Pc) -> Action {
        Action::of(&self.thread.stmt(pc).op, &Env::default())
    }

    /// A leaf as text.
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

    /// An expression as text.
    pub(super) fn expr(&self, expr: &Expr<Leaf>) -> String {
        expr::text(&self.shielded(expr), Dialect::Promela, &|leaf| self.leaf(leaf))
    }

    /// The expression with divisions that are not done when the divisor is 0. An assertion has failed
    /// then, but SPIN goes on for a while when it shows how it came to that, and would crash.
    fn shielded(&self, expr: &Expr<Leaf>) -> Expr<Leaf> {
        let inner = |e: &Expr<Leaf>| Box::new(self.shielded(e));
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

    /// The step that begins at a statement, for lines that stand for it.
    pub(super) fn mark(&self, pc: Pc, choices: Vec<u32>) -> Option<Mark> {
        let pc = match self.t {
            Some(t) => self.model.lowered.origins[t.index()].get(pc.index()).copied().flatten()?,
            None => pc,
        };
        Some((self.t, pc, choices))
    }

    /// What the source says at these statements, unless it was just said.
    pub(super) fn comment(&mut self, pcs: &[Pc]) -> Option<String> {
        let mut parts: Vec<String> = Vec::new();
        for pc in pcs {
            let label = self.thread.stmt(*pc).label;
            if self.said == Some(label) {
                continue;
            }
            self.said = Some(label);
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

    /// Sets registers to 0 that nobody reads after this statement.
    pub(super) fn clear(&self, last: Pc) -> Vec<String> {
        let clear = |reg| format!("{} = 0", self.leaf(&Leaf::Reg(reg)));
        self.plan.cleared(last).map(clear).collect()
    }

    /// Asserts the invariants that mention what is written there.
    pub(super) fn invariants(&self, written: &[Leaf]) -> Result<Vec<String>, Unsupported> {
        let touched: BTreeSet<_> = written.iter().flat_map(Leaf::locations).collect();
        let mut lines = Vec::new();
        for property in &self.model.problem.properties {
            let Property::Invariant(condition) = property else { continue };
            let mut mentioned = false;
            condition.expr.for_each_var(&mut |what| match what {
                Observable::Loc(loc) => mentioned |= touched.contains(loc),
                Observable::Reg(..) => {}
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
        });
        let checked = both(self.facts.evaluates(&expr)?, expr);
        Ok(format!("assert({})", self.expr(&checked)))
    }

    /// All of the code.
    fn body(&mut self, nodes: &[Node]) -> Result<(), Unsupported> {
        self.targets = targets(nodes);
        self.list(nodes, After { again: false, done: true })
    }

    pub(super) fn list(&mut self, nodes: &[Node], after: After) -> Result<(), Unsupported> {
        let mut at = 0;
        while at < nodes.len() {
            let last = |next: usize| if next == nodes.len() { after } else { NOTHING };
            let jumped = at > 0 && is_left_by_jump(&nodes[at - 1]) || self.out.waits();
            if self.direct {
                at += self.node(&nodes[at], last(at + 1), jumped)?;
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
                self.step(&pcs, jumped)?;
                at += many;
            } else {
                at += self.node(&nodes[at], last(at + 1), jumped)?;
            }
        }
        Ok(())
    }

    /// One node. Tells how many were written.
    fn node(&mut self, node: &Node, after: After, jumped: bool) -> Result<usize, Unsupported> {
        match node {
            Node::Plain(pc) => self.plain(*pc)?,
            Node::Atomic(pc, _) => self.block(*pc, jumped)?,
            Node::If(branch, then, otherwise) => {
                let action = self.action(*branch);
                let right = self.facts.right(&action, self.thread)?;
                let Action::Branch { cond: condition, .. } = action else {
                    unreachable!("an `if` is at a branch")
                };
                self.seen.beginnings.insert(*branch);
                if !is_true(&right) {
                    self.out.line(&format!("assert({});", self.expr(&right)));
                }
                let test = Test { condition, mark: None, comment: self.comment(&[*branch]) };
                self.branch(&test, then, otherwise, after)?;
            }
            Node::Loop(body) => self.repeat(body)?,
            Node::Break => self.out.line("break;"),
            Node::Continue => {
                if !after.again {
                    let label = self.again.clone().expect("a loop that needs a label has one");
                    self.out.line(&format!("goto {label};"));
                }
            }
            Node::Label(pc) => {
                if self.targets.contains(pc) {
                    // A label needs a statement, and what follows may not write one.
                    self.out.begin(&format!("at_{}: ", pc.0));
                    self.out.line("skip;");
                    self.seen.beginnings.insert(*pc);
                }
            }
            Node::Goto(pc) => self.out.line(&format!("goto at_{};", pc.0)),
            Node::Halt => {
                if !after.done {
                    self.stops = true;
                    self.out.line(&format!("goto {};", self.stop()));
                }
            }
        }
        Ok(1)
    }

    /// Two alternatives.
    fn branch(
        &mut self,
        test: &Test,
        then: &[Node],
        otherwise: &[Node],
        after: After,
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

    /// Lines that are indented once more than those around them.
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

    fn repeat(&mut self, body: &[Node]) -> Result<(), Unsupported> {
        let label = continues(body, true).then(|| {
            self.labels += 1;
            format!("again_{}", self.labels)
        });
        if let Some(label) = &label {
            self.out.begin(&format!("{label}: "));
        }
        self.out.line("do");
        let outer = std::mem::replace(&mut self.again, label);
        let inner = self.inside(|this| this.list(body, After { again: true, done: false }))?;
        self.again = outer;
        if inner.lines() == 0 {
            self.out.line(":: skip;");
        } else {
            self.out.line("::");
            self.out.append(inner);
        }
        self.out.line("od;");
        Ok(())
    }

    /// A statement that is no part of a group, or any in a step.
    fn plain(&mut self, pc: Pc) -> Result<(), Unsupported> {
        let action = self.action(pc);
        self.seen.beginnings.insert(pc);
        let mut comment = self.comment(&[pc]);
        let lines = self.operate(&action)?;
        match action {
            Action::Choose { reg, lo, hi } => {
                self.seen.sets.insert(pc);
                if i64::from(hi) - i64::from(lo) >= ALTERNATIVES {
                    return Err(Unsupported::ManyAlternatives(ALTERNATIVES));
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
                    // An `init` that cannot go on is no deadlock: there is no such run.
                    self.labels += 1;
                    self.out.begin(&format!("end_{}: ", self.labels));
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

    fn stop(&self) -> String {
        "stop".into()
    }
}

impl Printer<'_> {
    /// Writes code whose steps are one step already, up to its end. Returns whether something jumps to the
    /// end.
    pub(super) fn directly(&mut self, nodes: &[Node]) -> Result<(), Unsupported> {
        self.direct = true;
        self.body(nodes)?;
        self.finish();
        Ok(())
    }

    fn finish(&mut self) {
        if self.stops {
            let label = self.stop();
            self.out.line(&format!("{label}: skip;"));
        }
    }
}

/// The code of a thread, and what was seen of it.
pub(super) fn thread(
    model: &Model<'_>,
    t: ThreadId,
    plan: &Plan,
) -> Result<(Out, Seen), Unsupported> {
    let thread = model.problem.program.thread(t);
    let kept = model.problem.kept_registers(t, false);
    let registers = &model.ranges.registers[t.index()];
    let mut printer = Printer::new(model, Some(t), thread, registers, plan, &kept);
    printer.out.indent();
    printer.body(&structure(thread))?;
    printer.finish();
    if printer.out.lines() == 0 {
        printer.out.line("skip;");
    }
    printer.seen.named = printer.named.take();
    printer.seen.keeps = printer.kept.get();
    Ok((printer.out, printer.seen))
}

/// What is done before the threads run, and starting them. Tells whether a value is kept on the way in an
/// update.
pub(super) fn init(model: &Model<'_>, out: &mut Out) -> Result<bool, Unsupported> {
    let program = &model.problem.program;
    out.indent();
    let (mut lines, mut keeps) = (Out::default(), false);
    if let Some(init) = &program.init {
        let registers = ranges_of_init(program);
        let plan = Plan::default();
        let mut printer = Printer::new(model, None, init, &registers, &plan, &[]);
        printer.out = out.inner();
        printer.directly(&structure(init))?;
        declare::registers(model, &printer, out);
        keeps = printer.kept.get();
        lines = printer.out;
    }
    out.line("atomic {");
    out.append(lines);
    out.indent();
    let facts = Facts { program, ranges: model.ranges, registers: &[] };
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
    Ok(keeps)
}

const NOTHING: After = After { again: false, done: false };

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

/// Whether control may jump to what comes after the node.
fn is_left_by_jump(node: &Node) -> bool {
    match node {
        Node::Loop(_) | Node::Label(_) => true,
        Node::If(_, then, otherwise) => {
            [then, otherwise].iter().any(|side| side.last().is_some_and(is_left_by_jump))
        }
        Node::Plain(_)
        | Node::Atomic(..)
        | Node::Break
        | Node::Continue
        | Node::Goto(_)
        | Node::Halt => false,
    }
}

/// Whether a loop begins again from a place that is not its end.
fn continues(nodes: &[Node], at_end: bool) -> bool {
    nodes.iter().enumerate().any(|(at, node)| {
        let at_end = at_end && at + 1 == nodes.len();
        match node {
            Node::Continue => !at_end,
            Node::If(_, then, otherwise) => continues(then, at_end) || continues(otherwise, at_end),
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
