//! `reproduce automata`: the experiments of \[LW10\]: Tables 1 and 2, Fig. 2 and Fig. 4.
//!
//! - [`mutex`]: Dekker's and Peterson's algorithms, explored to the end (Table 2).
//! - [`examples`]: what sleep sets save (Fig. 2), two buffers without bound at once, a deadlock that need not be
//!   one (Fig. 4), and a load that reads its thread's own pending store (Table 1).
//!
//! What must agree is what is said, and that states are of the same order: not ten times more or fewer. They are not the
//! same: the programs are our own readings of the algorithms, local statements run with the access before
//! them, and the fence drains one buffer, not all.
//!
//! The order of exploration is the paper's, statements before commits, with sleep sets.

mod examples;
mod mutex;
mod notes;
mod paper;

use super::{Broken, Runner, lowered, model};
use crate::reproduce::ended_by;
use fencepost_engines::automata::{Looked, Order, Until};
use fencepost_engines::{Answer, Automata, Engine, Explicit, Settings, Task, Verdict};
use fencepost_ir::Problem;
use fencepost_report::verdict_line::shown;
use fencepost_search::Limits;

/// What a reader should know before the first row.
pub(super) const ABOUT: &str = "\
    Every search goes to the end, statements before commits, with sleep sets; in Table 2 not on from where something is wrong. What must agree is what is said, and \
    that states are of the same order: not ten times more or fewer. `errors` counts states, \
    each a set of buffer contents, in which something is wrong; the paper does not say what its errors are.";

/// The engine with this order.
fn in_order(order: Order) -> Automata {
    Automata { order: Some(order), ..Automata::default() }
}

/// What a search met that found something, but did not come to its end.
const CUT: &str = "a limit was reached before the end";

/// Computes the rows.
pub(super) fn run(runner: &mut Runner) -> Result<(), Broken> {
    for line in &paper::TABLE_2 {
        if runner.wants(line.algorithm) {
            mutex::row(runner, line)?;
        }
    }
    examples::rows(runner)
}

/// One search to the end.
struct Search<'a> {
    engine: Automata,
    until: Until,
    model: &'static str,
    /// Which row it is for.
    row: &'a str,
    /// How many states it may store, if the user does not allow fewer.
    states: u64,
}

/// What a search to the end found.
struct Explored {
    looked: Looked,
    seconds: f64,
    /// The program, for what was found is about it.
    problem: Problem,
    /// What cut it short.
    met: Option<&'static str>,
}

impl Explored {
    /// Whether a run to something wrong was found; for a `final exists`, whether there is none.
    fn is_violated(&self) -> bool {
        matches!(self.looked.answer.verdict, Verdict::Violated(_))
    }
}

impl<'a> Search<'a> {
    /// A search as in the paper.
    fn new(row: &'a str, model: &'static str, until: Until) -> Self {
        Search { engine: in_order(Order::Statements), until, model, row, states: u64::MAX }
    }

    /// Searches; nothing if the user wants to stop.
    fn explore(&self, runner: &mut Runner, source: &str) -> Result<Option<Explored>, Broken> {
        let problem = lowered(source).swap_remove(0);
        let model = model(self.model);
        let task = Task { problem: &problem, model: &model };
        let states = self.states.min(runner.settings.limits.states);
        let limits = Limits { states, ..runner.settings.limits };
        let settings = Settings { limits, ..runner.settings };
        let what = format!("{}  {}", self.row, shown(&model));
        let done = runner.work(&what, |budget| {
            let looked = self.engine.look(task, settings, budget, self.until);
            looked.unwrap_or_else(|| without_buffers(Explicit.outcomes(task, settings, budget)))
        })?;
        let Some((looked, seconds)) = done else { return Ok(None) };
        let met = match &looked.answer.verdict {
            Verdict::Inconclusive(inconclusive) => Some(ended_by(inconclusive.reason())),
            Verdict::Verified(_) | Verdict::Violated(_) => {
                (!looked.answer.outcomes_complete).then_some(CUT)
            }
        };
        Ok(Some(Explored { looked, seconds, problem, met }))
    }
}

/// SC has no buffers to be told about; the explicit engine answers.
fn without_buffers(answer: Answer) -> Looked {
    let visited = answer.statistics.states;
    Looked { answer, visited, errors: 0, reached: Vec::new(), widest: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of the columns of Table 2.
    #[test]
    fn the_figures_are_those_of_the_paper() {
        let sum = |of: fn(&paper::Line) -> u64| paper::TABLE_2.iter().map(of).sum::<u64>();
        assert_eq!(sum(|line| line.stored), 4_467);
        assert_eq!(sum(|line| line.visited), 8_087);
        assert_eq!(sum(|line| line.depth), 1_008);
        assert_eq!(sum(|line| line.errors), 50);
        let seconds: f64 = paper::TABLE_2.iter().map(|line| line.seconds).sum();
        assert!((seconds - 35.394).abs() < 0.0001, "{seconds}");
    }

    #[test]
    fn the_programs_are_those_that_the_lines_name() {
        for line in &paper::TABLE_2 {
            let problem = lowered(line.source).swap_remove(0);
            let head: String = line.source.lines().take_while(|l| l.starts_with("//")).collect();
            assert_eq!(problem.program.threads.len(), 2, "{}", line.version);
            assert!(head.contains(line.algorithm), "{head}");
            assert_eq!(head.contains("entered once"), line.version.starts_with("single"), "{head}");
            let fenced = line.source.lines().any(|line| line.trim() == "fence;");
            assert_eq!(fenced, line.version.ends_with("sync"), "{head}");
        }
    }
}
