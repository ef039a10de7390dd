//! Early loads: the loads behind a guess that may be the first ones to be performed before the guess
//! is resolved.
//!
//! Direction: over-approximation, so that no useful guess is omitted. A load L behind the start of a
//! path is early if
//!
//! - no statement on the path blocks it: a full fence, an `atomic` block, an allocation, a fence that
//!   orders L with earlier loads, or a store-load fence behind a store of the path;
//! - no store of the path is certainly to its location, because then L takes the value of the store;
//! - L does not need a load of the path: its address is not computed from the value of one, and none
//!   has acquire order. Such a load must be performed before L, so L is not the first one.
//!
//! A load that takes the value of a store of the path does not count, because it can do so at any
//! time until the guess is resolved. So L may need such a load, and then it needs the address and the
//! value of the store. An acquire load does not take the value of a read-modify-write. The success of
//! a compare-and-swap and the condition of a selection may be guessed, so L may need their results,
//! too; that of a compare-and-swap is then its expected value, and L needs this value.
//!
//! The analysis goes backwards from each load. A [`Demand`] says what must hold on the rest of the
//! path: which registers the address needs there, and which loads still need a store before them.
//! Demands that allow less than another one are dropped.

use crate::model::MemoryModel;
use crate::shape::{Shape, ThreadShape};
use crate::table::Bypass;
use crate::window::operands::address_exprs;
use fencepost_ir::{Acquire, Expr, FenceKinds, Loc, Op, Pc, Reg, ThreadId, Update, flow};

/// The early loads of a thread.
#[derive(Debug)]
pub(super) struct EarlyLoads {
    /// By program counter: the loads behind it.
    at: Vec<Vec<EarlyLoad>>,
}

/// Loads that may be the first ones to be performed.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct EarlyLoad {
    /// The locations that the load may access.
    pub(super) locations: Vec<Loc>,
    /// Whether the load has acquire order.
    pub(super) acquire: bool,
    /// The registers whose values the address needs at the start of the path.
    pub(super) needs: Vec<Reg>,
}

/// What decides which loads may be performed early.
#[derive(Clone, Copy, Debug)]
struct Rules {
    bypass: Bypass,
    /// Whether the load of an update may be performed early.
    updates: bool,
    /// Whether accesses have orders, so that fences which implement orders are ignored.
    ordered: bool,
}

/// The maximal number of demands of one load at one program counter. If there are more, the load is
/// early without conditions.
const MAX_DEMANDS: usize = 8;

/// What a load demands of the path to a program counter, so that it is early.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Demand {
    /// The registers whose values the address needs, in ascending order.
    needs: Vec<Reg>,
    /// The loads that must take the value of a store of the path, in ascending order.
    forwarded: Vec<Forwarded>,
    /// Whether the path has no store.
    excludes_stores: bool,
}

/// A load that must take the value of an earlier store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Forwarded {
    load: Pc,
    /// Whether the store must not be a read-modify-write.
    from_plain_store: bool,
}

impl EarlyLoads {
    /// Computes the early loads of a thread under a model that guesses.
    pub(super) fn new(shape: &Shape<'_>, t: ThreadId, model: &impl MemoryModel) -> Option<Self> {
        let rules = Rules {
            bypass: model.speculation()?,
            updates: model.updates_load_early(),
            ordered: model.has_ordered_accesses(),
        };
        let thread = shape.program().thread(t);
        let mut early = EarlyLoads { at: thread.code.iter().map(|_| Vec::new()).collect() };
        // The branch waits for a load or an update. Without R->R, all later loads wait for it, too.
        if !rules.bypass.load_load {
            return Some(early);
        }
        let predecessors = flow::predecessors(thread);
        for (at, stmt) in thread.code.iter().enumerate() {
            let loads = matches!(stmt.op, Op::Load { .. })
                || rules.updates && matches!(stmt.op, Op::Update { .. });
            if loads {
                early.add(shape, t, rules, &predecessors, Pc::from_index(at));
            }
        }
        Some(early)
    }

