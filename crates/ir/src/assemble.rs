//! Building programs: code with jumps to targets that are bound later, fresh registers and locations, labels,
//! and places for fences. Every front end and every translation builds its programs with this module.
//!
//! - [`Assembler`] builds the code of one thread, statement by statement.
//! - [`Sources`] collects what all threads of a program share: the source statements and the places for fences.
//! - [`Locations`] adds locations with names that no other location has.
//!
//! ```
//! use fencepost_ir::assemble::Assembler;
//! use fencepost_ir::{Expr, Label, Op, Type};
//! let mut code = Assembler::new(Vec::new());
//! let r = code.register("r", Type::INT);
//! code.at(Label(0), false);
//! let again = code.here();
//! code.op(Op::Choose { reg: r, lo: 0, hi: 1 });
//! code.jump_if(Expr::Var(r), again);
//! code.op(Op::Halt);
//! assert_eq!(code.finish().1.len(), 3);
//! ```

use std::collections::BTreeSet;

use crate::expr::Expr;
use crate::flow;
use crate::ids::{Label, Loc, Pc, Reg};
use crate::op::{Address, FenceKinds, Op};
use crate::place::Place;
use crate::program::{LabelInfo, Location, Register, Stmt};
use crate::span::Span;
use crate::value::{Type, Value};

/// A position in the code of one thread, which may not be known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target(usize);

/// Code of one thread under construction.
#[derive(Clone, Debug)]
pub struct Assembler {
    registers: Vec<Register>,
    lines: Vec<Line>,
    /// By target: the position of the line that it is bound to.
    targets: Vec<Option<usize>>,
    label: Label,
    critical: bool,
}

#[derive(Clone, Debug)]
struct Line {
    label: Label,
    critical: bool,
    op: Op,
    role: Role,
    /// Where control goes next; for a branch, when its condition holds.
    next: Exit,
    /// For a branch: where control goes when its condition does not hold.
    otherwise: Exit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    /// The line that is added next.
    Next,
    To(Target),
}

/// What [`Assembler::finish_compact`] may do with a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Drop it if it is a `skip`.
    Plain,
    /// Drop it if the register is set again before it is read.
    Reset,
    /// Keep it: it marks a place for a fence.
    Mark,
}

/// How many lines the search for dead resets may visit.
const RESET_EFFORT: usize = 5_000_000;

impl Assembler {
    /// No code yet, and these registers.
    pub fn new(registers: Vec<Register>) -> Self {
        let (lines, targets) = (Vec::new(), Vec::new());
        Assembler { registers, lines, targets, label: Label(0), critical: false }
    }

    /// The registers so far.
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// A new register.
    pub fn register(&mut self, name: &str, ty: Type) -> Reg {
        let reg = Reg::from_index(self.registers.len());
        self.registers.push(Register { name: name.into(), ty });
        reg
    }

    /// The register of this name; a new one if there is none.
    pub fn named(&mut self, name: &str, ty: Type) -> Reg {
        match self.registers.iter().position(|register| register.name == name) {
            Some(at) => Reg::from_index(at),
            None => self.register(name, ty),
        }
    }

    /// A new register that the user never named.
    pub fn temporary(&mut self, ty: Type) -> Reg {
        self.register(&format!("%{}", self.registers.len()), ty)
    }

    /// What follows belongs to this source statement.
    pub fn at(&mut self, label: Label, critical: bool) {
        self.label = label;
        self.critical = critical;
    }

    /// How many statements there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// A target to be bound later.
    pub fn target(&mut self) -> Target {
        self.targets.push(None);
        Target(self.targets.len() - 1)
    }

    /// Binds a target to the statement that is added next.
    pub fn bind(&mut self, target: Target) {
        debug_assert!(self.targets[target.0].is_none(), "a target is bound once");
        self.targets[target.0] = Some(self.lines.len());
    }

    /// A new target, bound here.
    pub fn here(&mut self) -> Target {
        let target = self.target();
        self.bind(target);
        target
    }

    /// A statement; the next one follows it. Branches are added by [`Self::branch`] and the jumps.
    pub fn op(&mut self, op: Op) {
        self.add(op, Role::Plain, Exit::Next, Exit::Next);
    }

