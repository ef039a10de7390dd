//! What each expression does with the numbers of a class, and what this means for the class.
//!
//! An expression has a [`Form`]. A use that no form describes excludes the class.

use super::MAX_MODULUS;
use super::facts::{Facts, Offsets};
use super::flow::{Components, conditions};
use crate::expr::{BinOp, Expr, UnOp, WideOp};
use crate::flow::{atomic_statements, for_each_expr};
use crate::ids::ThreadId;
use crate::op::{Address, CasResult, Op, Update};
use crate::program::{Problem, Program};
use crate::property::Observable;
use crate::range::{Range, footprint};
use crate::value::Value;

/// What an expression does with numbers of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Its value does not depend on numbers of a class, except by comparisons and remainders.
    Data,
    /// A constant between two constants.
    Const(Value, Value),
    /// A number of the class plus a constant. If it is not reduced, its value can be outside of
    /// the range of a class that wraps.
    Counter { class: usize, offsets: Range, is_reduced: bool },
    /// The difference of two numbers of the class, plus a constant.
    Difference { class: usize, offsets: Range },
}

impl Form {
    fn class(self) -> Option<usize> {
        match self {
            Form::Data | Form::Const(..) => None,
            Form::Counter { class, .. } | Form::Difference { class, .. } => Some(class),
        }
    }
}

/// Returns the modulus if `a op b` is a remainder modulo a small constant `b`.
pub(super) fn small_modulus<V>(op: BinOp, b: &Expr<V>) -> Option<Value> {
    let constant = b.as_const()?;
    let is_remainder =
        matches!(op, BinOp::Rem | BinOp::Wide(WideOp::Rem | WideOp::WrapRem | WideOp::UnsignedRem));
    let modulus = match op == BinOp::BitAnd {
        true => constant.checked_add(1).filter(|size| is_power(*size))?,
        false => Some(constant).filter(|_| is_remainder)?,
    };
    (1..=MAX_MODULUS).contains(&modulus).then_some(modulus)
}

/// Collects what is known about the uses of classes.
pub(super) struct Checker<'p> {
    program: &'p Program,
    components: Components,
    facts: Vec<Facts>,
}

impl<'p> Checker<'p> {
    pub(super) fn new(program: &'p Program, components: Components, classes: usize) -> Self {
        Checker { program, components, facts: vec![Facts::new(); classes] }
    }

    pub(super) fn facts(&self, class: usize) -> &Facts {
        &self.facts[class]
    }

    /// Examines all statements and conditions, except the `init` block.
    pub(super) fn check(&mut self, problem: &Problem) {
        for (t, thread) in self.program.threads.iter().enumerate() {
            let t = ThreadId::from_index(t);
            let in_block = atomic_statements(thread, false);
            let on_cycle = crate::flow::near_cycles(thread, |at| !in_block[at]);
            for (at, stmt) in thread.code.iter().enumerate() {
                self.check_op(t, &stmt.op, in_block[at], in_block[at] && on_cycle[at]);
            }
        }
        for condition in conditions(problem) {
            let form = self.truth(&condition.expr, &|what| *what);
            self.observe(form);
            // Everything that `truth` has recorded as used belongs to a state after a step.
            for facts in &mut self.facts {
                facts.observed = facts.observed.join(facts.used);
            }
        }
    }

    fn observe(&mut self, form: Form) {
        if let Some(class) = form.class() {
            self.facts[class].is_excluded = true;
        }
    }

