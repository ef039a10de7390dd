//! Candidates: the barriers that may be placed, each once, with what it costs.
//!
//! Two places between which no thread does anything that others can notice, or that could go wrong,
//! are one candidate: the first of them that may be used. A drain is offered directly after a store
//! whose address can be written down again.

use crate::hitting::Cost;
use crate::menu::{Dish, Menu};
use crate::set::Set;
use fencepost_ir::{
    Atom, Barrier, FenceKinds, Label, Op, Pc, PlaceId, Placement, Problem, Program, Thread,
    Written, flow, placement,
};
use fencepost_models::mutation::Mutated;
use std::collections::{BTreeMap, BTreeSet};

/// One unit of price in units of cost; what is below decides between placements of equal price.
pub const PRICE: Cost = 1 << 20;

/// Where fences may be put.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Restrictions {
    /// Not before a statement on one of these lines.
    pub forbidden_lines: BTreeSet<u32>,
    /// Only in these procedures and thread templates; everywhere, if there are none.
    pub functions: BTreeSet<String>,
}

/// The barriers that may be placed.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// The barriers; their positions here are the numbers that clauses use.
    pub atoms: Vec<Atom>,
    /// What each costs: the price, and a little more for more statements and for those in loops.
    pub costs: Vec<Cost>,
    /// What becomes of the fences the user wrote.
    pub written: Written,
    /// For tests of the tests: an error in how clauses are made.
    pub mutated: Mutated,
    numbers: BTreeMap<Atom, usize>,
    prices: Vec<u32>,
}

impl Candidates {
    /// What a menu offers at the places of some problems, all of one file.
    pub fn new(
        problems: &[Problem],
        menu: &Menu,
        restrictions: &Restrictions,
        written: Written,
    ) -> Self {
        let mut offered: BTreeMap<Atom, u32> = BTreeMap::new();
        let Some(first) = problems.first() else {
            return Self::from_offer(BTreeMap::new(), &Program::default(), written);
        };
        let allowed = |place: &PlaceId| restrictions.allow(&first.program, *place);
        for place in representatives(problems, allowed) {
            let label = first.program.place(place).label;
            let there = first.program.place(place).written.filter(|_| written == Written::Kept);
            let there = there.map(|(kinds, _)| kinds).unwrap_or_default();
            if let Some(price) = price_of_full(menu, there) {
                offered.insert(Atom { place, barrier: Barrier::Fence(FenceKinds::FULL) }, price);
            }
            for (dish, price) in &menu.dishes {
                match dish {
                    Dish::Fence(FenceKinds::FULL) => {}
                    Dish::Fence(kinds) if there.contains(*kinds) => {}
                    Dish::Fence(kinds) => {
                        offered.insert(Atom { place, barrier: Barrier::Fence(*kinds) }, *price);
                    }
                    Dish::Drain => {
                        for store in drainable(problems, label) {
                            offered.insert(Atom { place, barrier: Barrier::Drain(store) }, *price);
                        }
                    }
                }
            }
        }
        Self::from_offer(offered, &first.program, written)
    }

    fn from_offer(offered: BTreeMap<Atom, u32>, program: &Program, written: Written) -> Self {
        // Fewer statements first, then those in fewer loops, then what names a store as such.
        let ties = |atom: &Atom| {
            let loads = atom.barrier == Barrier::Fence(FenceKinds::LOAD_LOAD);
            1024 + 2 * Cost::from(program.place(atom.place).loops) + Cost::from(loads)
        };
        Candidates {
            costs: offered.iter().map(|(a, p)| Cost::from(*p) * PRICE + ties(a)).collect(),
            numbers: offered.keys().enumerate().map(|(at, atom)| (*atom, at)).collect(),
            prices: offered.values().copied().collect(),
            atoms: offered.into_keys().collect(),
            written,
            mutated: Mutated::NONE,
        }
    }

    /// Those of them that are wanted.
    pub fn only(&self, wanted: impl Fn(&Atom) -> bool) -> Candidates {
        let kept: Vec<usize> = (0..self.len()).filter(|at| wanted(&self.atoms[*at])).collect();
        let atoms: Vec<Atom> = kept.iter().map(|at| self.atoms[*at]).collect();
        Candidates {
            costs: kept.iter().map(|at| self.costs[*at]).collect(),
            numbers: atoms.iter().enumerate().map(|(at, atom)| (*atom, at)).collect(),
            prices: kept.iter().map(|at| self.prices[*at]).collect(),
            atoms,
            written: self.written,
            mutated: self.mutated,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.atoms.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty()
    }

    /// The number of a barrier, if it is a candidate.
    pub fn number(&self, atom: Atom) -> Option<usize> {
        self.numbers.get(&atom).copied()
    }

    /// The placement that a set of numbers stands for.
    pub fn placement(&self, set: &Set) -> Placement {
        set.iter().map(|number| self.atoms[number]).collect()
    }

    /// What each costs in units of the menu.
    pub fn prices(&self) -> impl Iterator<Item = Cost> + '_ {
        self.prices.iter().map(|price| Cost::from(*price))
    }

    /// What a placement costs in units of the menu.
    pub fn price(&self, placement: &Placement) -> u32 {
        let price = |atom: &Atom| self.number(*atom).map_or(0, |number| self.prices[number]);
        placement.atoms.iter().map(price).sum()
    }
}

