//! Turns command-line options into requests for repairs, and rejects options that do not fit
//! together.

use super::report_error;
use crate::args::{self, CPrograms, Format, Infer, Search, Verifier};
use crate::input::{self, InputFile, PrintedErrors};
use crate::output::Output;
use crate::reader::{read_stdin_text, read_text};
use crate::session::{ProgressObserver, Session};
use fencepost::{
    EngineChoice, Lowering, Method, Model, PreparedRepair, RepairError, RepairOptions,
    RobustDefinition, Source,
};
use fencepost_report::json::InputError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The program and models of an inference, and its output options.
pub(crate) struct Job {
    pub(crate) file: PathBuf,
    pub(crate) models: Vec<String>,
    pub(crate) client: Vec<String>,
    pub(crate) allow_hangs: bool,
    /// How a C program is preprocessed.
    pub(crate) c: CPrograms,
    /// A file with further clients.
    pub(crate) clients: Option<PathBuf>,
    pub(crate) repair: RepairOptions,
    /// Whether an abstraction is given without the method that uses it.
    pub(crate) abstraction_without_fixpoint: bool,
    /// Why the options of the abstraction do not fit together, if they do not.
    pub(crate) abstraction_error: Option<String>,
    /// Whether the strict definition of robustness is given without the engine that uses it.
    pub(crate) strict_without_robust: bool,
    /// Whether to look for weaker orders and fences instead of repairing the program.
    pub(crate) weaken: bool,
    pub(crate) write: bool,
    pub(crate) output: Option<PathBuf>,
    /// The file for the certificate of optimality.
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) explain: bool,
    pub(crate) format: Format,
    pub(crate) accept_bounded: bool,
    pub(crate) trace_dir: Option<PathBuf>,
    pub(crate) dot: Option<PathBuf>,
    pub(crate) quiet: bool,
    pub(crate) search: Search,
}

impl From<&Infer> for Job {
    fn from(options: &Infer) -> Self {
        let given = options.abstraction.is_given().then(|| options.abstraction.choice());
        let (abstraction, abstraction_error) = match given.transpose() {
            Ok(abstraction) => (abstraction, None),
            Err(message) => (None, Some(message)),
        };
        let (method, abstraction_without_fixpoint) = match options.method {
            args::Method::Lazy => (Method::Lazy, abstraction.is_some()),
            args::Method::Fixpoint => (Method::Fixpoint(abstraction), false),
        };
        Job {
            file: options.file.clone(),
            models: options.model.clone(),
            client: options.client.clone(),
            allow_hangs: options.hangs.allow_hangs,
            c: options.c.clone(),
            clients: options.clients.clone(),
            repair: RepairOptions {
                method,
                verifier: match options.engine {
                    Verifier::Auto => EngineChoice::Auto,
                    Verifier::Explicit => EngineChoice::Explicit,
                    Verifier::Automata => EngineChoice::Automata,
                    Verifier::Robust => EngineChoice::robust(definition(options.strict)),
                },
                fences: options.fences.clone(),
                costs: options.cost.clone(),
                all: options.all,
                strengthen: options.strengthen.then(|| options.order_costs()),
                from_scratch: options.from_scratch,
                forbidden_lines: options.forbid.clone(),
                only_in: options.only_in.clone(),
            },
            abstraction_without_fixpoint,
            abstraction_error,
            strict_without_robust: options.strict && options.engine != Verifier::Robust,
            weaken: options.weaken,
            write: options.write,
            output: options.output.clone(),
            certificate: options.certificate.clone(),
            explain: options.explain,
            format: options.format,
            accept_bounded: options.accept_bounded,
            trace_dir: options.trace_dir.clone(),
            dot: options.dot.clone(),
            quiet: options.quiet,
            search: options.search,
        }
    }
}

/// Returns the definition of robustness that `--strict` selects.
pub(crate) fn definition(strict: bool) -> RobustDefinition {
    if strict { RobustDefinition::Strict } else { RobustDefinition::WithoutFailedSpins }
}

/// A source and the models to repair it for.
pub(super) struct Input {
    pub(super) source: Source,
    /// The path of the source, or `None` for standard input.
    pub(super) path: Option<PathBuf>,
    pub(super) models: Vec<Model>,
}

