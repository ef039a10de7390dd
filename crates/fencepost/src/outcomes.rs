//! `fencepost outcomes`: lists the outcomes of a program under each model.

use crate::args::{Format, Outcomes};
use crate::exit::Exit;
use crate::guard::catch_panic_while;
use crate::input::{self, InputFile};
use crate::output::Output;
use crate::session::Session;
use fencepost_report::outcomes::OutcomesReport;

/// Lists the outcomes of a program.
pub(crate) fn run(options: &Outcomes, output: &mut Output) -> Exit {
    let (models, file) =
        match (input::models(&options.model), InputFile::read(&options.file, &options.c)) {
            (Ok(models), Ok(file)) => (models, file),
            (models, file) => {
                models.err().into_iter().flatten().chain(file.err()).for_each(|m| output.error(&m));
                return Exit::Unusable;
            }
        };
    let clients: Vec<String> = options.client.iter().cloned().collect();
    let Ok(source) = file.parse(&clients, false, output) else {
        return Exit::Unusable;
    };
    let session = Session::new(&options.search.limits, false);
    let observer = session.observer(source.name());
    let request = source
        .outcomes(models)
        .options(session.options(&options.search))
        .cancel(session.cancel())
        .observer(&observer);
    let answers = catch_panic_while(format!("running {}", source.name()), || request.run());
    let Ok(answers) = answers else { return Exit::Internal };
    let mut exit = if answers.is_empty() { Exit::Nothing } else { Exit::Success };
    if answers.iter().any(|answer| !answer.is_complete()) {
        exit = exit.combine(Exit::Inconclusive);
    }
    match options.format {
        Format::Json => {
            let report = OutcomesReport {
                fencepost: env!("CARGO_PKG_VERSION").into(),
                command: "outcomes".into(),
                results: answers.iter().map(|answer| answer.record()).collect(),
            };
            output.json(&report);
        }
        Format::Text => {
            answers.iter().for_each(|answer| output.print(&answer.text(output.paint)));
        }
    }
    exit
}
