//! Parsers for the values of options.

use fencepost_infer::fence_costs::FenceKind;

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
    let kind = parse_kind(kind)?;
    match cost.trim().parse::<u32>() {
        Ok(cost @ 1..=1000) => Ok((kind, cost)),
        Ok(_) | Err(_) => Err("the cost must be a number from 1 to 1000".into()),
    }
}
