//! What program simulates this one under SC, and how does it read in another language?
//!
//! - [`mod@simulation`]: what is simulated, and how.

pub mod simulation;

use crate::source::Source;
use fencepost_ir::{Problem, Span};
use fencepost_models::ModelSpec;
use fencepost_models::catalog::Kind;
use fencepost_report::paint::{count, counted, printable};
use fencepost_translate::export::{Export, c, fp, litmus, promela, sequential};
use fencepost_translate::{Unsupported, contexts, size};
use simulation::{Simulation, simulate};
use std::fmt;
use std::path::Path;

/// A language to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Language {
    /// Ours, to be checked under SC.
    #[default]
    Fp,
    /// SPIN's.
    Promela,
    /// C11 with POSIX threads, `assert` and `assume`.
    C,
    /// C without threads: they run one after another, and what others do meanwhile is guessed.
    SequentialC,
    /// herd's, for X86: straight-line programs only.
    Litmus,
}

/// How store buffers are simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffers {
    /// Without buffers, within a bound on contexts or delays.
    Bounded(contexts::Bound),
    /// Written out, with room for so many stores.
    Explicit(u32),
}

/// A request for a translation of the one program of a source.
///
/// ```
/// use fencepost::{Language, Model, Source};
///
/// let source = Source::parse("w.fp", "shared int x; thread p { x = 1; } thread q { r = x; }")?;
/// let promela = source.translate(Model::PSO).to(Language::Promela).run()?;
/// assert!(promela.text.contains("proctype"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is run"]
pub struct Translate<'s> {
    source: &'s Source,
    model: ModelSpec,
    language: Language,
    buffers: Option<Buffers>,
}

/// A translation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Translated {
    /// The text.
    pub text: String,
    /// One line about its size.
    pub note: String,
}

/// Why there is no translation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TranslateError {
    /// The model cannot be simulated.
    Model {
        /// Its name.
        model: String,
    },
    /// Buffers are to be simulated under a model without any.
    NoBuffers,
    /// A litmus test of a simulation.
    LitmusOfSimulation,
    /// A litmus test of a litmus test.
    AlreadyLitmus {
        /// The source.
        name: String,
    },
    /// The source has several programs.
    SeveralPrograms {
        /// The source.
        name: String,
        /// Their clients.
        clients: Vec<String>,
    },
    /// The source has no program.
    NoProgram {
        /// The source.
        name: String,
    },
    /// The program cannot be translated.
    Unsupported {
        /// The source.
        name: String,
        /// Why not.
        reason: Unsupported,
    },
}

impl fmt::Display for TranslateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TranslateError::Model { model } => {
                write!(f, "{model} cannot be simulated under SC; sc, tso and pso can")
            }
            TranslateError::NoBuffers => f.write_str("SC has no buffers to simulate"),
            TranslateError::LitmusOfSimulation => f.write_str(
                "a litmus test is the program as it is, and who reads it chooses the memory \
                 model: --to litmus goes without --model",
            ),
            TranslateError::AlreadyLitmus { name } => write!(f, "{name} is a litmus test already"),
            TranslateError::SeveralPrograms { name, clients } => {
                let known: Vec<String> =
                    clients.iter().take(5).map(|client| format!("`{client}`")).collect();
                write!(
                    f,
                    "{name} has {}: choose one with --client ({}{})",
                    counted(clients.len() as u64, "client"),
                    known.join(", "),
                    if clients.len() > known.len() { ", ..." } else { "" }
                )
            }
            TranslateError::NoProgram { name } => write!(f, "{name} has no program"),
            TranslateError::Unsupported { name, reason } => write!(f, "{name}: {reason}"),
        }
    }
}

impl std::error::Error for TranslateError {}

impl Source {
    /// Asks for the program that simulates this one under SC.
    pub fn translate(&self, model: ModelSpec) -> Translate<'_> {
        Translate { source: self, model, language: Language::default(), buffers: None }
    }
}

