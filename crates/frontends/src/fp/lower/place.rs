//! Places: gaps of the source that a thread passes, each marked by a statement that does nothing.
//!
//! Nothing is marked inside `atomic` and in what runs alone, where nothing is ever pending. A fence of the
//! author is its own mark.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fencepost_ir::{FenceKinds, Label, Place, Span};

use super::labels::Kind;
use super::thread::Lowerer;
use crate::fp::tree::Gap;

#[cfg(test)]
mod tests;

impl Lowerer<'_, '_> {
    /// Marks a gap, if places are wanted.
    pub(super) fn gap(&mut self, gap: Option<&Gap>) {
        let Some(gap) = gap.filter(|_| self.wants_places()) else {
            return;
        };
        if self.grows(gap.at) {
            let label = self.context.labels.place(gap, self.frame.function);
            self.code.at(label, self.critical);
            self.code.mark(label);
            self.place(label, gap, None);
        }
    }

    /// Notes that a fence, just added, is a place.
    pub(super) fn written(&mut self, kinds: FenceKinds, gap: &Gap, span: Span) {
        if self.wants_places() && !self.failed {
            let label = self.context.labels.get(span, Kind::Fence, self.frame.function);
            self.place(label, gap, Some((kinds, gap.head)));
        }
    }

    fn wants_places(&self) -> bool {
        self.marks && !self.atomic
    }

    fn place(&mut self, label: Label, gap: &Gap, written: Option<(FenceKinds, Span)>) {
        let loops = self.frame.loops.len() as u32;
        let Gap { at, at_end, wrap, .. } = *gap;
        if let Some(places) = &mut self.context.places {
            places.insert(label, Place { label, offset: at.start, at_end, wrap, loops, written });
        }
    }
}

/// The places whose labels are used, under their new names, in the order of the source.
pub(super) fn sorted(
    places: BTreeMap<Label, Place>,
    renamed: impl Fn(Label) -> Option<Label>,
) -> Vec<Place> {
    let mut kept: Vec<Place> = places
        .into_values()
        .filter_map(|place| renamed(place.label).map(|label| Place { label, ..place }))
        .collect();
    // Ends come before what follows them, inner ends before outer ones.
    kept.sort_by_key(|p| (p.offset, !p.at_end, Reverse(p.wrap.map(|w| w.start))));
    kept
}
