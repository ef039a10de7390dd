//! `fencepost infer`: the cheapest fences that make a program right, written into its source.
//!
//! The new text is compiled again and compared with the program that was verified, for every client;
//! only then it is shown or written.
//!
//! - [`prepare`]: the question; [`show`]: the answer for a reader; [`traces`]: runs for `replay`.

mod prepare;
mod show;
mod traces;

use crate::args::{Format, Infer, Method};
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::input::{self, Source};
use crate::output::Output;
use crate::session::{Session, settings};
use crate::store::replace;
use fencepost_engines::{Settings, Task, Verdict};
use fencepost_frontends::Request;
use fencepost_frontends::fp::format::format as formatted;
use fencepost_infer::candidates::Candidates;
use fencepost_infer::lazy::{self, Question};
use fencepost_infer::repair::{Inference, Repair, Sufficiency};
use fencepost_infer::{edit, papers};
use fencepost_ir::essence::same_code;
use fencepost_ir::{Diagnostics, Placement, Problem, placement};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_report::diff;
use fencepost_report::json::InputError;
use fencepost_report::paint::printable;
use fencepost_report::repair::Subject;
use fencepost_report::repair_json::{Beside, InferReport};
use fencepost_report::verdict_line::shown;

/// Looks for fences.
pub(crate) fn run(options: &Infer, output: &mut Output) -> Exit {
    let prepared = prepare::prepare(options, output);
    let done = prepared.and_then(|inferring| inferring.run(output));
    match done {
        Ok(exit) => exit,
        Err(errors) => {
            if options.format == Format::Json {
                let (file, model) = (input::shown(&options.file), &options.model);
                let version = env!("CARGO_PKG_VERSION");
                let mut report = InferReport::unusable(version, &file, model, errors);
                report.method = name(options.method).into();
                report.engine = options.engine.engine().name().into();
                print_json(&report, output);
            }
            Exit::Unusable
        }
    }
}

/// A method's name on the command line.
fn name(method: Method) -> &'static str {
    match method {
        Method::Lazy => "lazy",
        Method::Fixpoint => "fixpoint",
    }
}

fn print_json(report: &InferReport, output: &mut Output) {
    let text = serde_json::to_string_pretty(report).expect("plain data becomes JSON");
    output.print(&format!("{text}\n"));
}

/// A complaint that is not about a place in the source.
fn complaint(file: &str, message: String, output: &Output) -> InputError {
    output.error(&message);
    let (severity, code, line, column) = ("error", None, None, None);
    InputError { file: printable(file), severity, code, line, column, message }
}

/// One question, ready to be asked.
struct Inferring<'a> {
    options: &'a Infer,
    source: Source,
    text: String,
    clients: Vec<String>,
    model: ModelSpec,
    problems: Vec<Problem>,
    candidates: Candidates,
    /// What the papers' method abstracts store buffers to, if it does.
    abstraction: Option<(Domain, u32)>,
    /// Whether the file has a `final exists`.
    asking: bool,
}

/// What is to be done with an answer besides showing it.
#[derive(Default)]
struct Outcome {
    /// The new text, if there is a repair.
    text: Option<String>,
    beside: Beside,
}

