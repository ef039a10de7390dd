//! Prints syntax on a single line.

use fencepost_ir::{BinOp, UnOp};

use crate::fp::ast::{
    Block, Case, CaseLabel, Declarator, Expr, ExprKind, Initial, Name, Range, Stmt, StmtKind,
    TypeKind, TypeName,
};

/// A line under construction. Once the line is longer than its limit, no more text is added, so
/// that it is cheap to test whether code fits.
pub(super) struct Flat<'a> {
    source: &'a str,
    text: String,
    limit: usize,
}

impl<'a> Flat<'a> {
    /// Creates a line without a limit.
    pub(super) fn new(source: &'a str) -> Self {
        Flat { source, text: String::new(), limit: usize::MAX }
    }

    /// Creates a line with at most `limit` characters.
    pub(super) fn within(source: &'a str, limit: usize) -> Self {
        Flat { source, text: String::new(), limit }
    }

    /// Returns the line.
    pub(super) fn text(self) -> String {
        self.text
    }

    /// Returns the line if it fits.
    pub(super) fn if_fits(self) -> Option<String> {
        (!self.is_full()).then_some(self.text)
    }

    fn is_full(&self) -> bool {
        // Code is ASCII, so the number of bytes is the number of characters.
        self.text.len() > self.limit
    }

    pub(super) fn push(mut self, text: &str) -> Self {
        self.add(text);
        self
    }

    pub(super) fn add(&mut self, text: &str) {
        if !self.is_full() {
            self.text.push_str(text);
        }
    }

