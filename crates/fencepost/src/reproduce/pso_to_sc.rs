//! `reproduce pso-to-sc`: the experiments of \[Zac\]: Table 5.1, litmus tests, and the smallest bound at which each bug shows.
//!
//! A program under TSO or PSO is translated into one that shows the same under SC, within a bound: either on the context
//! switches of each thread, or on how many of them a store is pending. The engine is `--engine translate`.
//!
//! What must agree is what is said within three context switches of each thread, and that it takes less time
//! than in the paper. DIVERGENCE: the paper's listings are not correct as printed, and ours is another
//! construction; the paper unrolls loops three times, we do not unroll them at all. Direction: "safe" is said of the runs within
//! the bound only.

mod paper;
mod smallest;

use super::{Broken, Runner, lowered, model};
use crate::reproduce::ended_by;
use fencepost_engines::{Engine, Task, Translate, Verdict};
use fencepost_report::reproduction::{Figure, Figures, Row};
use fencepost_translate::contexts::Bound;
use paper::{Line, TABLE_5_1, Version};
use smallest::{BUGS, SHAPES, Sought};

/// What a reader should know before the first row.
pub(super) const ABOUT: &str = "\
    Table 5.1: every run with at most 3 context switches of each thread, loops not unrolled (the paper unrolls \
    them 3 times); `safe` means that none of them violates mutual exclusion. `smallest k`, up to 3: how many \
    context switches of each thread are enough for a violation, or for the outcome of a litmus test \
    (`contexts`); and for how many a store must be pending when there may be any number of them (`delay`). \
    At a violation stores may still be pending, so that it can show with 0; an outcome has none. `possible` \
    is what the explicit engine says without bounds.";

/// The bound of Table 5.1.
const K: u32 = 3;

/// A run within the bound violates mutual exclusion.
const UNSAFE: &str = "unsafe";
/// None does.
const SAFE: &str = "safe";

/// Computes the rows.
pub(super) fn run(runner: &mut Runner) -> Result<(), Broken> {
    let mut groups: Vec<&str> = BUGS.iter().map(|program| program.group).collect();
    groups.dedup();
    for group in groups.into_iter().filter(|group| runner.wants(group)).collect::<Vec<_>>() {
        for line in TABLE_5_1.iter().filter(|line| line.algorithm == group) {
            version(runner, line, &line.unfenced, UNSAFE)?;
            version(runner, line, &line.fenced, SAFE)?;
        }
        for program in BUGS.iter().filter(|program| program.group == group) {
            smallest::rows(runner, program, Sought::Violation)?;
        }
    }
    for shape in SHAPES {
        if runner.wants(&format!("{} {}", shape.group, shape.name)) {
            smallest::rows(runner, shape, Sought::Witness)?;
        }
    }
    Ok(())
}

/// A row of Table 5.1.
fn version(
    runner: &mut Runner,
    line: &Line,
    version: &Version,
    in_paper: &'static str,
) -> Result<(), Broken> {
    let row = format!("{} {}", line.algorithm, version.program);
    let problem = lowered(version.source).swap_remove(0);
    let task = Task { problem: &problem, model: &model("pso") };
    let settings = runner.settings;
    let engine = Translate { bound: Bound::Switches(K) };
    let what = format!("{row}  PSO k = {K}");
    let done = runner.work(&what, |budget| engine.run(task, settings, budget))?;
    let Some((answer, seconds)) = done else { return Ok(()) };
    let said = match answer.verdict {
        Verdict::Violated(_) => Ok(UNSAFE),
        Verdict::Verified(_) => Ok(SAFE),
        Verdict::Inconclusive(inconclusive) if inconclusive.is_bounded() => Ok(SAFE),
        Verdict::Inconclusive(inconclusive) => Err(ended_by(inconclusive.reason())),
    };
    let ours = said.map(|said| {
        Figures::new()
            .with("result", Figure::Word(said))
            .with("states", Figure::Number(answer.statistics.states))
            .with("seconds", Figure::Seconds(seconds))
    });
    let (agrees, note) = match said {
        Ok(said) if said != in_paper => (false, "The reason is not known."),
        Ok(_) if version.seconds.is_some_and(|paper| seconds >= paper) => {
            (false, "slower than the paper")
        }
        Ok(_) => (true, line.note),
        Err(met) => (false, met),
    };
    let paper = version.seconds.map(|seconds| {
        Figures::new()
            .with("result", Figure::Word(in_paper))
            .with("seconds", Figure::Seconds(seconds))
    });
    runner.rows.push(Row {
        group: line.algorithm.into(),
        part: "Table 5.1",
        row,
        column: format!("PSO k={K}"),
        paper: paper.unwrap_or_default(),
        ran: ours.is_ok(),
        ours: ours.unwrap_or_default(),
        agrees,
        note: note.into(),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of the columns of Table 5.1.
    #[test]
    fn the_figures_are_those_of_the_paper() {
        let sum = |of: fn(&Line) -> Version| -> f64 {
            TABLE_5_1.iter().filter_map(|line| of(line).seconds).sum()
        };
        let (unfenced, fenced) = (sum(|line| line.unfenced), sum(|line| line.fenced));
        assert!((unfenced - 17.51).abs() < 0.001, "{unfenced}");
        assert!((fenced - 453.68).abs() < 0.001, "{fenced}");
    }

    #[test]
    fn the_programs_are_those_that_the_lines_name() {
        for line in &TABLE_5_1 {
            let is_fenced = |version: &Version| version.source.contains("fence;");
            assert!(!is_fenced(&line.unfenced) && is_fenced(&line.fenced), "{}", line.algorithm);
            assert_eq!(lowered(line.fenced.source)[0].program.threads.len(), 2);
            assert!(BUGS.iter().any(|bug| bug.name == line.unfenced.program));
            let named = |source: &str| {
                let first = source.lines().next().expect("a program has a head");
                first.contains(line.algorithm)
            };
            assert!(named(line.unfenced.source) && named(line.fenced.source), "{}", line.algorithm);
        }
        for shape in SHAPES {
            assert!(shape.source.starts_with(&format!("// {}:", shape.name)), "{}", shape.name);
            assert!(shape.source.contains("final exists"), "{}", shape.name);
        }
    }
}
