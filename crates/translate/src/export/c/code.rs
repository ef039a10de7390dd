//! Writes the code of one thread as a C function.

use super::super::actions::{Action, Env, Leaf, UpdateAction, UpdateKind};
use super::super::checks::RangeFacts;
use super::super::expr::{Dialect, negated_condition, number, text};
use super::super::structure::{LoopForm, Node, labels, loop_form, structure};
use super::super::substitute::substitute;
use super::super::text::TextWriter;
use super::{CProgram, divisions};
use fencepost_ir::interval::Range;
use fencepost_ir::{
    Address, BinOp, CasResult, Expr, Loc, Op, Pc, Reg, Stmt, Thread, ThreadId, Value, flow,
};
use std::collections::BTreeSet;

/// The role of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::export) enum Role<'a> {
    /// Runs before all threads.
    Init,
    /// A concurrent thread.
    Thread,
    /// A thread that runs after the previous threads have ended. The function with this name begins
    /// its contexts.
    SequentialThread(&'a str),
    /// A function that begins contexts: this line, then the block of a helper.
    ContextStart(&'a str),
}

/// A function under construction.
pub(in crate::export) struct Code<'a, 'b> {
    program: &'a CProgram<'a>,
    role: Role<'a>,
    id: Option<ThreadId>,
    thread: &'a Thread,
    out: &'a mut TextWriter<'b>,
    /// The ranges of registers; full ranges for `init`.
    register_ranges: &'a [Range],
    invariant_locations: BTreeSet<Loc>,
    /// The labels in the atomic block that is being written.
    block: Option<BTreeSet<Pc>>,
}

impl<'a, 'b> Code<'a, 'b> {
    pub(in crate::export) fn new(
        program: &'a CProgram<'a>,
        role: Role<'a>,
        id: Option<ThreadId>,
        thread: &'a Thread,
        out: &'a mut TextWriter<'b>,
    ) -> Self {
        let register_ranges = match id {
            Some(id) => &program.ranges.registers[id.index()],
            None => &program.init_ranges,
        };
        let invariant_locations = program.invariant_locations();
        Code { program, role, id, thread, out, register_ranges, invariant_locations, block: None }
    }

    pub(in crate::export) fn write(mut self, head: &str) {
        self.out.line("");
        self.out.forget_last_comment();
        self.out.open(&format!("{head} {{"));
        if self.role == Role::Thread {
            self.out.line("(void)unused;");
        }
        self.declare();
        let tree = structure(self.thread);
        match self.role {
            Role::Init => {
                // `init` runs alone and needs no lock.
                self.block = Some(BTreeSet::new());
                self.sequence(&tree);
            }
            Role::Thread => {
                self.sequence(&tree);
                self.out.line("return NULL;");
            }
            Role::SequentialThread(context) => {
                self.out.line(&format!("{context}();"));
                self.sequence(&tree);
            }
            Role::ContextStart(first) => {
                self.out.line(first);
                let body = first_block(&tree).expect("a helper has an atomic block");
                self.block = Some(labels(body));
                self.sequence(body);
            }
        }
        self.out.close("}");
    }

    fn declare(&mut self) {
        let (mut read, mut set) = (BTreeSet::new(), BTreeSet::new());
        for stmt in &self.thread.code {
            // A drain has no effect under SC and is not written.
            match stmt.op {
                Op::Drain(_) => set.extend(flow::uses(&stmt.op)),
                _ => read.extend(flow::uses(&stmt.op)),
            }
            set.extend(stmt.op.target());
        }
        let own = |reg: &Reg| self.program.global_name(self.id, *reg).is_none();
        let all: Vec<Reg> = read.union(&set).copied().filter(own).collect();
        if !all.is_empty() {
            let names: Vec<String> =
                all.iter().map(|reg| format!("{} = 0", self.register(*reg))).collect();
            self.out.line(&format!("int {};", names.join(", ")));
        }
        for reg in all.iter().filter(|reg| !read.contains(reg)) {
            self.out.line(&format!("(void){};  /* never read */", self.register(*reg)));
        }
        let needs_old = |stmt: &Stmt| matches!(action(stmt), Action::Update(update_action) if self.needs_old(&update_action));
        if self.thread.code.iter().any(needs_old) {
            self.out.line("int old;");
        }
    }

    fn register(&self, reg: Reg) -> &str {
        let global = self.program.global_name(self.id, reg);
        global.unwrap_or_else(|| self.program.names.register(self.id, reg))
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
                self.write_fault_checks(&action(stmt));
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
                    self.out.indent_again();
                    self.sequence(second);
                }
                self.out.close("}");
            }
            Node::Loop(body) => self.write_loop(body),
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

    fn write_loop(&mut self, body: &[Node]) {
        let (open, rest, close) = match loop_form(body) {
            LoopForm::While(pc, holds, rest) if self.cannot_fault(pc) => {
                let stmt = self.thread.stmt(pc);
                (Some((format!("while ({}) {{", self.condition(stmt, holds)), stmt)), rest, None)
            }
            LoopForm::DoWhile(rest, pc, holds) if self.cannot_fault(pc) => {
                let stmt = self.thread.stmt(pc);
                (None, rest, Some((format!("}} while ({});", self.condition(stmt, holds)), stmt)))
            }
            LoopForm::While(..) | LoopForm::DoWhile(..) | LoopForm::Forever(_) => {
                (None, body, None)
            }
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

    /// Returns whether the condition of a branch cannot fault.
    fn cannot_fault(&self, pc: Pc) -> bool {
        let action = action(self.thread.stmt(pc));
        action
            .values()
            .into_iter()
            .all(|cond| divisions::nonzero_divisor_conditions(cond, &self.facts()).is_empty())
    }

    fn atomic(&mut self, stmt: &Stmt, body: &[Node]) {
        self.begin_step("atomic_begin();", stmt);
        self.block = Some(labels(body));
        self.sequence(body);
        self.end_atomic();
        self.block = None;
    }

    /// Begins a step: takes the lock, or lets contexts begin.
    fn begin_step(&mut self, lock: &str, stmt: &Stmt) {
        match self.role {
            Role::Thread => self.out.statement(lock, stmt),
            Role::SequentialThread(context) => {
                self.out.statement(&format!("STEP({context});"), stmt)
            }
            Role::Init | Role::ContextStart(_) => {}
        }
    }

    fn end_atomic(&mut self) {
        let has_invariants = !self.invariant_locations.is_empty();
        match self.role {
            Role::Thread => {
                if has_invariants {
                    self.out.line("check_invariants();");
                }
                self.out.line("atomic_end();");
            }
            Role::SequentialThread(_) if has_invariants => self.write_check("invariants()"),
            Role::SequentialThread(_) | Role::Init | Role::ContextStart(_) => {}
        }
    }

    /// Returns a statement that checks a condition. Unconfirmed guesses must not fail an assertion,
    /// so the failure is only recorded there.
    fn check_statement(&self, condition: &str) -> String {
        match self.role {
            Role::Init | Role::Thread | Role::ContextStart(_) => format!("assert({condition});"),
            Role::SequentialThread(_) => format!("check({condition});"),
        }
    }

    fn write_check(&mut self, condition: &str) {
        let line = self.check_statement(condition);
        self.out.line(&line);
    }

    fn statement(&mut self, stmt: &Stmt) {
        let action = action(stmt);
        self.write_fault_checks(&action);
        match &action {
            Action::Nothing | Action::Drain(_) => self.out.statement(";", stmt),
            Action::Fence => {
                let fence = "atomic_thread_fence(memory_order_seq_cst);";
                self.out.statement(if self.program.uses.locked { ";" } else { fence }, stmt);
            }
            Action::Assign { reg, value } => {
                self.assert_in_range(value, self.limits(*reg));
                let line = format!("{} = {};", self.register(*reg), self.expr(value));
                self.out.statement(&line, stmt);
            }
            Action::Choose { reg, lo, hi } => {
                let (least, most) = (number(*lo, Dialect::C), number(*hi, Dialect::C));
                let cell = self.program.choices.cell(self.id);
                let cell = cell.map_or(String::new(), |cell| format!("{cell}, "));
                let line = format!("{} = choose({cell}{least}, {most});", self.register(*reg));
                self.out.statement(&line, stmt);
                self.assert_register(*reg, (*lo, *hi));
            }
            Action::Load { reg, from, .. } => {
                let place = self.leaf(from);
                let value =
                    if self.program.uses.locked { place } else { format!("atomic_load(&{place})") };
                let line = format!("{} = {value}", self.register(*reg));
                self.memory_statement(&line, false, stmt);
                self.assert_register(*reg, self.facts().leaf_range(from));
            }
            Action::Store { to, value } => {
                self.assert_in_range(value, self.location_limits(to));
                let (place, value) = (self.leaf(to), self.expr(value));
                let line = if self.program.uses.locked {
                    format!("{place} = {value}")
                } else {
                    format!("atomic_store(&{place}, {value})")
                };
                self.memory_statement(&line, self.affects_invariants(to), stmt);
            }
            Action::Update(update_action) => self.update(update_action, stmt),
            Action::Assume(cond) => {
                let line = format!("assume({});", self.expr(cond));
                self.out.statement(&line, stmt);
            }
            Action::Assert(cond) => {
                let line = self.check_statement(&self.expr(cond));
                self.out.statement(&line, stmt);
            }
            Action::Branch { .. } => unreachable!("not a plain statement"),
        }
    }

    /// Writes a statement that accesses memory.
    fn memory_statement(&mut self, line: &str, affects_invariants: bool, stmt: &Stmt) {
        let is_step = self.block.is_none() && self.program.uses.locked;
        let line = match (self.role, affects_invariants) {
            (Role::Thread, true) if is_step => format!("ATOMIC({line}; check_invariants());"),
            (Role::Thread, false) if is_step => format!("ATOMIC({line});"),
            (Role::SequentialThread(_), _) if is_step => {
                self.begin_step("", stmt);
                self.out.line(&format!("{line};"));
                if affects_invariants {
                    self.write_check("invariants()");
                }
                return;
            }
            _ => format!("{line};"),
        };
        self.out.statement(&line, stmt);
    }

    fn update(&mut self, update_action: &UpdateAction, stmt: &Stmt) {
        let UpdateAction { reg, at, kind, operand, .. } = update_action;
        let place = self.leaf(at);
        let (short, long) = match kind {
            UpdateKind::Cas(_, CasResult::Success) => ("cas", "cas"),
            UpdateKind::Cas(_, CasResult::Old) => ("cmpxchg", "cmpxchg"),
            UpdateKind::Swap => ("swap", "atomic_exchange"),
            UpdateKind::Apply(BinOp::Add) => ("fetch_add", "atomic_fetch_add"),
            UpdateKind::Apply(BinOp::BitAnd) => ("fetch_and", "atomic_fetch_and"),
            UpdateKind::Apply(BinOp::BitOr) => ("fetch_or", "atomic_fetch_or"),
            UpdateKind::Apply(_) => ("fetch_xor", "atomic_fetch_xor"),
        };
        let name = if self.program.uses.locked { short } else { long };
        let expected = match kind {
            UpdateKind::Cas(expected, _) => format!("{}, ", self.expr(expected)),
            UpdateKind::Swap | UpdateKind::Apply(_) => String::new(),
        };
        let call = format!("{name}(&{place}, {expected}{})", self.expr(operand));
        if *kind == UpdateKind::Swap {
            self.assert_in_range(operand, self.location_limits(at));
        }
        let target = reg.map(|reg| self.register(reg).to_string());
        let affects_invariants = self.affects_invariants(at);
        if let (true, Some((lo, hi))) = (self.needs_old(update_action), self.location_limits(at)) {
            self.memory_statement(&format!("old = {call}"), affects_invariants, stmt);
            let (lo, hi) = (number(lo, Dialect::C), number(hi, Dialect::C));
            let condition = match kind {
                UpdateKind::Cas(expected, result) => {
                    let fails = match result {
                        CasResult::Success => "!old".into(),
                        CasResult::Old => format!("old != {}", self.expr(expected)),
                    };
                    format!("{fails} || in_range({}, {lo}, {hi})", self.expr(operand))
                }
                UpdateKind::Apply(op) => {
                    let operand = substitute(operand, &|leaf| Expr::Var(Some(leaf.clone())));
                    let new = Expr::Binary(*op, Box::new(Expr::Var(None)), Box::new(operand));
                    let new = text(&new, Dialect::C, &|leaf: &Option<Leaf>| match leaf {
                        None => "old".into(),
                        Some(leaf) => self.leaf(leaf),
                    });
                    format!("in_range({new}, {lo}, {hi})")
                }
                UpdateKind::Swap => unreachable!("a swap is checked before the access"),
            };
            self.write_check(&condition);
            if let Some(target) = target {
                self.out.line(&format!("{target} = old;"));
            }
        } else {
            let line = target.map_or_else(|| call.clone(), |target| format!("{target} = {call}"));
            self.memory_statement(&line, affects_invariants, stmt);
        }
        if let Some(reg) = reg {
            let yields = match update_action.yields_old() {
                true => self.facts().leaf_range(at),
                false => (0, 1),
            };
            self.assert_register(*reg, yields);
        }
    }

    /// Returns whether an update may write a value outside of the range of its location, and this
    /// can only be checked after the update.
    fn needs_old(&self, update_action: &UpdateAction) -> bool {
        let Some((lo, hi)) = self.location_limits(&update_action.at) else { return false };
        match &update_action.kind {
            UpdateKind::Cas(..) => !self.is_in_range(&update_action.operand, (lo, hi)),
            UpdateKind::Apply(BinOp::Add) => {
                let facts = self.facts();
                let ((a, b), (c, d)) =
                    (facts.leaf_range(&update_action.at), facts.interval(&update_action.operand));
                a + c < lo || b + d > hi
            }
            UpdateKind::Swap | UpdateKind::Apply(_) => false,
        }
    }

    /// Writes assertions that the expressions and the address of an action do not fault.
    fn write_fault_checks(&mut self, action: &Action) {
        let facts = self.facts();
        let conditions: Vec<Expr<Leaf>> = action
            .values()
            .into_iter()
            .flat_map(|expr| divisions::nonzero_divisor_conditions(expr, &facts))
            .collect();
        for condition in conditions {
            self.write_check(&self.expr(&condition));
        }
        if let Some(Leaf::Element(_, len, index)) = action.address() {
            self.assert_in_range(index, Some((0, Value::from(*len) - 1)));
        }
    }

    fn assert_in_range(&mut self, expr: &Expr<Leaf>, limits: Option<Range>) {
        let Some((lo, hi)) = limits else { return };
        if !self.is_in_range(expr, (lo, hi)) {
            let (lo, hi) = (number(lo, Dialect::C), number(hi, Dialect::C));
            self.write_check(&format!("in_range({}, {lo}, {hi})", self.expr(expr)));
        }
    }

    fn is_in_range(&self, expr: &Expr<Leaf>, limits: Range) -> bool {
        let (lo, hi) = self.facts().interval(expr);
        limits.0 <= lo && hi <= limits.1
    }

    /// Asserts that a register that received a value of this range respects its type.
    fn assert_register(&mut self, reg: Reg, got: Range) {
        let Some((lo, hi)) = self.limits(reg) else { return };
        if got.0 < lo || got.1 > hi {
            self.write_check(&format!("in_range({}, {lo}, {hi})", self.register(reg)));
        }
    }

    fn limits(&self, reg: Reg) -> Option<Range> {
        self.program.problem.program.limits(&self.thread.registers[reg.index()].ty)
    }

    fn location_limits(&self, at: &Leaf) -> Option<Range> {
        let (base, _) = at.location_range()?;
        self.program.problem.program.limits(&self.program.names.variable(base).0.ty)
    }

    fn facts(&self) -> RangeFacts<'a> {
        let program = &self.program.problem.program;
        RangeFacts { program, ranges: &self.program.ranges, registers: self.register_ranges }
    }

    fn affects_invariants(&self, at: &Leaf) -> bool {
        at.locations().any(|loc| self.invariant_locations.contains(&loc))
    }

    fn expr(&self, expr: &Expr<Leaf>) -> String {
        text(expr, Dialect::C, &|leaf| self.leaf(leaf))
    }

    fn leaf(&self, leaf: &Leaf) -> String {
        match leaf {
            Leaf::Reg(reg) => self.register(*reg).to_string(),
            Leaf::Loc(loc) => self.program.names.location(*loc),
            Leaf::Element(base, _, index) => {
                self.program.names.place(&Address::fixed(*base), Some(&self.expr(index)))
            }
        }
    }

    fn condition(&self, stmt: &Stmt, holds: bool) -> String {
        let Action::Branch { cond, .. } = action(stmt) else {
            unreachable!("only branches have a condition")
        };
        if holds { self.expr(&cond) } else { self.expr(&negated_condition(&cond)) }
    }
}

fn action(stmt: &Stmt) -> Action {
    Action::of(&stmt.op, &Env::default())
}

/// Returns the body of the first atomic block.
fn first_block(code: &[Node]) -> Option<&[Node]> {
    code.iter().find_map(|node| {
        if let Node::Atomic(_, body) = node {
            return Some(&body[..]);
        }
        node.children().into_iter().find_map(first_block)
    })
}
