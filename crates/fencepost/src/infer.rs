//! `fencepost infer`: the cheapest fences that make a program right, written into its source.
//!
//! The new text is compiled again and compared with the program that was verified, for every client;
//! only then it is shown or written.

use crate::args::{Format, Infer, Method};
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::input::{self, Source, Unusable};
use crate::output::Output;
use crate::session::{Session, settings};
use crate::store::{TraceNames, replace};
use fencepost_engines::{Engine, Explicit, Settings, Task, Verdict};
use fencepost_frontends::Request;
use fencepost_frontends::fp::format::format as formatted;
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::clause;
use fencepost_infer::lazy::{self, Question};
use fencepost_infer::menu::{Dish, Menu};
use fencepost_infer::repair::{Inference, Repair, Sufficiency, Unrepairable};
use fencepost_infer::{edit, set::Set};
use fencepost_ir::essence::same_code;
use fencepost_ir::{
    Atom, Diagnostics, Placement, Problem, Property, Quantifier, Written, placement,
};
use fencepost_models::ModelSpec;
use fencepost_report::json::InputError;
use fencepost_report::paint::printable;
use fencepost_report::repair::{self, Shown, Subject};
use fencepost_report::repair_json::{Beside, InferReport};
use fencepost_report::trace_file::TraceFile;
use fencepost_report::verdict_line::{Finding, Found, shown};
use fencepost_report::{diff, trace};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// Looks for fences.
pub(crate) fn run(options: &Infer, output: &mut Output) -> Exit {
    let prepared = prepare(options, output);
    let done = match prepared {
        Ok(inferring) => inferring.run(output),
        Err(errors) => Err(errors),
    };
    match done {
        Ok(exit) => exit,
        Err(errors) => {
            if options.format == Format::Json {
                let (file, model) = (input::shown(&options.file), &options.model);
                let version = env!("CARGO_PKG_VERSION");
                print_json(&InferReport::unusable(version, &file, model, errors), output);
            }
            Exit::Unusable
        }
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

/// Everything that is needed to begin; complaints otherwise.
fn prepare<'a>(options: &'a Infer, output: &Output) -> Result<Inferring<'a>, Vec<InputError>> {
    let mut wrong = Vec::new();
    let mut complain = |about: &str, message: String| {
        wrong.push(complaint(about, message, output));
    };
    let stdin = Path::new("-");
    if options.file == stdin && options.write {
        let message = "--write needs a file: standard input cannot be written; use -o FILE";
        complain("--write", message.into());
    }
    if options.output.as_deref() == Some(stdin) {
        complain("--output", "-o needs the name of a file".into());
    }
    let model = input::model(options.model.trim()).map_err(|m| complain("--model", m)).ok();
    let clients = clients(options).map_err(|m| complain("--clients", m)).ok();
    let source = Source::read(&options.file).map_err(|m| complain(&input::shown(&options.file), m));
    let (Some(model), Some(clients), Ok(source)) = (model, clients, source) else {
        return Err(wrong);
    };
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let texts = Some(&clients[..]).filter(|clients| !clients.is_empty());
    let request = Request { clients: texts, places: true };
    let lowered = source.lower_for(&request, output).map_err(|Unusable(errors)| errors);
    let (text, mut problems) = lowered?;
    // No fence adds a behaviour: what asks for one is left aside.
    let asks = |p: &Property| matches!(p, Property::Final(Quantifier::Exists, _));
    let asking = problems.iter().any(|p| p.properties.iter().any(asks));
    problems.iter_mut().for_each(|p| p.properties.retain(|p| !asks(p)));
    let (menu, restrictions) =
        allowed(options, &model, &problems).map_err(|(about, message)| {
            vec![complaint(about, message, output)]
        })?;
    let written = if options.from_scratch { Written::Dropped } else { Written::Kept };
    let candidates = Candidates::new(&problems, &menu, &restrictions, written);
    Ok(Inferring { options, source, text, clients, model, problems, candidates, asking })
}

/// The clients asked for; none stands for those of the file.
fn clients(options: &Infer) -> Result<Vec<String>, String> {
    let mut clients = options.client.clone();
    if let Some(path) = &options.clients {
        let mut text = String::new();
        let read = if path == Path::new("-") {
            if options.file == *path {
                return Err("the program and the clients cannot both be standard input".into());
            }
            std::io::stdin().lock().read_to_string(&mut text).map(|_| ())
        } else {
            std::fs::read_to_string(path).map(|read| text = read)
        };
        read.map_err(|error| format!("cannot read the clients {}: {error}", input::shown(path)))?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let before = clients.len();
        clients.extend(lines.map(String::from));
        if clients.len() == before {
            return Err(format!("there are no clients in {}", input::shown(path)));
        }
    }
    Ok(clients)
}