    /// Returns the loads that may be performed first if control continues at `pc`.
    pub(super) fn at(&self, pc: Pc) -> &[EarlyLoad] {
        &self.at[pc.index()]
    }

    /// Adds a load to the program counters before it.
    fn add(
        &mut self,
        shape: &Shape<'_>,
        t: ThreadId,
        rules: Rules,
        predecessors: &[Vec<Pc>],
        load: Pc,
    ) {
        let facts = shape.thread(t);
        let mut demands: Vec<Vec<Demand>> = vec![Vec::new(); predecessors.len()];
        let mut first = Demand { excludes_stores: !rules.bypass.store_load, ..Demand::default() };
        let address = shape.stmt(t, load).op.address();
        address.into_iter().flat_map(address_exprs).for_each(|expr| first.require(expr));
        demands[load.index()].push(first.clone());
        let mut open = vec![(load, first)];
        let location = only(&facts.footprints[load.index()]);
        while let Some((pc, demand)) = open.pop() {
            // A stronger demand may have been dropped in the meantime.
            if !demands[pc.index()].contains(&demand) {
                continue;
            }
            for earlier in &predecessors[pc.index()] {
                let is_store = matches!(shape.stmt(t, *earlier).op, Op::Store { .. });
                let stored = only(&facts.footprints[earlier.index()]);
                if is_store && location.is_some() && stored == location {
                    continue;
                }
                for demand in demand.before(shape, t, rules, *earlier) {
                    let known = &mut demands[earlier.index()];
                    let is_full = known.len() >= MAX_DEMANDS;
                    let demand = if is_full { Demand::default() } else { demand };
                    if known.iter().any(|other| other.allows(&demand)) {
                        continue;
                    }
                    known.retain(|other| !demand.allows(other));
                    known.push(demand.clone());
                    open.push((*earlier, demand));
                }
            }
        }
        let acquire = rules.ordered && facts.orders[load.index()].acquire != Acquire::None;
        for (all, demands) in self.at.iter_mut().zip(demands) {
            for demand in demands.into_iter().filter(|demand| demand.forwarded.is_empty()) {
                let locations = facts.footprints[load.index()].clone();
                let found = EarlyLoad { locations, acquire, needs: demand.needs };
                if !all.contains(&found) {
                    all.push(found);
                }
            }
        }
    }
}

impl Demand {
    /// Returns whether every path that satisfies `other` satisfies this demand.
    fn allows(&self, other: &Demand) -> bool {
        self.needs.iter().all(|reg| other.needs.contains(reg))
            && self.forwarded.iter().all(|load| other.forwarded.contains(load))
            && (other.excludes_stores || !self.excludes_stores)
    }

    /// Returns the demands before the statement at `pc`, if this is the demand behind it: a path that
    /// satisfies one of them is continued by the statement to one that satisfies this demand.
    fn before(&self, shape: &Shape<'_>, t: ThreadId, rules: Rules, pc: Pc) -> Vec<Demand> {
        let facts = shape.thread(t);
        let op = &shape.stmt(t, pc).op;
        if rules.ordered && facts.is_implied[pc.index()] {
            return vec![self.clone()];
        }
        let mut demand = self.clone();
        match op {
            Op::Store { .. } | Op::Update { .. } if demand.excludes_stores => return Vec::new(),
            Op::Fence(kinds) if kinds.contains(FenceKinds::LOAD_LOAD) => return Vec::new(),
            Op::Fence(kinds) => demand.excludes_stores |= kinds.contains(FenceKinds::STORE_LOAD),
            Op::AtomicBegin
            | Op::AtomicEnd
            | Op::New { .. }
            | Op::Free { .. }
            | Op::Join
            | Op::GracePeriod { .. }
            | Op::Halt => return Vec::new(),
            Op::Skip
            | Op::Assign { .. }
            | Op::Choose { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Drain(_)
            | Op::Branch { .. }
            | Op::Assume(_)
            | Op::Assert(_)
            | Op::Leave
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. } => {}
        }
        let is_needed = op.target().is_some_and(|reg| demand.needs.contains(&reg));
        demand.needs.retain(|reg| op.target() != Some(*reg));
        let mut demands = demand.forwarded_from(facts, op, pc);
        if is_needed {
            let with_result =
                |demand: Demand| demand.with_result(op, facts.is_selection[pc.index()], pc);
            demands = demands.into_iter().flat_map(with_result).collect();
        }
        let loads = matches!(op, Op::Load { .. } | Op::Update { .. });
        if loads && rules.ordered && facts.orders[pc.index()].acquire != Acquire::None {
            for demand in &mut demands {
                insert(&mut demand.forwarded, Forwarded { load: pc, from_plain_store: true });
            }
        }
        demands
    }

