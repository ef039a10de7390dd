//! Changes of memory orders as text: `relaxed -> release`.

use crate::repair::Subject;
use fencepost_ir::{Atom, Barrier, OrderSite};

/// A change of the memory order of an access.
pub(crate) struct OrderChange<'a> {
    /// The access.
    pub(crate) site: &'a OrderSite,
    /// The name of the order in the source.
    pub(crate) from: &'a str,
    /// The name of the new order.
    pub(crate) to: &'a str,
}

impl<'a> Subject<'a> {
    /// Returns the change of an order; none for a fence or a drain. If a repair changes the order of
    /// the access in several parts, the names are those of one part.
    pub(crate) fn order_change(&self, atom: Atom) -> Option<OrderChange<'a>> {
        let Barrier::Order(effect) = atom.barrier else { return None };
        let site = self.program().place(atom.place).order.as_ref()?;
        let to = &site.choice(effect)?.name;
        Some(OrderChange { site, from: &site.written_choice().name, to })
    }
}

impl OrderChange<'_> {
    /// Formats the change: `relaxed -> release`.
    pub(crate) fn text(&self) -> String {
        format!("{} -> {}", self.from, self.to)
    }
}
