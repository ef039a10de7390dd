//! Code for one thread, statement by statement, with jumps to places that come later.

use std::collections::BTreeMap;

use fencepost_ir::{
    Expr, FenceKinds, Label, LabelInfo, Op, Pc, Place, Reg, Register, Span, Stmt, Thread, Type,
};

use super::wrong::Wrong;
use crate::fp::limits;

/// What all threads share: source statements, and places if they are wanted.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Source statements.
    pub labels: Vec<LabelInfo>,
    /// Where fences may be put.
    pub places: Vec<Place>,
    /// Whether places are wanted.
    pub wants_places: bool,
}

/// A place in the code that may not be known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target(usize);

/// Code for one thread.
#[derive(Debug)]
pub struct Assembler<'a> {
    name: String,
    sources: &'a mut Sources,
    registers: Vec<Register>,
    by_name: BTreeMap<String, Reg>,
    code: Vec<Stmt>,
    /// Which statements go to a target instead of the next statement, and by which way.
    jumps: Vec<(usize, Way, Target)>,
    targets: Vec<Option<Pc>>,
    label: Label,
    /// Whether a fence of the author has just been added, so that another place right after it is useless.
    filled: bool,
}

/// Which successor of a statement.
#[derive(Clone, Copy, Debug)]
enum Way {
    Next,
    Then,
    Otherwise,
}

impl<'a> Assembler<'a> {
    /// For the thread of this name.
    pub fn new(name: &str, sources: &'a mut Sources) -> Self {
        Assembler {
            name: name.to_string(),
            sources,
            registers: Vec::new(),
            by_name: BTreeMap::new(),
            code: Vec::new(),
            jumps: Vec::new(),
            targets: Vec::new(),
            label: Label(0),
            filled: false,
        }
    }

    fn new_label(&mut self, span: Span, text: &str) -> Label {
        let label = Label::from_index(self.sources.labels.len());
        let function = self.name.clone();
        self.sources.labels.push(LabelInfo { span, text: text.to_string(), function });
        label
    }

    /// What follows belongs to this source statement.
    pub fn begin(&mut self, span: Span, text: &str) {
        self.label = self.new_label(span, text);
    }

    /// A fence may be put here, before this source statement (or, at the end of the code, behind what comes
    /// before).
    pub fn place(&mut self, span: Span, text: &str, at_end: bool, loops: u32) {
        if !self.sources.wants_places || std::mem::take(&mut self.filled) {
            return;
        }
        let label = self.new_label(span, text);
        self.sources.places.push(Place {
            label,
            offset: span.start,
            at_end,
            wrap: None,
            loops,
            written: None,
        });
        let before = std::mem::replace(&mut self.label, label);
        self.emit(Op::Skip);
        self.label = before;
    }

    /// A fence of the author, which is a place itself.
    pub fn written_fence(&mut self, kinds: FenceKinds, span: Span, loops: u32) {
        self.emit(Op::Fence(kinds));
        if self.sources.wants_places {
            self.sources.places.push(Place {
                label: self.label,
                offset: span.start,
                at_end: false,
                wrap: None,
                loops,
                written: Some((kinds, span)),
            });
            self.filled = true;
        }
    }

    /// Control may come here from elsewhere, too, past a fence that was just added.
    pub fn reopen(&mut self) {
        self.filled = false;
    }

    /// The register of this name.
    pub fn register(&mut self, name: &str) -> Reg {
        if let Some(reg) = self.by_name.get(name) {
            return *reg;
        }
        let reg = Reg::from_index(self.registers.len());
        self.registers.push(Register { name: name.to_string(), ty: Type::INT });
        self.by_name.insert(name.to_string(), reg);
        reg
    }

    /// A register of its own.
    pub fn temporary(&mut self) -> Reg {
        let name = format!("%{}", self.registers.len());
        self.register(&name)
    }

    /// Adds a statement.
    pub fn emit(&mut self, op: Op) {
        let next = Pc::from_index(self.code.len() + 1);
        self.code.push(Stmt { label: self.label, op, next, critical: false });
    }

    /// `reg = expr`.
    pub fn assign(&mut self, reg: Reg, expr: Expr<Reg>) {
        if expr != Expr::Var(reg) {
            self.emit(Op::Assign { reg, expr: expr.fold() });
        }
    }

    /// A place in the code to be told later.
    pub fn target(&mut self) -> Target {
        self.targets.push(None);
        Target(self.targets.len() - 1)
    }

    /// The target is here.
    pub fn bind(&mut self, target: Target) {
        self.targets[target.0] = Some(Pc::from_index(self.code.len()));
    }

    /// Goes to a target.
    pub fn jump(&mut self, target: Target) {
        self.jumps.push((self.code.len(), Way::Next, target));
        self.emit(Op::Skip);
    }

    /// Goes to a target when the condition holds, else on.
    pub fn jump_if(&mut self, cond: Expr<Reg>, target: Target) {
        let next = Pc::from_index(self.code.len() + 1);
        self.jumps.push((self.code.len(), Way::Then, target));
        self.emit(Op::Branch { cond: cond.fold(), then: next, otherwise: next });
    }

    /// Goes to a target unless the condition holds.
    pub fn jump_unless(&mut self, cond: Expr<Reg>, target: Target) {
        let next = Pc::from_index(self.code.len() + 1);
        self.jumps.push((self.code.len(), Way::Otherwise, target));
        self.emit(Op::Branch { cond: cond.fold(), then: next, otherwise: next });
    }

    /// The thread; all targets are told.
    pub fn finish(mut self, span: Span) -> Result<Thread, Wrong> {
        self.begin(span, "end");
        self.emit(Op::Halt);
        // Nothing comes after the end.
        self.code.iter_mut().filter(|stmt| stmt.op == Op::Halt).for_each(|end| end.next = Pc(0));
        if self.code.len() > limits::STATEMENTS {
            return Err(Wrong::too_large(span, "this thread is too long").hint(limits::ADVICE));
        }
        for (at, way, target) in &self.jumps {
            let pc = self.targets[target.0].expect("every target is told before the end");
            match (way, &mut self.code[*at].op) {
                (Way::Then, Op::Branch { then, .. }) => *then = pc,
                (Way::Otherwise, Op::Branch { otherwise, .. }) => *otherwise = pc,
                _ => self.code[*at].next = pc,
            }
        }
        Ok(Thread { name: self.name, registers: self.registers, code: self.code })
    }
}
