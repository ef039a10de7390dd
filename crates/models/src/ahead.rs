//! What a thread may still do: by program counter, the locations that statements from there on may load or store.
//!
//! A search that puts off steps must know that nothing others can still do gets in their way. Who has passed its last
//! access to a location no longer can.

use fencepost_ir::{Loc, Pc, Thread, flow};

/// Beyond this many words the table is not made, and a thread may do anything it does somewhere.
const LARGEST: usize = 1 << 20;

/// What a thread may still access, by program counter.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// Words for each program counter; 0 when nothing is known.
    words: usize,
    loads: Vec<u64>,
    stores: Vec<u64>,
}

impl Ahead {
    /// Computes it. `footprints` has the locations that the statement at each program counter may be to, `locations`
    /// is their number in all.
    pub fn new(thread: &Thread, footprints: &[Vec<Loc>], locations: usize) -> Self {
        let words = locations.div_ceil(64);
        let size = thread.code.len() * words;
        if size > LARGEST {
            return Ahead { words: 0, loads: Vec::new(), stores: Vec::new() };
        }
        let mut ahead = Ahead { words, loads: vec![0; size], stores: vec![0; size] };
        for (at, stmt) in thread.code.iter().enumerate() {
            let Some(access) = stmt.op.access() else { continue };
            for loc in &footprints[at] {
                let (word, bit) = (at * words + loc.index() / 64, 1u64 << (loc.index() % 64));
                ahead.loads[word] |= if access.loads { bit } else { 0 };
                ahead.stores[word] |= if access.stores { bit } else { 0 };
            }
        }
        while ahead.pass(thread) {}
        ahead
    }

    /// Adds to every statement what its successors may do, last statements first. Whether anything was new.
    fn pass(&mut self, thread: &Thread) -> bool {
        let mut changed = false;
        for (at, stmt) in thread.code.iter().enumerate().rev() {
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

    /// Whether a statement from here on may load the location.
    #[inline]
    pub fn loads(&self, pc: Pc, loc: Loc) -> bool {
        self.has(&self.loads, pc, loc)
    }

    /// Whether a statement from here on may store to the location.
    #[inline]
    pub fn stores(&self, pc: Pc, loc: Loc) -> bool {
        self.has(&self.stores, pc, loc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{Address, Expr, Label, Op, Reg, Register, Stmt, Type};

    #[test]
    fn what_is_behind_a_thread_is_not_ahead_of_it() {
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
        let ahead = Ahead::new(&thread, &footprints, 3);
        assert!(ahead.stores(Pc(0), x) && ahead.loads(Pc(0), x) && ahead.stores(Pc(0), z));
        // In the loop all of the loop is ahead, but nothing that is before it.
        let inside = Pc(3);
        assert!(ahead.stores(inside, z) && ahead.loads(inside, y) && ahead.loads(inside, x));
        assert!(!ahead.stores(inside, x) && !ahead.stores(inside, y) && !ahead.loads(inside, z));
        let end = Pc(5);
        assert!(![x, y, z].iter().any(|l| ahead.loads(end, *l) || ahead.stores(end, *l)));
    }
}
