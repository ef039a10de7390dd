//! Checks that exchanging two threads maps a problem to itself. Exchanges of neighbours generate all
//! permutations of a group.
//!
//! *Argument.* Let R exchange two threads, and let the checks below hold. An expression of a renamed
//! state has the renamed value: constants of a class are renamed with the class, registers hold renamed
//! values, `==` and `!=` compare values of one class by a bijection, and everything else reads plain
//! values only. An access of a renamed state is to the renamed location, whose type has the same limits
//! and contains the renamed value. So every statement maps renamed states to renamed states, with the
//! same program counters and the same faults. The properties have the same value in both states.

use super::classes::Classes;
use super::conditions::normal_form;
use super::rename::{OpRenaming, Renaming, rename_expr};
use super::{Class, Group};
use crate::ids::{Loc, ThreadId};
use crate::program::{Problem, Program};
use crate::property::{Condition, Observable, Property};
use crate::value::{Type, Value};
use std::collections::BTreeMap;

/// Returns whether every permutation of a group maps the problem, except `init` and the initial
/// values, to itself.
pub(super) fn is_symmetric(problem: &Problem, classes: &Classes<'_>, group: &Group) -> bool {
    (1..group.threads.len()).all(|at| Exchange::new(classes, group, at - 1, at).keeps(problem))
}

/// The renaming that exchanges two threads.
struct Exchange<'a, 'p> {
    classes: &'a Classes<'p>,
    threads: [ThreadId; 2],
    locations: BTreeMap<Loc, Loc>,
    values: BTreeMap<(Class, Value), Value>,
}

impl Renaming for Exchange<'_, '_> {
    fn value(&mut self, class: Class, value: Value) -> Value {
        self.new_value(class, value)
    }

    fn location(&mut self, loc: Loc) -> Loc {
        self.new_location(loc)
    }
}

impl<'a, 'p> Exchange<'a, 'p> {
    fn new(classes: &'a Classes<'p>, group: &Group, a: usize, b: usize) -> Self {
        let mut exchange = Exchange {
            classes,
            threads: [group.threads[a], group.threads[b]],
            locations: BTreeMap::new(),
            values: BTreeMap::new(),
        };
        for family in &group.locations {
            exchange.locations.insert(family[a], family[b]);
            exchange.locations.insert(family[b], family[a]);
        }
        for (class, family) in &group.values {
            exchange.values.insert((*class, family[a]), family[b]);
            exchange.values.insert((*class, family[b]), family[a]);
        }
        exchange
    }

    fn new_thread(&self, t: ThreadId) -> ThreadId {
        let [a, b] = self.threads;
        if t == a {
            b
        } else if t == b {
            a
        } else {
            t
        }
    }

    fn new_location(&self, loc: Loc) -> Loc {
        self.locations.get(&loc).copied().unwrap_or(loc)
    }

    fn new_value(&self, class: Class, value: Value) -> Value {
        self.values.get(&(class, value)).copied().unwrap_or(value)
    }

    fn keeps(&mut self, problem: &Problem) -> bool {
        let program = &problem.program;
        program.thread_ids().all(|t| self.keeps_thread(program, t))
            && (0..program.locations.len()).all(|at| self.keeps_location(program, Loc(at as u32)))
            && problem.properties.iter().all(|property| self.keeps_property(property))
            && problem.sometimes.iter().all(|condition| self.keeps_condition(condition))
    }

    /// Returns whether the renamed code of a thread is the code of the renamed thread.
    fn keeps_thread(&mut self, program: &Program, t: ThreadId) -> bool {
        let other = self.new_thread(t);
        let (from, to) = (program.thread(t), program.thread(other));
        if from.registers.len() != to.registers.len() || from.code.len() != to.code.len() {
            return false;
        }
        let registers = from.registers.iter().zip(&to.registers).enumerate();
        for (at, (own, renamed)) in registers {
            let class = self.classes.register(t, at);
            if own.ty != renamed.ty
                || class != self.classes.register(other, at)
                || !self.keeps_type(program, class, &own.ty)
            {
                return false;
            }
        }
        let classes = self.classes;
        from.code.iter().zip(&to.code).all(|(own, renamed)| {
            let mut op = own.op.clone();
            let mut ops = OpRenaming { program, classes, thread: t, renaming: self };
            ops.rename(&mut op)
                && op == renamed.op
                && (own.label, own.next, own.critical)
                    == (renamed.label, renamed.next, renamed.critical)
        })
    }

    /// Returns whether the limits of a type contain all values of a class that move.
    fn keeps_type(&self, program: &Program, class: Option<Class>, ty: &Type) -> bool {
        let Some((lo, hi)) = program.limits(ty) else { return true };
        let mut values = self.values.keys().filter(|(other, _)| Some(*other) == class);
        values.all(|(_, value)| (lo..=hi).contains(value))
    }

    fn keeps_location(&self, program: &Program, loc: Loc) -> bool {
        let renamed = self.new_location(loc);
        let class = self.classes.location(loc);
        let ty = &program.location(loc).ty;
        let is_uninitialised = |loc| program.uninitialised.contains(&loc);
        *ty == program.location(renamed).ty
            && class == self.classes.location(renamed)
            && self.keeps_type(program, class, ty)
            && is_uninitialised(loc) == is_uninitialised(renamed)
            && (loc == renamed || program.cell_of(loc).is_none())
    }

    fn keeps_property(&mut self, property: &Property) -> bool {
        match property {
            Property::Assertions
            | Property::MutualExclusion
            | Property::DeadlockFree
            | Property::Progress => true,
            Property::Invariant(condition)
            | Property::FinalForall(condition)
            | Property::FinalNever(condition) => self.keeps_condition(condition),
            Property::Operations(_) => false,
        }
    }

    fn keeps_condition(&mut self, condition: &Condition) -> bool {
        let mut renamed = condition.expr.clone();
        let classes = self.classes;
        let class_of = |what: &Observable| classes.observable(*what);
        if !rename_expr(&mut renamed, None, &class_of, self) {
            return false;
        }
        renamed.for_each_var_mut(&mut |what| {
            *what = match *what {
                Observable::Loc(loc) => Observable::Loc(self.new_location(loc)),
                Observable::Reg(t, reg) => Observable::Reg(self.new_thread(t), reg),
                Observable::At(t, label) => Observable::At(self.new_thread(t), label),
            }
        });
        normal_form(&renamed) == normal_form(&condition.expr)
    }
}
