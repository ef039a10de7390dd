//! Storing the runs that fences prevent, for `fencepost replay`.

use super::{Inferring, WRITABLE, complaint};
use crate::input;
use crate::output::Output;
use crate::session::Session;
use crate::store::{TraceNames, replace};
use fencepost_engines::{Engine, Explicit, Settings, Task};
use fencepost_frontends::litmus::forbid::forbidden;
use fencepost_infer::repair::{Inference, Unrepairable};
use fencepost_ir::Placement;
use fencepost_models::ModelSpec;
use fencepost_report::json::InputError;
use fencepost_report::trace::Story;
use fencepost_report::trace_file::TraceFile;
use fencepost_report::violation::{sentence, shown_by};
use std::borrow::Cow;
use std::path::Path;

impl Inferring<'_> {
    /// Stores the run that each fence prevents, or the one that nothing does. The stored source is the one
    /// the run is of.
    pub(super) fn store_traces(
        &self,
        dir: &Path,
        inference: &Inference,
        search: (&Session, Settings),
        output: &Output,
    ) -> Result<Vec<Option<String>>, Vec<InputError>> {
        let sc = ModelSpec::SC;
        let wanted: Vec<(Option<usize>, Placement, &ModelSpec)> = match inference {
            Inference::Repaired(repair) => (repair.needed_for.iter())
                .map(|need| {
                    let mut fewer = repair.placements[0].clone();
                    fewer.atoms.remove(&need.atom);
                    (need.violation.as_ref().map(|(problem, _)| *problem), fewer, self.model)
                })
                .collect(),
            Inference::Unrepairable(Unrepairable::WrongUnderSc { problem, .. }) => {
                vec![(Some(*problem), Placement::default(), &sc)]
            }
            Inference::Unrepairable(Unrepairable::OutOfReach { problem, placement, .. }) => {
                vec![(Some(*problem), placement.clone(), self.model)]
            }
            Inference::Unrepairable(Unrepairable::NoWitness { .. }) | Inference::GaveUp(_) => {
                Vec::new()
            }
        };
        let mut names = TraceNames::default();
        let mut stored = Vec::new();
        for (problem, placement, model) in wanted {
            let Some(problem) = problem else {
                stored.push(None);
                continue;
            };
            let text = self.input.original().with(&placement, self.candidates.written);
            let text = text.expect(WRITABLE);
            // A run that ends as it may not: so the stored test has to say.
            let taken = self.input.taken.as_ref().and_then(|_| forbidden(&text));
            let text = taken.unwrap_or(text);
            let path = {
                let client = &self.input.problems[problem].name;
                names.name(dir, &self.input.source.name, client, &model.name)
            };
            let written = self.trace_file(&text, problem, model, search).map(|file| {
                std::fs::create_dir_all(dir)
                    .and_then(|()| replace(&path, file.to_text().as_bytes()))
            });
            stored.push(match written {
                None => None,
                Some(Ok(())) => Some(input::shown(&path)),
                Some(Err(error)) => {
                    let name = input::shown(&path);
                    let message = format!("cannot write the trace {name}: {error}");
                    return Err(vec![complaint(&name, message, output)]);
                }
            });
        }
        Ok(stored)
    }

    /// A violation of a text, found again in it: marks of places are not in a stored source.
    fn trace_file(
        &self,
        text: &str,
        problem: usize,
        model: &ModelSpec,
        (session, settings): (&Session, Settings),
    ) -> Option<TraceFile> {
        let compiled = self.input.original().compile(text);
        let compiled = compiled.expect(WRITABLE).swap_remove(problem);
        let question = compiled.clone().with_requirements_of(&self.input.problems[problem]);
        let task = Task { problem: &question, model };
        let (answer, _) = session.run("a trace", |budget| Explicit.run(task, settings, budget));
        let evidence = answer.verdict.into_evidence()?;
        // Replayed with all properties of the file, as the user's replay does.
        let run = model.replay(&compiled, settings.reductions, evidence.trace()?).ok()?;
        let story = Story::new(&compiled, Cow::Owned(run));
        let said = sentence(&compiled, shown_by(&story)?, Some(&story));
        Some(TraceFile::new(
            env!("CARGO_PKG_VERSION"),
            (&self.input.source.name, text),
            (model, settings.reductions),
            &story,
            said,
        ))
    }
}