    /// Returns the demand if the statement at `pc` gives its value to none, or to some, of the loads
    /// that need one.
    fn forwarded_from(self, facts: &ThreadShape, op: &Op, pc: Pc) -> Vec<Demand> {
        let is_plain = matches!(op, Op::Store { .. });
        if !is_plain && !matches!(op, Op::Update { .. }) {
            return vec![self];
        }
        let stored = &facts.footprints[pc.index()];
        let takes = |forwarded: &Forwarded| {
            let loaded = &facts.footprints[forwarded.load.index()];
            (is_plain || !forwarded.from_plain_store)
                && loaded.iter().any(|loc| stored.contains(loc))
        };
        let mut demands = vec![self.clone()];
        for forwarded in self.forwarded.iter().filter(|forwarded| takes(forwarded)) {
            let taken = demands.clone().into_iter().map(|mut demand| {
                demand.forwarded.retain(|other| other != forwarded);
                demand.require_stored_value(op, pc);
                demand
            });
            demands.extend(taken.collect::<Vec<_>>());
            if demands.len() > MAX_DEMANDS {
                return vec![Demand::default()];
            }
        }
        demands
    }

    /// Returns the demands if the result of a statement is needed. That of a selection may be guessed.
    /// The result of a comparison that is guessed to succeed is its expected value.
    fn with_result(mut self, op: &Op, is_selection: bool, pc: Pc) -> Vec<Demand> {
        if let Op::Assign { expr, .. } = op {
            if !is_selection {
                self.require(expr);
            }
        } else if let Op::Update { update: Update::Cas { expected, .. }, .. } = op {
            let mut succeeds = self.clone();
            succeeds.require(expected);
            self.require_forwarded(pc);
            return vec![succeeds, self];
        } else if matches!(op, Op::Load { .. } | Op::Update { .. }) {
            self.require_forwarded(pc);
        }
        vec![self]
    }

    /// Adds what the address and the value of a store or update need.
    fn require_stored_value(&mut self, op: &Op, pc: Pc) {
        op.address().into_iter().flat_map(address_exprs).for_each(|expr| self.require(expr));
        if let Op::Store { value: new, .. }
        | Op::Update { update: Update::Swap { new } | Update::Cas { new, .. }, .. } = op
        {
            self.require(new);
        } else {
            // An addition or a bitwise operation.
            self.require_forwarded(pc);
        }
    }

    fn require(&mut self, expr: &Expr<Reg>) {
        expr.for_each_var(&mut |reg| insert(&mut self.needs, *reg));
    }

    fn require_forwarded(&mut self, load: Pc) {
        insert(&mut self.forwarded, Forwarded { load, from_plain_store: false });
    }
}

/// Returns the only location of a list.
fn only(locations: &[Loc]) -> Option<Loc> {
    let [loc] = locations else { return None };
    Some(*loc)
}

/// Adds an item to a list in ascending order, unless it is there.
fn insert<T: Ord>(list: &mut Vec<T>, item: T) {
    if let Err(at) = list.binary_search(&item) {
        list.insert(at, item);
    }
}
