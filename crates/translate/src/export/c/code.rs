//! The code of one thread as a C function.

use super::super::expr::{Dialect, negated, number, text};
use super::super::structure::{Node, Rounds, rounds, structure};
use super::super::substitute::substitute;
use super::super::text::Text;
use super::{Whole, faults};
use fencepost_ir::interval::{FULL, Range, interval, join};
use fencepost_ir::{
    Address, BinOp, Expr, Loc, Op, Pc, Reg, Stmt, Thread, ThreadId, Type, Update, flow,
};
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
    /// What registers can hold.
    known: Vec<Range>,
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
            Some(id) => whole.ranges.registers[id.index()].clone(),
            None => vec![FULL; thread.registers.len()],
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
                let mut inner = BTreeSet::new();
                labels(body, &mut inner);
                self.block = Some(inner);
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
        if self.thread.code.iter().any(|stmt| self.needs_old(&stmt.op)) {
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
                self.faults(&stmt.op);
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
        let Op::Branch { cond, .. } = &self.thread.stmt(pc).op else { return false };
        faults::divisions(cond, &self.known).is_empty()
    }

    fn atomic(&mut self, stmt: &Stmt, body: &[Node]) {
        self.begin_step("atomic_begin();", stmt);
        let mut inner = BTreeSet::new();
        labels(body, &mut inner);
        self.block = Some(inner);
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
        self.faults(&stmt.op);
        match &stmt.op {
            Op::Skip | Op::Leave | Op::Invoke { .. } | Op::Return { .. } => {
                self.out.statement(";", stmt);
            }
            Op::Assign { reg, expr } => {
                self.assert_in_range(expr, self.limits(*reg));
                let line = format!("{} = {};", self.register(*reg), self.expr(expr));
                self.out.statement(&line, stmt);
            }
            Op::Choose { reg, lo, hi } => {
                let (least, most) = (number(*lo, Dialect::C), number(*hi, Dialect::C));
                let line = format!("{} = choose({least}, {most});", self.register(*reg));
                self.out.statement(&line, stmt);
                self.assert_register(*reg, (*lo, *hi));
            }
            Op::Load { reg, from } => {
                let place = self.place(from);
                let value =
                    if self.whole.uses.locked { place } else { format!("atomic_load(&{place})") };
                let line = format!("{} = {value}", self.register(*reg));
                self.shared(&line, false, stmt);
                self.assert_register(*reg, self.held(from));
            }
            Op::Store { to, value } => {
                self.assert_in_range(value, self.location_limits(to));
                let (place, value) = (self.place(to), self.expr(value));
                let line = if self.whole.uses.locked {
                    format!("{place} = {value}")
                } else {
                    format!("atomic_store(&{place}, {value})")
                };
                self.shared(&line, self.is_watched(to), stmt);
            }
            Op::Update { reg, at, update } => self.update(*reg, at, update, stmt),
            Op::Fence(_) if !self.whole.uses.locked => {
                self.out.statement("atomic_thread_fence(memory_order_seq_cst);", stmt);
            }
            Op::Fence(_) | Op::Drain(_) => self.out.statement(";", stmt),
            Op::Assume(cond) => {
                let line = format!("assume({});", self.expr(cond));
                self.out.statement(&line, stmt);
            }
            Op::Assert(cond) => {
                let line = self.checked(&self.expr(cond));
                self.out.statement(&line, stmt);
            }
            Op::Branch { .. } | Op::AtomicBegin | Op::AtomicEnd | Op::Halt => {
                unreachable!("no plain statements")
            }
            Op::New { .. } | Op::Free { .. } => unreachable!("lowered"),
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

    fn update(&mut self, reg: Option<Reg>, at: &Address, update: &Update, stmt: &Stmt) {
        let place = self.place(at);
        let locked = self.whole.uses.locked;
        let call = |short: &str, long: &str, operand: &Expr<Reg>| {
            let name = if locked { short } else { long };
            format!("{name}(&{place}, {})", self.expr(operand))
        };
        let call = match update {
            Update::Cas { expected, new } => {
                format!("cas(&{place}, {}, {})", self.expr(expected), self.expr(new))
            }
            Update::Swap { new } => call("swap", "atomic_exchange", new),
            Update::Add { by } => call("fetch_add", "atomic_fetch_add", by),
            Update::Bits { op, by } => match op {
                BinOp::BitAnd => call("fetch_and", "atomic_fetch_and", by),
                BinOp::BitOr => call("fetch_or", "atomic_fetch_or", by),
                _ => call("fetch_xor", "atomic_fetch_xor", by),
            },
        };
        if let Update::Swap { new } = update {
            self.assert_in_range(new, self.location_limits(at));
        }
        let target = reg.map(|reg| self.register(reg).to_string());
        let is_watched = self.is_watched(at);
        if let (true, Some((lo, hi))) = (self.needs_old(&stmt.op), self.location_limits(at)) {
            self.shared(&format!("old = {call}"), is_watched, stmt);
            let (lo, hi) = (number(lo, Dialect::C), number(hi, Dialect::C));
            let condition = match update {
                Update::Cas { new, .. } => {
                    format!("!old || in_range({}, {lo}, {hi})", self.expr(new))
                }
                Update::Add { by } => {
                    let by = substitute(by, &|reg| Expr::Var(Some(*reg)));
                    let sum = Expr::Binary(BinOp::Add, Box::new(Expr::Var(None)), Box::new(by));
                    let sum = text(&sum, Dialect::C, &|reg: &Option<Reg>| {
                        reg.map_or("old", |reg| self.register(reg)).to_string()
                    });
                    format!("in_range({sum}, {lo}, {hi})")
                }
                Update::Swap { .. } | Update::Bits { .. } => {
                    unreachable!("checked before, or proven")
                }
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
            let yields = if matches!(update, Update::Cas { .. }) { (0, 1) } else { self.held(at) };
            self.assert_register(reg, yields);
        }
    }

    /// Whether an update writes something that may be outside of the range of its location, and is only known
    /// afterwards.
    fn needs_old(&self, op: &Op) -> bool {
        let Op::Update { at, update, .. } = op else { return false };
        let Some((lo, hi)) = self.location_limits(at) else { return false };
        match update {
            Update::Cas { new, .. } => !faults::in_range(new, (lo, hi), &self.known),
            Update::Add { by } => {
                let ((a, b), (c, d)) = (self.held(at), interval(by, &self.known));
                let (least, most) = (i64::from(a) + i64::from(c), i64::from(b) + i64::from(d));
                least < i64::from(lo) || most > i64::from(hi)
            }
            Update::Swap { .. } | Update::Bits { .. } => false,
        }
    }

    /// Assertions that the expressions and the address of an operation do not fault.
    fn faults(&mut self, op: &Op) {
        let mut conditions = Vec::new();
        flow::for_each_expr(op, &mut |expr| {
            conditions.extend(faults::divisions(expr, &self.known));
        });
        for condition in conditions {
            self.check(&self.expr(&condition));
        }
        if let Some(Address { index: Some((len, index)), .. }) = op.address() {
            self.assert_in_range(index, Some(faults::index_limits(*len)));
        }
    }

    fn assert_in_range(&mut self, expr: &Expr<Reg>, limits: Option<Range>) {
        let Some((lo, hi)) = limits else { return };
        if !faults::in_range(expr, (lo, hi), &self.known) {
            let (lo, hi) = (number(lo, Dialect::C), number(hi, Dialect::C));
            self.check(&format!("in_range({}, {lo}, {hi})", self.expr(expr)));
        }
    }

    /// The register has just got a value of this range.
    fn assert_register(&mut self, reg: Reg, got: Range) {
        let Some((lo, hi)) = self.limits(reg) else { return };
        if got.0 < lo || got.1 > hi {
            self.check(&format!("in_range({}, {lo}, {hi})", self.register(reg)));
        }
    }

    fn limits(&self, reg: Reg) -> Option<Range> {
        self.type_limits(&self.thread.registers[reg.index()].ty)
    }

    fn location_limits(&self, at: &Address) -> Option<Range> {
        self.type_limits(&self.whole.names.variable(at.base).0.ty)
    }

    fn type_limits(&self, ty: &Type) -> Option<Range> {
        self.whole.problem.program.limits(ty)
    }

    /// The locations an access may go to.
    fn reach(at: &Address) -> impl Iterator<Item = Loc> + use<> {
        let len = at.index.as_ref().map_or(1, |(len, _)| *len);
        (at.base.0..at.base.0 + len).map(Loc)
    }

    /// What the location may hold.
    fn held(&self, at: &Address) -> Range {
        let all = Self::reach(at).map(|loc| self.whole.ranges.locations[loc.index()]);
        all.reduce(join).expect("an access goes somewhere")
    }

    fn is_watched(&self, at: &Address) -> bool {
        Self::reach(at).any(|loc| self.watched.contains(&loc))
    }

    fn expr(&self, expr: &Expr<Reg>) -> String {
        text(expr, Dialect::C, &|reg| self.register(*reg).to_string())
    }

    fn condition(&self, stmt: &Stmt, holds: bool) -> String {
        let Op::Branch { cond, .. } = &stmt.op else { unreachable!("only branches have one") };
        if holds { self.expr(cond) } else { self.expr(&negated(cond)) }
    }

    fn place(&self, at: &Address) -> String {
        let index = at.index.as_ref().map(|(_, index)| self.expr(index));
        self.whole.names.place(at, index.as_deref())
    }
}

/// The inside of the first atomic block.
fn first_block(code: &[Node]) -> Option<&[Node]> {
    code.iter().find_map(|node| match node {
        Node::Atomic(_, body) => Some(&body[..]),
        Node::Loop(body) => first_block(body),
        Node::If(_, then, otherwise) => first_block(then).or_else(|| first_block(otherwise)),
        Node::Plain(_)
        | Node::Break
        | Node::Continue
        | Node::Label(_)
        | Node::Goto(_)
        | Node::Halt => None,
    })
}

fn labels(code: &[Node], found: &mut BTreeSet<Pc>) {
    for node in code {
        match node {
            Node::Label(pc) => {
                found.insert(*pc);
            }
            Node::Atomic(_, body) | Node::Loop(body) => labels(body, found),
            Node::If(_, then, otherwise) => {
                labels(then, found);
                labels(otherwise, found);
            }
            Node::Plain(_) | Node::Break | Node::Continue | Node::Goto(_) | Node::Halt => {}
        }
    }
}
