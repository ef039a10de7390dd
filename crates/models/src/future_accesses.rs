//! Future accesses of a thread: by program counter, the locations that the statements reachable
//! from there may load or store.
//!
//! Direction: over. The partial-order reduction delays steps, so it must know that no future access
//! of another thread conflicts with them. A thread that has passed its last access to a location
//! cannot conflict there.

use fencepost_ir::{Loc, Op, Pc, Thread, flow};

/// The maximal number of words of a table. For a larger program no table is built, and every access
/// of a thread counts as a future access.
const MAX_WORDS: usize = 1 << 20;

/// The locations that a thread may still access, by program counter.
#[derive(Clone, Debug)]
pub struct FutureAccesses {
    /// The number of words for each program counter. 0 if there is no table.
    words: usize,
    loads: Vec<u64>,
    stores: Vec<u64>,
}

impl FutureAccesses {
    /// Computes the table. `footprints` contains the locations that the statement at each program
    /// counter may access; `locations` is the number of locations of the program.
    pub fn new(thread: &Thread, footprints: &[Vec<Loc>], locations: usize) -> Self {
        Self::until(thread, footprints, locations, |_| false)
    }

    /// Computes the table of the accesses before the statements at which `is_end` holds.
    pub fn until(
        thread: &Thread,
        footprints: &[Vec<Loc>],
        locations: usize,
        is_end: impl Fn(&Op) -> bool,
    ) -> Self {
        let words = locations.div_ceil(64);
        let size = thread.code.len() * words;
        if size > MAX_WORDS {
            return FutureAccesses { words: 0, loads: Vec::new(), stores: Vec::new() };
        }
        let mut accesses = FutureAccesses { words, loads: vec![0; size], stores: vec![0; size] };
        for (at, stmt) in thread.code.iter().enumerate() {
            let Some(access) = stmt.op.access() else { continue };
            for loc in &footprints[at] {
                let (word, bit) = (at * words + loc.index() / 64, 1u64 << (loc.index() % 64));
                accesses.loads[word] |= if access.loads { bit } else { 0 };
                accesses.stores[word] |= if access.stores { bit } else { 0 };
            }
        }
        while accesses.propagate(thread, &is_end) {}
        accesses
    }

    /// Adds the accesses of the successors of each statement, last statement first. Returns whether
    /// anything changed.
    fn propagate(&mut self, thread: &Thread, is_end: &impl Fn(&Op) -> bool) -> bool {
        let mut changed = false;
        for (at, stmt) in thread.code.iter().enumerate().rev() {
            if is_end(&stmt.op) {
                continue;
            }
            for next in flow::successors(stmt) {
                for word in 0..self.words {
                    let (to, from) = (at * self.words + word, next.index() * self.words + word);
                    for bits in [&mut self.loads, &mut self.stores] {
                        let more = bits[to] | bits[from];
                        changed |= more != bits[to];
                        bits[to] = more;
                    }
                }
            }
        }
        changed
    }

    #[inline]
    fn has(&self, bits: &[u64], pc: Pc, loc: Loc) -> bool {
        let word = pc.index() * self.words + loc.index() / 64;
        self.words == 0 || bits[word] >> (loc.index() % 64) & 1 != 0
    }

    /// Returns whether all statements reachable from `pc` access only these locations.
    pub fn are_within(&self, pc: Pc, locations: &[Loc]) -> bool {
        let word = |word: usize| {
            let at = pc.index() * self.words + word;
            let of_word = locations.iter().filter(|loc| loc.index() / 64 == word);
            let allowed = of_word.fold(0, |bits, loc| bits | 1u64 << (loc.index() % 64));
            (self.loads[at] | self.stores[at]) & !allowed == 0
        };
        self.words != 0 && (0..self.words).all(word)
    }

    /// Returns whether a statement reachable from `pc` may load the location.
    #[inline]
    pub fn loads(&self, pc: Pc, loc: Loc) -> bool {
        self.has(&self.loads, pc, loc)
    }

    /// Returns whether a statement reachable from `pc` may store to the location.
    #[inline]
    pub fn stores(&self, pc: Pc, loc: Loc) -> bool {
        self.has(&self.stores, pc, loc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{Address, Expr, Label, Reg, Register, Stmt, Type};

    #[test]
    fn passed_accesses_are_not_future_accesses() {
        let (x, y, z) = (Loc(0), Loc(1), Loc(2));
        let (reg, one) = (Reg(0), Expr::Const(1));
        let store = |loc| Op::Store { to: Address::fixed(loc), value: one.clone() };
        let load = |loc| Op::Load { reg, from: Address::fixed(loc) };
        // x = 1; while (y == 0) { z = 1; } r = x;
        let branch = Op::Branch { cond: Expr::Var(reg), then: Pc(4), otherwise: Pc(3) };
        let code = [store(x), load(y), branch, store(z), load(x), Op::Halt];
        let stmt = |(at, op): (usize, Op)| {
            let next = if at == 3 { Pc(1) } else { Pc::from_index(at + 1) };
            Stmt { label: Label(0), op, next, critical: false }
        };
        let code: Vec<Stmt> = code.into_iter().enumerate().map(stmt).collect();
        let at = |s: &Stmt| s.op.address().and_then(Address::as_fixed).into_iter().collect();
        let footprints: Vec<Vec<Loc>> = code.iter().map(at).collect();
        let registers = vec![Register { name: "r".into(), ty: Type::INT }];
        let thread = Thread { name: "p".into(), registers, code };
        let accesses = FutureAccesses::new(&thread, &footprints, 3);
        assert!(accesses.stores(Pc(0), x) && accesses.loads(Pc(0), x) && accesses.stores(Pc(0), z));
        // Inside the loop, all of the loop is reachable, but nothing before the loop.
        let inside = Pc(3);
        assert!(
            accesses.stores(inside, z) && accesses.loads(inside, y) && accesses.loads(inside, x)
        );
        assert!(
            !accesses.stores(inside, x)
                && !accesses.stores(inside, y)
                && !accesses.loads(inside, z)
        );
        assert!(accesses.are_within(inside, &[x, y, z]) && !accesses.are_within(inside, &[y, z]));
        let end = Pc(5);
        assert!(accesses.are_within(end, &[]));
        assert!(![x, y, z].iter().any(|l| accesses.loads(end, *l) || accesses.stores(end, *l)));
    }
}
