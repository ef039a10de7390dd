//! Parsers for the values of options.

use fencepost_infer::fence_costs::FenceKind;
use fencepost_infer::order_candidates::OrderCosts;

/// Parses a number of seconds.
pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds, 0 or more, such as 10 or 0.5".into()),
    }
}

/// Parses the name of a fence kind.
pub(crate) fn parse_kind(text: &str) -> Result<FenceKind, String> {
    FenceKind::by_name(text.trim()).ok_or_else(|| {
        let own = FenceKind::ALL.into_iter().map(FenceKind::name);
        let known: Vec<String> = own.chain(FenceKind::OTHER_NAMES.map(String::from)).collect();
        format!("unknown fence kind; the kinds are {}", known.join(", "))
    })
}

/// Parses `KIND=N`, the cost of a fence kind.
pub(crate) fn parse_cost(text: &str) -> Result<(FenceKind, u32), String> {
    let (kind, cost) = text.split_once('=').ok_or("expected KIND=N, such as full=5")?;
    Ok((parse_kind(kind)?, parse_cost_number(cost)?))
}

/// Parses `PART=N`, the cost of a part of a memory order.
pub(crate) fn parse_order_cost(text: &str) -> Result<(&'static str, u32), String> {
    let (part, cost) = text.split_once('=').ok_or("expected PART=N, such as release=1")?;
    let part = OrderCosts::PARTS.into_iter().find(|known| *known == part.trim());
    let known = OrderCosts::PARTS.join(", ");
    let part = part.ok_or_else(|| format!("unknown part of an order; the parts are {known}"))?;
    Ok((part, parse_cost_number(cost)?))
}

fn parse_cost_number(text: &str) -> Result<u32, String> {
    match text.trim().parse::<u32>() {
        Ok(cost @ 1..=1000) => Ok(cost),
        Ok(_) | Err(_) => Err("the cost must be a number from 1 to 1000".into()),
    }
}
