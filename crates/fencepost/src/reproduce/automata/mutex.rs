//! Table 2 of \[LW10\]: mutual exclusion, explored to the end.

use super::super::{Broken, Runner};
use super::paper::Line;
use super::{Search, notes};
use fencepost_engines::automata::Until;
use fencepost_report::reproduction::{Figure, Figures, Row};

/// Some state has both threads in their critical section.
const VIOLATED: &str = "violated";
/// None has.
const VERIFIED: &str = "verified";

/// How many times more or fewer states are still of the same order.
const ORDER: u64 = 10;

/// One program.
pub(super) fn row(runner: &mut Runner, line: &Line) -> Result<(), Broken> {
    let row = format!("{} {}", line.algorithm, line.version);
    let search = Search::new(&row, "tso", Until::Errors);
    let Some(explored) = search.explore(runner, line.source)? else { return Ok(()) };
    let looked = &explored.looked;
    let statistics = looked.answer.statistics;
    let word = |violated: bool| if violated { VIOLATED } else { VERIFIED };
    let (said, in_paper) = (word(explored.is_violated()), word(line.errors > 0));
    let alike = is_alike(statistics.states, line.stored) && is_alike(looked.visited, line.visited);
    let ran = explored.met.is_none();
    let paper = Figures::new()
        .with("result", Figure::Word(in_paper))
        .with("stored", Figure::Number(line.stored))
        .with("visited", Figure::Number(line.visited))
        .with("depth", Figure::Number(line.depth))
        .with("errors", Figure::Number(line.errors))
        .with("seconds", Figure::Seconds(line.seconds));
    let ours = Figures::new()
        .with("result", Figure::Word(said))
        .with("stored", Figure::Number(statistics.states))
        .with("visited", Figure::Number(looked.visited))
        .with("depth", Figure::Number(u64::from(statistics.depth)))
        .with("errors", Figure::Number(looked.errors))
        .with("seconds", Figure::Seconds(explored.seconds));
    let agrees = ran && said == in_paper && alike;
    let note = match explored.met {
        Some(met) => met,
        None if agrees => "",
        None if said == in_paper => notes::MORE,
        None => notes::UNKNOWN,
    };
    runner.rows.push(Row {
        group: line.algorithm.into(),
        part: "Table 2",
        row,
        column: "TSO".into(),
        paper,
        ours: if ran { ours } else { Figures::new() },
        ran,
        agrees,
        note: note.into(),
    });
    Ok(())
}

/// Whether two numbers are of the same order.
fn is_alike(ours: u64, paper: u64) -> bool {
    ours <= paper * ORDER && paper <= ours * ORDER
}
