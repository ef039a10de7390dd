//! What the uses of a class mean for the class.

use super::{CounterKind, MAX_ANCHOR_SPAN, MAX_SPREAD, Ordered};
use crate::property::Observable;
use crate::range::Range;
use crate::value::{INT_LIMITS, Value};

/// An interval of constants that are added to numbers. It contains 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Offsets {
    pub(super) lo: Value,
    pub(super) hi: Value,
}

impl Offsets {
    pub(super) fn of((lo, hi): Range) -> Offsets {
        Offsets { lo: lo.min(0), hi: hi.max(0) }
    }

    pub(super) fn join(self, other: Offsets) -> Offsets {
        Offsets { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    pub(super) fn plus(self, other: Offsets) -> Offsets {
        Offsets { lo: self.lo.saturating_add(other.lo), hi: self.hi.saturating_add(other.hi) }
    }
}

/// What is known about the uses of a class.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// Whether the class can be neither wrapping nor ordered.
    pub(super) is_excluded: bool,
    /// Whether the class cannot be wrapping.
    pub(super) not_wrapping: bool,
    /// Whether the class cannot be ordered.
    pub(super) not_ordered: bool,
    /// The range of the sums that are reduced, or that updates compute, if there are any.
    pub(super) reduced: Option<Range>,
    /// Whether the reductions have different ranges.
    pub(super) is_mixed: bool,
    pub(super) anchors: Option<Range>,
    /// The least common multiple of the moduli.
    pub(super) modulus: Value,
    /// Whether all numbers must be positive, because `%` rounds towards 0.
    pub(super) needs_positive: bool,
    /// The constants in expressions that are not assigned to registers.
    pub(super) used: Offsets,
    /// The constants in conditions of properties.
    pub(super) observed: Offsets,
    /// The sum of the constants in atomic blocks.
    pub(super) in_blocks: Offsets,
    /// The assignments between registers: from, to, constants.
    pub(super) assigned: Vec<(Observable, Observable, Offsets)>,
    /// The largest constants of a single assignment.
    pub(super) assigned_once: Offsets,
    /// Whether an assignment accumulates in `atomic`.
    pub(super) has_block: bool,
}

impl Facts {
    pub(super) fn new() -> Facts {
        Facts {
            is_excluded: false,
            not_wrapping: false,
            not_ordered: false,
            reduced: None,
            is_mixed: false,
            anchors: None,
            modulus: 1,
            needs_positive: false,
            used: Offsets::default(),
            observed: Offsets::default(),
            in_blocks: Offsets::default(),
            assigned: Vec::new(),
            assigned_once: Offsets::default(),
            has_block: false,
        }
    }

    pub(super) fn reduce(&mut self, range: Range) {
        self.is_mixed |= self.reduced.is_some_and(|other| other != range);
        self.reduced = Some(range);
    }

    pub(super) fn compare_with_constant(&mut self, (lo, hi): Range) {
        self.not_wrapping = true;
        let (least, most) = self.anchors.unwrap_or((lo, hi));
        self.anchors = Some((least.min(lo), most.max(hi)));
    }

    /// Returns the kind of the class and its modulus, for members with these declared ranges.
    pub(super) fn kind(
        &self,
        types: &[Option<Range>],
        non_negative: bool,
    ) -> Option<(CounterKind, Value)> {
        if self.is_excluded || self.needs_positive && !non_negative {
            return None;
        }
        self.wrapping(types).or_else(|| self.ordered(types)).map(|kind| (kind, self.modulus))
    }

    fn wrapping(&self, types: &[Option<Range>]) -> Option<CounterKind> {
        let range = *types.first()?;
        let (lo, hi) = range?;
        let size = i128::from(hi) - i128::from(lo) + 1;
        let is_wrapping = !self.not_wrapping
            && !self.is_mixed
            && self.reduced.is_none_or(|reduced| reduced == (lo, hi))
            && types.iter().all(|other| *other == range)
            && size & (size - 1) == 0
            && size % i128::from(self.modulus) == 0
            // A remainder of a negative number is negative.
            && (!self.needs_positive || lo == 0);
        is_wrapping.then_some(CounterKind::Wrapping((lo, hi)))
    }

    fn ordered(&self, types: &[Option<Range>]) -> Option<CounterKind> {
        let is_int = |range: &Option<Range>| *range == Some(INT_LIMITS);
        let (chain, accumulates) = self.chain();
        let chain = if accumulates { self.assigned_once } else { chain };
        let offsets = chain.plus(self.used).plus(self.in_blocks).plus(self.observed);
        let spread = offsets.hi.saturating_sub(offsets.lo);
        let is_ordered = !self.not_ordered
            && self.reduced.is_none_or(|reduced| reduced == INT_LIMITS && !self.is_mixed)
            && types.iter().all(is_int)
            && spread <= MAX_SPREAD
            && !(accumulates && self.has_block)
            && self.anchors.is_none_or(|(lo, hi)| hi.abs_diff(lo) <= MAX_ANCHOR_SPAN);
        let ordered = Ordered { anchors: self.anchors, spread, accumulates };
        is_ordered.then_some(CounterKind::Ordered(ordered))
    }

    /// Returns the constants that a register can gain by assignments without an access in between,
    /// and whether there is no limit: some cycle of assignments changes a number.
    fn chain(&self) -> (Offsets, bool) {
        let mut gained: Vec<(Observable, Offsets)> = Vec::new();
        let get = |gained: &[(Observable, Offsets)], what: Observable| {
            gained.iter().find(|(other, _)| *other == what).map_or(Offsets::default(), |(_, o)| *o)
        };
        // A chain without a cycle has at most as many assignments as there are.
        for _ in 0..=self.assigned.len() {
            let mut changed = false;
            for (from, to, offsets) in &self.assigned {
                let old = get(&gained, *to);
                let new = old.join(get(&gained, *from).plus(*offsets));
                if new != old {
                    changed = true;
                    gained.retain(|(other, _)| other != to);
                    gained.push((*to, new));
                }
            }
            if !changed {
                let all = gained.iter().map(|(_, offsets)| *offsets);
                return (all.fold(Offsets::default(), Offsets::join), false);
            }
        }
        (Offsets::default(), true)
    }
}
