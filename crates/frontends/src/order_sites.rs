//! The memory orders that an access of a source can have, with the text of each.
//!
//! A front end finds the order of an access in the source text. This module lists the orders that
//! the access can have instead, spelled as the source spells its own: `memory_order_relaxed`
//! becomes `memory_order_release`, and `__ATOMIC_RELAXED` becomes `__ATOMIC_RELEASE`. Orders with
//! the same effect ([`crate::orders`]) are equal for every model, so only the weakest of them is
//! listed: a sequentially consistent update is an acquire and release update.
//!
//! A compare-and-exchange has two orders. If both have the same fence after the access, that fence
//! needs no branch on the result, and the listed orders keep it so. Otherwise the program branches
//! on the result, and only the fence before the access can change. A listed order never adds or
//! removes that branch, because a branch itself orders accesses under some models.

use fencepost_ir::{AccessKind, FenceKinds, Label, OrderChoice, OrderEffect, OrderSite, Span};

use crate::orders::{FencesAround, MemoryOrder, exchange_order};

/// The orders of C11, from weak to strong.
const ORDERS: [MemoryOrder; 5] = [
    MemoryOrder::Relaxed,
    MemoryOrder::Acquire,
    MemoryOrder::Release,
    MemoryOrder::AcqRel,
    MemoryOrder::SeqCst,
];

/// Returns the fences of an access; `None` if it cannot have this order.
fn fences_of(kind: AccessKind, order: MemoryOrder) -> Option<FencesAround> {
    match kind {
        AccessKind::Load => order.load_fences(),
        AccessKind::Store => order.store_fences(),
        AccessKind::Update => Some(order.update_fences()),
    }
}

/// An order in the source: its position and its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenOrder<'a> {
    pub(crate) order: MemoryOrder,
    pub(crate) span: Span,
    pub(crate) text: &'a str,
}

/// Returns whether a compare-and-exchange with these orders branches on its result.
pub(crate) fn branches(success: MemoryOrder, failure: MemoryOrder) -> bool {
    let (_, after) = success.update_fences();
    failure.load_fences().is_some_and(|(_, on_failure)| on_failure != after)
}

