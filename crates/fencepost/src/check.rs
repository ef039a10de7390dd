//! `fencepost check`.

use crate::args::{Check, EngineName, Format, Search};
use crate::exit::Exit;
use crate::guard::guarded_while;
use crate::input::{self, InputFile, Unusable};
use crate::output::Output;
use crate::session::{Session, settings};
use crate::store::{TraceNames, replace, replace_with};
use fencepost::EngineChoice;
use fencepost_engines::certificate::write_certificate;
use fencepost_engines::{Engine, Settings, Task};
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

/// What is to be checked, and what is to be done with the answers.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) models: Vec<String>,
    pub(crate) clients: Vec<String>,
    pub(crate) format: Format,
    pub(crate) accept_bounded: bool,
    pub(crate) trace_dir: Option<PathBuf>,
    pub(crate) certificate: Option<PathBuf>,
    /// Where to draw what buffers can hold.
    pub(crate) dot: Option<PathBuf>,
    pub(crate) all_traces: bool,
    pub(crate) witness: bool,
    /// Show runs of an abstract model that the exact model does not follow.
    pub(crate) spurious: bool,
    pub(crate) quiet: bool,
}

impl Check {
    /// The engine that the options ask for; otherwise which option does not go with it, and why.
    fn engine(&self) -> Result<EngineChoice, (&'static str, String)> {
        let refuse = |option: &'static str, why: &str| Err((option, format!("{option}{why}")));
        if self.abstraction.is_given() && self.engine != EngineName::Abstraction {
            let message =
                "--domain and --k are for --engine abstraction; the others choose by themselves";
            return Err(("--domain", message.into()));
        }
        if self.preemptions.is_some() && self.engine != EngineName::Stateless {
            let why = " is for --engine stateless; the others have no such bound";
            return refuse("--preemptions", why);
        }
        if let Some(option) = self.bound.given()
            && self.engine != EngineName::Translate
        {
            return refuse(option, " is for --engine translate; the others have no such bound");
        }
        if self.dot.is_some() && self.engine != EngineName::Automata {
            let why = " is for --engine automata; the others do not know all contents of a buffer";
            return refuse("--dot", why);
        }
        let (domain, k) = self.abstraction.choice();
        Ok(match self.engine {
            EngineName::Auto => EngineChoice::Auto,
            EngineName::Explicit => EngineChoice::Explicit,
            EngineName::Abstraction => EngineChoice::Abstraction { domain, k },
            EngineName::Automata => EngineChoice::Automata,
            EngineName::Stateless => EngineChoice::Stateless { preemptions: self.preemptions },
            EngineName::Translate => EngineChoice::Translate { bound: self.bound.bound() },
        })
    }
}

/// Checks every program under every model.
pub(crate) fn run(options: &Check, output: &mut Output) -> Exit {
    let batch = Batch {
        files: options.files.clone(),
        models: options.model.clone(),
        clients: options.client.clone(),
        format: options.format,
        accept_bounded: options.accept_bounded,
        trace_dir: options.trace_dir.clone(),
        certificate: options.certificate.clone(),
        dot: options.dot.clone(),
        all_traces: options.all_traces,
        witness: options.witness,
        spurious: options.engine == EngineName::Abstraction,
        quiet: options.quiet,
    };
    let (engine, wrong) = match options.engine() {
        Ok(engine) => (engine, None),
        Err(wrong) => (EngineChoice::default(), Some(wrong)),
    };
    run_with(&batch, &options.search, engine.engine().as_ref(), wrong, output)
}

/// The same with an engine of the caller's choice. `wrong` is an option that does not go with the others.
pub(crate) fn run_with(
    batch: &Batch,
    search: &Search,
    engine: &dyn Engine,
    wrong: Option<(&'static str, String)>,
    output: &mut Output,
) -> Exit {
    let (models, wrong_models) = match input::models(&batch.models) {
        Ok(models) => (models, Vec::new()),
        Err(wrong) => (Vec::new(), wrong),
    };
    let quiet = batch.quiet || batch.format == Format::Json;
    let mut checking = Checking {
        batch,
        fixed_buffer: search.buffer.is_some(),
        models,
        engine,
        settings: settings(search),
        session: Session::new(search, batch.quiet),
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
    if let Some((option, message)) = wrong {
        checking.unusable(Path::new(option), message);
        return checking.finish();
    }
    if batch.certificate.is_some() && checking.models.len() > 1 {
        let message = "a certificate is about one model: choose it with --model".into();
        checking.unusable(Path::new("--certificate"), message);
        return checking.finish();
    }
    if !wrong_models.is_empty() {
        let complain = |message| checking.unusable(Path::new("--model"), message);
        wrong_models.into_iter().for_each(complain);
        return checking.finish();
    }
    for path in &batch.files {
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
    pub(crate) batch: &'a Batch,
    /// Whether the user fixed the bound on pending accesses.
    fixed_buffer: bool,
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
        let file = match InputFile::read(path) {
            Ok(file) => file,
            Err(message) => return self.unusable(path, message),
        };
        let doing = format!("reading {}", file.name);
        match guarded_while(doing, || file.parse(&self.batch.clients, self.output)) {
            Ok(Ok(source)) => {
                for problem in source.programs() {
                    self.program(source.name(), source.text(), problem);
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
        if self.batch.format == Format::Text {
            let paint = self.output.paint;
            self.output.print(&format!("{}\n", paint.strong(&title)));
            if problem.states_no_property() && !self.batch.quiet {
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
            if self.batch.format == Format::Json {
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
                if let Some(path) = certificate.filter(|_| !self.batch.quiet) {
                    let about = format!("certificate: {}", input::shown(&path));
                    text.push_str(&remark(&about, widest, paint));
                }
                if let Some(buffers) = buffers.filter(|_| !self.batch.quiet) {
                    text.push_str(&buffers.lines(widest, paint));
                }
                self.output.print(&text);
            }
            findings.push((finding, stored));
        }
        if self.batch.format == Format::Text {
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
        if self.batch.quiet {
            None
        } else if self.is_accepted(finding) {
            Some("accepted: this counts as success (--accept-bounded)".into())
        } else {
            let advice = advice(finding, self.fixed_buffer)?;
            Some(format!("try: {advice}"))
        }
    }

    fn is_accepted(&self, finding: &Finding<'_>) -> bool {
        finding.class() == Class::Bounded && self.batch.accept_bounded
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
        let dir = self.batch.trace_dir.as_ref()?;
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
        let path = self.batch.certificate.clone()?;
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
            if self.batch.spurious
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
                Class::Violated if violated && !self.batch.all_traces => {
                    self.left_out = true;
                    continue;
                }
                Class::Violated => {
                    violated = true;
                    self.shown = true;
                }
                Class::Verified if self.batch.witness => {}
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
        if self.batch.format == Format::Json {
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
            if self.batch.trace_dir.is_none() {
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
