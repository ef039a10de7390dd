//! Families: the values and locations in which the code of interchangeable threads differs.

use super::classes::Classes;
use super::rename::{OpRenaming, Renaming};
use super::{Class, Group};
use crate::expr::Expr;
use crate::flow;
use crate::ids::{Loc, ThreadId};
use crate::op::Op;
use crate::program::{Program, Stmt, Thread};
use crate::value::Value;

/// Returns the sets of at least two threads with the same code, except for constants and locations.
/// The last thread is in none of them.
pub(super) fn equal_code(program: &Program) -> Vec<Vec<ThreadId>> {
    let last = program.last_thread();
    let mut sets: Vec<(Thread, Vec<ThreadId>)> = Vec::new();
    for t in program.thread_ids().filter(|t| Some(*t) != last) {
        let pattern = pattern(program.thread(t));
        match sets.iter_mut().find(|(other, _)| *other == pattern) {
            Some((_, threads)) => threads.push(t),
            None => sets.push((pattern, vec![t])),
        }
    }
    sets.into_iter().map(|(_, threads)| threads).filter(|threads| threads.len() > 1).collect()
}

/// Returns a thread without its name, constants and locations.
fn pattern(thread: &Thread) -> Thread {
    let clear = |stmt: &Stmt| {
        let mut op = stmt.op.clone();
        flow::values_mut(&mut op).into_iter().for_each(clear_constants);
        if let Some(address) = op.address_mut() {
            address.base = Loc(0);
            if let Some((_, index)) = &mut address.index {
                clear_constants(index);
            }
        }
        Stmt { op, ..stmt.clone() }
    };
    Thread {
        name: String::new(),
        registers: thread.registers.clone(),
        code: thread.code.iter().map(clear).collect(),
    }
}

fn clear_constants<V>(expr: &mut Expr<V>) {
    match expr {
        Expr::Const(value) => *value = 0,
        Expr::Var(_) => {}
        Expr::Unary(_, a) => clear_constants(a),
        Expr::Binary(_, a, b) => {
            clear_constants(a);
            clear_constants(b);
        }
        Expr::Select(c, a, b) => {
            clear_constants(c);
            clear_constants(a);
            clear_constants(b);
        }
    }
}

/// A constant of a class, or an address, in the code of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Site {
    Value(Class, Value),
    Address(Loc, Option<(u32, Option<Class>)>),
}

/// Collects the sites of code and changes nothing.
struct Collect(Vec<Site>);

impl Renaming for Collect {
    fn value(&mut self, class: Class, value: Value) -> Value {
        self.0.push(Site::Value(class, value));
        value
    }

    fn location(&mut self, loc: Loc) -> Loc {
        loc
    }

    fn visit_address(&mut self, base: Loc, array: Option<(u32, Option<Class>)>) {
        self.0.push(Site::Address(base, array));
    }
}

fn sites(program: &Program, classes: &Classes<'_>, thread: ThreadId) -> Option<Vec<Site>> {
    let mut collect = Collect(Vec::new());
    for stmt in &program.thread(thread).code {
        let mut op: Op = stmt.op.clone();
        let mut ops = OpRenaming { program, classes, thread, renaming: &mut collect };
        if !ops.rename(&mut op) {
            return None;
        }
    }
    Some(collect.0)
}

/// Proposes the group of these threads, which have the same code except for constants and locations.
/// `None` if they cannot be interchangeable.
pub(super) fn group(
    program: &Program,
    classes: &Classes<'_>,
    threads: &[ThreadId],
) -> Option<Group> {
    let sites: Vec<Vec<Site>> =
        threads.iter().map(|t| sites(program, classes, *t)).collect::<Option<_>>()?;
    let mut group = Group { threads: threads.to_vec(), locations: Vec::new(), values: Vec::new() };
    let rows = 0..sites[0].len();
    let row = |at: usize| sites.iter().map(move |sites| sites.get(at).copied());
    for at in rows.clone() {
        if let Site::Value(class, _) = sites[0][at] {
            let value = |site| match site {
                Some(Site::Value(other, value)) if other == class => Some(value),
                Some(Site::Value(..) | Site::Address(..)) | None => None,
            };
            let family: Vec<Value> = row(at).map(value).collect::<Option<_>>()?;
            add_value_family(&mut group.values, class, family)?;
        }
    }
    for at in rows {
        if let Site::Address(_, array) = sites[0][at] {
            let base = |site| match site {
                Some(Site::Address(base, other)) if other == array => Some(base),
                Some(Site::Value(..) | Site::Address(..)) | None => None,
            };
            let bases: Vec<Loc> = row(at).map(base).collect::<Option<_>>()?;
            for family in location_families(&group, bases, array) {
                add_family(&mut group.locations, family)?;
            }
        }
    }
    Some(group)
}

fn add_value_family(
    values: &mut Vec<(Class, Vec<Value>)>,
    class: Class,
    family: Vec<Value>,
) -> Option<()> {
    let mut families: Vec<Vec<Value>> =
        values.iter().filter(|(other, _)| *other == class).map(|(_, f)| f.clone()).collect();
    let known = families.len();
    add_family(&mut families, family)?;
    values.extend(families.drain(known..).map(|family| (class, family)));
    Some(())
}

/// Adds a family, unless its elements are all equal. `None` if an element is in two families, or
/// belongs to two threads.
fn add_family<T: Ord + Copy>(families: &mut Vec<Vec<T>>, mut family: Vec<T>) -> Option<()> {
    if family.iter().all(|element| *element == family[0]) {
        return Some(());
    }
    // The exchange of two elements does not depend on their order.
    if family.len() == 2 {
        family.sort_unstable();
    }
    if families.contains(&family) {
        return Some(());
    }
    let mut sorted = family.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let is_new = |element: &T| !families.iter().any(|other| other.contains(element));
    if sorted.len() < family.len() || !family.iter().all(is_new) {
        return None;
    }
    families.push(family);
    Some(())
}

/// Returns the families of locations that accesses of the threads at the same place suggest.
fn location_families(
    group: &Group,
    bases: Vec<Loc>,
    array: Option<(u32, Option<Class>)>,
) -> Vec<Vec<Loc>> {
    let Some((len, class)) = array else { return vec![bases] };
    let elements = |family: &Vec<Value>| {
        let element = |(base, value): (&Loc, &Value)| {
            let at = u32::try_from(*value).ok().filter(|at| *at < len)?;
            Some(Loc(base.0 + at))
        };
        bases.iter().zip(family).map(element).collect::<Option<Vec<Loc>>>()
    };
    let values = group.values.iter().filter(|(other, _)| Some(*other) == class);
    let moved: Vec<Vec<Loc>> = values.filter_map(|(_, family)| elements(family)).collect();
    let are_equal = bases.iter().all(|base| *base == bases[0]);
    if are_equal || !moved.is_empty() {
        return moved;
    }
    // Each thread has an array of its own.
    (0..len).map(|at| bases.iter().map(|base| Loc(base.0 + at)).collect()).collect()
}