/// What may be placed, and where; otherwise which option is wrong, and how.
fn allowed(
    options: &Infer,
    model: &ModelSpec,
    problems: &[Problem],
) -> Result<(Menu, Restrictions), (&'static str, String)> {
    let mut menu = match &options.fences[..] {
        [] => Menu::of(model),
        some => Menu::only(some),
    };
    for (kind, cost) in &options.cost {
        let offered = menu.dishes.iter().any(|(other, _)| other == kind);
        if *kind == Dish::Drain && !offered {
            let message = "--cost drain=N: drains are placed only if --fences names them".into();
            return Err(("--cost", message));
        }
        menu.charge(*kind, *cost);
    }
    let program = &problems[0].program;
    let places = program.places.iter().map(|place| program.label(place.label));
    let lines: BTreeSet<u32> = places.clone().map(|info| info.span.line).collect();
    let functions: BTreeSet<&str> = places.map(|info| info.function.as_str()).collect();
    if let Some(line) = options.forbid.iter().find(|line| !lines.contains(line)) {
        let known = listed(lines.iter().map(u32::to_string));
        let message = format!("--forbid {line}: no fence could stand there; one could at {known}");
        return Err(("--forbid", message));
    }
    if let Some(name) = options.only_in.iter().find(|name| !functions.contains(name.as_str())) {
        let known = listed(functions.iter().map(|name| format!("`{name}`")));
        let name = printable(name);
        let message = format!("--only-in {name}: there is no such function; there are {known}");
        return Err(("--only-in", message));
    }
    let restrictions = Restrictions {
        forbidden_lines: options.forbid.iter().copied().collect(),
        functions: options.only_in.iter().cloned().collect(),
    };
    Ok((menu, restrictions))
}

