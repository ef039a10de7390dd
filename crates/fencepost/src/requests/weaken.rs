//! The request for memory orders and fences that are stronger than models need.
//!
//! The weaker text is compiled again and compared with the program that was verified. If the code
//! differs, the new program is verified as well, under every model.

use super::Control;
use super::check::EngineChoice;
use super::file_diff::FileDiff;
use super::repair::{RepairError, check_repairable};
use crate::search::{Elapsed, SearchOptions};
use crate::source::Source;
use fencepost_engines::{Engine, Task, Verdict};
use fencepost_frontends::repair::{Changes, LoweredSource};
use fencepost_infer::weaken::{WeakenAnswer, WeakenQuery, parts_of_original, weaken};
use fencepost_ir::{FenceKinds, Problem, WrittenFences};
use fencepost_models::ModelSpec;
use fencepost_report::repair_json::ReportExtras;
use fencepost_report::weakening::WeakenSubject;
use fencepost_report::weakening_json::WeakenReport;

/// A request for weaker orders and fences.
///
/// ```
/// use fencepost::{Model, Source};
///
/// let source = Source::parse("mp.fp", "shared int data, flag;
/// thread p { data.store(1, seq_cst); flag.store(1, seq_cst); }
/// thread q { f = flag.load(seq_cst); d = data.load(seq_cst); }
/// final forall q.f == 0 || q.d == 1;
/// ")?;
/// let weaker = source.weaken(&[Model::TSO, Model::PSO]).run()?;
/// let text = weaker.text().expect("some orders can be weaker");
/// assert!(text.contains("data.store(1, relaxed); flag.store(1, release);"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is run"]
pub struct Weaken<'s> {
    source: Source,
    models: Vec<ModelSpec>,
    verifier: EngineChoice,
    options: SearchOptions,
    control: Control<'s>,
}

impl Source {
    /// Returns a request for orders and fences that can be weaker under all of these models.
    pub fn weaken(&self, models: &[ModelSpec]) -> Weaken<'static> {
        Weaken {
            source: if self.marks_orders() { self.clone() } else { self.with_orders() },
            models: models.to_vec(),
            verifier: EngineChoice::default(),
            options: SearchOptions::default(),
            control: Control::default(),
        }
    }
}

impl<'s> Weaken<'s> {
    search_methods!();

    /// Sets the engine that verifies weaker programs.
    pub fn verifier(mut self, verifier: EngineChoice) -> Self {
        self.verifier = verifier;
        self
    }

    /// Finds the maximal weakenings.
    ///
    /// # Panics
    /// If the weaker text does not compile to a program that is as correct as the verified one. That
    /// is a bug in the front end.
    pub fn run(self) -> Result<Weakened, RepairError> {
        let (problems, _) = self.source.programs_to_repair();
        check_repairable(&problems)?;
        let source = &self.source;
        let fences = source.frontend().fences(source.text(), &source.request());
        let kinds: Vec<FenceKinds> = fences.default_fences().map(|fence| fence.kinds).collect();
        let parts = parts_of_original(&problems[0].program, &self.models, &kinds);
        let engine = self.verifier.engine();
        let query = WeakenQuery {
            problems: &problems,
            models: &self.models,
            parts: &parts,
            engine: engine.as_ref(),
            settings: self.options.settings,
        };
        let (answer, elapsed) = self.control.run(&self.options, |budget| weaken(query, budget));
        let changes = self.changes(&answer, &problems, engine.as_ref());
        let diff = changes.as_ref().map(FileDiff::new).unwrap_or_default();
        let (source, models) = (self.source, self.models);
        Ok(Weakened { source, models, problems, answer, changes, diff, elapsed })
    }

    /// Returns the files that the first weakening changes, after checking that they compile to the
    /// verified program.
    fn changes(
        &self,
        answer: &WeakenAnswer,
        problems: &[Problem],
        engine: &dyn Engine,
    ) -> Option<Changes> {
        let WeakenAnswer::Found(found) = answer else { return None };
        let original = LoweredSource {
            frontend: self.source.frontend(),
            text: self.source.text(),
            request: self.source.request(),
            problems,
        };
        let weaker = original.repair(found.left.first()?, WrittenFences::Dropped);
        let weaker = weaker.expect("a source with weaker orders still compiles");
        for at in weaker.differing {
            let problem = weaker.problems[at].clone().with_requirements_of(&problems[at]);
            for model in &self.models {
                let task = Task { problem: &problem, model };
                let settings = self.options.settings;
                let (answer, _) =
                    self.control.run(&self.options, |budget| engine.run(task, settings, budget));
                let holds = matches!(answer.verdict, Verdict::Verified(_));
                assert!(holds, "the weaker text has the verdict of the weaker program");
            }
        }
        Some(weaker.changes)
    }
}

/// The answer to a request for weaker orders and fences.
#[derive(Clone, Debug)]
pub struct Weakened {
    source: Source,
    models: Vec<ModelSpec>,
    problems: Vec<Problem>,
    answer: WeakenAnswer,
    changes: Option<Changes>,
    diff: FileDiff,
    elapsed: Elapsed,
}

impl Weakened {
    /// Returns the maximal weakenings, or the reason why there are none.
    pub fn answer(&self) -> &WeakenAnswer {
        &self.answer
    }

    /// Returns the text of the main file of the first maximal weakening.
    pub fn text(&self) -> Option<&str> {
        Some(self.changes.as_ref()?.main_text(self.source.text()))
    }

    /// Returns the files that the first maximal weakening changes.
    pub fn changes(&self) -> Option<&Changes> {
        self.changes.as_ref()
    }

    /// Returns the change as a unified diff with a section for each file, or an empty text.
    pub fn diff(&self) -> &str {
        &self.diff.text
    }

    /// Returns the folder in which `patch -p1` applies the diff, if it is not the current one.
    pub fn diff_folder(&self) -> Option<&str> {
        self.diff.folder.as_deref()
    }

    /// Returns the duration of the search in seconds.
    pub fn seconds(&self) -> f64 {
        self.elapsed.seconds()
    }

    /// Returns the CPU time of the search in seconds.
    pub fn cpu_seconds(&self) -> Option<f64> {
        self.elapsed.cpu_seconds()
    }

    /// Returns the report for JSON output.
    pub fn report(&self, extras: &ReportExtras) -> WeakenReport {
        WeakenReport::new(&self.subject(), &self.answer, extras)
    }

    /// Returns the argument for the functions of [`fencepost_report::weakening`].
    pub fn subject(&self) -> WeakenSubject<'_> {
        WeakenSubject { file: self.source.name(), models: &self.models, problems: &self.problems }
    }
}