impl Inferring<'_> {
    fn run(&self, output: &mut Output) -> Result<Exit, Vec<InputError>> {
        let options = self.options;
        let settings = settings(&options.search);
        let session = Session::new(&options.search, options.quiet);
        let what = format!("{}  {}", self.source.name, shown(&self.model));
        let doing = format!("inferring fences for {what}");
        let question = Question {
            problems: &self.problems,
            model: &self.model,
            candidates: &self.candidates,
            engine: options.engine.engine(),
            settings,
            all: options.all,
            abstraction: self.abstraction,
        };
        let inferred = guarded_while(doing.clone(), || {
            session.run(&what, |budget| match options.method {
                Method::Lazy => lazy::infer(question, budget),
                Method::Fixpoint => papers::infer(question, budget),
            })
        });
        let Ok((inference, seconds)) = inferred else { return Ok(Exit::Internal) };
        let mut done = Outcome::default();
        done.beside.version = env!("CARGO_PKG_VERSION").into();
        done.beside.seconds = seconds;
        if let Inference::Repaired(repair) = &inference {
            let text = guarded_while(doing, || self.edited(repair, &session, settings));
            let Ok(text) = text else { return Ok(Exit::Internal) };
            done.beside.diff = diff::unified(&self.source.name, &self.text, &text);
            done.text = Some(text);
        }
        if let Some(dir) = &options.trace_dir {
            done.beside.trace_files =
                self.store_traces(dir, &inference, (&session, settings), output)?;
        }
        done.beside.written = self.write(&inference, &done, output)?;
        let exit = self.exit(&inference);
        let subject = self.subject(settings);
        let sc = ModelSpec::by_name("sc").expect("a built-in model");
        match options.format {
            Format::Json => {
                print_json(&InferReport::new(&subject, &inference, &sc, &done.beside), output);
            }
            Format::Text => self.show(&subject, &inference, &sc, &done.beside, output),
        }
        Ok(exit)
    }

    fn subject(&self, settings: Settings) -> Subject<'_> {
        Subject {
            file: &self.source.name,
            model: &self.model,
            method: name(self.options.method),
            engine: self.options.engine.engine().name(),
            problems: &self.problems,
            candidates: &self.candidates,
            reductions: settings.reductions,
        }
    }

    fn exit(&self, inference: &Inference) -> Exit {
        match inference {
            Inference::Repaired(repair) if self.is_accepted(repair) => Exit::Fine,
            Inference::Repaired(_) | Inference::GaveUp(_) => Exit::Inconclusive,
            Inference::Unrepairable(_) => Exit::Violated,
        }
    }

    /// Whether a repair counts as one.
    fn is_accepted(&self, repair: &Repair) -> bool {
        match repair.sufficiency {
            Sufficiency::Verified => true,
            Sufficiency::Bounded(_) => self.options.accept_bounded,
        }
    }

    /// The text with a placement, in the standard form if it was in it before.
    fn text_with(&self, placement: &Placement) -> String {
        let program = &self.problems[0].program;
        let text = edit::apply(&self.text, program, placement, self.candidates.written);
        let pretty = |text: &str| formatted(text, &mut Diagnostics::new());
        match pretty(&self.text) {
            Some(before) if before == self.text => pretty(&text).unwrap_or(text),
            Some(_) | None => text,
        }
    }

    /// The programs of a new text.
    fn compiled(&self, text: &str) -> Vec<Problem> {
        let clients = Some(&self.clients[..]).filter(|clients| !clients.is_empty());
        let request = Request { clients, places: false };
        let problems = self.source.lower_other(text, &request);
        let problems = problems.expect("a program with more fences is a program");
        assert_eq!(problems.len(), self.problems.len(), "fences do not change the clients");
        problems
    }

    /// The repaired text, once it is known to be what was verified.
    fn edited(&self, repair: &Repair, session: &Session, settings: Settings) -> String {
        let placement = &repair.placements[0];
        let text = self.text_with(placement);
        let compiled = self.compiled(&text);
        for (before, after) in self.problems.iter().zip(compiled) {
            let program = placement::fenced(&before.program, placement, self.candidates.written);
            if same_code(&program, &after.program) {
                continue;
            }
            let problem = Problem { properties: before.properties.clone(), ..after };
            let task = Task { problem: &problem, model: &self.model };
            let (answer, _) = session.run("the new text", |budget| {
                self.options.engine.engine().run(task, settings, budget)
            });
            let holds = match answer.verdict {
                Verdict::Verified(_) => true,
                Verdict::Violated(_) => false,
                Verdict::Inconclusive(_) => repair.sufficiency != Sufficiency::Verified,
            };
            assert!(holds, "the text with the fences is as right as the program with them");
        }
        text
    }

    /// Writes the new text, if it is wanted and is a repair. Returns where to.
    fn write(
        &self,
        inference: &Inference,
        done: &Outcome,
        output: &Output,
    ) -> Result<Option<String>, Vec<InputError>> {
        let own = self.source.path.as_ref().filter(|_| self.options.write);
        let Some(path) = self.options.output.as_ref().or(own) else { return Ok(None) };
        let (Inference::Repaired(repair), Some(text)) = (inference, &done.text) else {
            return Ok(None);
        };
        if !self.is_accepted(repair) || (self.options.write && *text == self.text) {
            return Ok(None);
        }
        let name = input::shown(path);
        replace(path, text.as_bytes()).map_err(|error| {
            vec![complaint(&name, format!("cannot write {name}: {error}"), output)]
        })?;
        Ok(Some(name))
    }
}
