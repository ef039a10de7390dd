//! An assembler for programs. It supports jumps to targets that are bound later, fresh registers
//! and locations, labels, and places for fences. All front ends and translations build their
//! programs with this module.
//!
//! - [`Assembler`] builds the code of one thread, statement by statement.
//! - [`Sources`] collects the source statements and the places for fences of a program.
//! - [`Locations`] adds locations with unique names.
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

use std::collections::{BTreeMap, BTreeSet};

use crate::access_order::AccessOrder;
use crate::expr::Expr;
use crate::flow;
use crate::ids::{Label, Loc, Pc, Reg};
use crate::op::{Address, FenceKinds, Op};
use crate::place::Place;
use crate::program::{LabelInfo, Location, Register, Stmt};
use crate::span::Span;
use crate::value::{Type, Value};

/// A jump target in the code of one thread. It may be used before it is bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target(usize);

/// The code of one thread under construction.
#[derive(Clone, Debug)]
pub struct Assembler {
    registers: Vec<Register>,
    lines: Vec<Line>,
    /// Indexed by target: the line that the target is bound to, if it is bound.
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
    /// The exit; for a branch, the exit if its condition holds.
    next: Exit,
    /// For a branch: the exit if its condition does not hold.
    otherwise: Exit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Exit {
    /// The following line.
    Next,
    To(Target),
}

/// What [`Assembler::finish_compact`] may do with a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Drop the line if it is a `skip`.
    Plain,
    /// Drop the line if its register is set again before it is read.
    Reset,
    /// Keep the line: it marks a place for a fence.
    Mark,
}

/// The maximum number of lines that the search for dead resets visits.
const MAX_RESET_VISITS: usize = 5_000_000;

impl Assembler {
    /// Creates an assembler without code, with these registers.
    pub fn new(registers: Vec<Register>) -> Self {
        let (lines, targets) = (Vec::new(), Vec::new());
        Assembler { registers, lines, targets, label: Label(0), critical: false }
    }

    /// Returns the registers added so far.
    pub fn registers(&self) -> &[Register] {
        &self.registers
    }

    /// Adds a register.
    pub fn register(&mut self, name: &str, ty: Type) -> Reg {
        let reg = Reg::from_index(self.registers.len());
        self.registers.push(Register { name: name.into(), ty });
        reg
    }

    /// Returns the register with this name. Adds it if there is none.
    pub fn named_register(&mut self, name: &str, ty: Type) -> Reg {
        match self.registers.iter().position(|register| register.name == name) {
            Some(at) => Reg::from_index(at),
            None => self.register(name, ty),
        }
    }

    /// Adds a temporary register, which has no name in the source.
    pub fn temporary(&mut self, ty: Type) -> Reg {
        self.register(&format!("%{}", self.registers.len()), ty)
    }

    /// Sets the source statement of the statements that are added from now on, and whether they are
    /// in a critical section.
    pub fn at(&mut self, label: Label, critical: bool) {
        self.label = label;
        self.critical = critical;
    }

    /// Returns the number of statements.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns whether there are no statements.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Creates a target, to be bound later.
    pub fn target(&mut self) -> Target {
        self.targets.push(None);
        Target(self.targets.len() - 1)
    }

    /// Binds a target to the statement that is added next.
    pub fn bind(&mut self, target: Target) {
        debug_assert!(self.targets[target.0].is_none(), "a target is bound once");
        self.targets[target.0] = Some(self.lines.len());
    }

    /// Creates a target that is bound to the statement that is added next.
    pub fn here(&mut self) -> Target {
        let target = self.target();
        self.bind(target);
        target
    }

    /// Adds a statement that continues with the next one. For branches, use [`Self::branch`] or a
    /// conditional jump.
    pub fn op(&mut self, op: Op) {
        self.add(op, Role::Plain, Exit::Next, Exit::Next);
    }

    /// Adds a statement that continues at the target.
    pub fn op_then(&mut self, op: Op, next: Target) {
        self.add(op, Role::Plain, Exit::To(next), Exit::Next);
    }

    /// Adds a branch to one of two targets.
    pub fn branch(&mut self, cond: Expr<Reg>, then: Target, otherwise: Target) {
        self.add(branch(cond), Role::Plain, Exit::To(then), Exit::To(otherwise));
    }

    /// Adds a jump to the target.
    pub fn jump(&mut self, target: Target) {
        self.op_then(Op::Skip, target);
    }

