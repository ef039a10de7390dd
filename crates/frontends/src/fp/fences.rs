//! The fences of the `.fp` language: `fence KIND, ...;` for every set of kinds, and
//! `drain LOCATION;`.

use fencepost_ir::FenceKinds;

use crate::fences::{Availability, Fence, FenceSyntax};

/// Returns the fence syntax. Every non-empty set of kinds has a statement. The single kinds and the
/// full fence are available by default. Other sets are available on request only, because
/// inference merges fences at the same place anyway.
pub(super) fn syntax() -> FenceSyntax {
    let singles = FenceKinds::SINGLE.map(|(kinds, _)| kinds);
    let sets = (1..1 << singles.len()).map(|bits: u32| {
        let members = singles.iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0);
        members.fold(FenceKinds::default(), |all, (_, kinds)| all.union(*kinds))
    });
    let fence = |kinds: FenceKinds| {
        let by_default = kinds == FenceKinds::FULL || singles.contains(&kinds);
        let availability =
            if by_default { Availability::ByDefault } else { Availability::OnRequest };
        Fence::new(kinds, format!("fence {};", kinds.listed()), availability)
    };
    FenceSyntax {
        language: "Fencepost's language",
        fences: sets.map(fence).collect(),
        drain: Some("drain"),
        has_blocks: true,
        located_by_thread: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_of_kinds_has_a_statement() {
        let syntax = syntax();
        assert_eq!(syntax.fences.len(), 15);
        assert_eq!(syntax.default_fences().count(), 5);
        let both = FenceKinds::ACQUIRE.union(FenceKinds::RELEASE);
        let text = "fence store_store, load_load, load_store;";
        assert_eq!(syntax.fence(both).expect("a fence"), [text]);
        assert_eq!(syntax.fence(FenceKinds::FULL).expect("a fence"), ["fence full;"]);
        assert!(syntax.fence(FenceKinds::default()).expect("no fence").is_empty());
    }
}
