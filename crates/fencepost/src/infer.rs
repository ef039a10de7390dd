//! `fencepost infer`: the cheapest fences that make a program right, written into its source.
//!
//! The new text is compiled again and compared with the program that was verified, for every client;
//! only then it is shown or written.
//!
//! - [`prepare`]: the question; [`show`]: the answer for a reader;
//!   [`traces`]: runs for `replay`.

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
use fencepost_frontends::FenceSyntax;
use fencepost_frontends::repaired::Original;
use fencepost_infer::candidates::Candidates;
use fencepost_infer::lazy::{self, Question};
use fencepost_infer::papers;
use fencepost_infer::repair::{Inference, Repair, Sufficiency};
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_report::diff;
use fencepost_report::json::InputError;
use fencepost_report::paint::printable;
use fencepost_report::repair::Subject;
use fencepost_report::repair_json::{Beside, InferReport, SeveralReports};
use fencepost_report::verdict_line::shown;
use serde::Serialize;

/// Looks for fences, under one model after the other.
pub(crate) fn run(options: &Infer, output: &mut Output) -> Exit {
    let version = env!("CARGO_PKG_VERSION");
    let file = input::shown(&options.file);
    let json = options.format == Format::Json;
    let several = options.model.len() > 1;
    let unusable = |model: &str, errors: Vec<InputError>| {
        let mut report = InferReport::unusable(version, &file, model, errors);
        report.method = name(options.method).into();
        report.engine = options.engine.engine().name().into();
        report
    };
    let input = prepare::prepare(options, output);
    let asked = input.as_ref().map_err(Vec::clone).and_then(|input| input.ask(output));
    let inferrings = match asked {
        Ok(inferrings) => inferrings,
        Err(errors) if json && several => {
            print_json(&SeveralReports::new(version, &file, Vec::new(), errors), output);
            return Exit::Unusable;
        }
        Err(errors) => {
            if json {
                print_json(&unusable(&options.model.join(","), errors), output);
            }
            return Exit::Unusable;
        }
    };
    let (mut reports, mut worst) = (Vec::new(), Exit::Fine);
    for (at, inferring) in inferrings.iter().enumerate() {
        if at > 0 && !json {
            output.print("\n");
        }
        let (exit, report) = match inferring.run(output) {
            Ok(done) => done,
            Err(errors) => (Exit::Unusable, Some(unusable(&inferring.model.name, errors))),
        };
        worst = worst.and(exit);
        reports.extend(report);
    }
    match &reports[..] {
        _ if !json => {}
        [report] if !several => print_json(report, output),
        [] if !several => {}
        _ => print_json(&SeveralReports::new(version, &file, reports, Vec::new()), output),
    }
    worst
}

/// A method's name on the command line.
fn name(method: Method) -> &'static str {
    match method {
        Method::Lazy => "lazy",
        Method::Fixpoint => "fixpoint",
    }
}

fn print_json(report: &impl Serialize, output: &mut Output) {
    let text = serde_json::to_string_pretty(report).expect("plain data becomes JSON");
    output.print(&format!("{text}\n"));
}

/// A complaint that is not about a place in the source.
fn complaint(file: &str, message: String, output: &Output) -> InputError {
    output.error(&message);
    let (severity, code, line, column) = ("error", None, None, None);
    InputError { file: printable(file), severity, code, line, column, message }
}

/// What is to be repaired.
struct Input<'a> {
    options: &'a Infer,
    source: Source,
    text: String,
    clients: Vec<String>,
    models: Vec<ModelSpec>,
    problems: Vec<Problem>,
    /// The fences of its language.
    fences: FenceSyntax,
    /// What the question of a litmus test is taken as, if it is another one than the file has.
    taken: Option<String>,
    /// Whether the file has a `final exists`.
    asking: bool,
}

/// Fences are inferred for a text that was compiled, with fences that its language has.
const WRITABLE: &str = "the text of a program takes fences and is still a program";

impl Input<'_> {
    /// The source, ready for fences.
    fn original(&self) -> Original<'_> {
        let Input { source, text, clients, problems, .. } = self;
        Original { frontend: source.frontend, text, clients, problems }
    }
}

