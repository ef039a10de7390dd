//! The request for the final states that a program can reach under some models.

use super::Control;
use crate::search::SearchOptions;
use crate::source::Source;
use fencepost_engines::{Answer, Engine, Explicit, Task};
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_report::Paint;
use fencepost_report::outcomes::{Column, OutcomesResult, table};

/// A request for the outcomes of all programs of a source under some models.
///
/// ```
/// use fencepost::{Model, Source};
///
/// let source = Source::parse("sb.fp", "shared int x, y;
///     thread p { x = 1; a = y; } thread q { y = 1; b = x; } observe p.a, q.b;")?;
/// let answers = source.outcomes(vec![Model::SC, Model::TSO]).run();
/// let counts: Vec<usize> = answers[0].answers().iter().map(|a| a.outcomes.len()).collect();
/// assert_eq!(counts, [3, 4]);
/// # Ok::<(), fencepost::SourceError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is run"]
pub struct Outcomes<'s> {
    source: &'s Source,
    models: Vec<ModelSpec>,
    options: SearchOptions,
    control: Control<'s>,
}

impl Source {
    /// Returns a request for the final states that are reachable under each model.
    pub fn outcomes(&self, models: Vec<ModelSpec>) -> Outcomes<'_> {
        let (options, control) = (SearchOptions::default(), Control::default());
        Outcomes { source: self, models, options, control }
    }
}

/// The outcomes of one program.
#[derive(Clone, Debug)]
pub struct OutcomesAnswer<'s> {
    file: &'s str,
    problem: &'s Problem,
    models: Vec<ModelSpec>,
    answers: Vec<Answer>,
}

impl<'s> Outcomes<'s> {
    search_methods!();

    /// Runs the request. Returns an answer for each program of the source.
    pub fn run(&self) -> Vec<OutcomesAnswer<'s>> {
        self.source.programs().iter().map(|problem| self.program(problem)).collect()
    }

    fn program(&self, problem: &'s Problem) -> OutcomesAnswer<'s> {
        let Outcomes { source, models, options, control } = self;
        let answer = |model: &ModelSpec| {
            let task = Task { problem, model };
            control.run(options, |budget| Explicit.outcomes(task, options.settings, budget)).0
        };
        let answers = models.iter().map(answer).collect();
        OutcomesAnswer { file: source.name(), problem, models: models.clone(), answers }
    }
}

impl OutcomesAnswer<'_> {
    /// Returns the program.
    pub fn problem(&self) -> &Problem {
        self.problem
    }

    /// Returns one answer for each model, in the order of the request.
    pub fn answers(&self) -> &[Answer] {
        &self.answers
    }

    /// Whether the outcomes of all models are complete.
    pub fn is_complete(&self) -> bool {
        self.answers.iter().all(|answer| answer.outcomes_complete)
    }

    fn columns(&self) -> Vec<Column<'_>> {
        let pairs = self.models.iter().zip(&self.answers);
        pairs.map(|(model, answer)| Column { model, answer }).collect()
    }

    /// Returns a table as text.
    pub fn text(&self, paint: Paint) -> String {
        let title = match self.problem.name.as_str() {
            "" => self.file.to_string(),
            client => {
                format!("{}  client {}", self.file, fencepost_report::paint::printable(client))
            }
        };
        table(&title, self.problem, &self.columns(), paint)
    }

    /// Returns the record for JSON output.
    pub fn record(&self) -> OutcomesResult {
        OutcomesResult::new(self.file, self.problem, &self.columns())
    }
}
