//! The table of memory orders: what an access or fence of C, C++ or Rust means under each model.
//!
//! The fences come from [`fencepost_frontends::orders`], so the table cannot differ from what the
//! front ends do. A kind of fence has an effect under a model only if the model reorders such
//! accesses: store-load under TSO, also store-store under PSO, all kinds under RMO.

use fencepost_frontends::orders::{FencesAround, MemoryOrder};
use fencepost_ir::{AccessOrder, Acquire, FenceKinds};
use std::fmt::Write as _;

/// The orders of C11, from weak to strong.
const ORDERS: [MemoryOrder; 5] = [
    MemoryOrder::Relaxed,
    MemoryOrder::Acquire,
    MemoryOrder::Release,
    MemoryOrder::AcqRel,
    MemoryOrder::SeqCst,
];

/// Returns the fences of an access with an order; `None` if the access cannot have it.
type FencesOf = fn(MemoryOrder) -> Option<FencesAround>;

/// Returns the table as text.
///
/// ```
/// let table = fencepost_report::order_table::text();
/// assert!(table.contains("store seq_cst"));
/// ```
pub fn text() -> String {
    let mut text = String::from(
        "Memory orders under each model (SC: every access takes effect at once, in program order)\n\n",
    );
    let mut row = |access: &str, tso: &str, pso: &str, rmo: &str, arm: &str| {
        let _ = writeln!(text, "  {access:<16} {tso:<7} {pso:<25} {rmo:<26} {arm}");
    };
    row("access", "TSO", "PSO", "RMO: fences before | after", "ARM");
    row("plain, volatile", "free", "free", "none", "LDR, STR");
    let accesses: [(&str, FencesOf); 3] = [
        ("load", MemoryOrder::load_fences),
        ("store", MemoryOrder::store_fences),
        ("update", |order| Some(order.update_fences())),
    ];
    for (name, fences) in accesses {
        for order in ORDERS {
            let Some((before, after)) = fences(order) else { continue };
            let tso = if name == "update" { "drains" } else { tso_effect(before.union(after)) };
            let pso = pso_effect(before.union(after), name == "update");
            let access = format!("{name} {}", order.name());
            let rmo = format!("{} | {}", kinds(before), kinds(after));
            row(&access, tso, pso, &rmo, &arm_access(name, order));
        }
    }
    for order in ORDERS {
        let fence = order.fence_kinds();
        let access = format!("fence {}", order.name());
        let (tso, pso) = (tso_effect(fence), pso_effect(fence, false));
        row(&access, tso, pso, &kinds(fence), arm_fence(fence));
    }
    text.push_str(
        "\n  update: exchange, compare-exchange, fetch-and-modify. drains: waits until the stores of\n  \
         the thread are visible. Linux functions without suffix (xchg, cmpxchg) are full fences if\n  \
         they succeed. pthread functions, thread creation and join drain under every model.\n  \
         ARM: CAS stands for all updates, also as a loop of LDXR and STXR, whichever is weaker.\n  \
         Compilers are not modelled: the table says what processors do with the accesses as written.\n",
    );
    text
}

fn kinds(kinds: FenceKinds) -> String {
    match kinds {
        FenceKinds::ACQUIRE => "acquire".into(),
        FenceKinds::RELEASE => "release".into(),
        _ if kinds == FenceKinds::default() => "none".into(),
        _ if kinds == FenceKinds::ACQUIRE.union(FenceKinds::RELEASE) => "acq_rel".into(),
        _ => kinds.name(),
    }
}

/// Returns the instruction of an access under ARM.
fn arm_access(name: &str, order: MemoryOrder) -> String {
    let acquire = |order: AccessOrder| match order.acquire {
        Acquire::None => "",
        Acquire::Weak => "AP",
        Acquire::Strong => "A",
    };
    match name {
        "load" => format!("LD{}R", acquire(order.load_order())),
        "store" => format!("ST{}R", if order.store_order().release { "L" } else { "" }),
        _ => {
            let order = order.update_order();
            format!("CAS{}{}", acquire(order), if order.release { "L" } else { "" })
        }
    }
}

/// Returns the instruction of a fence under ARM.
fn arm_fence(kinds: FenceKinds) -> &'static str {
    let loads = kinds.contains(FenceKinds::LOAD_LOAD);
    match (loads, kinds.contains(FenceKinds::STORE_STORE)) {
        (_, true) => "DMB SY",
        (true, false) => "DMB LD",
        (false, false) => "none",
    }
}

fn tso_effect(kinds: FenceKinds) -> &'static str {
    if kinds.contains(FenceKinds::STORE_LOAD) { "drains" } else { "free" }
}

fn pso_effect(kinds: FenceKinds, is_update: bool) -> &'static str {
    let orders_stores = kinds.contains(FenceKinds::STORE_STORE);
    match (kinds.contains(FenceKinds::STORE_LOAD), orders_stores, is_update) {
        (true, ..) => "drains",
        (false, true, true) => "after all earlier stores",
        (false, true, false) => "orders earlier stores",
        (false, false, true) => "drains its location",
        (false, false, false) => "free",
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn the_table_has_a_row_for_each_access_and_order() {
        let table = text();
        for row in [
            "  store relaxed    free    free",
            "  store release    free    orders earlier stores",
            "  store seq_cst    drains  drains",
            "  update relaxed   drains  drains its location",
            "  load seq_cst     free    free",
            "  fence seq_cst    drains  drains",
            "none | acquire             LDAPR",
            "release | none             STLR",
            "release | acquire          CASAL",
            "acquire                    DMB LD",
            "release                    DMB SY",
        ] {
            assert!(table.contains(row), "{row}\n{table}");
        }
        assert!(table.lines().all(|line| line.len() <= 100), "{table}");
    }
}