/// What there is, but not more than a reader wants to see.
fn listed(all: impl Iterator<Item = String>) -> String {
    const MOST: usize = 20;
    let all: Vec<String> = all.collect();
    match all.len() {
        0 => "none".into(),
        len if len > MOST => format!("{}, ... ({len} in all)", all[..MOST].join(", ")),
        _ => all.join(", "),
    }
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
            engine: &Explicit,
            settings,
            all: options.all,
        };
        let inferred = guarded_while(doing.clone(), || {
            session.run(&what, |budget| match options.method {
                Method::Lazy => lazy::infer(question, budget),
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
            done.beside.trace_files = self.store_traces(dir, &inference, (&session, settings), output)?;
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
            method: match self.options.method {
                Method::Lazy => "lazy",
            },
            engine: Explicit.name(),
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
            let program =
                placement::fenced(&before.program, placement, self.candidates.written);
            if same_code(&program, &after.program) {
                continue;
            }
            let problem = Problem { properties: before.properties.clone(), ..after };
            let task = Task { problem: &problem, model: &self.model };
            let (answer, _) =
                session.run("the new text", |budget| Explicit.run(task, settings, budget));
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

    /// Stores the run that each fence prevents, or the one that nothing does. The stored source is the one
    /// the run is of.
    fn store_traces(
        &self,
        dir: &Path,
        inference: &Inference,
        search: (&Session, Settings),
        output: &Output,
    ) -> Result<Vec<Option<String>>, Vec<InputError>> {
        let sc = ModelSpec::by_name("sc").expect("a built-in model");
        let wanted: Vec<(Option<usize>, Placement, &ModelSpec)> = match inference {
            Inference::Repaired(repair) => (repair.needed_for.iter())
                .map(|need| {
                    let mut fewer = repair.placements[0].clone();
                    fewer.atoms.remove(&need.atom);
                    (need.violation.as_ref().map(|(problem, _)| *problem), fewer, &self.model)
                })
                .collect(),
            Inference::Unrepairable(Unrepairable::WrongUnderSc { problem, .. }) => {
                vec![(Some(*problem), Placement::default(), &sc)]
            }
            Inference::Unrepairable(Unrepairable::OutOfReach { problem, placement, .. }) => {
                vec![(Some(*problem), placement.clone(), &self.model)]
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
            let text = self.text_with(&placement);
            let path = {
                let client = &self.problems[problem].name;
                names.name(dir, &self.source.name, client, &model.name)
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
        let compiled = self.compiled(text).swap_remove(problem);
        let properties = self.problems[problem].properties.clone();
        let question = Problem { properties, ..compiled.clone() };
        let task = Task { problem: &question, model };
        let (answer, seconds) =
            session.run("a trace", |budget| Explicit.run(task, settings, budget));
        let finding = Finding {
            file: &self.source.name,
            problem: &compiled,
            model,
            engine: Explicit.name(),
            reductions: settings.reductions,
            seconds,
            result: Found::Answer(answer),
        };
        let evidence = finding.evidence()?;
        let steps = evidence.trace.as_ref()?;
        let story = trace::tell(&compiled, model, settings.reductions, steps).ok()?;
        let said = fencepost_report::violation::shown_by(&story)?;
        let said = fencepost_report::violation::sentence(&compiled, said, Some(&story));
        Some(TraceFile::new(
            env!("CARGO_PKG_VERSION"),
            (&self.source.name, text),
            (model, settings.reductions),
            &story,
            (steps, said),
        ))
    }

    /// Prints the answer.
    fn show(
        &self,
        subject: &Subject<'_>,
        inference: &Inference,
        sc: &ModelSpec,
        beside: &Beside,
        output: &mut Output,
    ) {
        let paint = output.paint;
        let (quiet, explain) = (self.options.quiet, self.options.explain && !self.options.quiet);
        let fixed = self.options.search.buffer.is_some();
        let mut text = repair::headline(subject, inference, paint);
        if !quiet {
            text.push_str(&self.notes(output));
        }
        match inference {
            Inference::Repaired(repair) => {
                self.show_repair(subject, repair, beside, output, &mut text);
                if explain {
                    text.push_str(&explained(subject, &repair.rounds, output));
                }
            }
            Inference::Unrepairable(why) if !quiet => {
                let hopeless = subject.hopeless(why, sc);
                if let (Unrepairable::OutOfReach { .. }, Some(shown)) = (why, &hopeless) {
                    text.push_str(&repair::out_of_reach(subject, &self.elsewhere(shown)));
                }
                if let Some(shown) = hopeless {
                    text.push_str(&format!("\n{}", shown.picture(subject.file, paint)));
                }
                if let Some(Some(path)) = beside.trace_files.first() {
                    text.push_str(&format!("  replay: fencepost replay {path}\n"));
                }
            }
            Inference::Unrepairable(_) => {}
            Inference::GaveUp(gave_up) => {
                text.push_str(&repair::gave_up(subject, gave_up, fixed));
                if explain {
                    text.push_str(&explained(subject, &gave_up.rounds, output));
                }
            }
        }
        output.print(&text);
    }

    /// What the reader should know before the rest.
    fn notes(&self, output: &Output) -> String {
        let mut text = String::new();
        let mut note = |what: &str| {
            text.push_str(&output.paint.faint(&format!("  note: {what}")));
            text.push('\n');
        };
        if self.asking {
            note("`final exists` is left aside: no fence makes more runs possible");
        }
        if self.problems.iter().all(|p| p.properties.is_empty()) {
            note("the file states nothing else that must hold; only faults are looked for");
        }
        text
    }

    fn show_repair(
        &self,
        subject: &Subject<'_>,
        repair: &Repair,
        beside: &Beside,
        output: &Output,
        text: &mut String,
    ) {
        let paint = output.paint;
        let options = self.options;
        if let Sufficiency::Bounded(open) = &repair.sufficiency {
            let fixed = options.search.buffer.is_some();
            if options.accept_bounded && !options.quiet {
                text.push_str("  accepted: this counts as success (--accept-bounded)\n");
            }
            text.push_str(&repair::undecided(subject, open, fixed));
        }
        if !beside.diff.is_empty() {
            text.push_str(&format!("\n{}", diff::painted(&beside.diff, paint)));
        }
        let placement = &repair.placements[0];
        if !options.quiet {
            if !placement.atoms.is_empty() {
                text.push_str(&format!("\n{}", repair::fences(subject, repair, paint)));
            }
            if options.all {
                text.push_str(&format!("\n{}", repair::alternatives(subject, repair)));
            }
            if options.from_scratch {
                let redundant = repair::redundant(subject, placement);
                let head = "of the fences that were there:";
                match redundant.as_str() {
                    "" => text.push_str("\nevery fence that was there is needed as it is\n"),
                    lines => text.push_str(&format!("\n{head}\n{lines}")),
                }
            }
            text.push_str(&repair::traces(subject, repair, paint));
            for (at, path) in beside.trace_files.iter().enumerate() {
                if let Some(path) = path {
                    let number = at + 1;
                    text.push_str(&format!("  replay {number}: fencepost replay {path}\n"));
                }
            }
        }
        let wants = options.write || options.output.is_some();
        match &beside.written {
            Some(path) => text.push_str(&format!("\nwritten to {path}\n")),
            None if wants && !self.is_accepted(repair) => {
                text.push_str("\nnothing written: --accept-bounded settles for this\n");
            }
            None if wants => text.push_str("\nnothing to write\n"),
            None => {}
        }
    }

    /// What would prevent a run if everything were allowed.
    fn elsewhere(&self, shown: &Shown<'_>) -> Vec<Atom> {
        let mut menu = Menu::of(&self.model);
        menu.dishes.extend(Menu::only(&[Dish::Fence(fencepost_ir::FenceKinds::FULL)]).dishes);
        menu.dishes.dedup();
        let anywhere = Restrictions::default();
        let all = Candidates::new(&self.problems, &menu, &anywhere, self.candidates.written);
        let blocking: Set = match shown.story() {
            Some(story) => clause::clause(&shown.problem, &story.run, &all),
            None => Set::below(all.len()),
        };
        clause::atoms(&blocking, &all).collect()
    }
}

/// How an answer was found.
fn explained(
    subject: &Subject<'_>,
    rounds: &[fencepost_infer::repair::Round],
    output: &Output,
) -> String {
    match rounds {
        [] => "\nnothing had to be tried: there is no violation\n".into(),
        rounds => format!("\n{}", repair::explanation(subject, rounds, output.paint)),
    }
}
