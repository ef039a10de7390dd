//! From a function to a thread: its locals are the registers, its parameters the locations.
//!
//! [`super::table`] tells what each call means. Every access to a location is a statement of its own,
//! in the order in which the text has them; `&&`, `||` and `?:` go only where C says.
//!
//! Fences may be put between statements. A body without braces would need them, so its places name
//! the statement to wrap.

mod call;
mod value;

use std::collections::BTreeMap;

use fencepost_ir::assemble::{Sources, Target};
use fencepost_ir::{Expr, FenceKinds, Reg, Span, Thread};

use super::super::assembler::Assembler;
use super::super::ast::{Constant, Init, Spot};
use super::super::layout::Layout;
use super::super::wrong::{Errors, NAME, TOO_LARGE, Wrong};
use super::ast::{Block, Declared, Expression, ExpressionKind, Function, Statement, StatementKind};
use crate::fp::limits;

/// What the functions of a test share.
#[derive(Debug)]
pub(in super::super) struct Context<'a> {
    pub(in super::super) source: &'a str,
    pub(in super::super) layout: Layout,
    pub(in super::super) sources: Sources,
}

/// Makes every location that the functions name one.
pub(in super::super) fn mention(functions: &[Function], layout: &mut Layout) -> Result<(), Wrong> {
    for parameter in functions.iter().flat_map(|function| &function.parameters) {
        layout.mention(&parameter.name, parameter.span)?;
    }
    Ok(())
}

/// The thread of a function. `shown` are registers that someone looks at in the end; `lost` says that names may be
/// declared where the text could not be read.
pub(in super::super) fn lower(
    function: &Function,
    (init, shown, lost): (&[Init], &[String], bool),
    context: &mut Context<'_>,
    errors: &mut Errors,
) -> Option<Thread> {
    errors.begin_thread();
    let Context { source, layout, sources } = context;
    let (first, wants_places) = (sources.places.len(), sources.wants_places);
    let mut lowerer = Lowerer {
        asm: Assembler::new(&format!("P{}", function.thread), sources),
        source,
        cells: layout.locations().len(),
        layout,
        function,
        shown,
        locals: BTreeMap::new(),
        temporaries: Vec::new(),
        used: 0,
        through: 0,
        loops: 0,
        root: function.body.close,
        gaps: Gaps { wanted: wants_places, made: 0, filled: false, wraps: Vec::new() },
        errors,
        lost,
        full: false,
        failed: false,
    };
    lowerer.begin(init);
    lowerer.block(&function.body);
    let Lowerer { asm, gaps, errors, failed, .. } = lowerer;
    if failed {
        return None;
    }
    let thread = errors.check(asm.finish(function.body.close))?;
    for (at, wrap) in gaps.wraps {
        context.sources.places[first + at].wrap = Some(wrap);
    }
    Some(thread)
}

/// A local of the function.
#[derive(Clone, Copy, Debug)]
struct Local {
    reg: Reg,
    /// Whether it was declared to hold an address.
    pointer: bool,
    /// Whether a declaration of it was met.
    declared: bool,
}

/// Where fences may be put.
#[derive(Debug)]
struct Gaps {
    wanted: bool,
    /// How many there are so far.
    made: usize,
    /// Whether a fence of the author stands where the next one would be.
    filled: bool,
    /// Which of them need braces, around what.
    wraps: Vec<(usize, Span)>,
}

struct Lowerer<'a> {
    asm: Assembler<'a>,
    source: &'a str,
    layout: &'a mut Layout,
    /// How many locations there are.
    cells: usize,
    function: &'a Function,
    shown: &'a [String],
    locals: BTreeMap<String, Local>,
    /// Registers for values in between; the first `used` are taken by the current statement.
    temporaries: Vec<Reg>,
    used: usize,
    /// How large all addresses that come from registers are together.
    through: usize,
    /// How many loops the statement is in.
    loops: u32,
    /// What is shown of the current statement.
    root: Span,
    gaps: Gaps,
    errors: &'a mut Errors,
    /// Whether names may be declared where the text could not be read.
    lost: bool,
    /// Whether something is too large, so that more of it is, too.
    full: bool,
    /// Whether something went wrong, said or not.
    failed: bool,
}

