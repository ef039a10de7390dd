//! Avoid formulas: interned monotone formulas over numbered constraints.
//!
//! Source: \[KVY10\] IV-B. A formula is a conjunction of clauses. No clause contains another (an
//! antichain), so equal formulas are equal lists. `true` has no clause, `false` has the empty
//! clause. Formulas have no negation, so this form is canonical and often small. Clauses and
//! formulas are interned, and the operations of the fixpoint are memoised by the ids of their
//! operands. Rejected: decision diagrams, which are twice as fast on some real graphs but a hundred
//! times slower on others.

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The constraints of a clause: a bit set of numbers below `64 * W`.
pub(crate) type Bits<const W: usize> = [u64; W];

/// The id of an interned clause.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Clause(u32);

/// The id of an interned formula.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Formula(u32);

impl Formula {
    /// The formula without clauses.
    pub(crate) const TRUE: Formula = Formula(0);
    /// The formula with the empty clause.
    pub(crate) const FALSE: Formula = Formula(1);
}

/// The arena of all formulas of a computation.
#[derive(Debug)]
pub(crate) struct Formulas<const W: usize> {
    clauses: Vec<Bits<W>>,
    clause_by_bits: FxHashMap<Bits<W>, Clause>,
    formulas: Vec<Rc<[Clause]>>,
    formula_by_clauses: FxHashMap<Rc<[Clause]>, Formula>,
    /// The sum of the lengths of all formulas.
    size: usize,
    /// The number of operations and of compared pairs of clauses, at most.
    work: u64,
    and: FxHashMap<(Formula, Formula), Formula>,
    or: FxHashMap<(Formula, Clause), Formula>,
    without: FxHashMap<(Formula, Formula), Formula>,
    /// Scratch space for the clauses of a result.
    unions: Vec<Bits<W>>,
    list: Vec<Clause>,
}

#[inline]
fn is_subset<const W: usize>(a: &Bits<W>, b: &Bits<W>) -> bool {
    a.iter().zip(b).all(|(a, b)| a & !b == 0)
}

impl<const W: usize> Formulas<W> {
    /// Creates an arena that contains `true` and `false`.
    pub(crate) fn new() -> Self {
        let mut formulas = Formulas {
            clauses: Vec::new(),
            clause_by_bits: FxHashMap::default(),
            formulas: Vec::new(),
            formula_by_clauses: FxHashMap::default(),
            size: 0,
            work: 0,
            and: FxHashMap::default(),
            or: FxHashMap::default(),
            without: FxHashMap::default(),
            unions: Vec::new(),
            list: Vec::new(),
        };
        formulas.intern(&[]);
        let empty = formulas.clause([0; W]);
        formulas.intern(&[empty]);
        formulas
    }

    /// Interns a clause.
    pub(crate) fn clause(&mut self, bits: Bits<W>) -> Clause {
        let clauses = &mut self.clauses;
        *self.clause_by_bits.entry(bits).or_insert_with(|| {
            clauses.push(bits);
            Clause(clauses.len() as u32 - 1)
        })
    }

    /// Iterates over the clauses of a formula.
    pub(crate) fn clauses(&self, formula: Formula) -> impl Iterator<Item = &Bits<W>> {
        self.formulas[formula.0 as usize].iter().map(|clause| &self.clauses[clause.0 as usize])
    }

