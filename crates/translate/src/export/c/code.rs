//! The code of one thread as a C function.

use super::super::checks::Facts;
use super::super::expr::{Dialect, negated, number, text};
use super::super::steps::{Action, Change, Env, Kind, Leaf};
use super::super::structure::{Node, Rounds, labels, rounds, structure};
use super::super::substitute::substitute;
use super::super::text::Text;
use super::{Whole, faults};
use fencepost_ir::interval::Range;
use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Pc, Reg, Stmt, Thread, ThreadId, flow};
use std::collections::BTreeSet;

/// What a function is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::export) enum Role<'a> {
    /// It runs before all threads.
    Init,
    /// A thread beside others.
    Thread,
    /// A thread that runs when others have ended; the function of this name begins its contexts.
    Turn(&'a str),
    /// Such a function: the block of a helper, after this line.
    Context(&'a str),
}

/// A function in the making.
pub(in crate::export) struct Code<'a, 'b> {
    whole: &'a Whole<'a>,
    role: Role<'a>,
    id: Option<ThreadId>,
    thread: &'a Thread,
    out: &'a mut Text<'b>,
    /// What registers can hold; not known of `init`.
    known: &'a [Range],
    watched: BTreeSet<Loc>,
    /// Of the atomic block that is being written: the labels in it.
    block: Option<BTreeSet<Pc>>,
}

impl<'a, 'b> Code<'a, 'b> {
    pub(in crate::export) fn new(
        whole: &'a Whole<'a>,
        role: Role<'a>,
        id: Option<ThreadId>,
        thread: &'a Thread,
        out: &'a mut Text<'b>,
    ) -> Self {
        let known = match id {
            Some(id) => &whole.ranges.registers[id.index()],
            None => &whole.unknown,
        };
        let watched = whole.watched();
        Code { whole, role, id, thread, out, known, watched, block: None }
    }

    pub(in crate::export) fn write(mut self, head: &str) {
        self.out.line("");
        self.out.fresh();
        self.out.open(&format!("{head} {{"));
        if self.role == Role::Thread {
            self.out.line("(void)unused;");
        }
        self.declare();
        let tree = structure(self.thread);
        match self.role {
            Role::Init => {
                // What runs alone needs no lock.
                self.block = Some(BTreeSet::new());
                self.sequence(&tree);
            }
            Role::Thread => {
                self.sequence(&tree);
                self.out.line("return NULL;");
            }
            Role::Turn(context) => {
                self.out.line(&format!("{context}();"));
                self.sequence(&tree);
            }
            Role::Context(first) => {
                self.out.line(first);
                let body = first_block(&tree).expect("a helper has a block");
                self.block = Some(labels(body));
                self.sequence(body);
            }
        }
        self.out.close("}");
    }

    fn declare(&mut self) {
        let (mut read, mut set) = (BTreeSet::new(), BTreeSet::new());
        for stmt in &self.thread.code {
            // What waits for nobody under SC is not written.
            match stmt.op {
                Op::Drain(_) => set.extend(flow::uses(&stmt.op)),
                _ => read.extend(flow::uses(&stmt.op)),
            }
            set.extend(stmt.op.target());
        }
        let own = |reg: &Reg| self.whole.kept(self.id, *reg).is_none();
        let all: Vec<Reg> = read.union(&set).copied().filter(own).collect();
        if !all.is_empty() {
            let names: Vec<String> =
                all.iter().map(|reg| format!("{} = 0", self.register(*reg))).collect();
            self.out.line(&format!("int {};", names.join(", ")));
        }
        for reg in all.iter().filter(|reg| !read.contains(reg)) {
            self.out.line(&format!("(void){};  /* never read */", self.register(*reg)));
        }
        let needs_old =
            |stmt: &Stmt| matches!(action(stmt), Action::Update(change) if self.needs_old(&change));
        if self.thread.code.iter().any(needs_old) {
            self.out.line("int old;");
        }
    }

    fn register(&self, reg: Reg) -> &str {
        let kept = self.whole.kept(self.id, reg);
        kept.unwrap_or_else(|| self.whole.names.register(self.id, reg))
    }

    fn sequence(&mut self, code: &[Node]) {
        for node in code {
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Plain(pc) => self.statement(self.thread.stmt(*pc)),
            Node::Atomic(pc, body) => self.atomic(self.thread.stmt(*pc), body),
            Node::If(pc, then, otherwise) => {
                let stmt = self.thread.stmt(*pc);
                self.faults(&action(stmt));
                let (holds, first, second) = if then.is_empty() {
                    (false, otherwise, then)
                } else {
                    (true, then, otherwise)
                };
                let cond = self.condition(stmt, holds);
                self.out.open_statement(&format!("if ({cond}) {{"), stmt);
                self.sequence(first);
                if !second.is_empty() {
                    self.out.close("} else {");
                    self.out.open_again();
                    self.sequence(second);
                }
                self.out.close("}");
            }
            Node::Loop(body) => self.rounds(body),
            Node::Break => self.out.line("break;"),
            Node::Continue => self.out.line("continue;"),
            Node::Label(pc) => self.out.line(&format!("at_{}:;", pc.0)),
            Node::Goto(pc) => {
                if self.role != Role::Init && self.block.as_ref().is_some_and(|b| !b.contains(pc)) {
                    self.end_atomic();
                }
                self.out.line(&format!("goto at_{};", pc.0));
            }
            Node::Halt if self.role == Role::Thread => self.out.line("return NULL;"),
            Node::Halt => self.out.line("return;"),
        }
    }

    fn rounds(&mut self, body: &[Node]) {
        let (open, rest, close) = match rounds(body) {
            Rounds::While(pc, holds, rest) if self.is_safe(pc) => {
                let stmt = self.thread.stmt(pc);
                (Some((format!("while ({}) {{", self.condition(stmt, holds)), stmt)), rest, None)
            }
            Rounds::DoWhile(rest, pc, holds) if self.is_safe(pc) => {
                let stmt = self.thread.stmt(pc);
                (None, rest, Some((format!("}} while ({});", self.condition(stmt, holds)), stmt)))
            }
            Rounds::While(..) | Rounds::DoWhile(..) | Rounds::Forever(_) => (None, body, None),
        };
        match (&open, &close) {
            (Some((line, stmt)), _) => self.out.open_statement(line, stmt),
            (None, Some(_)) => self.out.open("do {"),
            (None, None) => self.out.open("while (1) {"),
        }
        self.sequence(rest);
        match close {
            Some((line, stmt)) => self.out.close_statement(&line, stmt),
            None => self.out.close("}"),
        }
    }

    /// Whether the condition of a branch cannot fault.
    fn is_safe(&self, pc: Pc) -> bool {
        let action = action(self.thread.stmt(pc));
        action.values().into_iter().all(|cond| faults::divisions(cond, &self.facts()).is_empty())
    }

    fn atomic(&mut self, stmt: &Stmt, body: &[Node]) {
        self.begin_step("atomic_begin();", stmt);
        self.block = Some(labels(body));
        self.sequence(body);
        self.end_atomic();
        self.block = None;
    }

    /// Before a step: takes the lock, or lets contexts begin.
    fn begin_step(&mut self, lock: &str, stmt: &Stmt) {
        match self.role {
            Role::Thread => self.out.statement(lock, stmt),
            Role::Turn(context) => self.out.statement(&format!("STEP({context});"), stmt),
            Role::Init | Role::Context(_) => {}
        }
    }

    fn end_atomic(&mut self) {
        let is_watching = !self.watched.is_empty();
        match self.role {
            Role::Thread => {
                if is_watching {
                    self.out.line("check_invariants();");
                }
                self.out.line("atomic_end();");
            }
            Role::Turn(_) if is_watching => self.check("invariants()"),
            Role::Turn(_) | Role::Init | Role::Context(_) => {}
        }
    }

    /// What must hold here, as a statement. Where guesses are not confirmed yet, nothing can be asserted.
    fn checked(&self, condition: &str) -> String {
        match self.role {
            Role::Init | Role::Thread | Role::Context(_) => format!("assert({condition});"),
            Role::Turn(_) => format!("check({condition});"),
        }
    }

    fn check(&mut self, condition: &str) {
        let line = self.checked(condition);
        self.out.line(&line);
    }

    fn statement(&mut self, stmt: &Stmt) {
        let action = action(stmt);
        self.faults(&action);
        match &action {
            Action::Nothing | Action::Drain(_) => self.out.statement(";", stmt),
            Action::Fence => {
                let fence = "atomic_thread_fence(memory_order_seq_cst);";
                self.out.statement(if self.whole.uses.locked { ";" } else { fence }, stmt);
            }
            Action::Assign { reg, value } => {
                self.assert_in_range(value, self.limits(*reg));
                let line = format!("{} = {};", self.register(*reg), self.expr(value));
                self.out.statement(&line, stmt);
            }
            Action::Choose { reg, lo, hi } => {
                let (least, most) = (number(*lo, Dialect::C), number(*hi, Dialect::C));
                let line = format!("{} = choose({least}, {most});", self.register(*reg));
                self.out.statement(&line, stmt);
                self.assert_register(*reg, (*lo, *hi));
            }
            Action::Load { reg, from, .. } => {
                let place = self.leaf(from);
                let value =
                    if self.whole.uses.locked { place } else { format!("atomic_load(&{place})") };
                let line = format!("{} = {value}", self.register(*reg));
                self.shared(&line, false, stmt);
                self.assert_register(*reg, self.facts().leaf(from));
            }
            Action::Store { to, value } => {
                self.assert_in_range(value, self.location_limits(to));
                let (place, value) = (self.leaf(to), self.expr(value));
                let line = if self.whole.uses.locked {
                    format!("{place} = {value}")
                } else {
                    format!("atomic_store(&{place}, {value})")
                };
                self.shared(&line, self.is_watched(to), stmt);
            }
            Action::Update(change) => self.update(change, stmt),
            Action::Assume(cond) => {
                let line = format!("assume({});", self.expr(cond));
                self.out.statement(&line, stmt);
            }
            Action::Assert(cond) => {
                let line = self.checked(&self.expr(cond));
                self.out.statement(&line, stmt);
            }
            Action::Branch { .. } => unreachable!("no plain statement"),
        }
    }

    /// A statement that accesses memory.
    fn shared(&mut self, line: &str, is_watched: bool, stmt: &Stmt) {
        let is_step = self.block.is_none() && self.whole.uses.locked;
        let line = match (self.role, is_watched) {
            (Role::Thread, true) if is_step => format!("ATOMIC({line}; check_invariants());"),
            (Role::Thread, false) if is_step => format!("ATOMIC({line});"),
            (Role::Turn(_), _) if is_step => {
                self.begin_step("", stmt);
                self.out.line(&format!("{line};"));
                if is_watched {
                    self.check("invariants()");
                }
                return;
            }
            _ => format!("{line};"),
        };
        self.out.statement(&line, stmt);
    }

    fn update(&mut self, change: &Change, stmt: &Stmt) {
        let Change { reg, at, kind, by, .. } = change;
        let place = self.leaf(at);
        let (short, long) = match kind {
            Kind::Cas(_) => ("cas", "cas"),
            Kind::Swap => ("swap", "atomic_exchange"),
            Kind::Apply(BinOp::Add) => ("fetch_add", "atomic_fetch_add"),
            Kind::Apply(BinOp::BitAnd) => ("fetch_and", "atomic_fetch_and"),
            Kind::Apply(BinOp::BitOr) => ("fetch_or", "atomic_fetch_or"),
            Kind::Apply(_) => ("fetch_xor", "atomic_fetch_xor"),
        };
        let name = if self.whole.uses.locked { short } else { long };
        let expected = match kind {
            Kind::Cas(expected) => format!("{}, ", self.expr(expected)),
            Kind::Swap | Kind::Apply(_) => String::new(),
        };
        let call = format!("{name}(&{place}, {expected}{})", self.expr(by));
        if *kind == Kind::Swap {
            self.assert_in_range(by, self.location_limits(at));
        }
        let target = reg.map(|reg| self.register(reg).to_string());
        let is_watched = self.is_watched(at);
        if let (true, Some((lo, hi))) = (self.needs_old(change), self.location_limits(at)) {
            self.shared(&format!("old = {call}"), is_watched, stmt);
            let (lo, hi) = (number(lo, Dialect::C), number(hi, Dialect::C));
            let condition = match kind {
                Kind::Cas(_) => format!("!old || in_range({}, {lo}, {hi})", self.expr(by)),
                Kind::Apply(op) => {
                    let by = substitute(by, &|leaf| Expr::Var(Some(leaf.clone())));
                    let new = Expr::Binary(*op, Box::new(Expr::Var(None)), Box::new(by));
                    let new = text(&new, Dialect::C, &|leaf: &Option<Leaf>| match leaf {
                        None => "old".into(),
                        Some(leaf) => self.leaf(leaf),
                    });
                    format!("in_range({new}, {lo}, {hi})")
                }
                Kind::Swap => unreachable!("checked before"),
            };
            self.check(&condition);
            if let Some(target) = target {
                self.out.line(&format!("{target} = old;"));
            }
        } else {
            let line = target.map_or_else(|| call.clone(), |target| format!("{target} = {call}"));
            self.shared(&line, is_watched, stmt);
        }
        if let Some(reg) = reg {
            let yields = match kind {
                Kind::Cas(_) => (0, 1),
                Kind::Swap | Kind::Apply(_) => self.facts().leaf(at),
            };
            self.assert_register(*reg, yields);
        }
    }

    /// Whether an update writes something that may be outside of the range of its location, and is only known
    /// afterwards.
    fn needs_old(&self, change: &Change) -> bool {
        let Some((lo, hi)) = self.location_limits(&change.at) else { return false };
        match &change.kind {
            Kind::Cas(_) => !self.is_in_range(&change.by, (lo, hi)),
            Kind::Apply(BinOp::Add) => {
                let facts = self.facts();
                let ((a, b), (c, d)) = (facts.leaf(&change.at), facts.interval(&change.by));
                let (least, most) = (i64::from(a) + i64::from(c), i64::from(b) + i64::from(d));
                least < i64::from(lo) || most > i64::from(hi)
            }
            Kind::Swap | Kind::Apply(_) => false,
        }
    }

    /// Assertions that the expressions and the address of an action do not fault.
    fn faults(&mut self, action: &Action) {
        let facts = self.facts();
        let conditions: Vec<Expr<Leaf>> =
            action.values().into_iter().flat_map(|expr| faults::divisions(expr, &facts)).collect();
        for condition in conditions {
            self.check(&self.expr(&condition));
        }
        if let Some(Leaf::Element(_, len, index)) = action.address() {
            self.assert_in_range(index, Some((0, *len as i32 - 1)));
        }
    }

    fn assert_in_range(&mut self, expr: &Expr<Leaf>, limits: Option<Range>) {
        let Some((lo, hi)) = limits else { return };
        if !self.is_in_range(expr, (lo, hi)) {
            let (lo, hi) = (number(lo, Dialect::C), number(hi, Dialect::C));
            self.check(&format!("in_range({}, {lo}, {hi})", self.expr(expr)));
        }
    }

    fn is_in_range(&self, expr: &Expr<Leaf>, limits: Range) -> bool {
        let (lo, hi) = self.facts().interval(expr);
        limits.0 <= lo && hi <= limits.1
    }

    /// The register has just got a value of this range.
    fn assert_register(&mut self, reg: Reg, got: Range) {
        let Some((lo, hi)) = self.limits(reg) else { return };
        if got.0 < lo || got.1 > hi {
            self.check(&format!("in_range({}, {lo}, {hi})", self.register(reg)));
        }
    }

    fn limits(&self, reg: Reg) -> Option<Range> {
        self.whole.problem.program.limits(&self.thread.registers[reg.index()].ty)
    }

    fn location_limits(&self, at: &Leaf) -> Option<Range> {
        let (base, _) = at.stretch()?;
        self.whole.problem.program.limits(&self.whole.names.variable(base).0.ty)
    }

    fn facts(&self) -> Facts<'a> {
        let program = &self.whole.problem.program;
        Facts { program, ranges: &self.whole.ranges, registers: self.known }
    }

    fn is_watched(&self, at: &Leaf) -> bool {
        at.locations().any(|loc| self.watched.contains(&loc))
    }

    fn expr(&self, expr: &Expr<Leaf>) -> String {
        text(expr, Dialect::C, &|leaf| self.leaf(leaf))
    }

    fn leaf(&self, leaf: &Leaf) -> String {
        match leaf {
            Leaf::Reg(reg) => self.register(*reg).to_string(),
            Leaf::Loc(loc) => self.whole.names.location(*loc),
            Leaf::Element(base, _, index) => {
                self.whole.names.place(&Address::fixed(*base), Some(&self.expr(index)))
            }
        }
    }

    fn condition(&self, stmt: &Stmt, holds: bool) -> String {
        let Action::Branch { cond, .. } = action(stmt) else {
            unreachable!("only branches have one")
        };
        if holds { self.expr(&cond) } else { self.expr(&negated(&cond)) }
    }
}

/// What a statement does.
fn action(stmt: &Stmt) -> Action {
    Action::of(&stmt.op, &Env::default())
}

/// The inside of the first atomic block.
fn first_block(code: &[Node]) -> Option<&[Node]> {
    code.iter().find_map(|node| {
        if let Node::Atomic(_, body) = node {
            return Some(&body[..]);
        }
        node.parts().into_iter().find_map(first_block)
    })
}
