//! Prints the table: one row per program and model.

use super::run::ToolResult;

/// The results of both tools for a program under a model.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row {
    /// The name of the program.
    pub(super) name: String,
    /// The name of the model.
    pub(super) model: String,
    /// The result of our explicit engine.
    pub(super) ours: ToolResult,
    /// The result of SPIN's verifier.
    pub(super) spin: ToolResult,
}

/// Returns the column names: for each tool states, seconds, states per second, memory.
pub(super) fn heading() -> String {
    let tool = |name: &str| format!("{name:>11} {:>8} {:>10} {:>8}", "seconds", "states/s", "MB");
    format!(
        "{:<22} {:<5} {:<9} {:<9} {} {} {:>7} {:>8}",
        "program",
        "model",
        "ours",
        "spin",
        tool("our states"),
        tool("spin states"),
        "ratio",
        "prepare"
    )
}

impl Row {
    /// Formats the row. The ratio is SPIN's time divided by ours: above 1, ours is faster.
    pub(super) fn line(&self) -> String {
        let (ours, spin) = (&self.ours, &self.spin);
        let mut line = format!(
            "{:<22} {:<5} {:<9} {:<9} {} {} {:>7.2} {:>8.2}",
            self.name,
            self.model,
            ours.verdict.word(),
            spin.verdict.word(),
            figures(ours),
            figures(spin),
            spin.seconds / ours.seconds.max(f64::EPSILON),
            spin.preparation
        );
        for (tool, found) in [("ours", ours), ("spin", spin)] {
            if let Some(remark) = &found.remark {
                line += &format!("\n    {tool}: {remark}");
            }
        }
        line
    }
}

fn figures(found: &ToolResult) -> String {
    let ToolResult { states, seconds, megabytes, .. } = found;
    let rate = states / seconds.max(f64::EPSILON);
    format!("{states:>11.0} {seconds:>8.3} {rate:>10.0} {megabytes:>8.1}")
}