    /// A statement that is followed by the target.
    pub fn op_then(&mut self, op: Op, next: Target) {
        self.add(op, Role::Plain, Exit::To(next), Exit::Next);
    }

    /// Goes to one of two targets.
    pub fn branch(&mut self, cond: Expr<Reg>, then: Target, otherwise: Target) {
        self.add(branch(cond), Role::Plain, Exit::To(then), Exit::To(otherwise));
    }

    /// Goes to the target.
    pub fn jump(&mut self, target: Target) {
        self.op_then(Op::Skip, target);
    }

    /// Goes to the target if the condition holds, else on.
    pub fn jump_if(&mut self, cond: Expr<Reg>, then: Target) {
        self.add(branch(cond), Role::Plain, Exit::To(then), Exit::Next);
    }

    /// Goes on if the condition holds, else to the target.
    pub fn jump_unless(&mut self, cond: Expr<Reg>, otherwise: Target) {
        self.add(branch(cond), Role::Plain, Exit::Next, Exit::To(otherwise));
    }

    /// Sets a register to 0. [`Self::finish_compact`] drops the statement if the register is set again before it
    /// is read.
    pub fn reset(&mut self, reg: Reg) {
        let op = Op::Assign { reg, expr: Expr::Const(0) };
        self.add(op, Role::Reset, Exit::Next, Exit::Next);
    }

    /// A statement that does nothing and stays: it marks a place for a fence, whose label this is. The statements
    /// after it belong to the same source statement as those before it.
    pub fn mark(&mut self, label: Label) {
        let before = std::mem::replace(&mut self.label, label);
        self.add(Op::Skip, Role::Mark, Exit::Next, Exit::Next);
        self.label = before;
    }

    fn add(&mut self, op: Op, role: Role, next: Exit, otherwise: Exit) {
        let (label, critical) = (self.label, self.critical);
        self.lines.push(Line { label, critical, op, role, next, otherwise });
    }

    /// The registers and the code, one statement for each that was added. Every target that is jumped to is bound,
    /// and the last statement does not go on.
    pub fn finish(self) -> (Vec<Register>, Vec<Stmt>) {
        let last = self.lines.len().saturating_sub(1);
        let pc = |at: usize| Pc::from_index(at.min(last));
        let code = (0..self.lines.len()).map(|at| self.stmt(at, &pc)).collect();
        (self.registers, code)
    }

    /// The registers and the code without statements that do nothing: jumps, `skip`s and dead resets are dropped
    /// unless they are all that is left of an endless loop, and so is what cannot be reached. Marks stay. The
    /// last statement does not go on.
    pub fn finish_compact(mut self) -> (Vec<Register>, Vec<Stmt>) {
        self.remove_dead_resets();
        let resolved = self.resolve();
        let entry = resolved[0];
        let mut reachable = BTreeSet::from([entry]);
        let mut pending = vec![entry];
        while let Some(at) = pending.pop() {
            for next in self.successors(at) {
                if reachable.insert(resolved[next]) {
                    pending.push(resolved[next]);
                }
            }
        }
        let order: Vec<usize> =
            std::iter::once(entry).chain(reachable.into_iter().filter(|at| *at != entry)).collect();
        let mut pcs = vec![Pc(0); self.lines.len()];
        for (pc, at) in order.iter().enumerate() {
            pcs[*at] = Pc::from_index(pc);
        }
        let pc = |at: usize| pcs[resolved[at]];
        let code = order.iter().map(|at| self.stmt(*at, &pc)).collect();
        (self.registers, code)
    }

    /// The line as a statement; `pc` gives the program counter of a line.
    fn stmt(&self, at: usize, pc: &impl Fn(usize) -> Pc) -> Stmt {
        let Line { label, critical, ref op, next, otherwise, .. } = self.lines[at];
        let exit = |exit| pc(self.line_of(at, exit));
        let (op, next) = if let Op::Branch { cond, .. } = op {
            let (then, otherwise) = (exit(next), exit(otherwise));
            (Op::Branch { cond: cond.clone(), then, otherwise }, Pc(0))
        } else if op.goes_on() {
            (op.clone(), exit(next))
        } else {
            (op.clone(), Pc(0))
        };
        Stmt { label, op, next, critical }
    }

