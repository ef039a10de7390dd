//! `fencepost replay`: re-executes a stored trace on the source and the model stored with it.

use crate::args::{Format, Replay};
use crate::exit::Exit;
use crate::input::display_path;
use crate::output::Output;
use crate::reader::read_text;
use fencepost::{ReplayError, Replayed, SourceError, replay};
use fencepost_engines::ClaimWithRun;
use fencepost_report::diagnostics::render;
use fencepost_report::paint::{counted, printable};
use fencepost_report::picture::run_text;
use fencepost_report::trace::TraceRows;
use fencepost_report::trace_file::Difference;
use std::borrow::Cow;

/// Re-executes a trace.
pub(crate) fn run(options: &Replay, output: &mut Output) -> Exit {
    let name = display_path(&options.trace);
    let text = match read_text(&options.trace) {
        Ok(text) => text,
        Err(error) => {
            output.error(&format!("cannot read the trace {name}: {error}"));
            return Exit::Unusable;
        }
    };
    match replay(&text) {
        Ok(replayed) => {
            match options.format {
                Format::Json => output.json(&json(&name, replayed.file.steps.len(), None)),
                Format::Text => output.print(&text_report(&replayed, output)),
            }
            Exit::Success
        }
        Err(ReplayError::Diverged { steps, difference }) => {
            match options.format {
                Format::Json => output.json(&json(&name, steps, Some(&difference))),
                Format::Text => {
                    let word = output.paint.bad("DIVERGED");
                    let error = ReplayError::Diverged { steps, difference };
                    output.print(&format!("{name}  {word}  {}\n", printable(&error.to_string())));
                }
            }
            Exit::Violated
        }
        Err(ReplayError::Source(SourceError::Invalid(invalid))) => {
            let paint = output.paint_messages;
            output.message(&render(&invalid.diagnostics, &invalid.name, &invalid.text, paint));
            Exit::Unusable
        }
        Err(error @ ReplayError::File(_)) => {
            output
                .error(&format!("cannot read the trace {name}: {}", printable(&error.to_string())));
            Exit::Unusable
        }
        Err(error) => {
            output.error(&format!("{name}: {}", printable(&error.to_string())));
            Exit::Unusable
        }
    }
}

fn text_report(replayed: &Replayed, output: &Output) -> String {
    let Replayed { file, model, problem, run, claim, .. } = replayed;
    let paint = output.paint;
    let rows = TraceRows::new(problem, Cow::Borrowed(run));
    // The file does not record whether the run is a shortest one.
    let shown = ClaimWithRun { claim: *claim, run: Some(run), shortest: false };
    let mut text = run_text(&printable(&file.file), model, shown, &rows, paint);
    let steps = counted(file.steps.len() as u64, "step");
    let word = paint.good("replayed");
    text.push_str(&format!("  {word}: {steps}, all events as recorded\n"));
    text
}

fn json(name: &str, steps: usize, difference: Option<&Difference>) -> serde_json::Value {
    serde_json::json!({
        "fencepost": env!("CARGO_PKG_VERSION"),
        "command": "replay",
        "trace": name,
        "steps": steps,
        "replayed": difference.is_none(),
        "diverged_at": difference.and_then(|difference| difference.step),
        "message": difference.map(|difference| &difference.what),
    })
}
