//! Data races in `fencepost check`: the warning and the violation.

use crate::args::{DataRaceMode, Format};
use crate::check::CheckRun;
use fencepost_engines::{RaceSearch, Task};
use fencepost_ir::Problem;
use fencepost_report::data_race::{HINT, RaceRecord, describe_race, incomplete_note};
use fencepost_report::finding::{Finding, QueryResult};
use fencepost_report::json::CheckResult;

impl CheckRun<'_> {
    /// Prints a warning about a data race, if the options say so.
    pub(crate) fn print_data_race(&mut self, problem: &Problem, search: &RaceSearch) {
        let warns = self.batch.data_races == Some(DataRaceMode::Warn);
        if !warns || self.batch.format != Format::Text {
            return;
        }
        let paint = self.output.paint;
        let text = match (&search.found, incomplete_note(search)) {
            (Some(found), _) => {
                let race = describe_race(&problem.program, found.race);
                let hint = if self.batch.quiet {
                    String::new()
                } else {
                    format!("{}\n", paint.faint(&format!("  hint: {HINT}")))
                };
                format!("  {} {race}\n{hint}", paint.unsure("warning:"))
            }
            (None, Some(note)) if !self.batch.quiet => {
                format!("{}\n", paint.faint(&format!("  note: {note}")))
            }
            (None, _) => return,
        };
        self.output.print(&text);
    }

    /// Makes a data race a violation, if the options say so.
    pub(crate) fn judge_data_race(&self, races: Option<&RaceSearch>, finding: &mut Finding<'_>) {
        let (Some(DataRaceMode::Error), Some(search)) = (self.batch.data_races, races) else {
            return;
        };
        let task = Task { problem: finding.problem, model: &finding.model };
        let settings = self.settings;
        if let QueryResult::Answer(answer) = &mut finding.result {
            answer.verdict = search.judge(task, settings, answer.verdict.clone());
        }
    }
}

/// Adds what the search for data races found to a result.
pub(crate) fn describe_data_race(
    races: Option<&RaceSearch>,
    problem: &Problem,
    result: &mut CheckResult,
) {
    let Some(search) = races else { return };
    let found = search.found.as_ref();
    result.data_race = found.map(|found| RaceRecord::new(&problem.program, found.race));
    result.data_races_note = incomplete_note(search);
}
