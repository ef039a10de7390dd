//! Table 1 of \[KVY11\]: programs with their fences, and which abstraction proves them.
//!
//! A spurious violation comes with the step that no store buffer takes: for the fast mutex the
//! store that is committed twice, section 6.2.1.

use super::super::{Broken, Runner, lowered, model};
use super::paper::{COMMITTED_TWICE, Cell, Line, PROVED, SPURIOUS, VIOLATED};
use super::{column, notes, row_name, source};
use crate::reproduce::ended_by;
use fencepost_engines::concretise::{self, Suspect};
use fencepost_engines::{Abstraction, Answer, Engine, InconclusiveReason, Task, Verdict};
use fencepost_ir::Program;
use fencepost_models::coherence::Domain;
use fencepost_report::reproduction::{Figure, Figures, Row};
use fencepost_report::wording;

/// The rows of one program: one for each abstraction.
pub(super) fn rows(runner: &mut Runner, line: &Line) -> Result<(), Broken> {
    let problems = lowered(source(line.program));
    let model = model(line.model);
    let task = Task { problem: &problems[0], model: &model };
    for cell in line.cells {
        let (row, column) = (row_name(line), column(&model, cell));
        let engine = Abstraction { domain: cell.domain, k: cell.k };
        let settings = runner.settings;
        let what = format!("{row}  {column}");
        let done = runner.work(&what, |budget| engine.run(task, settings, budget))?;
        let Some((answer, seconds)) = done else { continue };
        let said = word(&answer);
        let because = answer.suspect.as_ref().map(|s| vec![departure(&task.problem.program, s)]);
        let twice = format!("{COMMITTED_TWICE} a second time");
        // In the paper it is the first thread; the threads are alike.
        let alike = !is_fast_mutex(line, cell)
            || because.as_ref().is_some_and(|said| said[0].ends_with(&twice));
        let agrees = match said {
            Ok(said) => cell.word.is_none_or(|word| word == said) && alike,
            Err(_) => false,
        };
        let in_paper = is_fast_mutex(line, cell).then(|| vec![format!("p(1) commits {twice}")]);
        let paper = Figures::new()
            .with("result", cell.word.map(Figure::Word))
            .with("states", cell.states.map(Figure::Number))
            .with("because", in_paper.map(Figure::List));
        let ours = said.map_or(Figures::new(), |said| {
            Figures::new()
                .with("result", Figure::Word(said))
                .with("states", Figure::Number(answer.statistics.states))
                .with("seconds", Figure::Seconds(seconds))
                .with("because", because.map(Figure::List))
        });
        let note = match said {
            Err(met) => met,
            Ok(_) if agrees => "",
            Ok(said) => notes::reason(line, cell, said),
        };
        runner.rows.push(Row {
            group: line.algorithm.into(),
            part: "proof",
            row,
            column,
            paper,
            ours,
            ran: said.is_ok(),
            agrees,
            note: note.into(),
        });
    }
    Ok(())
}

/// The example of section 6.2.1.
fn is_fast_mutex(line: &Line, cell: &Cell) -> bool {
    line.program == "fast3" && (cell.domain, cell.k) == (Domain::Full, 0)
}

/// What the abstraction says; if nothing, what it met.
fn word(answer: &Answer) -> Result<&'static str, &'static str> {
    match &answer.verdict {
        Verdict::Verified(_) => Ok(PROVED),
        Verdict::Violated(_) => Ok(VIOLATED),
        Verdict::Inconclusive(inconclusive) => match inconclusive.reason() {
            InconclusiveReason::Spurious => Ok(SPURIOUS),
            reason => Err(ended_by(reason)),
        },
    }
}

/// The step of a run that no store buffer takes.
fn departure(program: &Program, suspect: &Suspect) -> String {
    let thread = &program.thread(suspect.departure.thread).name;
    let cell = |loc, value| wording::cell(program, loc, " = ", value);
    match suspect.departure.why {
        concretise::Broken::Again(loc, value) => {
            format!("{thread} commits {} a second time", cell(loc, value))
        }
        concretise::Broken::Order(loc, value) => {
            format!("{thread} commits {} before an older store", cell(loc, value))
        }
        concretise::Broken::Waits => format!("{thread} does not wait for its pending stores"),
        concretise::Broken::Fine => "no step; nothing is wrong at the end".into(),
    }
}