    /// Adds a jump to the target if the condition holds.
    pub fn jump_if(&mut self, cond: Expr<Reg>, then: Target) {
        self.add(branch(cond), Role::Plain, Exit::To(then), Exit::Next);
    }

    /// Adds a jump to the target if the condition does not hold.
    pub fn jump_unless(&mut self, cond: Expr<Reg>, otherwise: Target) {
        self.add(branch(cond), Role::Plain, Exit::Next, Exit::To(otherwise));
    }

    /// Adds a statement that sets a register to 0. [`Self::finish_compact`] drops the statement if
    /// the register is set again before it is read.
    pub fn reset(&mut self, reg: Reg) {
        let op = Op::Assign { reg, expr: Expr::Const(0) };
        self.add(op, Role::Reset, Exit::Next, Exit::Next);
    }

    /// Adds a `skip` that marks the place with this label. [`Self::finish_compact`] keeps it. The
    /// statements after it belong to the same source statement as those before it.
    pub fn mark(&mut self, label: Label) {
        let before = std::mem::replace(&mut self.label, label);
        self.add(Op::Skip, Role::Mark, Exit::Next, Exit::Next);
        self.label = before;
    }

    fn add(&mut self, op: Op, role: Role, next: Exit, otherwise: Exit) {
        let (label, critical) = (self.label, self.critical);
        self.lines.push(Line { label, critical, op, role, next, otherwise });
    }

    /// Returns the registers and the code, with all added statements. Every used target must be
    /// bound, and the last statement must not fall through.
    pub fn finish(self) -> (Vec<Register>, Vec<Stmt>) {
        let last = self.lines.len().saturating_sub(1);
        let pc = |at: usize| Pc::from_index(at.min(last));
        let code = (0..self.lines.len()).map(|at| self.stmt(at, &pc)).collect();
        (self.registers, code)
    }