/// Returns the order place of an access whose orders are in the source: one, or those of success
/// and failure. The labels are those of the access and of the statement that marks the position
/// after it. Returns `None` if a text is not the name of its order, or if the access can have no
/// other order.
pub(crate) fn order_site(
    kind: AccessKind,
    written: &[WrittenOrder<'_>],
    (access, after): (Label, Label),
) -> Option<OrderSite> {
    let own: Vec<MemoryOrder> = written.iter().map(|written| written.order).collect();
    let mut choices: Vec<OrderChoice> = Vec::new();
    let mut position = None;
    for orders in combinations(kind, &own) {
        let is_own = orders == own;
        let effect = effect(kind, &orders)?;
        let is_known = choices.iter().any(|choice| choice.effect == effect);
        if is_known && !is_own {
            continue;
        }
        if is_own {
            position = Some(choices.len());
        }
        let names: Vec<&str> = orders.iter().map(|order| order.name()).collect();
        let mut edits = Vec::new();
        for (written, order) in written.iter().zip(&orders) {
            let text = respelled(written.text, written.order, *order)?;
            if *order != written.order {
                edits.push((written.span, text));
            }
        }
        choices.push(OrderChoice { name: names.join(", "), effect, edits });
    }
    let written = position.filter(|_| choices.len() > 1)?;
    let has_branch = matches!(own[..], [success, failure] if branches(success, failure));
    let after = Some(after).filter(|_| !has_branch);
    Some(OrderSite { access, after, kind, choices, written })
}

/// Returns the orders that an access can have, from weak to strong.
fn combinations(kind: AccessKind, own: &[MemoryOrder]) -> Vec<Vec<MemoryOrder>> {
    let [success, failure] = *own else {
        let allowed = ORDERS.into_iter().filter(|order| fences_of(kind, *order).is_some());
        return allowed.map(|order| vec![order]).collect();
    };
    let mut all: Vec<Vec<MemoryOrder>> = Vec::new();
    for order in ORDERS {
        // Without its release part, a success order is the strongest order of a failure.
        let on_failure = match (branches(success, failure), order) {
            (true, _) => failure,
            (false, MemoryOrder::Release) => MemoryOrder::Relaxed,
            (false, MemoryOrder::AcqRel) => MemoryOrder::Acquire,
            (false, order) => order,
        };
        let keeps_after = order.update_fences().1 == success.update_fences().1;
        if keeps_after || !branches(success, failure) {
            all.push(vec![order, on_failure]);
        }
        if order == success && on_failure != failure {
            all.push(own.to_vec());
        }
    }
    all
}

fn effect(kind: AccessKind, orders: &[MemoryOrder]) -> Option<OrderEffect> {
    let order = *orders.first()?;
    let (before, after) = fences_of(kind, order)?;
    let access = match (kind, orders) {
        (AccessKind::Load, _) => order.load_order(),
        (AccessKind::Store, _) => order.store_order(),
        (AccessKind::Update, [success, failure]) => exchange_order(*success, *failure),
        (AccessKind::Update, _) => order.update_order(),
    };
    let after = match *orders {
        // The fence after the access is on one branch only, and does not change.
        [success, failure] if branches(success, failure) => FenceKinds::default(),
        _ => after,
    };
    Some(OrderEffect { before, after, access })
}

/// Returns the name of another order, spelled like a text that names an order. Returns `None` if
/// the text is not a name of `written`.
fn respelled(text: &str, written: MemoryOrder, order: MemoryOrder) -> Option<String> {
    let (path, word) = match text.rfind("::") {
        Some(at) => text.split_at(at + 2),
        None => ("", text),
    };
    let name = order.name();
    let (known, spelled) = if let Some(own) = word.strip_prefix("__ATOMIC_") {
        let own = own.to_lowercase();
        let known = MemoryOrder::by_c11_name(&format!("memory_order_{own}"));
        (known, format!("__ATOMIC_{}", name.to_uppercase()))
    } else if word.starts_with("memory_order_") {
        (MemoryOrder::by_c11_name(word), format!("memory_order_{name}"))
    } else if word.starts_with(char::is_uppercase) {
        let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
        (MemoryOrder::by_name(word), name.split('_').map(capital).collect())
    } else {
        (MemoryOrder::by_name(word), name.into())
    };
    (known == Some(written)).then(|| format!("{path}{spelled}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kind: AccessKind, written: &[(MemoryOrder, &str)]) -> Option<(Vec<String>, usize)> {
        let span = Span::default();
        let written: Vec<WrittenOrder<'_>> = written
            .iter()
            .map(|(order, text)| WrittenOrder { order: *order, span, text })
            .collect();
        let site = order_site(kind, &written, (Label(0), Label(1)))?;
        Some((site.choices.into_iter().map(|choice| choice.name).collect(), site.written))
    }

    #[test]
    fn orders_keep_the_spelling_of_the_source() {
        use MemoryOrder::{AcqRel, Relaxed, Release, SeqCst};
        for (text, written, order, expected) in [
            ("memory_order_relaxed", Relaxed, Release, Some("memory_order_release")),
            ("__ATOMIC_RELAXED", Relaxed, SeqCst, Some("__ATOMIC_SEQ_CST")),
            ("std::memory_order::relaxed", Relaxed, AcqRel, Some("std::memory_order::acq_rel")),
            ("std::memory_order_relaxed", Relaxed, AcqRel, Some("std::memory_order_acq_rel")),
            ("Ordering::Relaxed", Relaxed, SeqCst, Some("Ordering::SeqCst")),
            ("AcqRel", AcqRel, Relaxed, Some("Relaxed")),
            ("release", Release, SeqCst, Some("seq_cst")),
            ("release", Relaxed, SeqCst, None),
            ("order", Relaxed, Release, None),
            ("0", Relaxed, Release, None),
            ("__ATOMIC_", Relaxed, Release, None),
        ] {
            assert_eq!(respelled(text, written, order).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn an_access_lists_the_weakest_order_for_each_effect() {
        let choices = |kind, order: MemoryOrder| {
            names(kind, &[(order, order.name())]).expect("other orders exist")
        };
        let relaxed = MemoryOrder::Relaxed;
        assert_eq!(choices(AccessKind::Load, relaxed).0, ["relaxed", "acquire", "seq_cst"]);
        assert_eq!(choices(AccessKind::Store, relaxed).0, ["relaxed", "release", "seq_cst"]);
        let (update, written) = choices(AccessKind::Update, MemoryOrder::Release);
        assert_eq!(update, ["relaxed", "acquire", "release", "acq_rel"]);
        assert_eq!(written, 2);
        // The order of the source is listed, too.
        let (load, written) = choices(AccessKind::Load, MemoryOrder::SeqCst);
        assert_eq!(
            (load, written),
            (vec!["relaxed".into(), "acquire".into(), "seq_cst".into()], 2)
        );
    }

    #[test]
    fn a_compare_and_exchange_never_gains_or_loses_its_branch() {
        use MemoryOrder::{Acquire, Relaxed, SeqCst};
        let pair = |success: MemoryOrder, failure: MemoryOrder| {
            let written = [(success, success.name()), (failure, failure.name())];
            names(AccessKind::Update, &written).expect("other orders exist").0
        };
        let same = ["relaxed, relaxed", "acquire, acquire", "release, relaxed", "acq_rel, acquire"];
        assert_eq!(pair(Relaxed, Relaxed), same);
        assert_eq!(
            pair(SeqCst, Relaxed),
            ["acquire, relaxed", "acq_rel, relaxed", "seq_cst, relaxed"]
        );
        assert_eq!(pair(Relaxed, Acquire), ["relaxed, acquire", "release, acquire"]);
        let with_own = [&same[..], &["seq_cst, acquire"]].concat();
        assert_eq!(pair(SeqCst, Acquire), with_own);
        for success in ORDERS {
            for failure in [Relaxed, Acquire, SeqCst] {
                for orders in combinations(AccessKind::Update, &[success, failure]) {
                    assert_eq!(branches(orders[0], orders[1]), branches(success, failure));
                }
            }
        }
    }
}
