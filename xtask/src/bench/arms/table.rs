//! Prints the rows, sorted by ratio.

use super::AIM;
use super::measure::{Arm, ArmRow, Run};
use std::fmt::Write as _;

/// Returns the column names.
pub(super) fn heading() -> String {
    format!(
        "{:<46} {:<5} {:<10} {:>8}  {:<14} {:>8} {:>7}  {}",
        "program", "model", "answer", "auto s", "fastest arm", "s", "ratio", "other arms"
    )
}

/// Formats a row. `>` before a ratio says that `auto` reached the time limit. `-` says that no arm
/// answers in the time that `auto` takes.
pub(super) fn line(row: &ArmRow) -> String {
    let fastest = row.fastest();
    let is_fastest = |run: &&Run| fastest.is_some_and(|fastest| fastest.arm == run.arm);
    let mut others = String::new();
    for run in row.arms.iter().filter(|run| !is_fastest(run)) {
        let _ = write!(others, " {} {}", run.arm, describe(run));
    }
    let bound = if row.auto.is_conclusive { "" } else { ">" };
    let ratio = row.ratio().map_or("-".into(), |ratio| format!("{bound}{ratio:.2}"));
    let mut line = format!(
        "{:<46} {:<5} {:<10} {:>8.3}  {:<14} {:>8} {:>7} {others}",
        row.program,
        row.model,
        answer(&row.auto),
        row.auto.cpu_seconds,
        fastest.map_or("-", |run| &run.arm),
        fastest.map_or("-".into(), |run| format!("{:.3}", run.cpu_seconds)),
        ratio,
    );
    if let Some(wrong) = &row.wrong {
        let _ = write!(line, "  WRONG: {wrong}");
    }
    line
}

fn answer(run: &Run) -> &str {
    run.reason.as_deref().filter(|_| !run.is_conclusive).unwrap_or(&run.answer)
}

/// Describes a run of an arm: its time if it answers, otherwise why it does not.
fn describe(run: &Run) -> String {
    match run.is_conclusive {
        true => format!("{:.3}", run.cpu_seconds),
        false => answer(run).to_string(),
    }
}

/// Returns the table of all rows, sorted by falling ratio, and a summary.
pub(super) fn sorted(rows: &[ArmRow]) -> String {
    let mut shown: Vec<&ArmRow> = rows.iter().filter(|row| row.is_shown()).collect();
    let key = |row: &ArmRow| row.ratio().unwrap_or(0.0);
    shown.sort_by(|a, b| key(b).total_cmp(&key(a)).then_with(|| a.row.cmp(&b.row)));
    let mut text = format!("{}\n", heading());
    shown.iter().for_each(|row| text += &format!("{}\n", line(row)));
    let compared: Vec<&&ArmRow> = shown.iter().filter(|row| row.ratio().is_some()).collect();
    let above = compared.iter().filter(|row| key(row) > AIM).count();
    let undecided = shown.iter().filter(|row| !row.auto.is_conclusive).count();
    let missed = compared.iter().filter(|row| !row.auto.is_conclusive).count();
    let _ = writeln!(
        text,
        "{} rows; {} with at least {} CPU seconds or without an answer, {} of these compared: {above} above \
         a ratio of {AIM}",
        rows.len(),
        shown.len(),
        super::MIN_SECONDS,
        compared.len(),
    );
    let _ = writeln!(
        text,
        "{undecided} without an answer of auto, {missed} of these with one of an arm"
    );
    for arm in Arm::ALL {
        let wins = compared.iter().filter(|row| row.fastest().is_some_and(|f| f.arm == arm.name()));
        let _ = write!(text, "{} {}  ", arm.name(), wins.count());
    }
    text.truncate(text.trim_end().len());
    text + "  (rows in which the arm is the fastest)\n"
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::{row, run};
    use super::*;

    #[test]
    fn rows_are_sorted_by_ratio() {
        let with = |name: &str, auto: f64| {
            let arms = vec![run("explicit", "verified", 1.0), run("automata", "slower", 9.0)];
            row(name, run("auto", "verified", auto), arms)
        };
        let short = row("short", run("auto", "verified", 0.01), Vec::new());
        let open = row("open", run("auto", "limit", 10.0), vec![run("automata", "verified", 1.0)]);
        let only = row("only", run("auto", "verified", 0.5), vec![run("automata", "slower", 0.5)]);
        let text = sorted(&[with("near", 1.2), with("far", 5.0), short, open, only]);
        let names: Vec<_> = text.lines().filter_map(|l| l.split_whitespace().next()).collect();
        assert_eq!(names[..5], ["program", "open", "far", "near", "only"]);
        assert!(text.contains(">10.00") && text.contains("automata slower"), "{text}");
        assert!(text.contains("5 rows; 4 with at least 0.1"), "{text}");
        assert!(text.contains("3 of these compared: 2 above a ratio of 1.3"), "{text}");
        assert!(text.contains("1 without an answer of auto, 1 of these"), "{text}");
    }
}
