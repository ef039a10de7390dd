//! `fencepost replay`: a stored trace, re-executed step by step on its own source and model.

use crate::args::{Format, Replay};
use crate::exit::Exit;
use crate::input::{Source, shown};
use crate::output::Output;
use fencepost_engines::{Evidence, Violation};
use fencepost_ir::{Problem, Property, Quantifier};
use fencepost_models::replay::{Divergence, End, Run};
use fencepost_models::{ModelSpec, Wrong};
use fencepost_report::paint::counted;
use fencepost_report::picture::{Look, WIDTH, picture};
use fencepost_report::trace::{Story, tell};
use fencepost_report::trace_file::{Difference, TraceFile};
use fencepost_report::verdict_line::heading;
use fencepost_report::violation::sentence;
use fencepost_report::why::reasons;
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
    let source = Source::embedded(&file.file, &file.source);
    let Ok((_, problems)) = source.lower(output) else { return Exit::Unusable };
    let Some(problem) = problems.iter().find(|p| p.name == file.client) else {
        output.error(&format!("{name}: the source in it has no client `{}`", file.client));
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
                    output.print(&format!("{name}  {word}  {at}: {what}\n"));
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
) -> Result<(Story<'p>, Violation), Difference> {
    let trace = file.trace(&problem.program)?;
    let story = tell(problem, model, file.reductions(), &trace)
        .map_err(|Divergence { step, reason }| Difference { step, what: reason })?;
    let violation = violation(problem, &story.run);
    let said = violation.map(|v| sentence(problem, v, Some(&story))).unwrap_or_default();
    file.compare(&story, &said)?;
    let nothing = Difference { step: None, what: "nothing is wrong there".into() };
    Ok((story, violation.ok_or(nothing)?))
}

/// What the end of a run shows.
fn violation(problem: &Problem, run: &Run) -> Option<Violation> {
    match run.end {
        End::Stumbled(thread, stumble) => Some(match stumble.fault {
            Some(fault) => Violation::Fault(fault, thread, stumble.label),
            None => Violation::Assertion(thread, stumble.label),
        }),
        End::Wrong(Wrong::MutualExclusion(a, b)) => Some(Violation::MutualExclusion(a, b)),
        End::Wrong(Wrong::Invariant(at)) => Some(Violation::Invariant(at)),
        End::Wrong(Wrong::Final(at)) => Some(Violation::Final(at)),
        End::Wrong(Wrong::Deadlock) => Some(Violation::Deadlock),
        End::Fine => {
            let exists = |p: &Property| matches!(p, Property::Final(Quantifier::Exists, _));
            let at = problem.properties.iter().position(exists);
            at.filter(|_| run.is_final).map(Violation::Witness)
        }
    }
}

fn told(
    file: &TraceFile,
    model: &ModelSpec,
    story: &Story<'_>,
    violation: Violation,
    output: &Output,
) -> String {
    let paint = output.paint;
    // The file does not say whether a shorter run exists.
    let evidence = Evidence { violation, trace: None, shortest: false };
    let mut text = heading(&file.file, model, &evidence, story, paint);
    text.push_str(&picture(story, Look { width: WIDTH, paint }));
    for reason in reasons(&story.problem.program, model, &story.run) {
        text.push_str(&format!("  {} {reason}\n", paint.strong("Why:")));
    }
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
