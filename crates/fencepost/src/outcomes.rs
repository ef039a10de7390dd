//! `fencepost outcomes`.

use crate::args::{Format, Outcomes};
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::input::{self, Source};
use crate::output::Output;
use crate::session::{Session, settings};
use fencepost_engines::{Answer, Engine, Explicit, Task};
use fencepost_report::outcomes::{Column, OutcomesReport, OutcomesResult, table};
use fencepost_report::paint::printable;
use fencepost_report::verdict_line::shown;

/// Lists the outcomes of a program.
pub(crate) fn run(options: &Outcomes, output: &mut Output) -> Exit {
    let (models, source) = match (input::models(&options.model), Source::read(&options.file)) {
        (Ok(models), Ok(source)) => (models, source),
        (models, source) => {
            models.err().into_iter().flatten().chain(source.err()).for_each(|m| output.error(&m));
            return Exit::Unusable;
        }
    };
    let clients: Vec<String> = options.client.iter().cloned().collect();
    let Ok((_, problems)) = source.lower_clients(&clients, output) else {
        return Exit::Unusable;
    };
    let session = Session::new(&options.search, false);
    let settings = settings(&options.search);
    let mut exit = if problems.is_empty() { Exit::Nothing } else { Exit::Fine };
    let mut results = Vec::new();
    for problem in &problems {
        let mut answers: Vec<Answer> = Vec::new();
        for model in &models {
            let what = format!("{}  {}", source.name, shown(model));
            let answer = guarded_while(format!("running {what}"), || {
                session.run(&what, |budget| {
                    Explicit.outcomes(Task { problem, model }, settings, budget)
                })
            });
            let Ok((answer, _)) = answer else { return Exit::Internal };
            if !answer.outcomes_complete {
                exit = exit.and(Exit::Inconclusive);
            }
            answers.push(answer);
        }
        let columns: Vec<Column<'_>> =
            models.iter().zip(&answers).map(|(model, answer)| Column { model, answer }).collect();
        match options.format {
            Format::Json => results.push(OutcomesResult::new(&source.name, problem, &columns)),
            Format::Text => {
                let title = match problem.name.as_str() {
                    "" => source.name.clone(),
                    client => format!("{}  client {}", source.name, printable(client)),
                };
                output.print(&table(&title, problem, &columns, output.paint));
            }
        }
    }
    if options.format == Format::Json {
        let report = OutcomesReport {
            fencepost: env!("CARGO_PKG_VERSION").into(),
            command: "outcomes".into(),
            results,
        };
        let text = serde_json::to_string_pretty(&report).expect("plain data becomes JSON");
        output.print(&format!("{text}\n"));
    }
    exit
}