    fn list<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            if self.is_full() {
                return;
            }
            if at > 0 {
                self.add(", ");
            }
            one(self, item);
        }
    }

    pub(super) fn names(&mut self, names: &[Name]) {
        self.list(names, |flat, name| flat.add(&name.text));
    }

    pub(super) fn exprs(&mut self, exprs: &[Expr]) {
        self.list(exprs, Self::expr);
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        if self.is_full() {
            return;
        }
        match &expr.kind {
            ExprKind::Number(_) => self.add(expr.span.text(self.source)),
            ExprKind::Bool(true) => self.add("true"),
            ExprKind::Bool(false) => self.add("false"),
            ExprKind::Null => self.add("null"),
            ExprKind::Name(name) => self.add(name),
            ExprKind::Paren(inner) => {
                self.add("(");
                self.expr(inner);
                self.add(")");
            }
            ExprKind::Unary(op, operand) => {
                self.add(op.symbol());
                // `- -x` must not become `--x`.
                if *op == UnOp::Neg && matches!(operand.kind, ExprKind::Unary(UnOp::Neg, _)) {
                    self.add(" ");
                }
                self.expr(operand);
            }
            ExprKind::Binary(op, a, b) => {
                self.expr(a);
                self.operator(*op);
                self.expr(b);
            }
            ExprKind::Select(c, a, b) => {
                self.expr(c);
                self.add(" ? ");
                self.expr(a);
                self.add(" : ");
                self.expr(b);
            }
            ExprKind::Index(base, index) => {
                self.expr(base);
                self.add("[");
                self.expr(index);
                self.add("]");
            }
            ExprKind::Field(base, field) => {
                self.expr(base);
                self.add(".");
                self.add(&field.text);
            }
            ExprKind::Call(name, args) => {
                self.add(&name.text);
                self.add("(");
                self.exprs(args);
                self.add(")");
            }
            ExprKind::Method(base, name, args) => {
                self.expr(base);
                self.add(".");
                self.add(&name.text);
                self.add("(");
                self.exprs(args);
                self.add(")");
            }
            ExprKind::ChooseRange(range) => {
                self.add("choose(");
                self.range(range);
                self.add(")");
            }
            ExprKind::ChooseList(list) => {
                self.add("choose(");
                self.exprs(list);
                self.add(")");
            }
            ExprKind::New(name) => {
                self.add("new ");
                self.add(&name.text);
            }
            ExprKind::At(thread, label) => {
                self.expr(thread);
                self.add(" at ");
                self.add(&label.text);
            }
        }
    }

    fn operator(&mut self, op: BinOp) {
        self.add(" ");
        self.add(op.symbol());
        self.add(" ");
    }

    pub(super) fn range(&mut self, range: &Range) {
        self.expr(&range.lo);
        self.add(if range.inclusive { "..=" } else { ".." });
        self.expr(&range.hi);
    }

    pub(super) fn type_name(&mut self, ty: &TypeName) {
        match &ty.kind {
            TypeKind::Bool => self.add("bool"),
            TypeKind::Int => self.add("int"),
            TypeKind::Ranged(range, outside) => {
                self.add("int(");
                self.range(range);
                if let Some(outside) = outside {
                    self.add(", ");
                    self.add(&outside.text);
                }
                self.add(")");
            }
            TypeKind::Named(name) => self.add(&name.text),
        }
    }

    pub(super) fn dimensions(&mut self, dims: &[Expr]) {
        for len in dims {
            self.add("[");
            self.expr(len);
            self.add("]");
        }
    }

    pub(super) fn declarators(&mut self, vars: &[Declarator]) {
        self.list(vars, |flat, var| {
            flat.add(&var.name.text);
            flat.dimensions(&var.dims);
            if let Some(init) = &var.init {
                flat.add(" = ");
                flat.initial(init);
            }
        });
    }

    fn initial(&mut self, init: &Initial) {
        match init {
            Initial::One(value) => self.expr(value),
            Initial::List(values, _) => {
                self.add("{");
                self.list(values, Self::initial);
                self.add("}");
            }
        }
    }

    /// Prints `case 1:` or `default:`.
    pub(super) fn case_label(&mut self, label: &CaseLabel) {
        match &label.value {
            Some(value) => {
                self.add("case ");
                self.expr(value);
                self.add(":");
            }
            None => self.add("default:"),
        }
    }

    fn switch(&mut self, value: &Expr, cases: &[Case]) {
        self.head("switch", value);
        self.add(" { ");
        for case in cases {
            if self.is_full() {
                return;
            }
            for label in &case.labels {
                self.case_label(label);
                self.add(" ");
            }
            for stmt in &case.stmts {
                self.stmt(stmt);
                self.add(" ");
            }
        }
        self.add("}");
    }

    pub(super) fn params(&mut self, params: &[(TypeName, Name)]) {
        self.list(params, |flat, (ty, name)| {
            flat.type_name(ty);
            flat.add(" ");
            flat.add(&name.text);
        });
    }

    pub(super) fn block(&mut self, block: &Block) {
        if block.stmts.is_empty() {
            self.add("{}");
            return;
        }
        self.add("{ ");
        for stmt in &block.stmts {
            if self.is_full() {
                return;
            }
            self.stmt(stmt);
            self.add(" ");
        }
        self.add("}");
    }

    /// Prints `if (c)` or `while (c)`.
    pub(super) fn head(&mut self, word: &str, cond: &Expr) {
        self.add(word);
        self.add(" (");
        self.expr(cond);
        self.add(")");
    }

    /// Prints `for (init; c; step)`.
    pub(super) fn for_head(
        &mut self,
        init: Option<&Stmt>,
        cond: Option<&Expr>,
        step: Option<&Stmt>,
    ) {
        self.add("for (");
        if let Some(init) = init {
            self.simple(init);
        }
        self.add(";");
        if let Some(cond) = cond {
            self.add(" ");
            self.expr(cond);
        }
        self.add(";");
        if let Some(step) = step {
            self.add(" ");
            self.simple(step);
        }
        self.add(")");
    }

    /// Prints a statement with its semicolon.
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        if self.is_full() {
            return;
        }
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::Label(name, body) => {
                self.add(&name.text);
                self.add(": ");
                self.stmt(body);
            }
            StmtKind::If { cond, then, otherwise, .. } => {
                self.head("if", cond);
                self.add(" ");
                self.stmt(then);
                if let Some(otherwise) = otherwise {
                    self.add(" else ");
                    self.stmt(otherwise);
                }
            }
            StmtKind::While { cond, body, .. } => {
                self.head("while", cond);
                self.add(" ");
                self.stmt(body);
            }
            StmtKind::DoWhile { body, cond, .. } => {
                self.add("do ");
                self.stmt(body);
                self.add(" ");
                self.head("while", cond);
                self.add(";");
            }
            StmtKind::For { init, cond, step, body } => {
                self.for_head(init.as_deref(), cond.as_ref(), step.as_deref());
                self.add(" ");
                self.stmt(body);
            }
            StmtKind::Loop(body) => {
                self.add("loop ");
                self.stmt(body);
            }
            StmtKind::Critical(block) => {
                self.add("critical ");
                self.block(block);
            }
            StmtKind::Atomic(block) => {
                self.add("atomic ");
                self.block(block);
            }
            StmtKind::Either(branches) => {
                for (at, branch) in branches.iter().enumerate() {
                    self.add(if at == 0 { "either " } else { " or " });
                    self.block(branch);
                }
            }
            StmtKind::Switch { value, cases, .. } => self.switch(value, cases),
            StmtKind::Declare(..)
            | StmtKind::Assign(..)
            | StmtKind::Step(..)
            | StmtKind::Eval(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Return(_)
            | StmtKind::Skip
            | StmtKind::Fence(_)
            | StmtKind::Drain(_)
            | StmtKind::Assume(_)
            | StmtKind::Await(_)
            | StmtKind::When(_)
            | StmtKind::Assert(_)
            | StmtKind::Free(_)
            | StmtKind::Empty => {
                self.simple(stmt);
                self.add(";");
            }
        }
    }

    /// Prints a statement that is not compound, without its semicolon.
    fn simple(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare(ty, vars) => {
                self.type_name(ty);
                self.add(" ");
                self.declarators(vars);
            }
            StmtKind::Assign(place, op, value) => {
                self.expr(place);
                self.add(" ");
                self.add(op.map_or("", BinOp::symbol));
                self.add("= ");
                self.expr(value);
            }
            StmtKind::Step(place, op) => {
                self.expr(place);
                self.add(if *op == BinOp::Add { "++" } else { "--" });
            }
            StmtKind::Eval(expr) => self.expr(expr),
            StmtKind::Break => self.add("break"),
            StmtKind::Continue => self.add("continue"),
            StmtKind::Goto(label) => {
                self.add("goto ");
                self.add(&label.text);
            }
            StmtKind::Return(value) => {
                self.add("return");
                if let Some(value) = value {
                    self.add(" ");
                    self.expr(value);
                }
            }
            StmtKind::Skip => self.add("skip"),
            StmtKind::Fence(kinds) => {
                self.add("fence");
                if !kinds.is_empty() {
                    self.add(" ");
                    self.names(kinds);
                }
            }
            StmtKind::Drain(place) => {
                self.add("drain ");
                self.expr(place);
            }
            StmtKind::Assume(cond) => self.call("assume", cond),
            StmtKind::Await(cond) => self.call("await", cond),
            StmtKind::When(cond) => self.call("when", cond),
            StmtKind::Assert(cond) => self.call("assert", cond),
            StmtKind::Free(value) => self.call("free", value),
            StmtKind::Empty
            | StmtKind::Block(_)
            | StmtKind::Label(..)
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::DoWhile { .. }
            | StmtKind::For { .. }
            | StmtKind::Loop(_)
            | StmtKind::Critical(_)
            | StmtKind::Atomic(_)
            | StmtKind::Switch { .. }
            | StmtKind::Either(_) => {}
        }
    }

    fn call(&mut self, word: &str, argument: &Expr) {
        self.add(word);
        self.add("(");
        self.expr(argument);
        self.add(")");
    }
}