    /// Returns the registers and the code without jumps, `skip`s, dead resets and unreachable
    /// statements. An infinite loop of such statements keeps one statement. Marks are kept. The
    /// last statement must not fall through.
    pub fn finish_compact(mut self) -> (Vec<Register>, Vec<Stmt>) {
        self.remove_dead_resets();
        let resolved = self.resolve_jumps();
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

    /// Converts a line to a statement; `pc` maps lines to program counters.
    fn stmt(&self, at: usize, pc: &impl Fn(usize) -> Pc) -> Stmt {
        let Line { label, critical, ref op, next, otherwise, .. } = self.lines[at];
        let exit = |exit| pc(self.line_of(at, exit));
        let (op, next) = if let Op::Branch { cond, .. } = op {
            let (then, otherwise) = (exit(next), exit(otherwise));
            (Op::Branch { cond: cond.clone(), then, otherwise }, Pc(0))
        } else if op.falls_through() {
            (op.clone(), exit(next))
        } else {
            (op.clone(), Pc(0))
        };
        Stmt { label, op, next, critical }
    }

    /// Returns the line that an exit of line `at` leads to.
    fn line_of(&self, at: usize, exit: Exit) -> usize {
        match exit {
            Exit::Next => at + 1,
            Exit::To(target) => self.targets[target.0].expect("every used target is bound"),
        }
    }

    fn successors(&self, at: usize) -> impl Iterator<Item = usize> + use<> {
        let Line { ref op, next, otherwise, .. } = self.lines[at];
        let is_branch = matches!(op, Op::Branch { .. });
        let first = (is_branch || op.falls_through()).then(|| self.line_of(at, next));
        let second = is_branch.then(|| self.line_of(at, otherwise));
        first.into_iter().chain(second)
    }

    /// Returns the next line if this line has no effect. A branch has an effect even if both exits
    /// are the same: it may fault, and it waits for loads that are performed late.
    fn next_if_no_effect(&self, at: usize) -> Option<usize> {
        let line = &self.lines[at];
        (line.op == Op::Skip && line.role != Role::Mark).then(|| self.line_of(at, line.next))
    }

    /// Computes for each line the first line with an effect that control reaches from there. In an
    /// infinite loop of lines without effect, this is one of those lines.
    fn resolve_jumps(&self) -> Vec<usize> {
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
                match self.next_if_no_effect(at) {
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

    /// Replaces dead resets by `skip`s: the register is set again before it is read. Stops early
    /// after [`MAX_RESET_VISITS`] lines.
    fn remove_dead_resets(&mut self) {
        let mut visits = 0;
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
                visits += 1;
                let op = &self.lines[here].op;
                live |= flow::uses(op).contains(&reg);
                if live || visits > MAX_RESET_VISITS {
                    break;
                }
                if op.target() != Some(reg) {
                    pending.extend(self.successors(here));
                }
            }
            if visits > MAX_RESET_VISITS {
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

/// The source statements and the places for fences of a program, shared by all its threads.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The source statements.
    pub labels: Vec<LabelInfo>,
    /// The places where fences can be inserted.
    pub places: Vec<Place>,
    /// Whether front ends mark places in the code.
    pub marks_places: bool,
    /// The orders of accesses.
    pub orders: BTreeMap<Label, AccessOrder>,
    /// The conditional selections.
    pub selections: BTreeSet<Label>,
}

impl Sources {
    /// Adds a source statement and returns its label.
    pub fn label(&mut self, span: Span, text: &str, function: &str) -> Label {
        let label = Label::from_index(self.labels.len());
        self.labels.push(LabelInfo { span, text: text.into(), function: function.into() });
        label
    }

    /// Notes the order of an access. If accesses share a label, all of them have the weakest order.
    pub fn note_order(&mut self, label: Label, order: AccessOrder) {
        let known = self.orders.entry(label).or_insert(order);
        *known = known.weaker(order);
    }

    /// Adds a place for a fence at this source offset. `label` is the label of the statement that
    /// marks the place.
    pub fn place(&mut self, label: Label, offset: u32, at_end: bool, loops: u32) {
        let (wrap, written, order) = (None, None, None);
        self.places.push(Place { label, offset, at_end, wrap, loops, written, order });
    }

    /// Adds the place of a fence in the source.
    pub fn written(&mut self, label: Label, kinds: FenceKinds, span: Span, loops: u32) {
        let (offset, written) = (span.start, Some((kinds, span)));
        let (at_end, wrap, order) = (false, None, None);
        self.places.push(Place { label, offset, at_end, wrap, loops, written, order });
    }
}

/// A list of locations that gives added locations unique names.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    all: Vec<Location>,
    /// The names in use, without indices.
    used_names: BTreeSet<String>,
}

impl Locations {
    /// Creates a list with these locations.
    pub fn new(all: Vec<Location>) -> Self {
        let array_name = |name: &str| name.split('[').next().unwrap_or(name).to_string();
        let used_names = all.iter().map(|location| array_name(&location.name)).collect();
        Locations { all, used_names }
    }

    /// Adds a location. Appends `_` to the name until it is unique.
    pub fn add(&mut self, name: &str, ty: Type, init: Value) -> Loc {
        self.array(name, vec![(ty, init)]).base
    }

    /// Adds an array of locations. Appends `_` to the name until it is unique. The name of a single
    /// element has no index.
    pub fn array(&mut self, name: &str, elements: Vec<(Type, Value)>) -> Array {
        let mut name = name.to_string();
        while !self.used_names.insert(name.clone()) {
            name.push('_');
        }
        let (base, len) = (Loc::from_index(self.all.len()), elements.len());
        for (at, (ty, init)) in elements.into_iter().enumerate() {
            let name = if len == 1 { name.clone() } else { format!("{name}[{at}]") };
            self.all.push(Location { name, ty, init });
        }
        Array { base, len: len as u32 }
    }

    /// Returns the number of locations.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there are no locations.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns all locations.
    pub fn finish(self) -> Vec<Location> {
        self.all
    }
}

/// Consecutive locations that are accessed as an array, possibly with a single element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Array {
    /// The first element.
    pub base: Loc,
    /// The number of elements.
    pub len: u32,
}

impl Array {
    /// Returns the address of an element.
    pub fn at(&self, index: Expr<Reg>) -> Address {
        match index.as_const() {
            Some(at) => Address::fixed(Loc(self.base.0 + at as u32)),
            None => Address::element(self.base, self.len, index),
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
        code.op(Op::Assert(Expr::Var(r))); // unreachable
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
    fn an_infinite_loop_keeps_one_statement() {
        let mut code = Assembler::new(Vec::new());
        let again = code.here();
        code.jump(again);
        code.op(Op::Halt);
        assert_eq!(ops(&code.finish_compact().1), [(&Op::Skip, Pc(0))]);
    }

    #[test]
    fn new_locations_have_unique_names() {
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
