//! Order places: accesses whose memory order is a name in a file of the user.
//!
//! A macro or a function that contains or passes on an order is shared by its uses, so its order is
//! no place: the position of a token in a macro is that of the macro's use, and the text there is not
//! the name of an order.
//!
//! Accesses inside of the arguments of a macro have the position of the macro, and so the same
//! labels: `atomic_store_explicit(&x, atomic_load(&y), memory_order_relaxed)`. There is no place if
//! the accesses with these labels are not alike.

use fencepost_ir::{AccessKind, FenceKinds, Label, Op, OrderSite, Place, Span};

use super::thread::{Lowerer, Prefix};
use crate::order_sites::{WrittenOrder, order_site};
use crate::orders::MemoryOrder;

/// A memory order, and its position in the source if it is the value of an expression there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SourceOrder {
    pub(super) order: MemoryOrder,
    pub(super) span: Option<Span>,
}

impl SourceOrder {
    /// Returns an order that the source does not contain.
    pub(super) fn implied(order: MemoryOrder) -> Self {
        SourceOrder { order, span: None }
    }
}

impl Lowerer<'_, '_> {
    /// Records the order place of an access with one order, or with those of success and failure.
    /// `own` is the kind of the access's label. Returns whether there is an order place.
    pub(super) fn mark_order(
        &mut self,
        kind: AccessKind,
        orders: &[SourceOrder],
        (own, number): (&'static str, u32),
        span: Span,
    ) -> bool {
        if self.pass.marks_orders && self.prefix == Prefix::Created {
            // The access comes next. It is not in the block that creates threads.
            self.close_prefix(span);
        }
        if !self.pass.marks_orders || !self.is_marking_places(span) {
            return false;
        }
        let sources = self.pass.sources;
        let mut written = Vec::new();
        for SourceOrder { order, span } in orders {
            let Some(span) = span.filter(|span| sources.is_editable(*span)) else {
                return false;
            };
            // The orders of success and failure are changed together, in one file.
            let first = written.first().map_or(span, |first: &WrittenOrder<'_>| first.span);
            if sources.file(first) != sources.file(span) {
                return false;
            }
            written.push(WrittenOrder { order: *order, span, text: sources.text(span) });
        }
        let before = self.label(span, "fence before", 0);
        let labels = (self.label(span, own, number), self.label(span, "fence after", 0));
        let Some(site) = order_site(kind, &written, labels) else { return false };
        self.add_order_place(before, written[0].span, site);
        true
    }

    fn add_order_place(&mut self, label: Label, at: Span, site: OrderSite) {
        let loops = self.source_loops();
        let (offset, at_end, wrap, written) = (at.start, false, None, None);
        let order = Some(site);
        let place = Place { label, offset, at_end, wrap, loops, written, order };
        let is_alike = |known: &Place| known.order == place.order;
        if self.pass.places.get(&label).is_some_and(|known| !is_alike(known)) {
            self.pass.mixed_orders.insert(label);
        }
        self.pass.order_marks.extend(place.order.iter().filter_map(|site| site.after));
        self.pass.places.insert(label, place);
    }

    /// Emits a fence of a memory order. Without kinds, marks its position if the access has an order
    /// place.
    pub(super) fn emit_order_fence(
        &mut self,
        kinds: FenceKinds,
        (kind, marks): (&'static str, bool),
        span: Span,
    ) {
        // A full fence is part of no order of C11.
        if kinds != FenceKinds::default() && kinds != FenceKinds::FULL {
            let label = self.label(span, kind, 0);
            self.pass.implied.insert(label);
        }
        if !marks {
            self.emit_fence(kinds, kind, span);
        } else if kinds != FenceKinds::default() {
            self.emit(Op::Fence(kinds), span, kind);
        } else if self.is_live() && self.check_size(span) {
            let label = self.label(span, kind, 0);
            self.code.mark(label);
        }
    }
}
