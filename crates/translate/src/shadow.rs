//! Which locations a thread may have stores pending to, in groups.
//!
//! A translation keeps some data of its own for each of them. What an address with an index or a
//! reference can mean belongs together: a *group* is a stretch of memory, and an address is a group and
//! an index into it.

use fencepost_ir::{Address, BinOp, Expr, Loc, Op, Pc, Program, Reg, Thread};

/// Consecutive locations that a thread accesses as one array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The first.
    pub first: Loc,
    /// How many.
    pub len: u32,
    /// Their name, fit for an identifier.
    pub name: String,
}

impl Group {
    /// The locations.
    pub fn locations(&self) -> impl Iterator<Item = Loc> + use<> {
        (self.first.0..self.first.0 + self.len).map(Loc)
    }
}

/// The groups that a thread stores to, one store at a time: what it does in atomic blocks is never
/// pending.
pub fn groups(program: &Program, thread: &Thread) -> Vec<Group> {
    let inside = inside_blocks(thread);
    let outside = thread.code.iter().zip(&inside).filter(|(_, inside)| !**inside);
    let mut spans: Vec<(u32, u32, bool)> = outside
        .filter_map(|(stmt, _)| {
            let (first, end) = span(program, stmt.op.address()?);
            Some((first, end, matches!(stmt.op, Op::Store { .. })))
        })
        .collect();
    spans.sort_unstable();
    let mut merged: Vec<(u32, u32, bool)> = Vec::new();
    for (first, end, stores) in spans {
        match merged.last_mut() {
            Some(last) if first < last.1 => *last = (last.0, last.1.max(end), last.2 || stores),
            _ => merged.push((first, end, stores)),
        }
    }
    let group = |(first, end, _): (u32, u32, bool)| {
        let (first, len) = (Loc(first), end - first);
        Group { first, len, name: group_name(program, first, len) }
    };
    merged.into_iter().filter(|(_, _, stores)| *stores).map(group).collect()
}

/// The group that an address is in, and where in it.
pub fn find(program: &Program, groups: &[Group], at: &Address) -> Option<(usize, Expr<Reg>)> {
    let (start, _) = span(program, at);
    let inside = |group: &Group| group.first.0 <= start && start < group.first.0 + group.len;
    let which = groups.iter().position(inside)?;
    let constant = |value: u32| Expr::Const(value as i32);
    let mut index = constant(at.base.0 - groups[which].first.0);
    if let Some((pool, cell)) = &at.cell {
        let before = binary(BinOp::Sub, cell.clone(), Expr::Const(1));
        let stride = constant(program.pool(*pool).stride);
        index = binary(BinOp::Add, binary(BinOp::Mul, before, stride), index);
    }
    if let Some((_, inner)) = &at.index {
        index = match index.as_const() {
            Some(0) => inner.clone(),
            _ => binary(BinOp::Add, index, inner.clone()),
        };
    }
    Some((which, index.fold()))
}

/// The address of one location.
pub fn place(program: &Program, loc: Loc) -> Address {
    match program.cell_of(loc) {
        None => Address::fixed(loc),
        Some((pool, cell)) => {
            let base = Loc(loc.0 - cell * program.pool(pool).stride);
            Address { base, cell: Some((pool, Expr::Const(cell as i32 + 1))), index: None }
        }
    }
}

/// By program counter: whether the statement is inside an atomic block. Its beginning is not, its end is.
pub fn inside_blocks(thread: &Thread) -> Vec<bool> {
    let mut inside = vec![None; thread.code.len()];
    let mut pending = vec![(Pc(0), false)];
    while let Some((pc, now)) = pending.pop() {
        if inside[pc.index()].replace(now).is_some() {
            continue;
        }
        let stmt = thread.stmt(pc);
        let after = match stmt.op {
            Op::AtomicBegin => true,
            Op::AtomicEnd => false,
            _ => now,
        };
        pending.extend(fencepost_ir::flow::successors(stmt).map(|next| (next, after)));
    }
    inside.into_iter().map(|inside| inside == Some(true)).collect()
}

/// A name made fit for an identifier: `p(0)` becomes `p_0`.
pub fn identifier(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    plain.trim_matches('_').to_string()
}

/// The locations that an address can mean: from the first up to the second.
fn span(program: &Program, at: &Address) -> (u32, u32) {
    match (&at.cell, &at.index) {
        (Some((pool, _)), _) => {
            let pool = program.pool(*pool);
            (pool.base.0, pool.base.0 + pool.cells * pool.stride)
        }
        (None, Some((len, _))) => (at.base.0, at.base.0 + len),
        (None, None) => (at.base.0, at.base.0 + 1),
    }
}

fn group_name(program: &Program, first: Loc, len: u32) -> String {
    if let Some((pool, _)) = program.cell_of(first) {
        return identifier(&program.pool(pool).name);
    }
    let name = &program.location(first).name;
    match name.rsplit_once('[') {
        Some((array, _)) if len > 1 => identifier(array),
        _ => identifier(name),
    }
}

fn binary(op: BinOp, a: Expr<Reg>, b: Expr<Reg>) -> Expr<Reg> {
    Expr::Binary(op, Box::new(a), Box::new(b)).fold()
}