    fn check_op(&mut self, t: ThreadId, op: &Op, in_block: bool, on_cycle: bool) {
        let leaf = |reg: &crate::ids::Reg| Observable::Reg(t, *reg);
        if let Some(address) = op.address() {
            self.check_address(address, &leaf);
        }
        let location = op
            .address()
            .and_then(|address| footprint(self.program, address).map(Observable::Loc).next());
        let of_location = location.and_then(|what| self.components.class(what));
        let block = Block { in_block, on_cycle };
        match op {
            Op::Assign { reg, expr } => {
                let form = self.form(expr, &leaf);
                let to = leaf(reg);
                if let (Some(class), Form::Counter { offsets, .. }) =
                    (self.components.class(to), form)
                {
                    let facts = &mut self.facts[class];
                    let offsets = Offsets::of(offsets);
                    facts.assigned_once = facts.assigned_once.join(offsets);
                    expr.for_each_var(&mut |from| {
                        facts.assigned.push((leaf(from), to, offsets));
                    });
                    self.add_to_block(class, offsets, block);
                }
                self.check_assigned(self.components.class(to), form);
            }
            Op::Choose { reg, lo, hi } => {
                self.check_assigned(self.components.class(leaf(reg)), Form::Const(*lo, *hi));
            }
            Op::Load { .. } => {}
            Op::Store { value, .. } => {
                let form = self.form(value, &leaf);
                self.use_offsets(form, block);
                self.check_assigned(of_location, form);
            }
            Op::Update { reg, update, .. } => {
                if let (Some(reg), Update::Cas { result: CasResult::Success, .. }) = (reg, update) {
                    // The truth of the comparison.
                    self.check_assigned(self.components.class(leaf(reg)), Form::Data);
                }
                self.check_update(update, &leaf, of_location, block);
            }
            Op::Branch { cond, .. } | Op::Assume(cond) | Op::Assert(cond) => {
                self.truth(cond, &leaf);
            }
            Op::Skip
            | Op::Fence(_)
            | Op::Drain(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Leave
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. }
            | Op::Halt => {
                let mut all = Vec::new();
                for_each_expr(op, &mut |expr| all.push(expr));
                for expr in all {
                    let form = self.form(expr, &leaf);
                    self.observe(form);
                }
            }
        }
    }

    fn check_address(&mut self, address: &Address, leaf: &dyn Fn(&crate::ids::Reg) -> Observable) {
        let Address { base: _, cell, index, pointer } = address;
        let cell = cell.as_ref().map(|(_, expr)| expr);
        let index = index.as_ref().map(|(_, expr)| expr);
        let pointer = pointer.as_ref().map(|pointer| &pointer.value);
        for expr in cell.into_iter().chain(index).chain(pointer) {
            let form = self.form(expr, leaf);
            self.observe(form);
        }
    }

    fn check_update(
        &mut self,
        update: &Update,
        leaf: &dyn Fn(&crate::ids::Reg) -> Observable,
        class: Option<usize>,
        block: Block,
    ) {
        match update {
            Update::Cas { expected, new, .. } => {
                let expected = self.form(expected, leaf);
                let new = self.form(new, leaf);
                self.use_offsets(expected, block);
                self.use_offsets(new, block);
                // Compared with the old value, and never assigned.
                self.check_assigned(class, expected);
                self.check_assigned(class, new);
            }
            Update::Swap { new } => {
                let new = self.form(new, leaf);
                self.use_offsets(new, block);
                self.check_assigned(class, new);
            }
            Update::Add { by, wrap } => {
                let form = self.form(by, leaf);
                let Some(class) = class else { return self.observe(form) };
                let Form::Const(lo, hi) = form else {
                    self.facts[class].is_excluded = true;
                    return;
                };
                match wrap {
                    Some(range) => self.facts[class].reduce(*range),
                    None => self.facts[class].not_wrapping = true,
                }
                let offsets = Offsets::of((lo, hi));
                self.facts[class].used = self.facts[class].used.join(offsets);
                self.add_to_block(class, offsets, block);
            }
            Update::Bits { by, .. } => {
                let form = self.form(by, leaf);
                self.observe(form);
                if let Some(class) = class {
                    self.facts[class].is_excluded = true;
                }
            }
        }
    }

