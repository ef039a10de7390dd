//! `reproduce sober`: the experiments of \[BM08\]: Fig. 4(a), with Fig. 1(b) and Fig. 4(b).
//!
//! For each program and bound on preemptions: how many interleavings the original version has, on how many the
//! monitor fires, how long the first violation takes, and how long it takes to see that the fixed version has none,
//! with the monitor and without. Beyond the paper: one run for each trace, which proves the fixed version robust.
//!
//! What must agree is that the original is not robust, the first violation is found in less than 0.1 s, the fixed version
//! is clean, and that takes less than a twentieth of the paper's time where the paper needs a second or
//! more. Numbers of interleavings are not the same: the programs are our own readings, and a fence, a lock and a wait are
//! not as many scheduling points as in the paper's.

mod paper;

use super::{Broken, Runner, lowered, model};
use fencepost_engines::stateless::{Census, Schedules, census};
use fencepost_engines::{Budget, Engine, Robust, RobustBy, Settings, Task, Verdict};
use fencepost_ir::Problem;
use fencepost_monitor::Model;
use fencepost_report::reproduction::{Figure, Figures, Row};
use fencepost_search::Coverage;
use paper::{LOST_WAKE_UP, Line, PROGRAMS, Program};
use std::num::NonZeroUsize;
use std::time::Instant;

/// What a reader should know before the first row.
pub(super) const ABOUT: &str = "\
    `total` and `borderline` count interleavings of the original version; `first` is the time to the first violation; \
    `with` and `without` are the times for all interleavings of the fixed version with the monitor and without it, on one \
    core, the best of several; `overhead` is what the monitor adds, in percent. Where the paper says `< 0.1` or the like, that limit is shown.";

/// The first violation must be found in this many seconds.
const FIRST: f64 = 0.1;
/// How many times faster than the paper the fixed version must be verified.
const FASTER: f64 = 20.0;
/// Where the paper needs less than this many seconds, times are not compared.
const COMPARED: f64 = 1.0;
/// Overhead is told where a row takes this many seconds at least.
const MEASURABLE: f64 = 0.02;
/// Why a bound that is too small in the paper is enough for us.
const ALREADY: &str = "in our encoding it is enough to run the owner, then the thief: after it has stored to head, the thief could have \
    read tail as it was before the owner's last store to it";

/// How often times are taken.
const REPEATS: usize = 5;

/// Computes the rows.
pub(super) fn run(runner: &mut Runner) -> Result<(), Broken> {
    for program in &PROGRAMS {
        if runner.wants(program.name) {
            for line in program.lines {
                bounded(runner, program, line)?;
            }
            traces(runner, program)?;
        }
    }
    if runner.wants(LOST_WAKE_UP.name) {
        traces(runner, &LOST_WAKE_UP)?;
    }
    Ok(())
}

/// What was found out about a program.
struct Found {
    original: Census,
    fixed: Census,
    first: Option<f64>,
    with: f64,
    without: f64,
}

/// Counts all runs of both versions.
fn look(
    program: &Program,
    schedules: Schedules,
    first: RobustBy,
    settings: Settings,
    budget: Budget<'_>,
) -> Found {
    let problem = |source: &str| -> Problem { lowered(source).swap_remove(0) };
    let (original, fixed) = (problem(program.original), problem(program.fenced));
    let settings = Settings { threads: NonZeroUsize::MIN, ..settings };
    let count = |problem: &Problem, watch| census(problem, schedules, watch, settings, budget);
    let started = Instant::now();
    let task = Task { problem: &original, model: &model("tso") };
    let answer = Robust { by: first }.run(task, settings, budget);
    let violated = matches!(answer.verdict, Verdict::Violated(_));
    let first = violated.then(|| started.elapsed().as_secs_f64());
    let (mut with, mut without) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..REPEATS {
        let started = Instant::now();
        count(&fixed, Some(Model::Tso));
        with = with.min(started.elapsed().as_secs_f64());
        let started = Instant::now();
        count(&fixed, None);
        without = without.min(started.elapsed().as_secs_f64());
    }
    let watch = Some(Model::Tso);
    Found { original: count(&original, watch), fixed: count(&fixed, watch), first, with, without }
}

