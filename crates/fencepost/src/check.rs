//! `fencepost check`: checks programs under memory models and prints verdicts and traces.

mod engine_options;

use crate::args::{CPrograms, Check, DataRaceMode, EngineName, Format, Search};
use crate::data_races::describe_data_race;
use crate::exit::Exit;
use crate::guard::catch_panic_while;
use crate::input::{self, InputFile, PrintedErrors};
use crate::output::Output;
use crate::session::{Session, settings};
use crate::store::{TraceNames, replace, replace_with};
use fencepost::{EngineChoice, Source};
use fencepost_engines::certificate::write_certificate;
use fencepost_engines::{Engine, Settings, Task, ValueAbstraction};
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_report::TraceRows;
use fencepost_report::finding::{Class, Finding, QueryResult};
use fencepost_report::json::{CheckReport, CheckResult, InputError};
use fencepost_report::models::coverage_note;
use fencepost_report::order_table;
use fencepost_report::paint::{counted, printable};
use fencepost_report::picture::{PictureOptions, WIDTH, picture, run_text};
use fencepost_report::trace_file::TraceFile;
use fencepost_report::verdict_line::{CBMC, GENMC, ROBUST, SPIN, advice, remark, row, shown};
use fencepost_translate::values::{Values, abstract_values};
use std::path::{Path, PathBuf};

/// The programs and models of a check, and its output options.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) models: Vec<String>,
    pub(crate) clients: Vec<String>,
    pub(crate) allow_hangs: bool,
    /// How C programs are preprocessed.
    pub(crate) c: CPrograms,
    pub(crate) format: Format,
    pub(crate) accept_bounded: bool,
    pub(crate) trace_dir: Option<PathBuf>,
    pub(crate) certificate: Option<PathBuf>,
    /// What a data race is. None: the command does not look for data races.
    pub(crate) data_races: Option<DataRaceMode>,
    /// How often each loop may go back to its start.
    pub(crate) unwind: Option<u32>,
    /// The directory for the automata of buffer contents.
    pub(crate) dot: Option<PathBuf>,
    pub(crate) all_traces: bool,
    pub(crate) witness: bool,
    /// The locations whose values are abstracted.
    pub(crate) values: Option<Values>,
    /// Show spurious runs: runs of an abstract model that the exact model does not have.
    pub(crate) spurious: bool,
    pub(crate) quiet: bool,
}

/// Checks every program under every model.
pub(crate) fn run(options: &Check, output: &mut Output) -> Exit {
    if options.c.explain_mapping && options.format == Format::Text {
        output.print(&format!("{}\n", order_table::text()));
    }
    let values = options.values();
    let batch = Batch {
        values: values.clone().ok().flatten(),
        files: options.files.clone(),
        models: options.model.clone(),
        clients: options.client.clone(),
        allow_hangs: options.hangs.allow_hangs,
        c: options.c.clone(),
        format: options.format,
        accept_bounded: options.accept_bounded,
        trace_dir: options.trace_dir.clone(),
        certificate: options.certificate.clone(),
        data_races: Some(options.data_races),
        unwind: options.unwind,
        dot: options.dot.clone(),
        all_traces: options.all_traces,
        witness: options.witness,
        spurious: options.engine == EngineName::Abstraction,
        quiet: options.quiet,
    };
    let (engine, option_error) = match options.engine() {
        Ok(engine) => (engine, values.err()),
        Err(error) => (EngineChoice::default(), Some(error)),
    };
    let engine = match &batch.values {
        Some(values) => {
            let values = values.clone();
            Box::new(ValueAbstraction { values, engine: engine.engine() })
        }
        None => engine.engine(),
    };
    run_with(&batch, &options.search, engine.as_ref(), option_error, output)
}