    /// A value becomes the value of a variable of a class, or of no class.
    fn check_assigned(&mut self, class: Option<usize>, form: Form) {
        let Some(class) = class else { return self.observe(form) };
        let facts = &mut self.facts[class];
        match form {
            Form::Counter { is_reduced, .. } => facts.not_wrapping |= !is_reduced,
            Form::Const(lo, hi) => facts.compare_with_constant((lo, hi)),
            Form::Data | Form::Difference { .. } => facts.is_excluded = true,
        }
    }

    /// The constants of a value that is stored or compared.
    fn use_offsets(&mut self, form: Form, block: Block) {
        if let Form::Counter { class, offsets, .. } = form {
            let offsets = Offsets::of(offsets);
            self.facts[class].used = self.facts[class].used.join(offsets);
            self.add_to_block(class, offsets, block);
        }
    }

    fn add_to_block(&mut self, class: usize, offsets: Offsets, block: Block) {
        let facts = &mut self.facts[class];
        if block.in_block && offsets != Offsets::default() {
            facts.in_blocks = facts.in_blocks.plus(offsets);
            facts.has_block = true;
            facts.not_ordered |= block.on_cycle;
        }
    }

    /// Examines an expression of which only the truth matters.
    fn truth<V>(&mut self, expr: &Expr<V>, leaf: &dyn Fn(&V) -> Observable) -> Form {
        let form = self.form(expr, leaf);
        self.compare(BinOp::Ne, form, Form::Const(0, 0));
        Form::Data
    }

    fn compare(&mut self, op: BinOp, a: Form, b: Form) {
        let is_equality = matches!(op, BinOp::Eq | BinOp::Ne);
        match (a, b) {
            (Form::Data | Form::Const(..), Form::Data | Form::Const(..)) => {}
            (
                Form::Counter { class, offsets: first, is_reduced: first_reduced },
                Form::Counter { offsets: second, is_reduced: second_reduced, .. },
            ) => {
                let facts = &mut self.facts[class];
                facts.not_wrapping |= !is_equality || !first_reduced || !second_reduced;
                facts.used = facts.used.join(Offsets::of(first)).join(Offsets::of(second));
            }
            (Form::Counter { class, offsets, .. }, Form::Const(lo, hi))
            | (Form::Const(lo, hi), Form::Counter { class, offsets, .. }) => {
                let facts = &mut self.facts[class];
                facts.compare_with_constant((lo, hi));
                facts.used = facts.used.join(Offsets::of(offsets));
            }
            (Form::Difference { class, offsets }, Form::Const(lo, hi))
            | (Form::Const(lo, hi), Form::Difference { class, offsets }) => {
                let facts = &mut self.facts[class];
                facts.not_wrapping = true;
                // a - b + offset ~ c means a + offset ~ b + c.
                facts.used = facts.used.join(Offsets::of(offsets)).join(Offsets::of((lo, hi)));
            }
            (first, second) => {
                self.observe(first);
                self.observe(second);
            }
        }
    }

    fn form<V>(&mut self, expr: &Expr<V>, leaf: &dyn Fn(&V) -> Observable) -> Form {
        match expr {
            Expr::Const(value) => Form::Const(*value, *value),
            Expr::Var(var) => self.components.class(leaf(var)).map_or(Form::Data, |class| {
                Form::Counter { class, offsets: (0, 0), is_reduced: true }
            }),
            Expr::Unary(UnOp::Not, a) => self.truth(a, leaf),
            Expr::Unary(UnOp::Neg | UnOp::BitNot, a) => {
                let form = self.form(a, leaf);
                self.observe(form);
                Form::Data
            }
            Expr::Binary(op, a, b) => self.form_of_binary(*op, a, b, leaf),
            Expr::Select(c, a, b) => {
                self.truth(c, leaf);
                let (a, b) = (self.form(a, leaf), self.form(b, leaf));
                self.either(a, b)
            }
        }
    }