impl Lowerer<'_> {
    /// What was made, if nothing went wrong. What may follow from a mistake is not said.
    fn check<T>(&mut self, made: Result<T, Wrong>) -> Option<T> {
        match made {
            Ok(made) => Some(made),
            Err(wrong) => {
                let follows = wrong.code == NAME && self.lost || self.full;
                self.full |= wrong.code == TOO_LARGE;
                self.failed = true;
                if !follows {
                    self.errors.push(wrong);
                }
                None
            }
        }
    }

    /// Registers that must be there, and their initial values.
    fn begin(&mut self, init: &[Init]) {
        for name in self.shown {
            let declared = self.declare(name, false, self.root);
            self.check(declared);
        }
        for item in init {
            let Spot::Register(thread, name) = &item.spot else { continue };
            if *thread != self.function.thread {
                continue;
            }
            let value = item.values.first().cloned().unwrap_or(Constant::Int(0));
            let pointer = !matches!(value, Constant::Int(_)) || item.pointer;
            let reg = self.declare(name, pointer, item.span);
            let value = self.layout.constant(&value, item.span);
            if let (Some(reg), Some(value)) = (self.check(reg), self.check(value)) {
                self.mark(item.span);
                self.asm.assign(reg, Expr::Const(value));
            }
        }
    }

    /// Makes a name a local.
    fn declare(&mut self, name: &str, pointer: bool, span: Span) -> Result<Reg, Wrong> {
        if let Some(parameter) = self.function.parameters.iter().find(|p| p.name == name) {
            let message = format!("`{name}` is a location in this thread, and cannot be a local");
            let span = if self.shown.iter().any(|s| s == name) { parameter.span } else { span };
            return Err(Wrong::name(span, message));
        }
        if let Some(local) = self.locals.get_mut(name) {
            local.pointer |= pointer;
            return Ok(local.reg);
        }
        self.check_registers(span)?;
        let reg = self.asm.register(name);
        self.locals.insert(name.to_string(), Local { reg, pointer, declared: false });
        Ok(reg)
    }

    fn check_registers(&self, span: Span) -> Result<(), Wrong> {
        if self.locals.len() + self.temporaries.len() >= limits::REGISTERS {
            let message = "this thread has too many locals, or too many accesses in one statement";
            return Err(Wrong::too_large(span, message).hint(limits::ADVICE));
        }
        Ok(())
    }

    /// A register for a value in between, free again when the statement is over.
    fn temporary(&mut self, span: Span) -> Result<Reg, Wrong> {
        if self.used == self.temporaries.len() {
            self.check_registers(span)?;
            self.temporaries.push(self.asm.temporary());
        }
        self.used += 1;
        Ok(self.temporaries[self.used - 1])
    }

    /// The text of a span on one line.
    fn text(&self, span: Span) -> String {
        span.text(self.source).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What follows belongs to this part of the source.
    fn mark(&mut self, span: Span) {
        let text = self.text(span);
        self.asm.begin(span, &text);
    }

    /// A fence may be put here.
    fn gap(&mut self, at: Span, text: &str, at_end: bool, wrap: Option<Span>) {
        if std::mem::take(&mut self.gaps.filled) {
            return;
        }
        self.asm.place(at, text, at_end, self.loops);
        self.note_gap(wrap);
    }

    fn note_gap(&mut self, wrap: Option<Span>) {
        if self.gaps.wanted {
            self.gaps.wraps.extend(wrap.map(|wrap| (self.gaps.made, wrap)));
            self.gaps.made += 1;
        }
    }

    fn gap_before(&mut self, statement: &Statement, wrap: Option<Span>) {
        let text = self.text(statement.head);
        self.gap(statement.head, &text, false, wrap);
    }

    fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            if let Some(kinds) = self.fence_alone(statement) {
                self.fence(statement, kinds, None);
                continue;
            }
            let has_code = match &statement.kind {
                StatementKind::Declare(all) => all.iter().any(|declared| declared.value.is_some()),
                // The gaps inside of the block will do.
                StatementKind::Block(_) | StatementKind::Empty => false,
                StatementKind::Assign(..)
                | StatementKind::Evaluate(_)
                | StatementKind::If(..)
                | StatementKind::While(..)
                | StatementKind::DoWhile(..) => true,
            };
            if has_code {
                self.gap_before(statement, None);
            }
            self.statement(statement);
        }
        self.gap(block.close, "}", true, None);
    }

    /// A statement where a block could stand.
    fn part(&mut self, statement: &Statement) {
        self.gaps.filled = false;
        if matches!(statement.kind, StatementKind::Block(_)) {
            return self.statement(statement);
        }
        let wrap = Some(Span { end: statement.end.end, ..statement.span });
        if let Some(kinds) = self.fence_alone(statement) {
            return self.fence(statement, kinds, wrap);
        }
        self.gap_before(statement, wrap);
        self.statement(statement);
        if !matches!(statement.kind, StatementKind::Empty) {
            self.gap(statement.end, "}", true, wrap);
        }
    }

    /// What a statement orders, if it is a fence of the author.
    fn fence_alone(&mut self, statement: &Statement) -> Option<FenceKinds> {
        match &statement.kind {
            StatementKind::Evaluate(Expression {
                kind: ExpressionKind::Call(name, arguments),
                span,
                ..
            }) => {
                let kinds = self.fence_kinds(name, arguments, *span);
                // What is wrong with it is said once.
                self.check(kinds).unwrap_or(Some(FenceKinds::default()))
            }
            _ => None,
        }
    }

    /// A fence of the author; one of no kind is nothing.
    fn fence(&mut self, statement: &Statement, kinds: FenceKinds, wrap: Option<Span>) {
        if kinds == FenceKinds::default() {
            return;
        }
        self.mark(statement.head);
        let whole = Span { end: statement.end.end, ..statement.span };
        self.asm.written_fence(kinds, whole, self.loops);
        // Which gaps it fills is decided here, where its surroundings are known.
        self.asm.reopen();
        self.note_gap(wrap);
        self.gaps.filled = true;
    }

    fn statement(&mut self, statement: &Statement) {
        let head = statement.head;
        (self.root, self.used) = (head, 0);
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
                self.mark(head);
                self.asm.jump_unless(condition, other);
                self.part(then);
                if let Some(otherwise) = otherwise {
                    self.mark(head);
                    self.asm.jump(end);
                    self.asm.bind(other);
                    self.part(otherwise);
                } else {
                    self.asm.bind(other);
                }
                self.join(end);
            }
            StatementKind::While(condition, body) => {
                let (again, end) = (self.asm.target(), self.asm.target());
                self.asm.bind(again);
                self.loops += 1;
                let condition = self.condition(condition);
                self.mark(head);
                self.asm.jump_unless(condition, end);
                self.part(body);
                self.loops -= 1;
                self.mark(head);
                self.asm.jump(again);
                self.join(end);
            }
            StatementKind::DoWhile(body, condition) => {
                let again = self.asm.target();
                self.asm.bind(again);
                self.loops += 1;
                self.part(body);
                (self.root, self.used) = (head, 0);
                let condition = self.condition(condition);
                self.loops -= 1;
                self.mark(head);
                self.asm.jump_if(condition, again);
                self.gaps.filled = false;
            }
        }
    }

    /// The value of a condition; if something is wrong with it, what depends on it is looked at all the same.
    fn condition(&mut self, condition: &Expression) -> Expr<Reg> {
        let value = self.value(condition);
        self.check(value).unwrap_or(Expr::Const(0))
    }

    /// Control comes here from elsewhere, too, past a fence that may have just been added.
    fn join(&mut self, target: Target) {
        self.asm.bind(target);
        self.gaps.filled = false;
    }

    fn declaration(&mut self, declared: &Declared) -> Result<(), Wrong> {
        let reg = self.declare(&declared.name, declared.pointer, declared.span)?;
        let local = self.locals.get_mut(&declared.name).expect("just declared");
        if std::mem::replace(&mut local.declared, true) {
            let message = format!("`{}` is declared twice in this thread", declared.name);
            return Err(Wrong::unsupported(declared.span, message)
                .hint("a name stands for one register: choose another one"));
        }
        match &declared.value {
            Some(value) => self.set(reg, value),
            None => Ok(()),
        }
    }

    /// Gives a local a value.
    fn set(&mut self, reg: Reg, value: &Expression) -> Result<(), Wrong> {
        let value = self.value_into(value, reg)?;
        if value != Expr::Var(reg) {
            self.mark(self.root);
            self.asm.assign(reg, value);
        }
        Ok(())
    }
}