/// Checks every program under every model with the given engine. `option_error` is an option that
/// does not fit the others, with a message.
pub(crate) fn run_with(
    batch: &Batch,
    search: &Search,
    engine: &dyn Engine,
    option_error: Option<(&'static str, String)>,
    output: &mut Output,
) -> Exit {
    let (models, model_errors) = match input::models(&batch.models) {
        Ok(models) => (models, Vec::new()),
        Err(errors) => (Vec::new(), errors),
    };
    let quiet = batch.quiet || batch.format == Format::Json;
    let mut check = CheckRun {
        batch,
        fixed_buffer: search.buffer.is_some(),
        models,
        engine,
        settings: Settings {
            unwind: batch.unwind,
            certifiable: batch.certificate.is_some(),
            ..settings(search)
        },
        session: Session::new(&search.limits, batch.quiet),
        output,
        shows_traces: !quiet,
        trace_shown: false,
        trace_omitted: false,
        names: TraceNames::default(),
        exit: Exit::Success,
        tally: Tally::default(),
        results: Vec::new(),
        errors: Vec::new(),
    };
    if let Some((option, message)) = option_error {
        check.input_error(Path::new(option), message);
        return check.finish();
    }
    if batch.certificate.is_some() && check.models.len() > 1 {
        let message = "--certificate requires exactly one model: choose it with --model".into();
        check.input_error(Path::new("--certificate"), message);
        return check.finish();
    }
    if !model_errors.is_empty() {
        let report_error = |message| check.input_error(Path::new("--model"), message);
        model_errors.into_iter().for_each(report_error);
        return check.finish();
    }
    for path in &batch.files {
        match input::expand(path, check.output) {
            Ok(files) => files.iter().for_each(|file| check.file(file)),
            Err(message) => check.input_error(path, message),
        }
    }
    check.finish()
}

/// The number of verdicts of each kind.
#[derive(Default)]
struct Tally {
    programs: u64,
    verified: u64,
    violated: u64,
    inconclusive: u64,
    crashed: u64,
}

/// A batch that is being checked, with the results so far.
pub(crate) struct CheckRun<'a> {
    pub(crate) batch: &'a Batch,
    /// Whether `--buffer` fixes the bound on pending accesses.
    fixed_buffer: bool,
    models: Vec<ModelSpec>,
    engine: &'a dyn Engine,
    pub(crate) settings: Settings,
    pub(crate) session: Session,
    pub(crate) output: &'a mut Output,
    shows_traces: bool,
    /// Whether the trace of a violation was printed.
    trace_shown: bool,
    /// Whether the trace of a violation was not printed.
    trace_omitted: bool,
    pub(crate) names: TraceNames,
    exit: Exit,
    tally: Tally,
    results: Vec<CheckResult>,
    errors: Vec<InputError>,
}

