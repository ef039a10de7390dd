//! Lowers a function to a thread: its locals are registers, its parameters are locations.
//!
//! [`super::functions`] defines the semantics of calls. Every access to a location is a separate
//! statement, in text order. `&&`, `||` and `?:` evaluate their operands as C does.
//!
//! Fences can be inserted between statements. In a body without braces a fence needs new braces, so
//! the place records the statement to wrap.

mod address;
mod call;
mod compare;
mod loops;
pub(in super::super) mod rcu;
mod read_order;
mod value;
mod width;

use std::collections::BTreeMap;

use fencepost_ir::assemble::{Sources, Target};
use fencepost_ir::{Domain, Expr, FenceKinds, Reg, Span, Thread};

use super::super::assembler::Assembler;
use super::super::ast::{Constant, Init, StateVar};
use super::super::error::{Errors, LitmusError, NAME, TOO_LARGE};
use super::super::layout::Layout;
use super::ast::{
    Block, Declaration, Expression, ExpressionKind, Function, Statement, StatementKind,
};
use crate::fp::limits;
use loops::LoopTargets;
use read_order::ReadOrder;

/// The state that the functions of a test share.
#[derive(Debug)]
pub(in super::super) struct Context<'a> {
    pub(in super::super) source: &'a str,
    pub(in super::super) layout: Layout,
    pub(in super::super) sources: Sources,
    pub(in super::super) domains: rcu::Domains,
}

/// Adds a location for every parameter of the functions to the layout.
pub(in super::super) fn declare_locations(
    functions: &[Function],
    layout: &mut Layout,
) -> Result<(), LitmusError> {
    for parameter in functions.iter().flat_map(|function| &function.parameters) {
        let size = if parameter.is_64_bit { 8 } else { 4 };
        layout.declare_of_size(&parameter.name, size, parameter.span)?;
    }
    Ok(())
}

/// Lowers a function to a thread. `observed` are the registers of the thread that the constraint
/// uses. If `incomplete` is set, names may be declared in invalid parts of the text.
pub(in super::super) fn lower(
    function: &Function,
    (init, observed, incomplete): (&[Init], &[String], bool),
    context: &mut Context<'_>,
    errors: &mut Errors,
) -> Option<Thread> {
    errors.begin_thread();
    let Context { source, layout, sources, domains } = context;
    let (first, marks_places) = (sources.places.len(), sources.marks_places);
    let mut lowerer = Lowerer {
        asm: Assembler::new(&format!("P{}", function.thread), sources),
        source,
        cells: layout.locations().len(),
        layout,
        function,
        observed,
        locals: BTreeMap::new(),
        temporaries: Vec::new(),
        domains,
        sections: BTreeMap::new(),
        used: 0,
        indirect_size: 0,
        loops: Vec::new(),
        read_order: None,
        statement_span: function.body.close,
        places: FencePlaces {
            wanted: marks_places,
            count: 0,
            after_written_fence: false,
            wraps: Vec::new(),
        },
        errors,
        incomplete,
        too_large: false,
        failed: false,
    };
    lowerer.init_registers(init);
    lowerer.init_read_order();
    lowerer.block(&function.body);
    let Lowerer { asm, places, errors, failed, .. } = lowerer;
    if failed {
        return None;
    }
    let thread = errors.check(asm.finish(function.body.close))?;
    for (at, wrap) in places.wraps {
        context.sources.places[first + at].wrap = Some(wrap);
    }
    Some(thread)
}

/// A local of the function.
#[derive(Clone, Copy, Debug)]
struct Local {
    reg: Reg,
    /// Whether the local is a pointer.
    pointer: bool,
    /// Whether the local, or the location that it points to, has 64 bits.
    is_64_bit: bool,
    /// Whether a declaration statement of the local was lowered.
    declared: bool,
}

/// The places for fences in the thread.
#[derive(Debug)]
struct FencePlaces {
    /// Whether places are added at all.
    wanted: bool,
    /// The number of places so far.
    count: usize,
    /// Whether the last statement is a fence of the source. A place directly after it would be
    /// redundant.
    after_written_fence: bool,
    /// The indices of places that need braces, each with the span to wrap.
    wraps: Vec<(usize, Span)>,
}

struct Lowerer<'a> {
    asm: Assembler<'a>,
    source: &'a str,
    layout: &'a mut Layout,
    /// The number of locations.
    cells: usize,
    function: &'a Function,
    /// The registers that the constraint uses.
    observed: &'a [String],
    locals: BTreeMap<String, Local>,
    /// Registers for intermediate values. The first `used` are in use by the current statement.
    temporaries: Vec<Reg>,
    used: usize,
    domains: &'a mut rcu::Domains,
    /// The registers that record the sections of each domain and, without a domain, the progress
    /// of grace periods.
    sections: BTreeMap<Option<Domain>, Reg>,
    /// The total size of all computed addresses, in locations.
    indirect_size: usize,
    /// The loops around the current statement, the innermost last.
    loops: Vec<LoopTargets>,
    /// How `smp_rmb()` orders loads, if no fence expresses it.
    read_order: Option<ReadOrder>,
    /// The span of the head of the current statement.
    statement_span: Span,
    places: FencePlaces,
    errors: &'a mut Errors,
    /// Whether names may be declared in invalid parts of the text.
    incomplete: bool,
    /// Whether a limit is exceeded. Later errors may be consequences.
    too_large: bool,
    /// Whether an error occurred, reported or not.
    failed: bool,
}

