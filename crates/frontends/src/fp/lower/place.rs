//! Marks places for fences: each gap of the source becomes a statement without effect.
//!
//! Gaps inside `atomic` and in isolated code are not marked, because there are no pending stores.
//! An existing fence is its own mark.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fencepost_ir::{FenceKinds, Label, OrderSite, Place, Span};

use super::labels::Kind;
use super::thread::Lowerer;
use crate::fp::tree::Gap;

#[cfg(test)]
mod tests;

impl Lowerer<'_, '_> {
    /// Marks a gap, unless places are disabled here.
    pub(super) fn mark_gap(&mut self, gap: Option<&Gap>) {
        let Some(gap) = gap.filter(|_| self.is_marking_places()) else {
            return;
        };
        if self.check_size(gap.at) {
            let label = self.context.labels.place(gap, self.frame.function);
            self.code.at(label, self.critical);
            self.code.mark(label);
            self.place(label, gap, None);
        }
    }

    /// Records an existing fence, which was just emitted, as a place.
    pub(super) fn existing_fence(&mut self, kinds: FenceKinds, gap: &Gap, span: Span) {
        if self.is_marking_places() && !self.failed {
            let label = self.context.labels.get(span, Kind::Fence, self.frame.function);
            self.place(label, gap, Some((kinds, gap.head)));
        }
    }

    fn is_marking_places(&self) -> bool {
        self.mark_places && !self.atomic
    }

    fn place(&mut self, label: Label, gap: &Gap, written: Option<(FenceKinds, Span)>) {
        let loops = self.loops();
        let Gap { at, at_end, wrap, .. } = *gap;
        if let Some(places) = &mut self.context.places {
            let (offset, order) = (at.start, None);
            places.insert(label, Place { label, offset, at_end, wrap, loops, written, order });
        }
    }

    /// Returns whether to record accesses whose order can be changed.
    pub(super) fn is_marking_orders(&self) -> bool {
        self.is_marking_places() && self.context.marks_orders && !self.failed
    }

    /// Records an order place. `label` marks the position before the access, and `at` is the
    /// position of the order in the source.
    pub(super) fn order_place(&mut self, label: Label, at: Span, site: OrderSite) {
        let loops = self.loops();
        if let Some(places) = &mut self.context.places {
            let (offset, at_end, wrap, written) = (at.start, false, None, None);
            let order = Some(site);
            places.insert(label, Place { label, offset, at_end, wrap, loops, written, order });
        }
    }

    /// Returns the number of loops around the current statement in its function.
    fn loops(&self) -> u32 {
        self.frame.loops.iter().filter(|around| !around.switch).count() as u32
    }
}

/// Returns the places whose labels are used, with their new labels, in source order.
pub(super) fn renumbered(
    places: BTreeMap<Label, Place>,
    renamed: impl Fn(Label) -> Option<Label>,
) -> Vec<Place> {
    let mut kept: Vec<Place> =
        places.into_values().filter_map(|place| place.renamed(&renamed)).collect();
    // The end of a statement comes before the next statement, inner ends before outer ends.
    kept.sort_by_key(|p| (p.offset, !p.at_end, Reverse(p.wrap.map(|w| w.start))));
    kept
}
