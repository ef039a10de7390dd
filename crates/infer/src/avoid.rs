//! Avoid formulas: monotone formulas over numbered constraints, each kept once.
//!
//! Source: \[KVY10\] IV-B. A formula is a conjunction of clauses none of which contains another (an
//! antichain), which makes equal formulas equal lists: `true` has no clause, `false` has the empty one.
//! Negation never occurs, so this form is canonical and often tiny. Clauses and formulas are interned and
//! the two operations that the fixed point needs are remembered by the numbers of their operands. Rejected:
//! decision diagrams, twice as fast on some real graphs but a hundred times slower on others.

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A clause: a set of constraints below `64 * W`, as bits.
pub(crate) type Bits<const W: usize> = [u64; W];

/// A clause in an arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Clause(u32);

/// A formula in an arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Formula(u32);

impl Formula {
    /// No clause.
    pub(crate) const TRUE: Formula = Formula(0);
    /// The empty clause.
    pub(crate) const FALSE: Formula = Formula(1);
}

/// All formulas of a computation.
#[derive(Debug)]
pub(crate) struct Formulas<const W: usize> {
    clauses: Vec<Bits<W>>,
    clause_numbers: FxHashMap<Bits<W>, Clause>,
    formulas: Vec<Rc<[Clause]>>,
    formula_numbers: FxHashMap<Rc<[Clause]>, Formula>,
    /// How many clauses all formulas have together.
    size: usize,
    and: FxHashMap<(Formula, Formula), Formula>,
    or: FxHashMap<(Formula, Clause), Formula>,
    without: FxHashMap<(Formula, Formula), Formula>,
    /// Reused for the clauses of a result.
    work: Vec<Bits<W>>,
    list: Vec<Clause>,
}

#[inline]
fn is_subset<const W: usize>(a: &Bits<W>, b: &Bits<W>) -> bool {
    a.iter().zip(b).all(|(a, b)| a & !b == 0)
}

impl<const W: usize> Formulas<W> {
    /// `true`, `false`, and nothing else yet.
    pub(crate) fn new() -> Self {
        let mut formulas = Formulas {
            clauses: Vec::new(),
            clause_numbers: FxHashMap::default(),
            formulas: Vec::new(),
            formula_numbers: FxHashMap::default(),
            size: 0,
            and: FxHashMap::default(),
            or: FxHashMap::default(),
            without: FxHashMap::default(),
            work: Vec::new(),
            list: Vec::new(),
        };
        formulas.intern(&[]);
        let empty = formulas.clause([0; W]);
        formulas.intern(&[empty]);
        formulas
    }

    /// The clause of these constraints.
    pub(crate) fn clause(&mut self, bits: Bits<W>) -> Clause {
        let clauses = &mut self.clauses;
        *self.clause_numbers.entry(bits).or_insert_with(|| {
            clauses.push(bits);
            Clause(clauses.len() as u32 - 1)
        })
    }

    /// The clauses of a formula.
    pub(crate) fn clauses(&self, formula: Formula) -> impl Iterator<Item = &Bits<W>> {
        self.formulas[formula.0 as usize].iter().map(|clause| &self.clauses[clause.0 as usize])
    }