impl Translate<'_> {
    /// The language to write.
    pub fn to(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// How store buffers are simulated; two context switches of each thread by default.
    pub fn buffers(mut self, buffers: Buffers) -> Self {
        self.buffers = Some(buffers);
        self
    }

    /// What is simulated.
    pub fn simulation(&self) -> Result<Simulation, TranslateError> {
        let simulation = simulation(&self.model, self.buffers)?;
        if self.language == Language::Litmus && simulation != Simulation::Plain {
            return Err(TranslateError::LitmusOfSimulation);
        }
        Ok(simulation)
    }

    /// The text, and a line about it.
    pub fn run(&self) -> Result<Translated, TranslateError> {
        let simulation = self.simulation()?;
        let name = self.source.name();
        if self.source.is_litmus() && self.language == Language::Litmus {
            return Err(TranslateError::AlreadyLitmus { name: name.into() });
        }
        let problem = match self.source.programs() {
            [problem] => problem,
            [] => return Err(TranslateError::NoProgram { name: name.into() }),
            several => {
                let clients = several.iter().map(|problem| printable(&problem.name)).collect();
                return Err(TranslateError::SeveralPrograms { name: name.into(), clients });
            }
        };
        let translated = write(name, problem, simulation, self.language);
        translated.map_err(|reason| TranslateError::Unsupported { name: name.into(), reason })
    }
}

/// What is simulated under a model.
pub fn simulation(
    model: &ModelSpec,
    buffers: Option<Buffers>,
) -> Result<Simulation, TranslateError> {
    if model.kind == Kind::Sc {
        return match buffers {
            None => Ok(Simulation::Plain),
            Some(_) => Err(TranslateError::NoBuffers),
        };
    }
    let unknown = || TranslateError::Model { model: model.name.to_string() };
    let simulated = model.store_buffers().ok_or_else(unknown)?;
    Ok(match buffers.unwrap_or(Buffers::Bounded(contexts::Bound::Switches(2))) {
        Buffers::Explicit(room) => Simulation::Buffers(simulated, room),
        Buffers::Bounded(bound) => Simulation::Contexts(simulated, bound),
    })
}

fn write(
    name: &str,
    problem: &Problem,
    simulation: Simulation,
    language: Language,
) -> Result<Translated, Unsupported> {
    let translation = simulate(problem, simulation, language == Language::SequentialC)?;
    let (before, after) = (size(problem) as u64, size(&translation.problem) as u64);
    let sizes = format!("{} in, {} out", counted(before, "statement"), count(after));
    let title = match problem.name.as_str() {
        "" => name.to_string(),
        client => format!("{name}, client {}", printable(client)),
    };
    let mut about = vec![
        format!("Fencepost {}: {title}", env!("CARGO_PKG_VERSION")),
        simulation.describe(),
        format!("{sizes}."),
    ];
    if simulation != Simulation::Plain && !problem.sometimes.is_empty() {
        about.push("A `final exists` that does not hold here may hold beyond the bound.".into());
    }
    if language == Language::Litmus {
        about.truncate(1);
    }
    let line = |span: Span| (span.line > 0).then_some(span.line);
    let export = Export { problem: &translation.problem, about: &about, line: &line };
    let text = match language {
        Language::Fp => fp::fp(&export)?,
        Language::Promela => promela::promela(&export)?.text,
        Language::C => c::c(&export)?,
        Language::SequentialC => sequential::sequential(&export, &translation)?,
        Language::Litmus => {
            let text = litmus::litmus(&export, &test_name(name, problem))?;
            let note = format!("{title}: {}", counted(before, "statement"));
            return Ok(Translated { text, note });
        }
    };
    Ok(Translated { text, note: format!("{title}: {sizes}") })
}

/// The name of a litmus test: that of the file, with the client.
fn test_name(file: &str, problem: &Problem) -> String {
    let stem = Path::new(file).file_stem().map_or("".into(), |stem| stem.to_string_lossy());
    match problem.name.as_str() {
        "" => stem.into_owned(),
        client => format!("{stem}+{client}"),
    }
}