/// One question, ready to be asked.
struct Inferring<'a> {
    input: &'a Input<'a>,
    model: &'a ModelSpec,
    candidates: Candidates,
    /// What the papers' method abstracts store buffers to, if it does.
    abstraction: Option<(Domain, u32)>,
}

/// What is to be done with an answer besides showing it.
#[derive(Default)]
struct Outcome {
    /// The new text, if there is a repair.
    text: Option<String>,
    beside: Beside,
}

impl Inferring<'_> {
    /// Asks. Returns the answer for programs, if one is wanted; another one is printed.
    fn run(&self, output: &mut Output) -> Result<(Exit, Option<InferReport>), Vec<InputError>> {
        let options = self.input.options;
        let settings = settings(&options.search);
        let session = Session::new(&options.search, options.quiet);
        let what = format!("{}  {}", self.input.source.name, shown(self.model));
        let doing = format!("inferring fences for {what}");
        let question = Question {
            problems: &self.input.problems,
            model: self.model,
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
        let Ok((inference, seconds)) = inferred else { return Ok((Exit::Internal, None)) };
        let mut done = Outcome::default();
        done.beside.version = env!("CARGO_PKG_VERSION").into();
        done.beside.seconds = seconds;
        if let Inference::Repaired(repair) = &inference {
            let text = guarded_while(doing, || self.edited(repair, &session, settings));
            let Ok(text) = text else { return Ok((Exit::Internal, None)) };
            done.beside.diff = diff::unified(&self.input.source.name, &self.input.text, &text);
            done.text = Some(text);
        }
        if let Some(dir) = &options.trace_dir {
            done.beside.trace_files =
                self.store_traces(dir, &inference, (&session, settings), output)?;
        }
        done.beside.written = self.write(&inference, &done, output)?;
        let exit = self.exit(&inference);
        let subject = self.subject(settings);
        let sc = ModelSpec::SC;
        let report = match options.format {
            Format::Json => Some(InferReport::new(&subject, &inference, &sc, &done.beside)),
            Format::Text => {
                self.show(&subject, &inference, &sc, &done.beside, output);
                None
            }
        };
        Ok((exit, report))
    }

    fn subject(&self, settings: Settings) -> Subject<'_> {
        Subject {
            file: &self.input.source.name,
            model: self.model,
            method: name(self.input.options.method),
            engine: self.input.options.engine.engine().name(),
            problems: &self.input.problems,
            candidates: &self.candidates,
            fences: &self.input.fences,
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
            Sufficiency::Bounded(_) => self.input.options.accept_bounded,
        }
    }

    /// The repaired text, once it is known to be what was verified.
    fn edited(&self, repair: &Repair, session: &Session, settings: Settings) -> String {
        let (placement, written) = (&repair.placements[0], self.candidates.written);
        let repaired = self.input.original().repaired(placement, written).expect(WRITABLE);
        for at in repaired.differing {
            let problem =
                repaired.problems[at].clone().with_requirements_of(&self.input.problems[at]);
            let task = Task { problem: &problem, model: self.model };
            let (answer, _) = session.run("the new text", |budget| {
                self.input.options.engine.engine().run(task, settings, budget)
            });
            let holds = match answer.verdict {
                Verdict::Verified(_) => true,
                Verdict::Violated(_) => false,
                Verdict::Inconclusive(_) => repair.sufficiency != Sufficiency::Verified,
            };
            assert!(holds, "the text with the fences is as right as the program with them");
        }
        repaired.text
    }

    /// Writes the new text, if it is wanted and is a repair. Returns where to.
    fn write(
        &self,
        inference: &Inference,
        done: &Outcome,
        output: &Output,
    ) -> Result<Option<String>, Vec<InputError>> {
        let own = self.input.source.path.as_ref().filter(|_| self.input.options.write);
        let Some(path) = self.input.options.output.as_ref().or(own) else { return Ok(None) };
        let (Inference::Repaired(repair), Some(text)) = (inference, &done.text) else {
            return Ok(None);
        };
        if !self.is_accepted(repair) || (self.input.options.write && *text == self.input.text) {
            return Ok(None);
        }
        let name = input::shown(path);
        replace(path, text.as_bytes()).map_err(|error| {
            vec![complaint(&name, format!("cannot write {name}: {error}"), output)]
        })?;
        Ok(Some(name))
    }
}
