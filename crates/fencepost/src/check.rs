//! `fencepost check`.

use crate::args::{Check, EngineName, Format};
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::input::{self, Source, Unusable};
use crate::output::Output;
use crate::session::{Session, settings};
use crate::store::{TraceNames, replace, replace_with};
use fencepost_engines::certificate::write_certificate;
use fencepost_engines::{
    Abstraction, Auto, Automata, Engine, Explicit, Settings, Stateless, Task, Translate,
};
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_report::Story;
use fencepost_report::finding::{Class, Finding, Found};
use fencepost_report::json::{CheckReport, CheckResult, InputError};
use fencepost_report::paint::{counted, printable};
use fencepost_report::picture::{Look, WIDTH, picture, run_text};
use fencepost_report::trace_file::TraceFile;
use fencepost_report::verdict_line::{ROBUST, SPIN, advice, remark, row, shown};
use std::path::{Path, PathBuf};

/// Checks every program under every model.
pub(crate) fn run(options: &Check, output: &mut Output) -> Exit {
    let (domain, k) = options.abstraction.choice();
    let abstraction = Abstraction { domain, k };
    let automata = Automata::default();
    let stateless = Stateless { preemptions: options.preemptions };
    let translate = Translate { bound: options.bound.bound() };
    let engine: &dyn Engine = match options.engine {
        EngineName::Auto => &Auto,
        EngineName::Explicit => &Explicit,
        EngineName::Abstraction => &abstraction,
        EngineName::Automata => &automata,
        EngineName::Stateless => &stateless,
        EngineName::Translate => &translate,
    };
    run_with(options, engine, output)
}

/// The same with an engine of the caller's choice.
pub(crate) fn run_with(options: &Check, engine: &dyn Engine, output: &mut Output) -> Exit {
    let (models, wrong) = match input::models(&options.model) {
        Ok(models) => (models, Vec::new()),
        Err(wrong) => (Vec::new(), wrong),
    };
    let quiet = options.quiet || options.format == Format::Json;
    let mut checking = Checking {
        options,
        models,
        engine,
        settings: settings(&options.search),
        session: Session::new(&options.search, options.quiet),
        output,
        pictures: !quiet,
        shown: false,
        left_out: false,
        names: TraceNames::default(),
        exit: Exit::Fine,
        tally: Tally::default(),
        results: Vec::new(),
        errors: Vec::new(),
    };
    if options.abstraction.is_given() && options.engine != EngineName::Abstraction {
        let message =
            "--domain and --k are for --engine abstraction; the others choose by themselves";
        checking.unusable(Path::new("--domain"), message.into());
        return checking.finish();
    }
    if options.preemptions.is_some() && options.engine != EngineName::Stateless {
        let message = "--preemptions is for --engine stateless; the others have no such bound";
        checking.unusable(Path::new("--preemptions"), message.into());
        return checking.finish();
    }
    if let Some(option) = options.bound.given()
        && options.engine != EngineName::Translate
    {
        let message = format!("{option} is for --engine translate; the others have no such bound");
        checking.unusable(Path::new(option), message);
        return checking.finish();
    }
    if options.dot.is_some() && options.engine != EngineName::Automata {
        let message =
            "--dot is for --engine automata; the others do not know all contents of a buffer";
        checking.unusable(Path::new("--dot"), message.into());
        return checking.finish();
    }
    if options.certificate.is_some() && checking.models.len() > 1 {
        let message = "a certificate is about one model: choose it with --model".into();
        checking.unusable(Path::new("--certificate"), message);
        return checking.finish();
    }
    if !wrong.is_empty() {
        wrong.into_iter().for_each(|message| checking.unusable(Path::new("--model"), message));
        return checking.finish();
    }
    for path in &options.files {
        match input::expand(path) {
            Ok(files) => files.iter().for_each(|file| checking.file(file)),
            Err(message) => checking.unusable(path, message),
        }
    }
    checking.finish()
}

/// How many verdicts there are of each kind.
#[derive(Default)]
struct Tally {
    programs: u64,
    verified: u64,
    violated: u64,
    inconclusive: u64,
    crashed: u64,
}

pub(crate) struct Checking<'a> {
    pub(crate) options: &'a Check,
    models: Vec<ModelSpec>,
    engine: &'a dyn Engine,
    pub(crate) settings: Settings,
    pub(crate) session: Session,
    output: &'a mut Output,
    pictures: bool,
    /// Whether a violation's trace was shown, and whether one was not.
    shown: bool,
    left_out: bool,
    pub(crate) names: TraceNames,
    exit: Exit,
    tally: Tally,
    results: Vec<CheckResult>,
    errors: Vec<InputError>,
}

