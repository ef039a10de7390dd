//! From the command line to requests for repairs; complaints about options that make no sense.

use super::complaint;
use crate::args::{self, Format, Infer, Search, Verifier};
use crate::input::{self, InputFile, Unusable};
use crate::output::Output;
use crate::session::{Session, Watch};
use fencepost::{
    EngineChoice, Lowering, Method, Model, PreparedRepair, RepairError, RepairOptions, Source,
};
use fencepost_report::json::InputError;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What is to be repaired, and what is to be done with the answers.
pub(crate) struct Job {
    pub(crate) file: PathBuf,
    pub(crate) models: Vec<String>,
    pub(crate) client: Vec<String>,
    /// A file with more clients.
    pub(crate) clients: Option<PathBuf>,
    pub(crate) repair: RepairOptions,
    /// An abstraction was asked for, but not the method that uses it.
    pub(crate) abstraction_without_fixpoint: bool,
    pub(crate) write: bool,
    pub(crate) output: Option<PathBuf>,
    pub(crate) explain: bool,
    pub(crate) format: Format,
    pub(crate) accept_bounded: bool,
    pub(crate) trace_dir: Option<PathBuf>,
    pub(crate) quiet: bool,
    pub(crate) search: Search,
}

impl From<&Infer> for Job {
    fn from(options: &Infer) -> Self {
        let abstraction = options.abstraction.is_given().then(|| options.abstraction.choice());
        let (method, wrong) = match options.method {
            args::Method::Lazy => (Method::Lazy, abstraction.is_some()),
            args::Method::Fixpoint => (Method::Fixpoint(abstraction), false),
        };
        Job {
            file: options.file.clone(),
            models: options.model.clone(),
            client: options.client.clone(),
            clients: options.clients.clone(),
            repair: RepairOptions {
                method,
                verifier: match options.engine {
                    Verifier::Auto => EngineChoice::Auto,
                    Verifier::Explicit => EngineChoice::Explicit,
                    Verifier::Automata => EngineChoice::Automata,
                    Verifier::Robust => EngineChoice::ROBUST,
                },
                fences: options.fences.clone(),
                costs: options.cost.clone(),
                all: options.all,
                from_scratch: options.from_scratch,
                forbidden_lines: options.forbid.clone(),
                only_in: options.only_in.clone(),
            },
            abstraction_without_fixpoint: wrong,
            write: options.write,
            output: options.output.clone(),
            explain: options.explain,
            format: options.format,
            accept_bounded: options.accept_bounded,
            trace_dir: options.trace_dir.clone(),
            quiet: options.quiet,
            search: options.search,
        }
    }
}

/// A source, and the models to repair it for.
pub(super) struct Input {
    pub(super) source: Source,
    /// Where it is; none for standard input.
    pub(super) path: Option<PathBuf>,
    models: Vec<Model>,
}

/// Reads what is to be repaired; complaints otherwise.
pub(super) fn read(job: &Job, output: &Output) -> Result<Input, Vec<InputError>> {
    let mut wrong = Vec::new();
    let mut complain = |about: &str, message: String| {
        wrong.push(complaint(about, message, output));
    };
    let stdin = Path::new("-");
    if job.file == stdin && job.write {
        let message = "--write needs a file: standard input cannot be written; use -o FILE";
        complain("--write", message.into());
    }
    if job.output.as_deref() == Some(stdin) {
        complain("--output", "-o needs the name of a file".into());
    }
    let models = input::models(&job.models);
    let models = models.map_err(|all| all.into_iter().for_each(|m| complain("--model", m))).ok();
    let writes = [("--write", job.write), ("--output", job.output.is_some())];
    if let (Some((option, _)), Some([_, _, ..])) =
        (writes.iter().find(|(_, wanted)| *wanted), models.as_deref())
    {
        let message = format!("{option} takes one model: each has fences of its own");
        complain(option, message);
    }
    let clients = clients(job).map_err(|m| complain("--clients", m)).ok();
    let file = InputFile::read(&job.file).map_err(|m| complain(&input::shown(&job.file), m));
    let (Some(models), Some(clients), Ok(file), []) = (models, clients, file, &wrong[..]) else {
        return Err(wrong);
    };
    let source = file.parse_with(Lowering { clients, places: true }, output);
    let source = source.map_err(|Unusable(errors)| errors)?;
    Ok(Input { source, path: file.path, models })
}

impl Input {
    /// The requests, one for each model; complaints otherwise.
    pub(super) fn requests<'a>(
        &'a self,
        job: &Job,
        session: &'a Session,
        watch: &'a Watch,
        output: &Output,
    ) -> Result<Vec<PreparedRepair<'a>>, Vec<InputError>> {
        let mut wrong = Vec::new();
        let mut all = Vec::new();
        if job.abstraction_without_fixpoint {
            let message = "--domain and --k need --method fixpoint".into();
            return Err(vec![complaint("--domain", message, output)]);
        }
        for model in &self.models {
            let request = (self.source.repair(model.clone()))
                .repair_options(job.repair.clone())
                .options(session.options(&job.search))
                .cancel(session.cancel())
                .observer(watch);
            match request.prepare() {
                Ok(request) => all.push(request),
                Err(error) => {
                    let (option, message) = explain(&error);
                    wrong.push(complaint(option, message, output));
                }
            }
        }
        wrong.dedup();
        if wrong.is_empty() { Ok(all) } else { Err(wrong) }
    }
}

/// Which option is wrong, and how.
fn explain(error: &RepairError) -> (&'static str, String) {
    match error {
        RepairError::NoSuchFence { fence, .. } => {
            ("--fences", format!("--fences {fence}: {error}"))
        }
        RepairError::UnusedDrainCost => ("--cost", format!("--cost drain=N: {error}")),
        RepairError::NoPlace { line, .. } => ("--forbid", format!("--forbid {line}: {error}")),
        RepairError::NoSuchFunction { name, .. } => {
            ("--only-in", format!("--only-in {name}: {error}"))
        }
        RepairError::NoAbstraction => ("--domain", "--domain needs tso or pso".into()),
        _ => ("--model", error.to_string()),
    }
}

/// The clients asked for; none stands for those of the file.
fn clients(job: &Job) -> Result<Vec<String>, String> {
    let mut clients = job.client.clone();
    if let Some(path) = &job.clients {
        let mut text = String::new();
        let read = if path == Path::new("-") {
            if job.file == *path {
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