impl CheckRun<'_> {
    /// Prints and records an error about a file or an option.
    pub(crate) fn input_error(&mut self, path: &Path, message: String) {
        self.output.error(&message);
        self.exit = self.exit.combine(Exit::Unusable);
        self.errors.push(InputError {
            file: input::display_path(path),
            severity: "error",
            code: None,
            line: None,
            column: None,
            message,
        });
    }

    /// Records an internal error, which is already printed.
    pub(crate) fn internal_error(&mut self) {
        self.exit = self.exit.combine(Exit::Internal);
    }

    fn file(&mut self, path: &Path) {
        if self.output.is_closed() {
            return;
        }
        let file = match InputFile::read(path, &self.batch.c) {
            Ok(file) => file,
            Err(message) => return self.input_error(path, message),
        };
        let task = format!("reading {}", file.name);
        let Batch { clients, allow_hangs, .. } = self.batch;
        match catch_panic_while(task, || file.parse(clients, *allow_hangs, self.output)) {
            Ok(Ok(source)) => {
                for problem in source.programs() {
                    if let Some(message) = self.values_error(problem) {
                        self.input_error(path, format!("{}: --abstract: {message}", source.name()));
                        continue;
                    }
                    self.program(&source, problem);
                }
            }
            Ok(Err(PrintedErrors(errors))) => {
                self.errors.extend(errors);
                self.exit = self.exit.combine(Exit::Unusable);
            }
            Err(_) => self.internal_error(),
        }
    }

    /// Returns why the values of a program cannot be abstracted as requested, if they cannot.
    fn values_error(&self, problem: &Problem) -> Option<String> {
        let error = abstract_values(problem, self.batch.values.as_ref()?).err()?;
        Some(error.describe(&problem.program))
    }

    fn program(&mut self, source: &Source, problem: &Problem) {
        let file = source.name();
        self.tally.programs += 1;
        let title = match problem.name.as_str() {
            "" => file.to_string(),
            client => format!("{file}  client {}", printable(client)),
        };
        if self.batch.format == Format::Text {
            let paint = self.output.paint;
            self.output.print(&format!("{}\n", paint.strong(&title)));
            if problem.has_no_properties() && !self.batch.quiet {
                let checked = if problem.may_hang { "faults" } else { "faults and hangs" };
                let note =
                    format!("  note: the file states no property; only {checked} are checked");
                self.output.print(&format!("{}\n", paint.faint(&note)));
            }
        }
        let races = self.find_data_race(file, problem);
        let models = self.models.clone();
        let widest = models.iter().map(|m| shown(m).chars().count()).max().unwrap_or(0);
        let mut findings = Vec::new();
        for model in &models {
            let mut finding = self.run_engine(file, problem, model);
            self.judge_data_race(races.as_ref(), &mut finding);
            let rows = finding.trace_rows();
            self.count(&finding);
            let stored = rows.as_ref().and_then(|rows| self.store_trace(source, &finding, rows));
            let certificate = self.write_certificate(&finding);
            let buffers = self.draw(&finding);
            if self.batch.format == Format::Json {
                let mut result = CheckResult::new(&finding, rows.as_ref());
                describe_data_race(races.as_ref(), problem, &mut result);
                result.trace_file = stored.as_deref().map(input::display_path);
                result.certificate = certificate.as_deref().map(input::display_path);
                result.buffers_complete = buffers.as_ref().map(|buffers| buffers.complete);
                result.buffers = buffers.map(|buffers| buffers.records);
                self.results.push(result);
            } else {
                let paint = self.output.paint;
                let mut text = row(&finding, rows.as_ref(), widest, paint);
                if let Some(about) = self.remark(&finding) {
                    text.push_str(&remark(&about, widest, paint));
                }
                if let Some(path) = certificate.filter(|_| !self.batch.quiet) {
                    let about = format!("certificate: {}", input::display_path(&path));
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
            self.print_traces(&title, problem, &findings);
        }
    }

    /// Runs the engine on one program under one model.
    fn run_engine<'p>(
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
            definition: self.engine.robust_definition(),
            reductions: self.settings.reductions,
            seconds: 0.0,
            cpu_seconds: None,
            result: QueryResult::NotRun,
        };
        if self.session.interrupted() {
            return finding;
        }
        let what = format!("{file}  {}", shown(model));
        let task = Task { problem, model };
        let description = format!("checking {file} under {}", shown(model));
        let answer = catch_panic_while(description, || {
            self.session.run(&what, |budget| self.engine.run(task, self.settings, budget))
        });
        match answer {
            Ok((answer, elapsed)) => {
                finding.seconds = elapsed.seconds();
                finding.cpu_seconds = elapsed.cpu_seconds();
                finding.result = QueryResult::Answer(Box::new(answer));
            }
            Err(message) => finding.result = QueryResult::Crashed(message),
        }
        finding
    }

    /// Returns the remark below the row of a model.
    fn remark(&self, finding: &Finding<'_>) -> Option<String> {
        if self.batch.quiet {
            None
        } else if self.is_accepted(finding) {
            Some("accepted: counts as success because of --accept-bounded".into())
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
                Exit::Success
            }
            Class::Violated => {
                tally.violated += 1;
                Exit::Violated
            }
            Class::Bounded | Class::Inconclusive => {
                tally.inconclusive += 1;
                if accepted { Exit::Success } else { Exit::Inconclusive }
            }
            Class::Crashed => {
                tally.crashed += 1;
                Exit::Internal
            }
        };
        self.exit = self.exit.combine(exit);
    }

    /// Writes the trace of a violation if `--trace-dir` is given.
    fn store_trace(
        &mut self,
        source: &Source,
        finding: &Finding<'_>,
        rows: &TraceRows<'_>,
    ) -> Option<PathBuf> {
        let dir = self.batch.trace_dir.as_ref()?;
        let client = &finding.problem.name;
        let path = self.names.name(dir, finding.file, client, &finding.model.name);
        let file = TraceFile::new(
            env!("CARGO_PKG_VERSION"),
            (finding.file, source.text()),
            (&finding.model, finding.reductions),
            rows,
            finding.message(Some(rows)).unwrap_or_default(),
        );
        let file = TraceFile { preprocessing: source.preprocessing().clone(), ..file };
        let written =
            std::fs::create_dir_all(dir).and_then(|()| replace(&path, file.to_text().as_bytes()));
        match written {
            Ok(()) => Some(path),
            Err(error) => {
                let message =
                    format!("cannot write the trace {}: {error}", input::display_path(&path));
                self.input_error(&path, message);
                None
            }
        }
    }

    /// Writes the certificate of a verified program if `--certificate` is given.
    fn write_certificate(&mut self, finding: &Finding<'_>) -> Option<PathBuf> {
        let path = self.batch.certificate.clone()?;
        if self.tally.programs > 1 {
            let message = "--certificate requires exactly one program; there are several".into();
            self.input_error(&path, message);
            return None;
        }
        let QueryResult::Answer(answer) = &finding.result else { return None };
        if finding.class() != Class::Verified {
            self.output.message("no certificate written: the program is not verified\n");
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
                let name = input::display_path(&path);
                self.input_error(&path, format!("cannot write the certificate {name}: {why}"));
                None
            }
        }
    }

    /// Prints the traces that the options select.
    fn print_traces(
        &mut self,
        title: &str,
        _problem: &Problem,
        findings: &[(Finding<'_>, Option<PathBuf>)],
    ) {
        if !self.shows_traces {
            return;
        }
        let paint = self.output.paint;
        let mut text = String::new();
        let mut violated = false;
        for (finding, stored) in findings {
            if self.batch.spurious
                && let Some(spurious_trace) = finding.spurious_trace()
            {
                text.push('\n');
                text.push_str(&spurious_trace.heading(title, &finding.model, paint));
                text.push_str(&picture(
                    &spurious_trace.trace_rows,
                    PictureOptions { width: WIDTH, paint },
                ));
                let label = paint.strong("Spurious:");
                text.push_str(&format!("  {label} {}\n", spurious_trace.infeasible_step()));
            }
            let (Some(rows), Some(shown)) = (finding.trace_rows(), finding.shown()) else {
                continue;
            };
            match finding.class() {
                Class::Violated if violated && !self.batch.all_traces => {
                    self.trace_omitted = true;
                    continue;
                }
                Class::Violated => {
                    violated = true;
                    self.trace_shown = true;
                }
                Class::Verified if self.batch.witness => {}
                Class::Verified | Class::Bounded | Class::Inconclusive | Class::Crashed => continue,
            }
            text.push('\n');
            text.push_str(&run_text(title, &finding.model, shown, &rows, paint));
            if let Some(path) = stored {
                let path = input::display_path(path);
                text.push_str(&format!("  replay: fencepost replay {path}\n"));
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        self.output.print(&text);
    }

    /// Prints the report or the totals, and returns the exit code.
    fn finish(mut self) -> Exit {
        let Tally { programs, verified, violated, inconclusive, crashed } = self.tally;
        if self.batch.format == Format::Json {
            let version = env!("CARGO_PKG_VERSION");
            let mut report = CheckReport::new(version, self.results, self.errors);
            match self.engine.name() {
                ROBUST => report.command = ROBUST.into(),
                SPIN | CBMC | GENMC => report.command = "translate".into(),
                _ => {}
            }
            self.output.json(&report);
        } else if programs > 1 {
            let words = match self.engine.name() {
                ROBUST => ("robust", "not robust or wrong under SC"),
                _ => ("verified", "violated"),
            };
            let parts = [
                (verified, words.0),
                (violated, words.1),
                (inconclusive, "inconclusive"),
                (crashed, "crashed"),
            ];
            let parts: Vec<String> = (parts.iter().filter(|(number, _)| *number > 0))
                .map(|(number, word)| format!("{number} {word}"))
                .collect();
            let programs = counted(programs, "program");
            self.output.print(&format!("{programs}: {}\n", parts.join(", ")));
        }
        if self.trace_shown {
            let mut hints = Vec::new();
            if self.trace_omitted {
                hints.push("--all-traces shows the traces of the other models");
            }
            if self.batch.trace_dir.is_none() {
                hints.push("--trace-dir DIR stores traces for `fencepost replay`");
            }
            if !hints.is_empty() {
                let text = self.output.paint.faint(&hints.join("; "));
                self.output.print(&format!("{text}\n"));
            }
        }
        if self.batch.format == Format::Text && programs > 0 {
            let note = self.models.iter().find_map(coverage_note);
            note.into_iter().for_each(|note| self.output.print(&note));
        }
        if programs == 0 {
            if self.exit == Exit::Success {
                self.output.message("nothing was checked: no program found\n");
            }
            self.exit = self.exit.combine(Exit::Nothing);
        }
        self.exit
    }
}