    /// The line that an exit of this line leads to.
    fn line_of(&self, at: usize, exit: Exit) -> usize {
        match exit {
            Exit::Next => at + 1,
            Exit::To(target) => self.targets[target.0].expect("a target that is used is bound"),
        }
    }

    fn successors(&self, at: usize) -> impl Iterator<Item = usize> + use<> {
        let Line { ref op, next, otherwise, .. } = self.lines[at];
        let is_branch = matches!(op, Op::Branch { .. });
        let first = (is_branch || op.goes_on()).then(|| self.line_of(at, next));
        let second = is_branch.then(|| self.line_of(at, otherwise));
        first.into_iter().chain(second)
    }

    /// Where a line leads to without doing anything. A branch does something even if both exits are one: it may
    /// fault, and it waits for loads that are performed late.
    fn leads_to(&self, at: usize) -> Option<usize> {
        let line = &self.lines[at];
        (line.op == Op::Skip && line.role != Role::Mark).then(|| self.line_of(at, line.next))
    }

    /// For each line, the first one from it on that does something; in an endless loop of lines that do nothing,
    /// one of them.
    fn resolve(&self) -> Vec<usize> {
        const UNKNOWN: usize = usize::MAX;
        let mut resolved = vec![UNKNOWN; self.lines.len()];
        let mut on_path = vec![false; self.lines.len()];
        for start in 0..self.lines.len() {
            let mut path = Vec::new();
            let mut at = start;
            let end = loop {
                if resolved[at] != UNKNOWN {
                    break resolved[at];
                }
                if on_path[at] {
                    break at;
                }
                on_path[at] = true;
                path.push(at);
                match self.leads_to(at) {
                    Some(next) => at = next,
                    None => break at,
                }
            };
            for at in path {
                resolved[at] = end;
                on_path[at] = false;
            }
        }
        resolved
    }

    /// Turns resets of registers that are set again before they are read into `skip`s.
    fn remove_dead_resets(&mut self) {
        let mut effort = 0;
        let mut seen = vec![usize::MAX; self.lines.len()];
        for at in 0..self.lines.len() {
            let Line { op: Op::Assign { reg, .. }, role: Role::Reset, .. } = self.lines[at] else {
                continue;
            };
            let mut pending = vec![at + 1];
            let mut live = false;
            while let Some(here) = pending.pop() {
                if seen[here] == at {
                    continue;
                }
                seen[here] = at;
                effort += 1;
                let op = &self.lines[here].op;
                live |= flow::uses(op).contains(&reg);
                if live || effort > RESET_EFFORT {
                    break;
                }
                if op.target() != Some(reg) {
                    pending.extend(self.successors(here));
                }
            }
            if effort > RESET_EFFORT {
                return;
            }
            if !live {
                self.lines[at].op = Op::Skip;
                self.lines[at].role = Role::Plain;
            }
        }
    }
}

fn branch(cond: Expr<Reg>) -> Op {
    Op::Branch { cond, then: Pc(0), otherwise: Pc(0) }
}

/// What all threads of a program share: its source statements, and its places for fences if they are wanted.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Source statements.
    pub labels: Vec<LabelInfo>,
    /// Where fences may be put.
    pub places: Vec<Place>,
    /// Whether places are wanted.
    pub wants_places: bool,
}

impl Sources {
    /// The label of a new source statement.
    pub fn label(&mut self, span: Span, text: &str, function: &str) -> Label {
        let label = Label::from_index(self.labels.len());
        self.labels.push(LabelInfo { span, text: text.into(), function: function.into() });
        label
    }

    /// A place for a fence before this offset of the source, with the label of the statement that marks it.
    pub fn place(&mut self, label: Label, offset: u32, at_end: bool, loops: u32) {
        let (wrap, written) = (None, None);
        self.places.push(Place { label, offset, at_end, wrap, loops, written });
    }

    /// A fence that the user wrote, which is a place itself.
    pub fn written(&mut self, label: Label, kinds: FenceKinds, span: Span, loops: u32) {
        let (offset, written) = (span.start, Some((kinds, span)));
        self.places.push(Place { label, offset, at_end: false, wrap: None, loops, written });
    }
}

