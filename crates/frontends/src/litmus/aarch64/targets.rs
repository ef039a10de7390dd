//! The locations of computed addresses, and the checks that need to know them.
//!
//! Lowering gives an access through a register all locations as targets. The points-to analysis of
//! the `ir` removes those that the register never holds. An address with a single target becomes
//! this location with an index that is always 0: it still reads the register, because the machine
//! orders accesses by such dependencies.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::{Address, BinOp, Expr, Label, Loc, Program, Reg, Span, Value, points_to, range};

use super::super::error::{Errors, LitmusError};

/// What lowering knows about the accesses of a program.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Accesses {
    /// The number of bits of each access.
    pub(super) bits: BTreeMap<Label, u8>,
    /// The pairs of exclusive loads and stores.
    pub(super) pairs: Vec<(Label, Label)>,
}

/// Narrows the targets of all addresses, and checks that all accesses to a location have the same
/// size and that both accesses of an exclusive pair have the same location.
pub(in super::super) fn finish(program: &mut Program, accesses: &Accesses, errors: &mut Errors) {
    points_to::narrow_targets(program);
    for stmt in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        if let Some(address) = stmt.op.address_mut()
            && let Some(indexed) = with_single_target(address)
        {
            *address = indexed;
        }
    }
    let touched = touched_locations(program);
    let span = |label: Label| program.labels[label.index()].span;
    for (label, locations) in &touched {
        if locations.is_empty() {
            errors.push(LitmusError::unsupported(
                span(*label),
                "there is no location at this address",
            ));
        }
    }
    for (load, store) in &accesses.pairs {
        let (from, to) = (touched.get(load), touched.get(store));
        if from != to || from.is_some_and(|locations| locations.len() > 1) {
            errors.push(LitmusError::unsupported(
                span(*store),
                "an exclusive store is only supported if its address is always that of the \
                 exclusive load before it",
            ));
        }
    }
    let sizes = sizes(&touched, &accesses.bits, span, errors);
    for (loc, (bits, label)) in sizes {
        let location = &program.locations[loc.index()];
        if truncated(location.init, bits) != location.init {
            let message =
                format!("the initial value of `{}` does not fit in {bits} bits", location.name);
            errors.push(LitmusError::unsupported(span(label), message));
        }
    }
}

/// Returns the locations that each access may touch.
fn touched_locations(program: &Program) -> BTreeMap<Label, BTreeSet<Loc>> {
    let mut touched = BTreeMap::<Label, BTreeSet<Loc>>::new();
    for stmt in program.threads.iter().flat_map(|thread| &thread.code) {
        if let Some(address) = stmt.op.address() {
            touched.entry(stmt.label).or_default().extend(range::footprint(program, address));
        }
    }
    touched
}

/// Returns for each location the number of bits of its first access, and this access. Reports the
/// first access to each location that has another size.
fn sizes(
    touched: &BTreeMap<Label, BTreeSet<Loc>>,
    bits: &BTreeMap<Label, u8>,
    span: impl Fn(Label) -> Span,
    errors: &mut Errors,
) -> BTreeMap<Loc, (u8, Label)> {
    let mut sizes = BTreeMap::new();
    let mut reported = BTreeSet::new();
    for (label, locations) in touched {
        let Some(bits) = bits.get(label) else { continue };
        for loc in locations {
            if sizes.entry(*loc).or_insert((*bits, *label)).0 != *bits && reported.insert(*loc) {
                errors.push(
                    LitmusError::unsupported(span(*label), "mixed sizes are not supported")
                        .hint("use the same size for all accesses to a location"),
                );
            }
        }
    }
    sizes
}

/// Returns the value that a location with this number of bits holds: as a signed number for 32 and
/// 64 bits, as an unsigned number for 8 and 16 bits.
fn truncated(value: Value, bits: u8) -> Value {
    match bits {
        8 => value & 0xff,
        16 => value & 0xffff,
        32 => Value::from(value as i32),
        _ => value,
    }
}

/// Returns the address of a pointer with a single target, as an element of an array with one
/// element.
fn with_single_target(address: &Address) -> Option<Address> {
    let pointer = address.pointer.as_ref()?;
    let [(number, loc)] = pointer.targets[..] else { return None };
    Some(Address::element(loc, 1, difference(&pointer.value, number)))
}

/// Returns `value - number`.
fn difference(value: &Expr<Reg>, number: Value) -> Expr<Reg> {
    match value {
        Expr::Binary(BinOp::Add, base, offset) if base.as_const() == Some(number) => {
            (**offset).clone()
        }
        _ => Expr::Binary(BinOp::Sub, Box::new(value.clone()), Box::new(Expr::Const(number))),
    }
}