    /// Bytes held, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        let clauses =
            self.clause_numbers.capacity() * (8 * W + 5) + self.clauses.capacity() * 8 * W;
        let formulas = self.formulas.capacity() * 32 + self.formula_numbers.capacity() * 21;
        let memory = self.and.capacity() + self.or.capacity() + self.without.capacity();
        (clauses + formulas + self.size * 4 + memory * 13) as u64
    }

    fn bits(&self, clause: Clause) -> &Bits<W> {
        &self.clauses[clause.0 as usize]
    }

    /// The formula of these clauses, none of which contains another; they are sorted.
    fn intern(&mut self, clauses: &[Clause]) -> Formula {
        if let Some(known) = self.formula_numbers.get(clauses) {
            return *known;
        }
        let number = Formula(self.formulas.len() as u32);
        let clauses: Rc<[Clause]> = clauses.into();
        self.size += clauses.len();
        self.formulas.push(Rc::clone(&clauses));
        self.formula_numbers.insert(clauses, number);
        number
    }

    /// The formula of the clauses in `list`.
    fn intern_list(&mut self) -> Formula {
        let mut list = std::mem::take(&mut self.list);
        list.sort_unstable();
        let formula = self.intern(&list);
        self.list = list;
        formula
    }

    /// Both.
    pub(crate) fn and(&mut self, a: Formula, b: Formula) -> Formula {
        let (a, b) = (a.min(b), a.max(b));
        if a == b || a == Formula::TRUE {
            return b;
        }
        if a == Formula::FALSE {
            return a;
        }
        if let Some(known) = self.and.get(&(a, b)) {
            return *known;
        }
        let (of_a, of_b) = (self.list_of(a), self.list_of(b));
        self.list.clear();
        // Of clauses in both, the one of `a` stays.
        for clause in of_a.iter() {
            let bits = self.bits(*clause);
            if !of_b.iter().any(|other| other != clause && is_subset(self.bits(*other), bits)) {
                self.list.push(*clause);
            }
        }
        for clause in of_b.iter() {
            let bits = self.bits(*clause);
            if !of_a.iter().any(|other| is_subset(self.bits(*other), bits)) {
                self.list.push(*clause);
            }
        }
        let result = self.intern_list();
        self.and.insert((a, b), result);
        result
    }

    /// Either the formula or one of the constraints in a clause.
    pub(crate) fn or(&mut self, formula: Formula, clause: Clause) -> Formula {
        if formula == Formula::TRUE || self.bits(clause) == &[0; W] {
            return formula;
        }
        if let Some(known) = self.or.get(&(formula, clause)) {
            return *known;
        }
        let more = *self.bits(clause);
        let mut work = std::mem::take(&mut self.work);
        work.clear();
        work.extend(self.clauses(formula).map(|bits| {
            let mut bits = *bits;
            bits.iter_mut().zip(&more).for_each(|(a, b)| *a |= b);
            bits
        }));
        work.sort_unstable_by_key(|bits| bits.iter().map(|word| word.count_ones()).sum::<u32>());
        let mut kept = 0;
        for at in 0..work.len() {
            if !(0..kept).any(|earlier| is_subset(&work[earlier], &work[at])) {
                work.swap(kept, at);
                kept += 1;
            }
        }
        self.list.clear();
        for bits in &work[..kept] {
            let clause = self.clause(*bits);
            self.list.push(clause);
        }
        self.work = work;
        let result = self.intern_list();
        self.or.insert((formula, clause), result);
        result
    }

    /// The clauses of a formula that `known` does not imply.
    pub(crate) fn without(&mut self, formula: Formula, known: Formula) -> Formula {
        if known == Formula::TRUE || formula == Formula::TRUE {
            return formula;
        }
        if let Some(result) = self.without.get(&(formula, known)) {
            return *result;
        }
        let (list, known_list) = (self.list_of(formula), self.list_of(known));
        self.list.clear();
        for clause in list.iter() {
            let bits = self.bits(*clause);
            if !known_list.iter().any(|other| is_subset(self.bits(*other), bits)) {
                self.list.push(*clause);
            }
        }
        let result = self.intern_list();
        self.without.insert((formula, known), result);
        result
    }

    fn list_of(&self, formula: Formula) -> Rc<[Clause]> {
        Rc::clone(&self.formulas[formula.0 as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_testkit::{Random, seeds};

    const CONSTRAINTS: usize = 5;

    /// The truth table of a formula over five constraints: bit `i` is its value where the constraints
    /// in `i` are true.
    fn table<const W: usize>(formulas: &Formulas<W>, formula: Formula, shift: usize) -> u32 {
        let clause = |bits: &Bits<W>, i: u32| {
            (0..CONSTRAINTS).any(|c| {
                let at = c + shift;
                bits[at / 64] >> (at % 64) & 1 == 1 && i >> c & 1 == 1
            })
        };
        (0..32)
            .filter(|i| formulas.clauses(formula).all(|bits| clause(bits, *i)))
            .map(|i| 1 << i)
            .sum()
    }

    fn bits<const W: usize>(members: u32, shift: usize) -> Bits<W> {
        let mut bits = [0; W];
        for c in (0..CONSTRAINTS).filter(|c| members >> c & 1 == 1) {
            bits[(c + shift) / 64] |= 1 << ((c + shift) % 64);
        }
        bits
    }

    /// Random formulas, with operations on truth tables beside them.
    fn compare<const W: usize>(shift: usize) {
        let mut formulas = Formulas::<W>::new();
        let mut known = vec![(Formula::TRUE, u32::MAX), (Formula::FALSE, 0)];
        let mut by_table = FxHashMap::from_iter(known.iter().map(|(f, t)| (*t, *f)));
        let mut draw = Random::new(0);
        for _ in seeds(4_000) {
            let (a, of_a) = known[draw.below(known.len())];
            let (b, of_b) = known[draw.below(known.len())];
            let members = draw.below(32) as u32;
            let clause = formulas.clause(bits(members, shift));
            let of_clause: u32 = (0..32).filter(|i| i & members != 0).map(|i| 1 << i).sum();
            for (formula, expected) in
                [(formulas.and(a, b), of_a & of_b), (formulas.or(a, clause), of_a | of_clause)]
            {
                assert_eq!(table(&formulas, formula, shift), expected);
                assert_eq!(*by_table.entry(expected).or_insert(formula), formula, "canonical");
                if known.len() < 400 {
                    known.push((formula, expected));
                }
            }
            let rest = formulas.without(a, b);
            let of_rest = table(&formulas, rest, shift);
            assert_eq!(of_rest & of_b, of_a & of_b, "only what is implied is left out");
            for clause in formulas.clauses(rest) {
                assert!(!formulas.clauses(b).any(|other| is_subset(other, clause)));
            }
        }
        assert!(by_table.len() > 100, "many formulas were met");
    }

    #[test]
    fn random_formulas_agree_with_truth_tables() {
        compare::<1>(0);
        compare::<1>(59);
        compare::<2>(62);
        compare::<4>(126);
    }
}
