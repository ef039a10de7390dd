//! `fencepost replay`: a stored trace, re-executed step by step on its own source and model.

use crate::args::{Format, Replay};
use crate::exit::Exit;
use crate::input::{InputFile, shown};
use crate::output::Output;
use fencepost_engines::{Claim, Shown};
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_models::replay::{Divergence, Trace};
use fencepost_report::paint::{counted, printable};
use fencepost_report::picture::run_text;
use fencepost_report::trace::Story;
use fencepost_report::trace_file::{Difference, TraceFile};
use fencepost_report::violation::{sentence, shown_by};
use std::borrow::Cow;
use std::fs;

/// Re-executes a trace.
pub(crate) fn run(options: &Replay, output: &mut Output) -> Exit {
    let name = shown(&options.trace);
    let read = fs::read_to_string(&options.trace)
        .map_err(|error| error.to_string())
        .and_then(|text| TraceFile::parse(&text))
        .and_then(|file| Ok((file.model.model()?, file)));
    let (model, file) = match read {
        Ok(read) => read,
        Err(message) => {
            output.error(&format!("cannot read the trace {name}: {message}"));
            return Exit::Unusable;
        }
    };
    let source = InputFile::embedded(&file.file, &file.source);
    // A client may have come from outside of the source.
    let client: &[String] = match file.client.as_str() {
        "" => &[],
        _ => std::slice::from_ref(&file.client),
    };
    let Ok(parsed) = source.parse(client, output) else { return Exit::Unusable };
    let problems = parsed.programs();
    let Some(problem) = problems.iter().find(|p| p.name == file.client) else {
        output.error(&format!(
            "{name}: the source in it has no client `{}`",
            printable(&file.client)
        ));
        return Exit::Unusable;
    };
    match replayed(&file, &model, problem) {
        Ok((story, violation)) => {
            let steps = file.steps.len();
            output.print(&match options.format {
                Format::Json => json(&name, steps, None),
                Format::Text => told(&file, &model, &story, violation, output),
            });
            Exit::Fine
        }
        Err(Difference { step, what }) => {
            let at = match step {
                Some(step) => format!("at step {}", step + 1),
                None => "in the end".into(),
            };
            match options.format {
                Format::Json => {
                    output.print(&json(&name, file.steps.len(), Some((step, &what))));
                }
                Format::Text => {
                    let word = output.paint.bad("DIVERGED");
                    output.print(&format!("{name}  {word}  {at}: {}\n", printable(&what)));
                }
            }
            Exit::Violated
        }
    }
}

/// The run, if it is the recorded one to the last event.
fn replayed<'p>(
    file: &TraceFile,
    model: &ModelSpec,
    problem: &'p Problem,
) -> Result<(Story<'p>, Claim), Difference> {
    let trace = file.trace(&problem.program)?;
    let run = model.replay(problem, file.reductions(), &trace).map_err(|divergence| {
        earlier_difference(file, model, problem, &trace, &divergence)
            .unwrap_or(Difference { step: divergence.step, what: divergence.reason })
    })?;
    let story = Story::new(problem, Cow::Owned(run));
    file.compare_events(&story, file.steps.len())?;
    let claim = shown_by(&story);
    let said = claim.map(|claim| sentence(problem, claim, Some(&story)));
    if said.as_deref() != Some(file.violation.as_str()) {
        let now = said.unwrap_or_else(|| "nothing is wrong".into());
        let what = format!("recorded: {}; but now: {now}", file.violation);
        return Err(Difference { step: None, what });
    }
    Ok((story, claim.expect("it was just described")))
}

/// A trace that cannot be followed to its end may have gone another way long before: the first event
/// that differs is the news.
fn earlier_difference(
    file: &TraceFile,
    model: &ModelSpec,
    problem: &Problem,
    trace: &Trace,
    divergence: &Divergence,
) -> Option<Difference> {
    let steps = divergence.step?;
    let beginning = Trace { steps: trace.steps[..steps].to_vec(), ..trace.clone() };
    let run = model.replay(problem, file.reductions(), &beginning).ok()?;
    let story = Story::new(problem, Cow::Owned(run));
    file.compare_events(&story, steps).err()
}

fn told(
    file: &TraceFile,
    model: &ModelSpec,
    story: &Story<'_>,
    claim: Claim,
    output: &Output,
) -> String {
    let paint = output.paint;
    // The file does not say whether a shorter run exists.
    let shown = Shown { claim, run: Some(&story.run), shortest: false };
    let mut text = run_text(&printable(&file.file), model, shown, story, paint);
    let steps = counted(file.steps.len() as u64, "step");
    let word = paint.good("replayed");
    text.push_str(&format!("  {word}: {steps}, every event as recorded\n"));
    text
}

fn json(name: &str, steps: usize, difference: Option<(Option<usize>, &str)>) -> String {
    let report = serde_json::json!({
        "fencepost": env!("CARGO_PKG_VERSION"),
        "command": "replay",
        "trace": name,
        "steps": steps,
        "replayed": difference.is_none(),
        "diverged_at": difference.and_then(|(step, _)| step),
        "message": difference.map(|(_, what)| what),
    });
    format!("{}\n", serde_json::to_string_pretty(&report).expect("plain data becomes JSON"))
}