impl Lowerer<'_> {
    /// Returns the value of a result, or reports its error and returns `None`. Does not report
    /// errors that may be consequences of other errors.
    fn check<T>(&mut self, result: Result<T, LitmusError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                let is_consequence = error.code == NAME && self.incomplete || self.too_large;
                self.too_large |= error.code == TOO_LARGE;
                self.failed = true;
                if !is_consequence {
                    self.errors.push(error);
                }
                None
            }
        }
    }

    /// Declares the registers of the constraint and of the initial state, and emits initial values.
    fn init_registers(&mut self, init: &[Init]) {
        for name in self.observed {
            let declared = self.declare(name, false, self.statement_span);
            self.check(declared);
        }
        for item in init {
            let StateVar::Register(thread, name) = &item.var else { continue };
            if *thread != self.function.thread {
                continue;
            }
            let value = item.values.first().cloned().unwrap_or(Constant::Int(0));
            let pointer = !matches!(value, Constant::Int(_)) || item.pointer;
            let reg = self.declare(name, pointer, item.span);
            let value = self.layout.constant(&value, item.span);
            if let (Some(reg), Some(value)) = (self.check(reg), self.check(value)) {
                self.mark_source(item.span);
                self.asm.assign(reg, Expr::Const(value));
            }
        }
    }

    /// Declares a local, or returns the existing one of this name.
    fn declare(&mut self, name: &str, pointer: bool, span: Span) -> Result<Reg, LitmusError> {
        if let Some(parameter) = self.function.parameters.iter().find(|p| p.name == name) {
            let message = format!(
                "`{name}` is a location in this thread and cannot be a local: use another name"
            );
            let span = if self.observed.iter().any(|s| s == name) { parameter.span } else { span };
            return Err(LitmusError::name(span, message));
        }
        if let Some(local) = self.locals.get_mut(name) {
            local.pointer |= pointer;
            return Ok(local.reg);
        }
        self.check_registers(span)?;
        let reg = self.asm.register(name);
        self.locals
            .insert(name.to_string(), Local { reg, pointer, is_64_bit: false, declared: false });
        Ok(reg)
    }

    fn check_registers(&self, span: Span) -> Result<(), LitmusError> {
        if self.locals.len() + self.temporaries.len() >= limits::REGISTERS {
            let message = "the thread has too many locals, or too many accesses in one statement";
            return Err(LitmusError::too_large(span, message).hint(limits::SIZE_HINT));
        }
        Ok(())
    }

    /// Returns a register for an intermediate value. It is free again after the statement.
    fn temporary(&mut self, span: Span) -> Result<Reg, LitmusError> {
        if self.used == self.temporaries.len() {
            self.check_registers(span)?;
            self.temporaries.push(self.asm.temporary());
        }
        self.used += 1;
        Ok(self.temporaries[self.used - 1])
    }

    /// Returns the text of a span on one line.
    fn text(&self, span: Span) -> String {
        span.text(self.source).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Sets the source text of the code that is emitted next.
    fn mark_source(&mut self, span: Span) {
        let text = self.text(span);
        self.asm.set_source(span, &text);
    }

    /// Adds a place for a fence, unless the last statement is a fence of the source.
    fn add_place(&mut self, at: Span, text: &str, at_end: bool, wrap: Option<Span>) {
        if std::mem::take(&mut self.places.after_written_fence) {
            return;
        }
        self.asm.add_place(at, text, at_end, self.loops.len() as u32);
        self.count_place(wrap);
    }

    fn count_place(&mut self, wrap: Option<Span>) {
        if self.places.wanted {
            self.places.wraps.extend(wrap.map(|wrap| (self.places.count, wrap)));
            self.places.count += 1;
        }
    }

    fn add_place_before(&mut self, statement: &Statement, wrap: Option<Span>) {
        let text = self.text(statement.head);
        self.add_place(statement.head, &text, false, wrap);
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            if let Some(kinds) = self.fence_statement_kinds(statement) {
                self.written_fence(statement, kinds, None);
                continue;
            }
            let has_code = match &statement.kind {
                StatementKind::Declare(all) => all.iter().any(|declared| declared.value.is_some()),
                // The places inside of the block suffice.
                StatementKind::Block(_) | StatementKind::Empty => false,
                StatementKind::Assign(..)
                | StatementKind::Evaluate(_)
                | StatementKind::If(..)
                | StatementKind::While(..)
                | StatementKind::DoWhile(..)
                | StatementKind::For(_)
                | StatementKind::Break
                | StatementKind::Continue => true,
            };
            if has_code {
                self.add_place_before(statement, None);
            }
            self.statement(statement);
        }
        self.add_place(block.close, "}", true, None);
    }

    /// Lowers the body of an `if` or a loop, which may be a statement without braces.
    fn substatement(&mut self, statement: &Statement) {
        self.places.after_written_fence = false;
        if matches!(statement.kind, StatementKind::Block(_)) {
            return self.statement(statement);
        }
        let wrap = Some(Span { end: statement.end.end, ..statement.span });
        if let Some(kinds) = self.fence_statement_kinds(statement) {
            return self.written_fence(statement, kinds, wrap);
        }
        self.add_place_before(statement, wrap);
        self.statement(statement);
        if !matches!(statement.kind, StatementKind::Empty) {
            self.add_place(statement.end, "}", true, wrap);
        }
    }

    /// Returns the kinds of a fence statement; `None` for other statements.
    fn fence_statement_kinds(&mut self, statement: &Statement) -> Option<FenceKinds> {
        match &statement.kind {
            StatementKind::Evaluate(Expression {
                kind: ExpressionKind::Call(name, arguments),
                span,
                ..
            }) => {
                let kinds = self.fence_kinds(name, arguments, *span);
                // An invalid call is reported here and then ignored.
                self.check(kinds).unwrap_or(Some(FenceKinds::default()))
            }
            _ => None,
        }
    }

    /// Lowers a fence of the source. A fence without kinds has no effect.
    fn written_fence(&mut self, statement: &Statement, kinds: FenceKinds, wrap: Option<Span>) {
        if kinds == FenceKinds::default() {
            return;
        }
        self.mark_source(statement.head);
        if kinds == FenceKinds::LOAD_LOAD && self.order_reads() {
            return;
        }
        let whole = Span { end: statement.end.end, ..statement.span };
        self.asm.emit_written_fence(kinds, whole, self.loops.len() as u32);
        // This lowerer tracks the redundant places itself, because it sees the control flow.
        self.asm.allow_place();
        self.count_place(wrap);
        self.places.after_written_fence = true;
    }

    fn statement(&mut self, statement: &Statement) {
        let head = statement.head;
        (self.statement_span, self.used) = (head, 0);
        match &statement.kind {
            StatementKind::Empty => {}
            StatementKind::Block(block) => self.block(block),
            StatementKind::Declare(all) => {
                for declared in all {
                    let done = self.declaration(declared);
                    self.check(done);
                }
            }
            StatementKind::Assign(target, value) => {
                let done = self.assignment(target, value);
                self.check(done);
            }
            StatementKind::Evaluate(value) => {
                let done = self.effects(value);
                self.check(done);
            }
            StatementKind::If(condition, then, otherwise) => {
                let condition = self.condition(condition);
                let (other, end) = (self.asm.target(), self.asm.target());
                self.mark_source(head);
                self.asm.jump_unless(condition, other);
                self.substatement(then);
                if let Some(otherwise) = otherwise {
                    self.mark_source(head);
                    self.asm.jump(end);
                    self.asm.bind(other);
                    self.substatement(otherwise);
                } else {
                    self.asm.bind(other);
                }
                self.join(end);
            }
            StatementKind::While(condition, body) => self.while_loop(head, condition, body),
            StatementKind::DoWhile(body, condition) => self.do_while_loop(head, body, condition),
            StatementKind::For(parts) => self.for_loop(head, parts),
            StatementKind::Break | StatementKind::Continue => {
                let done = self.leave_iteration(head, &statement.kind);
                self.check(done);
            }
        }
    }

    /// Returns the value of a condition. After an error, returns 0, so that lowering finds further
    /// errors in the controlled statements.
    fn condition(&mut self, condition: &Expression) -> Expr<Reg> {
        let value = self.value(condition);
        self.check(value).unwrap_or(Expr::Const(0))
    }

    /// Binds a target where control flow joins. A fence of the source before the join does not
    /// cover the other paths, so a place after the join is not redundant.
    fn join(&mut self, target: Target) {
        self.asm.bind(target);
        self.places.after_written_fence = false;
    }

    fn declaration(&mut self, declared: &Declaration) -> Result<(), LitmusError> {
        let reg = self.declare(&declared.name, declared.pointer, declared.span)?;
        self.set_64_bit(&declared.name, declared.is_64_bit);
        let local = self.locals.get_mut(&declared.name).expect("`declare` inserts the local");
        if std::mem::replace(&mut local.declared, true) {
            let message = format!("`{}` is declared twice in this thread", declared.name);
            return Err(LitmusError::unsupported(declared.span, message)
                .hint("a name is one register in the whole thread: choose another name"));
        }
        match &declared.value {
            Some(value) => self.assign_local(reg, value),
            None => Ok(()),
        }
    }

    /// Assigns a value to a local.
    fn assign_local(&mut self, reg: Reg, value: &Expression) -> Result<(), LitmusError> {
        let value = self.value_into(value, reg)?;
        if value != Expr::Var(reg) {
            self.mark_source(self.statement_span);
            self.asm.assign(reg, value);
        }
        Ok(())
    }
}