    /// Returns the form of a value that is one of two.
    fn either(&mut self, a: Form, b: Form) -> Form {
        match (a, b) {
            (Form::Const(lo, hi), Form::Const(least, most)) => {
                Form::Const(lo.min(least), hi.max(most))
            }
            (
                Form::Counter { class, offsets: (lo, hi), is_reduced },
                Form::Counter { offsets: (least, most), is_reduced: other, .. },
            ) => Form::Counter {
                class,
                offsets: (lo.min(least), hi.max(most)),
                is_reduced: is_reduced && other,
            },
            (counter @ Form::Counter { class, .. }, Form::Const(lo, hi))
            | (Form::Const(lo, hi), counter @ Form::Counter { class, .. }) => {
                self.facts[class].compare_with_constant((lo, hi));
                counter
            }
            (first, second) => {
                self.observe(first);
                self.observe(second);
                Form::Data
            }
        }
    }

    fn form_of_binary<V>(
        &mut self,
        op: BinOp,
        a: &Expr<V>,
        b: &Expr<V>,
        leaf: &dyn Fn(&V) -> Observable,
    ) -> Form {
        if let Some((value, range)) = sign_extended(op, a, b) {
            let form = self.form(value, leaf);
            return self.reduced(form, range);
        }
        if matches!(op, BinOp::And | BinOp::Or) {
            self.truth(a, leaf);
            return self.truth(b, leaf);
        }
        let (first, second) = (self.form(a, leaf), self.form(b, leaf));
        if let Some(modulus) = small_modulus(op, b) {
            return self.remainder(op, first, modulus);
        }
        match op {
            BinOp::Add
            | BinOp::Sub
            | BinOp::Wide(WideOp::Add | WideOp::Sub | WideOp::WrapAdd | WideOp::WrapSub) => {
                self.sum(op, first, second)
            }
            BinOp::BitAnd => match (first, b.as_const().and_then(|mask| mask.checked_add(1))) {
                (Form::Counter { .. } | Form::Difference { .. }, Some(size)) if is_power(size) => {
                    self.reduced(first, (0, size - 1))
                }
                _ => self.neither(first, second),
            },
            BinOp::Eq | BinOp::Ne | BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge => {
                self.compare(op, first, second);
                Form::Data
            }
            BinOp::Mul
            | BinOp::Div
            | BinOp::Rem
            | BinOp::And
            | BinOp::Or
            | BinOp::BitOr
            | BinOp::BitXor
            | BinOp::Shl
            | BinOp::Shr
            | BinOp::Wide(_) => self.neither(first, second),
        }
    }

    /// Other operators exclude the classes of their operands.
    fn neither(&mut self, a: Form, b: Form) -> Form {
        self.observe(a);
        self.observe(b);
        Form::Data
    }

    /// Returns the form of a number that is taken modulo a range.
    fn reduced(&mut self, form: Form, range: Range) -> Form {
        match form {
            Form::Counter { class, offsets, .. } => {
                self.facts[class].reduce(range);
                self.facts[class].not_ordered = true;
                Form::Counter { class, offsets, is_reduced: true }
            }
            // If all numbers change by the same amount, their differences modulo the size stay.
            Form::Difference { class, .. } => {
                self.facts[class].reduce(range);
                self.facts[class].not_ordered = true;
                Form::Data
            }
            Form::Data | Form::Const(..) => Form::Data,
        }
    }

    fn remainder(&mut self, op: BinOp, form: Form, modulus: Value) -> Form {
        match form {
            Form::Counter { class, offsets: (lo, _), .. } => {
                let facts = &mut self.facts[class];
                let common = facts.modulus / gcd(facts.modulus, modulus) * modulus;
                facts.is_excluded |= common > MAX_MODULUS;
                facts.modulus = common;
                if op != BinOp::BitAnd {
                    facts.needs_positive = true;
                    facts.is_excluded |= lo < 0;
                }
                Form::Data
            }
            Form::Difference { .. } => {
                self.observe(form);
                Form::Data
            }
            Form::Data | Form::Const(..) => Form::Data,
        }
    }

