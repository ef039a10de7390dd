//! Places: gaps between source statements where a fence can be inserted.
//!
//! When a front end prepares a program for fence inference, it marks every place with a `skip` in
//! the code of each thread that passes the place. The label of the `skip` identifies the place. All
//! copies of a source statement (instances of a template, inlined calls) share their places, so a
//! fence inserted at a place is inserted into all copies. A fence in the source is also a place:
//! the statement with the place's label is then that fence.
//!
//! An access whose memory order is written in the source is an *order place*, if the front end is
//! asked for such places. An order is a fence before and a fence after the access. Two statements
//! mark an order place: the one before the access and the one after it. Each is a fence or, if the
//! order has no fence there, a `skip`. Machines with ordered accesses ignore these fences and use the
//! order of the access.

use crate::access_order::AccessOrder;
use crate::ids::Label;
use crate::op::FenceKinds;
use crate::span::Span;

/// A gap in the source where a fence can be inserted. The label gives the position, the function
/// and the text of the statement that follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The label of the statements that mark this place.
    pub label: Label,
    /// The byte offset in the source at which the text of a fence is inserted.
    pub offset: u32,
    /// Whether the place is at the end of a block, before its closing brace.
    pub at_end: bool,
    /// The statement that must be wrapped in braces together with a fence here, if any.
    pub wrap: Option<Span>,
    /// The number of enclosing loops in the function.
    pub loops: u32,
    /// The fence that the source has at this place, if any.
    pub written: Option<(FenceKinds, Span)>,
    /// For an order place: the orders of the access. The label of the place is then that of the
    /// statement before the access, and no fence can be inserted here as a statement.
    pub order: Option<OrderSite>,
}

impl Place {
    /// Returns the labels of the statements that mark the place.
    pub fn labels(&self) -> impl Iterator<Item = Label> {
        let after = self.order.as_ref().and_then(|site| site.after);
        std::iter::once(self.label).chain(after)
    }

    /// Returns the place with new labels. Returns `None` if a label of the place has none.
    pub fn renamed(self, renamed: impl Fn(Label) -> Option<Label>) -> Option<Place> {
        let label = renamed(self.label)?;
        let order = match self.order {
            None => None,
            Some(site) => {
                let access = renamed(site.access)?;
                let after = match site.after {
                    None => None,
                    Some(after) => Some(renamed(after)?),
                };
                Some(OrderSite { access, after, ..site })
            }
        };
        Some(Place { label, order, ..self })
    }
}

/// The effect of a memory order: the fences before and after its access, and the order of the access
/// on machines that have ordered accesses instead.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct OrderEffect {
    /// The fence before the access.
    pub before: FenceKinds,
    /// The fence after the access.
    pub after: FenceKinds,
    /// The order of the access.
    pub access: AccessOrder,
}

impl OrderEffect {
    /// Returns the effect of both orders.
    pub fn union(self, other: OrderEffect) -> OrderEffect {
        OrderEffect {
            before: self.before.union(other.before),
            after: self.after.union(other.after),
            access: self.access.union(other.access),
        }
    }

    /// Returns whether `self` is at least as strong as `other`, in every part.
    pub fn contains(self, other: OrderEffect) -> bool {
        self.before.contains(other.before)
            && self.after.contains(other.after)
            && self.access.contains(other.access)
    }
}

/// What an access with a memory order does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    /// A load.
    Load,
    /// A store.
    Store,
    /// A read-modify-write operation.
    Update,
}

impl AccessKind {
    /// Returns the name for reports.
    pub fn name(self) -> &'static str {
        match self {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Update => "update",
        }
    }
}

/// The memory order of an access in the source, and the orders that it can have instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderSite {
    /// The label of the access.
    pub access: Label,
    /// The label of the statements that mark the position after the access. None if the fence after
    /// the access cannot change.
    pub after: Option<Label>,
    /// What the access does.
    pub kind: AccessKind,
    /// The orders, from weak to strong: no order has a smaller effect than an earlier one. Only the
    /// order in the source may have the same effect as another one, which is then weaker.
    pub choices: Vec<OrderChoice>,
    /// The index of the order in the source.
    pub written: usize,
}

impl OrderSite {
    /// Returns the order in the source.
    pub fn written_choice(&self) -> &OrderChoice {
        &self.choices[self.written]
    }

    /// Returns the weakest order that has this effect.
    pub fn choice(&self, effect: OrderEffect) -> Option<&OrderChoice> {
        self.choices.iter().find(|choice| choice.effect.contains(effect))
    }
}

/// A memory order of an access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderChoice {
    /// The name: `release`, or `acq_rel, acquire` for success and failure.
    pub name: String,
    /// The effect.
    pub effect: OrderEffect,
    /// The texts of the order in the source and what replaces them.
    pub edits: Vec<(Span, String)>,
}