/// What the figures of a version are.
fn figures(found: &Found) -> Figures {
    let Census { complete, stuck, borderline, .. } = found.original;
    let overhead = (found.with / found.without - 1.0) * 100.0;
    let overhead = (found.without >= MEASURABLE).then(|| overhead.round().max(0.0) as u64);
    Figures::new()
        .with("total", Figure::Number(complete + stuck))
        .with("borderline", Figure::Number(borderline))
        .with("first", found.first.map(Figure::Seconds))
        .with("fixed: borderline", Figure::Number(found.fixed.borderline))
        .with("with", Figure::Seconds(found.with))
        .with("without", Figure::Seconds(found.without))
        .with("overhead", overhead.map(Figure::Number))
}

fn is_whole(census: &Census) -> bool {
    match census.coverage {
        Coverage::Exhaustive | Coverage::Bounded => true,
        Coverage::Cut(_) | Coverage::Found => false,
    }
}

/// The row for a bound on preemptions.
fn bounded(runner: &mut Runner, program: &Program, line: &Line) -> Result<(), Broken> {
    let bound = line.bound.map_or("all".into(), |bound| bound.to_string());
    let row = format!("{} {bound}", program.name);
    let most = line.bound.unwrap_or(u32::MAX);
    let settings = runner.settings;
    let (schedules, by) = (Schedules::Preemptions(most), RobustBy::Preemptions(most));
    let done = runner.work(&row, |budget| look(program, schedules, by, settings, budget))?;
    let Some((found, _)) = done else { return Ok(()) };
    let ran = is_whole(&found.original) && is_whole(&found.fixed);
    let mut notes = Vec::new();
    if (found.original.borderline > 0) != (line.borderline > 0) {
        notes.push(ALREADY);
    }
    if found.first.is_some_and(|first| first >= FIRST) {
        notes.push("the first violation takes long");
    }
    if found.fixed.borderline > 0 {
        notes.push("the fixed version is not clean");
    }
    if line.with >= COMPARED && found.with * FASTER > line.with {
        notes.push("not twenty times as fast as the paper");
    }
    runner.rows.push(Row {
        group: program.name.into(),
        part: "preemptions",
        row,
        column: "TSO".into(),
        paper: Figures::new()
            .with("total", Figure::Number(line.total))
            .with("borderline", Figure::Number(line.borderline))
            .with("first", line.first.map(Figure::Seconds))
            .with("with", Figure::Seconds(line.with))
            .with("without", Figure::Seconds(line.without)),
        ours: if ran { figures(&found) } else { Figures::new() },
        ran,
        agrees: notes.is_empty(),
        note: notes.join("; "),
    });
    Ok(())
}

/// The row for one run for each trace.
fn traces(runner: &mut Runner, program: &Program) -> Result<(), Broken> {
    let row = format!("{} one run for each trace", program.name);
    let settings = runner.settings;
    let done = runner.work(&row, |budget| {
        let found = look(program, Schedules::Traces, RobustBy::Stateless, settings, budget);
        let problem = lowered(program.fenced).swap_remove(0);
        let task = Task { problem: &problem, model: &model("tso") };
        let attack = Robust { by: RobustBy::Attack }.run(task, settings, budget);
        (found, matches!(attack.verdict, Verdict::Verified(_)))
    })?;
    let Some(((found, robust), _)) = done else { return Ok(()) };
    let ran = is_whole(&found.original) && is_whole(&found.fixed);
    let clean = found.original.borderline > 0 && found.fixed.borderline == 0;
    let said = if clean && robust {
        "the fixed version is robust, and the search for an attack says so, too"
    } else {
        "the fixed version is not robust"
    };
    runner.rows.push(Row {
        group: program.name.into(),
        part: "traces",
        row,
        column: "TSO".into(),
        paper: Figures::new(),
        ours: if ran { figures(&found) } else { Figures::new() },
        ran,
        agrees: clean && robust,
        note: said.into(),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of the columns of Fig. 4(a).
    #[test]
    fn the_figures_are_those_of_the_paper() {
        let lines = || PROGRAMS.iter().flat_map(|program| program.lines);
        assert_eq!(lines().map(|line| line.total).sum::<u64>(), 64_867);
        assert_eq!(lines().map(|line| line.borderline).sum::<u64>(), 34_350);
        let with: f64 = lines().map(|line| line.with).sum();
        assert!((with - 963.98).abs() < 0.001, "{with}");
    }

    #[test]
    fn the_programs_are_those_that_the_lines_name() {
        for program in PROGRAMS.iter().chain([&LOST_WAKE_UP]) {
            let fence = |source: &str| source.lines().any(|line| line.trim() == "fence;");
            assert!(!fence(program.original) && fence(program.fenced), "{}", program.name);
            assert!(program.original.contains("[BM08]"), "{}", program.name);
        }
    }
}