    fn sum(&mut self, op: BinOp, a: Form, b: Form) -> Form {
        let subtracts = matches!(op, BinOp::Sub | BinOp::Wide(WideOp::Sub | WideOp::WrapSub));
        let shifted = |(least, most): Range, (lo, hi): Range| {
            let (lo, hi) =
                if subtracts { (hi.checked_neg()?, lo.checked_neg()?) } else { (lo, hi) };
            Some((least.checked_add(lo)?, most.checked_add(hi)?))
        };
        // A sum of 64 bits wraps without a reduction.
        let is_reduced = |form: Form| {
            let wraps = matches!(op, BinOp::Wide(WideOp::WrapAdd | WideOp::WrapSub));
            wraps && matches!(form, Form::Counter { is_reduced: true, .. })
        };
        match (a, b) {
            (Form::Counter { class, offsets, .. }, Form::Const(lo, hi)) => {
                match shifted(offsets, (lo, hi)) {
                    Some(offsets) => {
                        let is_reduced = is_reduced(a) && self.is_wide(class);
                        Form::Counter { class, offsets, is_reduced }
                    }
                    None => self.neither(a, b),
                }
            }
            (Form::Const(lo, hi), Form::Counter { class, offsets, .. }) if !subtracts => {
                match shifted(offsets, (lo, hi)) {
                    Some(offsets) => {
                        let is_reduced = is_reduced(b) && self.is_wide(class);
                        Form::Counter { class, offsets, is_reduced }
                    }
                    None => self.neither(a, b),
                }
            }
            (
                Form::Counter { class, offsets: (lo, hi), .. },
                Form::Counter { offsets: (least, most), .. },
            ) if subtracts => match (lo.checked_sub(most), hi.checked_sub(least)) {
                (Some(lo), Some(hi)) => Form::Difference { class, offsets: (lo, hi) },
                _ => self.neither(a, b),
            },
            (Form::Data | Form::Const(..), Form::Data | Form::Const(..)) => Form::Data,
            _ => self.neither(a, b),
        }
    }

    /// Returns whether a sum modulo 2^64 is a number of the class.
    fn is_wide(&self, class: usize) -> bool {
        let range = Some((Value::MIN, Value::MAX));
        let program = self.program;
        let registers = program.threads.iter().enumerate().flat_map(|(t, thread)| {
            let t = ThreadId::from_index(t);
            let all = thread.registers.iter().enumerate();
            all.map(move |(at, register)| {
                (Observable::Reg(t, crate::ids::Reg::from_index(at)), &register.ty)
            })
        });
        let locations = program.locations.iter().enumerate();
        let locations = locations
            .map(|(at, location)| (Observable::Loc(crate::ids::Loc::from_index(at)), &location.ty));
        registers
            .chain(locations)
            .filter(|(what, _)| self.components.class(*what) == Some(class))
            .all(|(_, ty)| program.limits(ty) == range)
    }
}

/// Where a statement is.
#[derive(Clone, Copy)]
struct Block {
    /// In an atomic block.
    in_block: bool,
    /// In a loop of an atomic block.
    on_cycle: bool,
}

/// Matches `((value & (size - 1)) ^ size / 2) - size / 2`: a value as a signed number.
fn sign_extended<'e, V>(op: BinOp, a: &'e Expr<V>, b: &Expr<V>) -> Option<(&'e Expr<V>, Range)> {
    let (BinOp::Sub, Expr::Binary(BinOp::BitXor, masked, flipped)) = (op, a) else { return None };
    let half = b.as_const().filter(|half| is_power(*half))?;
    let Expr::Binary(BinOp::BitAnd, value, mask) = &**masked else { return None };
    let size = half.checked_mul(2)?;
    (flipped.as_const() == Some(half) && mask.as_const() == Some(size - 1))
        .then_some((&**value, (-half, half - 1)))
}

fn gcd(a: Value, b: Value) -> Value {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn is_power(value: Value) -> bool {
    value > 0 && value & (value - 1) == 0
}