/// What a full fence costs at a place where the author's fence has some kinds already. All four single
/// kinds in one statement are a full fence, and may be the cheaper way to get one.
fn price_of_full(menu: &Menu, there: FenceKinds) -> Option<u32> {
    if there == FenceKinds::FULL {
        return None;
    }
    let price = |dish| menu.dishes.iter().find(|(other, _)| *other == dish).map(|(_, p)| *p);
    let missing = FenceKinds::SINGLE.iter().filter(|(kind, _)| !there.contains(*kind));
    let singles: Option<u32> = missing.map(|(kind, _)| price(Dish::Fence(*kind))).sum();
    let full = price(Dish::Fence(FenceKinds::FULL));
    full.into_iter().chain(singles).min()
}

impl Restrictions {
    fn allow(&self, program: &Program, place: PlaceId) -> bool {
        let info = program.label(program.place(place).label);
        !self.forbidden_lines.contains(&info.span.line)
            && (self.functions.is_empty() || self.functions.contains(&info.function))
    }
}

/// The stores after which every thread that passes a place can drain what it has just written.
fn drainable(problems: &[Problem], place: Label) -> BTreeSet<Label> {
    let function = |label: Label| &problems[0].program.label(label).function;
    // A drain asks whether its record is still there: where records are freed, it adds a fault.
    let code = problems.iter().flat_map(|p| &p.program.threads).flat_map(|t| &t.code);
    let frees = code.into_iter().any(|stmt| matches!(stmt.op, Op::Free { .. }));
    let mut found: Option<BTreeSet<Label>> = None;
    for thread in problems.iter().flat_map(|p| &p.program.threads) {
        for (at, stmt) in thread.code.iter().enumerate().filter(|(_, s)| s.label == place) {
            debug_assert!(matches!(stmt.op, Op::Skip | Op::Fence(_)), "a place marks nothing else");
            let stores = thread.code.iter().filter(|s| matches!(s.op, Op::Store { .. }));
            let here: BTreeSet<Label> = stores
                .map(|s| s.label)
                .filter(|store| function(*store) == function(place))
                .filter(|store| {
                    let address = placement::drained(thread, Pc::from_index(at), *store);
                    address.is_some_and(|address| {
                        let mut writable = address.cell.is_none() || !frees;
                        let exprs = address.cell.iter().map(|(_, e)| e);
                        exprs.chain(address.index.iter().map(|(_, e)| e)).for_each(|e| {
                            e.for_each_var(&mut |reg| {
                                writable &= !thread.registers[reg.index()].is_temporary();
                            });
                        });
                        writable
                    })
                })
                .collect();
            found = Some(match found {
                Some(before) => before.intersection(&here).copied().collect(),
                None => here,
            });
        }
    }
    found.unwrap_or_default()
}

/// One allowed place of each group of places that make no difference.
fn representatives(problems: &[Problem], allowed: impl Fn(&PlaceId) -> bool) -> Vec<PlaceId> {
    let places = problems.first().map_or(0, |p| p.program.places.len());
    let mut of_label: BTreeMap<Label, usize> = BTreeMap::new();
    for (at, place) in problems.iter().flat_map(|p| p.program.places.iter().enumerate()) {
        of_label.insert(place.label, at);
    }
    let mut copies = vec![0_u32; places];
    let mut followers: Vec<Vec<Option<usize>>> = vec![Vec::new(); places];
    for thread in problems.iter().flat_map(|p| &p.program.threads) {
        let ways = flow::ways_in(thread);
        for (at, stmt) in thread.code.iter().enumerate() {
            if let Some(place) = of_label.get(&stmt.label) {
                copies[*place] += 1;
                followers[*place].push(follower(thread, at, &ways, &of_label));
            }
        }
    }
    // Each place leads to at most one other, with which it makes no difference.
    let mut leads: Vec<Option<usize>> = vec![None; places];
    for (place, after) in followers.iter().enumerate() {
        if let Some(Some(next)) = after.first()
            && after.iter().all(|other| *other == Some(*next))
            && copies[*next] == copies[place]
        {
            leads[place] = Some(*next);
        }
    }
    let led_to: BTreeSet<usize> = leads.iter().flatten().copied().collect();
    let heads = (0..places).filter(|p| copies[*p] > 0 && !led_to.contains(p));
    heads
        .filter_map(|head| {
            let chain = std::iter::successors(Some(head), |at| leads[*at]);
            chain.map(PlaceId::from_index).find(|place| allowed(place))
        })
        .collect()
}

/// The next place, if the way to it from the place at `at` is the only way to it, and nothing happens
/// on it.
fn follower(
    thread: &Thread,
    at: usize,
    ways: &[Vec<Pc>],
    of_label: &BTreeMap<Label, usize>,
) -> Option<usize> {
    let critical = thread.code[at].critical;
    let mut pc = thread.code[at].next;
    for _ in 0..thread.code.len() {
        let stmt = thread.stmt(pc);
        let entered = usize::from(pc == Pc(0)) + ways[pc.index()].len();
        if entered != 1 || stmt.critical != critical {
            return None;
        }
        if let Some(place) = of_label.get(&stmt.label) {
            return Some(*place);
        }
        if !matches!(stmt.op, Op::Skip | Op::Assign { .. } | Op::Assume(_)) {
            return None;
        }
        pc = stmt.next;
    }
    None
}
