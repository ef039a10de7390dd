//! Prints the table: for each program and model, a line for each tool.

use super::run::{Tool, ToolResult, Verdict};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Rows with fewer states are too short to compare times.
const MANY: f64 = 100_000.0;

/// The results of the tools for a program under a model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Row {
    /// The program and the model.
    pub(super) row: String,
    /// Pending stores: TSO: of a thread; PSO: of a thread to a location.
    pub(super) buffers: u32,
    /// Ours comes first.
    pub(super) results: Vec<ToolResult>,
    /// The right verdict, if it is known.
    pub(super) expected: Option<String>,
}

/// Returns the column names. The last two columns are divided by our figures: above 1, ours is
/// better.
pub(super) fn heading() -> String {
    format!(
        "{:<24} {:<14} {:<9} {:>11} {:>12} {:>8} {:>10} {:>8} {:>8} {:>8} {:>8}",
        "program and model",
        "tool",
        "verdict",
        "states",
        "transitions",
        "CPU s",
        "states/s",
        "B/state",
        "prepare",
        "states/o",
        "CPU s/o"
    )
}

impl Row {
    /// Returns the result of a tool.
    fn result(&self, tool: Tool) -> Option<&ToolResult> {
        self.results.iter().find(|found| found.tool == tool)
    }

    /// Returns the results with a verdict.
    fn decided(&self) -> impl Iterator<Item = &ToolResult> {
        self.results.iter().filter(|found| found.verdict != Verdict::Unknown)
    }

    /// Returns whether at least two tools have a verdict.
    pub(super) fn is_compared(&self) -> bool {
        self.decided().count() > 1
    }

    /// Returns whether verdicts differ from each other or from the right one.
    pub(super) fn is_wrong(&self) -> bool {
        let right = match self.expected.as_deref() {
            Some("violated") => Some(Verdict::Violated),
            Some(_) => Some(Verdict::Holds),
            None => self.decided().next().map(|found| found.verdict),
        };
        self.decided().any(|found| Some(found.verdict) != right)
    }

    /// Formats the lines of the row.
    pub(super) fn lines(&self) -> String {
        let mut text = String::new();
        let ours = self.result(Tool::Ours).filter(|ours| ours.verdict != Verdict::Unknown);
        for found in &self.results {
            let relative = |of: fn(&ToolResult) -> f64| match ours {
                Some(ours) if found.verdict != Verdict::Unknown => {
                    format!("{:.2}", of(found) / of(ours).max(1e-6))
                }
                _ => "-".into(),
            };
            let _ = writeln!(
                text,
                "{:<24} {:<14} {:<9} {:>11.0} {:>12.0} {:>8.3} {:>10.0} {:>8} {:>8.2} {:>8} {:>8}",
                self.row,
                found.tool.name(),
                found.verdict.word(),
                found.states,
                found.transitions,
                found.cpu_seconds,
                found.states / found.cpu_seconds.max(1e-6),
                found.bytes_per_state.map_or("-".into(), |bytes| format!("{bytes:.0}")),
                found.preparation,
                relative(|found| found.states),
                relative(|found| found.cpu_seconds),
            );
            if let Some(remark) = &found.remark {
                let _ = writeln!(text, "    {}: {remark}", found.tool.name());
            }
        }
        text
    }
}

/// Returns the summary: for each tool, on how many long rows ours stores more states or is slower,
/// and the geometric means of the ratios. A violated program ends the searches at different states,
/// so only programs that hold are compared.
pub(super) fn summary(rows: &[Row]) -> String {
    let compared = rows.iter().filter(|row| row.is_compared()).count();
    let mut text = format!("{} rows, {compared} decided by more than one tool\n", rows.len());
    for tool in [Tool::Exported, Tool::Hand, Tool::HandUnreduced] {
        let pairs: Vec<(&ToolResult, &ToolResult)> = rows
            .iter()
            .filter_map(|row| Some((row.result(Tool::Ours)?, row.result(tool)?)))
            .filter(|(ours, other)| {
                [ours, other].iter().all(|found| found.verdict == Verdict::Holds)
                    && ours.states.max(other.states) > MANY
            })
            .collect();
        if pairs.is_empty() {
            continue;
        }
        let ratio = |of: fn(&ToolResult) -> f64| {
            let ratios = pairs.iter().map(|(ours, other)| of(other) / of(ours).max(1e-6));
            let (above, logarithms) = ratios.fold((0, 0.0), |(above, sum), ratio| {
                (above + usize::from(ratio < 1.0), sum + ratio.ln())
            });
            (above, (logarithms / pairs.len() as f64).exp())
        };
        let (more, states) = ratio(|found| found.states);
        let (slower, seconds) = ratio(|found| found.cpu_seconds);
        let _ = writeln!(
            text,
            "{}: {} rows hold and have more than {MANY} states; ours stores more on {more} and is \
             slower on {slower}; geometric means: states {states:.2}, CPU seconds {seconds:.2}",
            tool.name(),
            pairs.len(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(tool: Tool, verdict: Verdict, states: f64, cpu_seconds: f64) -> ToolResult {
        ToolResult {
            tool,
            verdict,
            states,
            transitions: states,
            cpu_seconds,
            bytes_per_state: Some(30.0),
            preparation: 0.0,
            remark: None,
        }
    }

    fn row(results: Vec<ToolResult>, expected: Option<&str>) -> Row {
        Row { row: "a sc".into(), buffers: 2, results, expected: expected.map(String::from) }
    }

    #[test]
    fn different_verdicts_are_wrong() {
        let with = |spin: Verdict, expected: Option<&str>| {
            let ours = result(Tool::Ours, Verdict::Holds, 1e6, 1.0);
            row(vec![ours, result(Tool::Hand, spin, 2e6, 3.0)], expected)
        };
        assert!(!with(Verdict::Holds, None).is_wrong());
        assert!(!with(Verdict::Unknown, Some("verified")).is_wrong());
        assert!(with(Verdict::Violated, None).is_wrong());
        assert!(with(Verdict::Holds, Some("violated")).is_wrong());
        assert!(with(Verdict::Holds, None).is_compared());
        assert!(!with(Verdict::Unknown, None).is_compared());
    }

    #[test]
    fn ratios_are_those_of_long_rows_that_hold() {
        let long = |factor: f64| {
            let ours = result(Tool::Ours, Verdict::Holds, 1e6, 1.0);
            row(vec![ours, result(Tool::Hand, Verdict::Holds, 1e6 * factor, factor)], None)
        };
        let short = row(
            vec![
                result(Tool::Ours, Verdict::Holds, 10.0, 1.0),
                result(Tool::Hand, Verdict::Holds, 5.0, 0.1),
            ],
            None,
        );
        let text = summary(&[long(4.0), long(0.25), short]);
        assert!(text.contains("hand: 2 rows hold"), "{text}");
        assert!(text.contains("more on 1 and is slower on 1"), "{text}");
        assert!(text.contains("states 1.00, CPU seconds 1.00"), "{text}");
        assert!(long(4.0).lines().contains(" 4.00"));
    }
}