/// Locations of a program, to which others are added under names that are not taken.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    all: Vec<Location>,
    /// The names so far, without indices.
    taken: BTreeSet<String>,
}

impl Locations {
    /// These, and no others yet.
    pub fn new(all: Vec<Location>) -> Self {
        let array = |name: &str| name.split('[').next().unwrap_or(name).to_string();
        let taken = all.iter().map(|location| array(&location.name)).collect();
        Locations { all, taken }
    }

    /// A new location of this name, or one like it if that is taken.
    pub fn add(&mut self, name: &str, ty: Type, init: Value) -> Loc {
        self.array(name, vec![(ty, init)]).base
    }

    /// New locations: an array of this name, or one like it if that is taken; a single one has no index.
    pub fn array(&mut self, name: &str, elements: Vec<(Type, Value)>) -> Array {
        let mut name = name.to_string();
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        let (base, len) = (Loc::from_index(self.all.len()), elements.len());
        for (at, (ty, init)) in elements.into_iter().enumerate() {
            let name = if len == 1 { name.clone() } else { format!("{name}[{at}]") };
            self.all.push(Location { name, ty, init });
        }
        Array { base, len: len as u32 }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All of them.
    pub fn finish(self) -> Vec<Location> {
        self.all
    }
}

/// Locations that are accessed as an array; maybe a single one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    /// The first one.
    pub base: Loc,
    /// How many.
    pub len: u32,
}

impl Array {
    /// The address of an element.
    pub fn at(&self, index: Expr<Reg>) -> Address {
        match index.as_const() {
            Some(at) => Address::fixed(Loc(self.base.0 + at as u32)),
            None => Address { base: self.base, cell: None, index: Some((self.len, index)) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ops(code: &[Stmt]) -> Vec<(&Op, Pc)> {
        code.iter().map(|stmt| (&stmt.op, stmt.next)).collect()
    }

    #[test]
    fn compact_code_has_no_jumps_and_no_dead_statements() {
        let mut code = Assembler::new(Vec::new());
        let r = code.register("r", Type::INT);
        let (end, mark) = (code.target(), Label(7));
        code.at(Label(1), false);
        code.reset(r); // dead: `r` is set before it is read
        code.op(Op::Choose { reg: r, lo: 0, hi: 1 });
        code.jump(end);
        code.op(Op::Assert(Expr::Var(r))); // cannot be reached
        code.bind(end);
        code.mark(mark);
        code.op(Op::Halt);
        let (_, full) = code.clone().finish();
        assert_eq!(full.len(), 6);
        assert_eq!(full[2].next, Pc(4));
        let (_, compact) = code.finish_compact();
        let choose = Op::Choose { reg: r, lo: 0, hi: 1 };
        assert_eq!(ops(&compact), [(&choose, Pc(1)), (&Op::Skip, Pc(2)), (&Op::Halt, Pc(0))]);
        assert_eq!(compact.iter().map(|s| s.label).collect::<Vec<_>>(), [Label(1), mark, Label(1)]);
    }

    #[test]
    fn an_endless_loop_keeps_a_statement() {
        let mut code = Assembler::new(Vec::new());
        let again = code.here();
        code.jump(again);
        code.op(Op::Halt);
        assert_eq!(ops(&code.finish_compact().1), [(&Op::Skip, Pc(0))]);
    }

    #[test]
    fn new_locations_have_names_of_their_own() {
        let old = ["x", "a[0]", "a[1]"];
        let old = old.map(|name| Location { name: name.into(), ty: Type::INT, init: 0 });
        let mut locations = Locations::new(old.to_vec());
        assert_eq!(locations.add("x", Type::Bool, 0), Loc(3));
        let array = locations.array("a", vec![(Type::INT, 1); 2]);
        assert_eq!(array.at(Expr::Const(1)), Address::fixed(Loc(5)));
        let names: Vec<String> = locations.finish().into_iter().map(|l| l.name).collect();
        assert_eq!(names, ["x", "a[0]", "a[1]", "x_", "a_[0]", "a_[1]"]);
    }
}
