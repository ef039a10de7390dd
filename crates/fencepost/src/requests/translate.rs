//! The request for a program that simulates a memory model under SC, in one of several languages.
//!
//! - [`mod@simulation`]: the kinds of simulation; [`verifiers`]: how to run verifiers on C.

pub mod simulation;
pub mod verifiers;

use crate::source::Source;
use fencepost_ir::{Problem, Span};
use fencepost_models::ModelSpec;
use fencepost_models::catalog::ModelKind;
use fencepost_report::paint::{count, counted, printable};
use fencepost_translate::export::{Export, c, fp, litmus, promela, sequential};
use fencepost_translate::{Unsupported, contexts, statement_count};
use simulation::{Simulation, simulate};
use std::fmt;
use std::path::Path;

/// The language of a translation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Language {
    /// Fencepost's own language, to be checked under SC.
    #[default]
    Fp,
    /// Promela, the language of SPIN.
    Promela,
    /// C11 with POSIX threads, `assert` and `assume`.
    C,
    /// Sequential C: the threads run one after another, and the program guesses the effects of
    /// other threads.
    SequentialC,
    /// The litmus format of herd, for X86: straight-line programs only.
    Litmus,
}

/// The simulation of store buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffers {
    /// Without buffers, within a bound on contexts or delays.
    Bounded(contexts::Bound),
    /// With buffers of this capacity in the translated program.
    Explicit(u32),
}

/// A request for a translation of a source with exactly one program.
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
    /// The translated program.
    pub text: String,
    /// One line about its size.
    pub note: String,
    /// Lines that explain how to run verifiers on the program; empty for languages other than C.
    pub explanation: String,
}

/// The reason why there is no translation.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TranslateError {
    /// The model cannot be simulated.
    Model {
        /// The name of the model.
        model: String,
    },
    /// A simulation of buffers is requested for a model without buffers.
    NoBuffers,
    /// A litmus test is requested for a simulation.
    LitmusOfSimulation,
    /// A litmus test is requested for a litmus test.
    AlreadyLitmus {
        /// The name of the source.
        name: String,
    },
    /// The source has several programs.
    SeveralPrograms {
        /// The name of the source.
        name: String,
        /// The clients of the programs.
        clients: Vec<String>,
    },
    /// The source has no program.
    NoProgram {
        /// The name of the source.
        name: String,
    },
    /// The program cannot be translated.
    Unsupported {
        /// The name of the source.
        name: String,
        /// The reason.
        reason: Unsupported,
    },
}

impl fmt::Display for TranslateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TranslateError::Model { model } => {
                write!(f, "{model} cannot be simulated under SC: use sc, tso or pso")
            }
            TranslateError::NoBuffers => f.write_str("SC has no store buffers to simulate"),
            TranslateError::LitmusOfSimulation => f.write_str(
                "--to litmus writes the program itself, not a simulation of a memory model: omit \
                 --model",
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
    /// Returns a request for a program that simulates this one under SC.
    pub fn translate(&self, model: ModelSpec) -> Translate<'_> {
        Translate { source: self, model, language: Language::default(), buffers: None }
    }
}

impl Translate<'_> {
    /// Sets the language of the translation.
    pub fn to(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Sets the simulation of store buffers. The default allows two context switches of each
    /// thread.
    pub fn buffers(mut self, buffers: Buffers) -> Self {
        self.buffers = Some(buffers);
        self
    }

    /// Returns the simulation that the request selects.
    pub fn simulation(&self) -> Result<Simulation, TranslateError> {
        let simulation = simulation(&self.model, self.buffers)?;
        if self.language == Language::Litmus && simulation != Simulation::Plain {
            return Err(TranslateError::LitmusOfSimulation);
        }
        Ok(simulation)
    }

    /// Runs the request. Returns the translated text and a line about its size.
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

/// Returns the simulation of a model.
pub fn simulation(
    model: &ModelSpec,
    buffers: Option<Buffers>,
) -> Result<Simulation, TranslateError> {
    if model.kind == ModelKind::Sc {
        return match buffers {
            None => Ok(Simulation::Plain),
            Some(_) => Err(TranslateError::NoBuffers),
        };
    }
    let unsupported = || TranslateError::Model { model: model.name.to_string() };
    let simulated = model.store_buffers().ok_or_else(unsupported)?;
    Ok(match buffers.unwrap_or(Buffers::Bounded(contexts::Bound::Switches(2))) {
        Buffers::Explicit(capacity) => Simulation::Buffers(simulated, capacity),
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
    let (before, after) =
        (statement_count(problem) as u64, statement_count(&translation.problem) as u64);
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
        about.push("A `final exists` that fails here may hold beyond the bound.".into());
    }
    let loops = verifiers::loop_notes(problem, &translation, simulation, language)?;
    let explanation = verifiers::explain(language, &loops);
    about.extend(loops);
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
            return Ok(Translated { text, note, explanation });
        }
    };
    Ok(Translated { text, note: format!("{title}: {sizes}"), explanation })
}

/// Returns the name of a litmus test: the name of the file and the client.
fn test_name(file: &str, problem: &Problem) -> String {
    let stem = Path::new(file).file_stem().map_or("".into(), |stem| stem.to_string_lossy());
    match problem.name.as_str() {
        "" => stem.into_owned(),
        client => format!("{stem}+{client}"),
    }
}