    /// Estimates the memory use in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let clauses =
            self.clause_by_bits.capacity() * (8 * W + 5) + self.clauses.capacity() * 8 * W;
        let formulas = self.formulas.capacity() * 32 + self.formula_by_clauses.capacity() * 21;
        let memos = self.and.capacity() + self.or.capacity() + self.without.capacity();
        (clauses + formulas + self.size * 4 + memos * 13) as u64
    }

    /// Returns a bound on the work so far: operations and compared pairs of clauses.
    pub(crate) fn work(&self) -> u64 {
        self.work
    }

    fn bits(&self, clause: Clause) -> &Bits<W> {
        &self.clauses[clause.0 as usize]
    }

    /// Interns the formula of an antichain of clauses, which are sorted.
    fn intern(&mut self, clauses: &[Clause]) -> Formula {
        if let Some(known) = self.formula_by_clauses.get(clauses) {
            return *known;
        }
        let formula = Formula(self.formulas.len() as u32);
        let clauses: Rc<[Clause]> = clauses.into();
        self.size += clauses.len();
        self.formulas.push(Rc::clone(&clauses));
        self.formula_by_clauses.insert(clauses, formula);
        formula
    }

    /// Interns the formula of the clauses in `list`.
    fn intern_list(&mut self) -> Formula {
        let mut list = std::mem::take(&mut self.list);
        list.sort_unstable();
        let formula = self.intern(&list);
        self.list = list;
        formula
    }

    /// Returns the conjunction of two formulas.
    pub(crate) fn and(&mut self, a: Formula, b: Formula) -> Formula {
        self.work += 1;
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
        let (of_a, of_b) = (self.clause_ids(a), self.clause_ids(b));
        self.work += of_a.len() as u64 * of_b.len() as u64;
        self.list.clear();
        // A clause that is in both formulas is kept once, from `a`.
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

    /// Returns the disjunction of a formula and a clause.
    pub(crate) fn or(&mut self, formula: Formula, clause: Clause) -> Formula {
        if formula == Formula::TRUE || self.bits(clause) == &[0; W] {
            return formula;
        }
        if let Some(known) = self.or.get(&(formula, clause)) {
            return *known;
        }
        let added = *self.bits(clause);
        let mut unions = std::mem::take(&mut self.unions);
        unions.clear();
        unions.extend(self.clauses(formula).map(|bits| {
            let mut bits = *bits;
            bits.iter_mut().zip(&added).for_each(|(a, b)| *a |= b);
            bits
        }));
        unions.sort_unstable_by_key(|bits| bits.iter().map(|word| word.count_ones()).sum::<u32>());
        self.work += (unions.len() as u64).pow(2);
        let mut kept = 0;
        for at in 0..unions.len() {
            if !(0..kept).any(|earlier| is_subset(&unions[earlier], &unions[at])) {
                unions.swap(kept, at);
                kept += 1;
            }
        }
        self.list.clear();
        for bits in &unions[..kept] {
            let clause = self.clause(*bits);
            self.list.push(clause);
        }
        self.unions = unions;
        let result = self.intern_list();
        self.or.insert((formula, clause), result);
        result
    }

    /// Removes the clauses of a formula that a single clause of `known` implies.
    pub(crate) fn without(&mut self, formula: Formula, known: Formula) -> Formula {
        if known == Formula::TRUE || formula == Formula::TRUE {
            return formula;
        }
        if let Some(result) = self.without.get(&(formula, known)) {
            return *result;
        }
        let (ids, known_ids) = (self.clause_ids(formula), self.clause_ids(known));
        self.work += ids.len() as u64 * known_ids.len() as u64;
        self.list.clear();
        for clause in ids.iter() {
            let bits = self.bits(*clause);
            if !known_ids.iter().any(|other| is_subset(self.bits(*other), bits)) {
                self.list.push(*clause);
            }
        }
        let result = self.intern_list();
        self.without.insert((formula, known), result);
        result
    }

    fn clause_ids(&self, formula: Formula) -> Rc<[Clause]> {
        Rc::clone(&self.formulas[formula.0 as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_testkit::{Random, seeds};

    const CONSTRAINTS: usize = 5;

    /// Computes the truth table of a formula over five constraints: bit `i` is the value of the
    /// formula if exactly the constraints in `i` hold.
    fn truth_table<const W: usize>(formulas: &Formulas<W>, formula: Formula, shift: usize) -> u32 {
        let clause_holds = |bits: &Bits<W>, i: u32| {
            (0..CONSTRAINTS).any(|c| {
                let at = c + shift;
                bits[at / 64] >> (at % 64) & 1 == 1 && i >> c & 1 == 1
            })
        };
        (0..32)
            .filter(|i| formulas.clauses(formula).all(|bits| clause_holds(bits, *i)))
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

    /// Compares operations on random formulas with operations on their truth tables.
    fn compare_with_truth_tables<const W: usize>(shift: usize) {
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
                assert_eq!(truth_table(&formulas, formula, shift), expected);
                assert_eq!(
                    *by_table.entry(expected).or_insert(formula),
                    formula,
                    "equal formulas have one id"
                );
                if known.len() < 400 {
                    known.push((formula, expected));
                }
            }
            let rest = formulas.without(a, b);
            let of_rest = truth_table(&formulas, rest, shift);
            assert_eq!(of_rest & of_b, of_a & of_b, "`without` removes only implied clauses");
            for clause in formulas.clauses(rest) {
                assert!(!formulas.clauses(b).any(|other| is_subset(other, clause)));
            }
        }
        assert!(by_table.len() > 100, "the test covers many formulas");
    }

    #[test]
    fn random_formulas_agree_with_truth_tables() {
        compare_with_truth_tables::<1>(0);
        compare_with_truth_tables::<1>(59);
        compare_with_truth_tables::<2>(62);
        compare_with_truth_tables::<4>(126);
    }
}
