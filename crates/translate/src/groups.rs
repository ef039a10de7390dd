//! What a thread stores to, in groups, and which of it an address can mean.
//!
//! A group is what one store statement can reach: a location, an array, a field of all records of a pool. So every
//! store is into one group, at an *offset* that is an expression. Loads may reach further than any store, or
//! less far: an address can mean several groups, each under a condition.

use crate::blocks::inside_blocks;
use crate::formula::{add, all, eq, le, lt, mul, num, sub};
use fencepost_ir::{Address, Expr, Loc, Op, PoolId, Program, Reg, Thread, Value};

/// Locations that a thread stores to by the same statements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    /// The pool, for a field of its records.
    pub(crate) pool: Option<PoolId>,
    /// The first location; of a pool, in its first cell.
    base: u32,
    /// How many; of a pool, in each cell.
    len: u32,
    /// How many cells; 1 where there is no pool.
    cells: u32,
    /// How many locations other groups before this one have.
    pub(crate) before: u32,
    /// Fit for an identifier.
    pub(crate) name: String,
}

/// A group that an address may be in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Match {
    /// Which one.
    pub(crate) group: usize,
    /// When it is; none for always.
    pub(crate) when: Option<Expr<Reg>>,
    /// Where in it; means nothing when it is not.
    pub(crate) offset: Expr<Reg>,
}

/// An address, with constant indices resolved.
struct Reach<'a> {
    pool: Option<PoolId>,
    cell: Option<&'a Expr<Reg>>,
    base: u32,
    len: u32,
    index: Option<&'a Expr<Reg>>,
}

impl<'a> Reach<'a> {
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
        Reach { pool, cell, base, len, index }
    }
}

impl Group {
    /// How many locations it has.
    pub(crate) fn size(&self) -> u32 {
        self.cells * self.len
    }

    /// Its locations.
    pub(crate) fn locations(&self, program: &Program) -> Vec<Loc> {
        let stride = self.pool.map_or(0, |pool| program.pool(pool).stride);
        let base = |cell| self.base + cell * stride;
        (0..self.cells).flat_map(|cell| (0..self.len).map(move |at| Loc(base(cell) + at))).collect()
    }

    /// The address of the location at an offset.
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
            Some(at) => Address { base: Loc(self.base + at as u32), cell, index: None },
            None if self.len == 1 => Address { base: Loc(self.base), cell, index: None },
            None => Address { base: Loc(self.base), cell, index: Some((self.len, in_cell)) },
        }
    }

    /// How the address is in this group, if it may be.
    fn reached(&self, group: usize, at: &Reach<'_>) -> Option<Match> {
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

/// The groups that a thread stores to, one store at a time: what it does in atomic blocks is never pending.
pub(crate) fn groups(program: &Program, thread: &Thread) -> Vec<Group> {
    let inside = inside_blocks(thread);
    let mut reached: Vec<(u32, u32, Option<PoolId>)> = Vec::new();
    for (stmt, inside) in thread.code.iter().zip(inside) {
        if let Op::Store { to, .. } = &stmt.op
            && !inside
        {
            let reach = Reach::of(to);
            reached.push((reach.base, reach.base + reach.len, reach.pool));
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
    let mut before = 0;
    let mut groups = Vec::new();
    for (base, end, pool) in merged {
        let cells = pool.map_or(1, |pool| program.pool(pool).cells);
        let name = name(program, Loc(base), end - base, pool);
        let group = Group { pool, base, len: end - base, cells, before, name };
        before += group.size();
        groups.push(group);
    }
    groups
}

/// The groups that an address may be in.
pub(crate) fn matches(groups: &[Group], at: &Address) -> Vec<Match> {
    let reach = Reach::of(at);
    groups.iter().enumerate().filter_map(|(which, group)| group.reached(which, &reach)).collect()
}

/// Whether nothing has to be computed, and nothing can go wrong, to know the location.
pub(crate) fn is_plain(at: &Address) -> bool {
    let reach = Reach::of(at);
    reach.cell.is_none() && reach.index.is_none()
}

/// `Node#1.next` of all records is `Node_next`; `want[0]` of the whole array is `want`.
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

/// A name made fit for an identifier: `p(0)` becomes `p_0`.
pub(crate) fn identifier(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    plain.trim_matches('_').to_string()
}