/// Reads the source, the models and the clients of a job. Reports all errors.
pub(super) fn read(job: &Job, output: &Output) -> Result<Input, Vec<InputError>> {
    let mut errors = Vec::new();
    let mut add_error = |about: &str, message: String| {
        errors.push(report_error(about, message, output));
    };
    let stdin = Path::new("-");
    if job.file == stdin && job.write {
        let message = "--write cannot change standard input: use -o FILE";
        add_error("--write", message.into());
    }
    if job.output.as_deref() == Some(stdin) {
        add_error("--output", "-o requires the name of a file".into());
    }
    let models = input::models(&job.models);
    let models = models.map_err(|all| all.into_iter().for_each(|m| add_error("--model", m))).ok();
    let writes = [
        ("--write", job.write),
        ("--output", job.output.is_some()),
        ("--certificate", job.certificate.is_some()),
    ];
    // A weakening is one answer for all models.
    if let (false, Some((option, _)), Some([_, _, ..])) =
        (job.weaken, writes.iter().find(|(_, given)| *given), models.as_deref())
    {
        let message = format!("{option} requires exactly one model: choose it with --model");
        add_error(option, message);
    }
    let clients = clients(job, output).map_err(|m| add_error("--clients", m)).ok();
    let file = InputFile::read(&job.file, &job.c)
        .map_err(|m| add_error(&input::display_path(&job.file), m));
    if job.write && job.file != stdin && file.as_ref().is_ok_and(|file| file.path.is_none()) {
        let message = "--write cannot change a pipe or a device: use -o FILE";
        add_error("--write", message.into());
    }
    let (Some(models), Some(clients), Ok(file), []) = (models, clients, file, &errors[..]) else {
        return Err(errors);
    };
    let orders = job.weaken || job.repair.strengthen.is_some();
    let allow_hangs = job.allow_hangs;
    let lowering = Lowering { clients, places: true, orders, allow_hangs, ..Lowering::default() };
    let source = file.parse_with(lowering, output);
    let source = source.map_err(|PrintedErrors(errors)| errors)?;
    Ok(Input { source, path: file.path, models })
}

impl Input {
    /// Returns one request for each model. Reports all errors.
    pub(super) fn requests<'a>(
        &'a self,
        job: &Job,
        session: &'a Session,
        observer: &'a ProgressObserver,
        output: &Output,
    ) -> Result<Vec<PreparedRepair<'a>>, Vec<InputError>> {
        let mut errors = Vec::new();
        let mut requests = Vec::new();
        if job.abstraction_without_fixpoint {
            let message = "--domain and --k require --method fixpoint".into();
            return Err(vec![report_error("--domain", message, output)]);
        }
        if let Some(message) = &job.abstraction_error {
            return Err(vec![report_error("--k", message.clone(), output)]);
        }
        if job.strict_without_robust {
            let message = "--strict requires --engine robust".into();
            return Err(vec![report_error("--strict", message, output)]);
        }
        if job.dot.is_some() && job.repair.method == Method::Lazy {
            let message = "--dot requires --method fixpoint".into();
            return Err(vec![report_error("--dot", message, output)]);
        }
        for model in &self.models {
            let request = (self.source.repair(model.clone()))
                .repair_options(job.repair.clone())
                .options(session.options(&job.search))
                .cancel(session.cancel())
                .observer(observer);
            match request.prepare() {
                Ok(request) => {
                    let certifiable = match job.certificate {
                        Some(_) => request.check_certifiable(),
                        None => Ok(()),
                    };
                    if let Err(why) = certifiable {
                        let message = format!("no certificate is possible: {why}");
                        errors.push(report_error("--certificate", message, output));
                    }
                    requests.push(request);
                }
                Err(error) => {
                    let (option, message) = option_error(&error);
                    errors.push(report_error(option, message, output));
                }
            }
        }
        errors.dedup();
        if errors.is_empty() { Ok(requests) } else { Err(errors) }
    }
}

/// Returns the option that causes an error, and the message.
pub(super) fn option_error(error: &RepairError) -> (&'static str, String) {
    match error {
        RepairError::NoSuchFence { fence, .. } => {
            ("--fences", format!("--fences {fence}: {error}"))
        }
        RepairError::UnusedDrainCost => ("--cost", format!("--cost drain=N: {error}")),
        RepairError::NoPlace { line, .. } => ("--forbid", format!("--forbid {line}: {error}")),
        RepairError::NoSuchFunction { name, .. } => {
            ("--only-in", format!("--only-in {name}: {error}"))
        }
        RepairError::NoAbstraction => ("--domain", "--domain requires --model tso or pso".into()),
        RepairError::OrdersByFixpoint => {
            ("--strengthen", "--strengthen requires --method lazy".into())
        }
        RepairError::RequiredControlPoint => ("invariant", error.to_string()),
        RepairError::GracePeriods => ("program", error.to_string()),
        _ => ("--model", error.to_string()),
    }
}

/// Returns the clients on the command line and in the clients file. An empty list means those of
/// the source. Warns about a client that occurs twice in the file and leaves out the second one.
fn clients(job: &Job, output: &Output) -> Result<Vec<String>, String> {
    let mut clients = job.client.clone();
    if let Some(path) = &job.clients {
        let read = if path == Path::new("-") {
            if job.file == *path {
                let message = "the program and the clients cannot both come from standard input";
                return Err(message.into());
            }
            read_stdin_text()
        } else {
            read_text(path)
        };
        let text = read.map_err(|error| {
            format!("cannot read the clients {}: {error}", input::display_path(path))
        })?;
        let lines = text.lines().map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
        let before = clients.len();
        let mut first_lines = BTreeMap::new();
        for (at, line) in lines {
            if let Some(first) = first_lines.get(line) {
                let path = input::display_path(path);
                let warning = format!("warning: {path}:{}: client `{line}`", at + 1);
                output.message(&format!("{warning} is also in line {first}; it is used once\n"));
                continue;
            }
            first_lines.insert(line, at + 1);
            clients.push(line.to_string());
        }
        if clients.len() == before {
            return Err(format!("no clients in {}", input::display_path(path)));
        }
    }
    Ok(clients)
}
