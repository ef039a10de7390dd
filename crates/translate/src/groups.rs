//! Groups the locations that a thread stores to, and matches addresses with these groups.
//!
//! A group contains all locations that one store statement can reach: a location, an array, or a
//! field of all records of a pool. So every store accesses one group, at an *offset* that is an
//! expression. A load may reach more or fewer locations than a store. So an address can match
//! several groups, each under a condition.

use crate::atomic_blocks::in_atomic_block;
use crate::formula::{add, all, eq, le, lt, mul, num, sub};
use fencepost_ir::{Address, Expr, Loc, Op, PoolId, Program, Reg, Thread, Value};

/// A set of locations that a thread stores to with the same statements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StoreGroup {
    /// The pool, if the group is a field of its records.
    pub(crate) pool: Option<PoolId>,
    /// The first location. For a pool: the first location in the first cell.
    base: u32,
    /// The number of locations. For a pool: the number per cell.
    len: u32,
    /// The number of cells; 1 without a pool.
    cells: u32,
    /// The total size of the groups before this one.
    pub(crate) first_slot: u32,
    /// The name of the group, a valid identifier.
    pub(crate) name: String,
}

/// A group that may contain the location of an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Match {
    /// The index of the group.
    pub(crate) group: usize,
    /// The condition under which the group contains the location; `None` if it always does.
    pub(crate) when: Option<Expr<Reg>>,
    /// The offset in the group; meaningless if the condition does not hold.
    pub(crate) offset: Expr<Reg>,
}

/// The locations that an address can reach, with constant indices resolved.
struct AddressRange<'a> {
    pool: Option<PoolId>,
    cell: Option<&'a Expr<Reg>>,
    base: u32,
    len: u32,
    index: Option<&'a Expr<Reg>>,
}

impl<'a> AddressRange<'a> {
    fn of(at: &'a Address) -> Self {
        let (base, len, index) = match &at.index {
            None => (at.base.0, 1, None),
            Some((len, index)) => match index.as_const() {
                Some(constant) if (0..*len as Value).contains(&constant) => {
                    (at.base.0 + constant as u32, 1, None)
                }
                _ => (at.base.0, *len, Some(index)),
            },
        };
        let (pool, cell) = at.cell.as_ref().map(|(pool, cell)| (*pool, cell)).unzip();
        AddressRange { pool, cell, base, len, index }
    }
}

impl StoreGroup {
    /// Returns the number of locations.
    pub(crate) fn size(&self) -> u32 {
        self.cells * self.len
    }

    /// Returns all locations of the group.
    pub(crate) fn locations(&self, program: &Program) -> Vec<Loc> {
        let stride = self.pool.map_or(0, |pool| program.pool(pool).stride);
        let base = |cell| self.base + cell * stride;
        (0..self.cells).flat_map(|cell| (0..self.len).map(move |at| Loc(base(cell) + at))).collect()
    }

    /// Returns the address of the location at an offset.
    pub(crate) fn address(&self, offset: Expr<Reg>) -> Address {
        let (in_cell, cell) = match self.pool {
            None => (offset, None),
            Some(pool) => {
                let parts =
                    |op| Expr::Binary(op, Box::new(offset.clone()), Box::new(num(self.len)));
                let (quotient, rest) =
                    (parts(fencepost_ir::BinOp::Div), parts(fencepost_ir::BinOp::Rem));
                let quotient = if self.len == 1 { offset.clone() } else { quotient.fold() };
                (rest.fold(), Some((pool, add(quotient, num(1)))))
            }
        };
        match in_cell.as_const() {
            Some(at) => Address { cell, ..Address::fixed(Loc(self.base + at as u32)) },
            None if self.len == 1 => Address { cell, ..Address::fixed(Loc(self.base)) },
            None => Address { cell, ..Address::element(Loc(self.base), self.len, in_cell) },
        }
    }

    /// Returns the match of an address with this group, if the address may reach the group.
    fn match_address(&self, group: usize, at: &AddressRange<'_>) -> Option<Match> {
        let (end, reach_end) = (self.base + self.len, at.base + at.len);
        if self.pool != at.pool || at.base >= end || self.base >= reach_end {
            return None;
        }
        let distance = Expr::Const(at.base as Value - self.base as Value);
        let in_cell = add(distance, at.index.cloned().unwrap_or(num(0)));
        let inside = self.base <= at.base && reach_end <= end;
        let when = (!inside).then(|| match self.len {
            1 => eq(in_cell.clone(), num(0)),
            len => all([le(num(0), in_cell.clone()), lt(in_cell.clone(), num(len))]),
        });
        let before = at.cell.map_or(num(0), |cell| mul(sub(cell.clone(), num(1)), num(self.len)));
        Some(Match { group, when, offset: add(before, in_cell) })
    }
}

/// Returns the groups that a thread stores to outside of atomic blocks. Stores inside atomic blocks
/// are never pending.
pub(crate) fn store_groups(program: &Program, thread: &Thread) -> Vec<StoreGroup> {
    let inside = in_atomic_block(thread);
    let mut reached: Vec<(u32, u32, Option<PoolId>)> = Vec::new();
    for (stmt, inside) in thread.code.iter().zip(inside) {
        if let Op::Store { to, .. } = &stmt.op
            && !inside
        {
            let range = AddressRange::of(to);
            reached.push((range.base, range.base + range.len, range.pool));
        }
    }
    reached.sort_unstable();
    let mut merged: Vec<(u32, u32, Option<PoolId>)> = Vec::new();
    for (base, end, pool) in reached {
        match merged.last_mut() {
            Some(last) if base < last.1 => last.1 = last.1.max(end),
            _ => merged.push((base, end, pool)),
        }
    }
    let mut first_slot = 0;
    let mut groups = Vec::new();
    for (base, end, pool) in merged {
        let cells = pool.map_or(1, |pool| program.pool(pool).cells);
        let name = name(program, Loc(base), end - base, pool);
        let group = StoreGroup { pool, base, len: end - base, cells, first_slot, name };
        first_slot += group.size();
        groups.push(group);
    }
    groups
}

/// Returns the groups that an address may reach.
pub(crate) fn matches(groups: &[StoreGroup], at: &Address) -> Vec<Match> {
    let range = AddressRange::of(at);
    groups
        .iter()
        .enumerate()
        .filter_map(|(which, group)| group.match_address(which, &range))
        .collect()
}

/// Returns whether the address is a constant location, which cannot fault.
pub(crate) fn is_constant(at: &Address) -> bool {
    let range = AddressRange::of(at);
    range.cell.is_none() && range.index.is_none()
}

/// Names a group: field `Node#1.next` of all records is `Node_next`; the array of `want[0]` is
/// `want`.
fn name(program: &Program, first: Loc, len: u32, pool: Option<PoolId>) -> String {
    let name = program.location(first).name.as_str();
    let name = if len > 1 { name.rsplit_once('[').map_or(name, |(array, _)| array) } else { name };
    match (pool, name.split_once('.')) {
        (Some(pool), Some((_, field))) => {
            format!("{}_{}", identifier(&program.pool(pool).name), identifier(field))
        }
        _ => identifier(name),
    }
}

/// Turns a name into a valid identifier: `p(0)` becomes `p_0`.
pub(crate) fn identifier(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    plain.trim_matches('_').to_string()
}