impl Checking<'_> {
    pub(crate) fn unusable(&mut self, path: &Path, message: String) {
        self.output.error(&message);
        self.exit = self.exit.and(Exit::Unusable);
        self.errors.push(InputError {
            file: input::shown(path),
            severity: "error",
            code: None,
            line: None,
            column: None,
            message,
        });
    }

    /// A bug of ours, already said.
    pub(crate) fn crashed(&mut self) {
        self.exit = self.exit.and(Exit::Internal);
    }

    fn file(&mut self, path: &Path) {
        if self.output.is_closed() {
            return; // nobody reads on
        }
        let source = match Source::read(path) {
            Ok(source) => source,
            Err(message) => return self.unusable(path, message),
        };
        let doing = format!("reading {}", source.name);
        let clients = &self.options.client;
        match guarded_while(doing, || source.lower_clients(clients, self.output)) {
            Ok(Ok((text, problems))) => {
                for problem in &problems {
                    self.program(&source.name, &text, problem);
                }
            }
            Ok(Err(Unusable(errors))) => {
                self.errors.extend(errors);
                self.exit = self.exit.and(Exit::Unusable);
            }
            Err(_) => self.crashed(),
        }
    }

    fn program(&mut self, file: &str, source: &str, problem: &Problem) {
        self.tally.programs += 1;
        let title = match problem.name.as_str() {
            "" => file.to_string(),
            client => format!("{file}  client {}", printable(client)),
        };
        if self.options.format == Format::Text {
            let paint = self.output.paint;
            self.output.print(&format!("{}\n", paint.strong(&title)));
            if problem.states_no_property() && !self.options.quiet {
                let note = "  note: the file states no property; only faults are looked for";
                self.output.print(&format!("{}\n", paint.faint(note)));
            }
        }
        let models = self.models.clone();
        let widest = models.iter().map(|m| shown(m).chars().count()).max().unwrap_or(0);
        let mut findings = Vec::new();
        for model in &models {
            let finding = self.question(file, problem, model);
            let story = finding.story();
            self.count(&finding);
            let stored = story.as_ref().and_then(|story| self.store(source, &finding, story));
            let certificate = self.certify(&finding);
            let buffers = self.draw(&finding);
            if self.options.format == Format::Json {
                let mut result = CheckResult::new(&finding, story.as_ref());
                result.trace_file = stored.as_deref().map(input::shown);
                result.certificate = certificate.as_deref().map(input::shown);
                result.buffers_complete = buffers.as_ref().map(|buffers| buffers.complete);
                result.buffers = buffers.map(|buffers| buffers.records);
                self.results.push(result);
            } else {
                let paint = self.output.paint;
                let mut text = row(&finding, story.as_ref(), widest, paint);
                if let Some(about) = self.remark(&finding) {
                    text.push_str(&remark(&about, widest, paint));
                }
                if let Some(path) = certificate.filter(|_| !self.options.quiet) {
                    let about = format!("certificate: {}", input::shown(&path));
                    text.push_str(&remark(&about, widest, paint));
                }
                if let Some(buffers) = buffers.filter(|_| !self.options.quiet) {
                    text.push_str(&buffers.lines(widest, paint));
                }
                self.output.print(&text);
            }
            findings.push((finding, stored));
        }
        if self.options.format == Format::Text {
            self.pictures(&title, problem, &findings);
        }
    }

    /// Asks the engine.
    fn question<'p>(
        &self,
        file: &'p str,
        problem: &'p Problem,
        model: &'p ModelSpec,
    ) -> Finding<'p> {
        let mut finding = Finding {
            file,
            problem,
            model: model.clone(),
            engine: self.engine.name(),
            reductions: self.settings.reductions,
            seconds: 0.0,
            result: Found::NotRun,
        };
        if self.session.interrupted() {
            return finding;
        }
        let what = format!("{file}  {}", shown(model));
        let task = Task { problem, model };
        let doing = format!("checking {file} under {}", shown(model));
        let answer = guarded_while(doing, || {
            self.session.run(&what, |budget| self.engine.run(task, self.settings, budget))
        });
        match answer {
            Ok((answer, seconds)) => {
                finding.seconds = seconds;
                finding.result = Found::Answer(answer);
            }
            Err(said) => finding.result = Found::Crashed(said),
        }
        finding
    }

    /// What to say below a row.
    fn remark(&self, finding: &Finding<'_>) -> Option<String> {
        if self.options.quiet {
            None
        } else if self.is_accepted(finding) {
            Some("accepted: this counts as success (--accept-bounded)".into())
        } else {
            let advice = advice(finding, self.settings.fixed_buffer.is_some())?;
            Some(format!("try: {advice}"))
        }
    }

    fn is_accepted(&self, finding: &Finding<'_>) -> bool {
        finding.class() == Class::Bounded && self.options.accept_bounded
    }

    fn count(&mut self, finding: &Finding<'_>) {
        let accepted = self.is_accepted(finding);
        let tally = &mut self.tally;
        let exit = match finding.class() {
            Class::Verified => {
                tally.verified += 1;
                Exit::Fine
            }
            Class::Violated => {
                tally.violated += 1;
                Exit::Violated
            }
            Class::Bounded | Class::Inconclusive => {
                tally.inconclusive += 1;
                if accepted { Exit::Fine } else { Exit::Inconclusive }
            }
            Class::Crashed => {
                tally.crashed += 1;
                Exit::Internal
            }
        };
        self.exit = self.exit.and(exit);
    }

    /// Writes the trace of a violation, if asked to.
    fn store(&mut self, source: &str, finding: &Finding<'_>, story: &Story<'_>) -> Option<PathBuf> {
        let dir = self.options.trace_dir.as_ref()?;
        let client = &finding.problem.name;
        let path = self.names.name(dir, finding.file, client, &finding.model.name);
        let file = TraceFile::new(
            env!("CARGO_PKG_VERSION"),
            (finding.file, source),
            (&finding.model, finding.reductions),
            story,
            finding.message(Some(story)).unwrap_or_default(),
        );
        let written =
            std::fs::create_dir_all(dir).and_then(|()| replace(&path, file.to_text().as_bytes()));
        match written {
            Ok(()) => Some(path),
            Err(error) => {
                let message = format!("cannot write the trace {}: {error}", input::shown(&path));
                self.unusable(&path, message);
                None
            }
        }
    }

    /// Writes the certificate of a verified program, if asked to.
    fn certify(&mut self, finding: &Finding<'_>) -> Option<PathBuf> {
        let path = self.options.certificate.clone()?;
        if self.tally.programs > 1 {
            let message = "a certificate is about one program; there are several here".into();
            self.unusable(&path, message);
            return None;
        }
        let Found::Answer(answer) = &finding.result else { return None };
        if finding.class() != Class::Verified {
            self.output.message("no certificate is written: nothing is verified\n");
            return None;
        }
        let task = Task { problem: finding.problem, model: &finding.model };
        let what = format!("{}  certificate", finding.file);
        let settings = self.settings;
        let (written, _) = self.session.run(&what, |budget| {
            replace_with(&path, |file| write_certificate(task, answer, settings, budget, file))
        });
        match written {
            Ok(_) => Some(path),
            Err(why) => {
                let shown = input::shown(&path);
                self.unusable(&path, format!("cannot write the certificate {shown}: {why}"));
                None
            }
        }
    }

    /// The traces that are to be seen.
    fn pictures(
        &mut self,
        title: &str,
        _problem: &Problem,
        findings: &[(Finding<'_>, Option<PathBuf>)],
    ) {
        if !self.pictures {
            return;
        }
        let paint = self.output.paint;
        let mut text = String::new();
        let mut violated = false;
        for (finding, stored) in findings {
            if self.options.engine == EngineName::Abstraction
                && let Some(doubt) = finding.doubt()
            {
                text.push('\n');
                text.push_str(&doubt.heading(title, &finding.model, paint));
                text.push_str(&picture(&doubt.story, Look { width: WIDTH, paint }));
                let why = paint.strong("Not real:");
                text.push_str(&format!("  {why} {}\n", doubt.departure()));
            }
            let (Some(story), Some(shown)) = (finding.story(), finding.shown()) else {
                continue;
            };
            match finding.class() {
                Class::Violated if violated && !self.options.all_traces => {
                    self.left_out = true;
                    continue;
                }
                Class::Violated => {
                    violated = true;
                    self.shown = true;
                }
                Class::Verified if self.options.witness => {}
                Class::Verified | Class::Bounded | Class::Inconclusive | Class::Crashed => continue,
            }
            text.push('\n');
            text.push_str(&run_text(title, &finding.model, shown, &story, paint));
            if let Some(path) = stored {
                text.push_str(&format!("  replay: fencepost replay {}\n", input::shown(path)));
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        self.output.print(&text);
    }

    fn finish(mut self) -> Exit {
        let Tally { programs, verified, violated, inconclusive, crashed } = self.tally;
        if self.options.format == Format::Json {
            let version = env!("CARGO_PKG_VERSION");
            let mut report = CheckReport::new(version, self.results, self.errors);
            match self.engine.name() {
                ROBUST => report.command = ROBUST.into(),
                SPIN => report.command = "translate".into(),
                _ => {}
            }
            let text = serde_json::to_string_pretty(&report).expect("plain data becomes JSON");
            self.output.print(&format!("{text}\n"));
        } else if programs > 1 {
            let words = match self.engine.name() {
                ROBUST => ("robust", "not robust or wrong under SC"),
                _ => ("verified", "violated"),
            };
            let parts = [
                (verified, words.0),
                (violated, words.1),
                (inconclusive, "inconclusive"),
                (crashed, "in error"),
            ];
            let parts: Vec<String> = (parts.iter().filter(|(number, _)| *number > 0))
                .map(|(number, word)| format!("{number} {word}"))
                .collect();
            let programs = counted(programs, "program");
            self.output.print(&format!("{programs}: {}\n", parts.join(", ")));
        }
        if self.shown {
            let mut hints = Vec::new();
            if self.left_out {
                hints.push("--all-traces shows the traces of the other models");
            }
            if self.options.trace_dir.is_none() {
                hints.push("--trace-dir DIR keeps traces for `fencepost replay`");
            }
            if !hints.is_empty() {
                let text = self.output.paint.faint(&hints.join("; "));
                self.output.print(&format!("{text}\n"));
            }
        }
        if programs == 0 {
            if self.exit == Exit::Fine {
                self.output.message("nothing was checked: there is no program\n");
            }
            self.exit = self.exit.and(Exit::Nothing);
        }
        self.exit
    }
}
