//! The part of a check that runs in parallel: reads a file and runs the engine.
//!
//! Its results are [`Step`]s. [`CheckRun`](super::CheckRun) prints and counts them, in the order of
//! the files.

use super::Batch;
use crate::args::DataRaceMode;
use crate::input::InputFile;
use crate::parallel::Turn;
use fencepost::{Elapsed, Lowering, Source};
use fencepost_engines::data_races::MAX_EXECUTIONS;
use fencepost_engines::{Engine, RaceSearch, Task, find_data_race};
use fencepost_ir::Problem;
use fencepost_models::ModelSpec;
use fencepost_report::Paint;
use fencepost_report::finding::QueryResult;
use fencepost_report::json::InputError;
use fencepost_report::verdict_line::shown;
use fencepost_translate::values::abstract_values;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A step of a check, in the order in which steps are printed.
pub(super) enum Step {
    /// A file cannot be checked, or one of its programs.
    Unusable { path: PathBuf, message: String },
    /// A file has errors, with messages that are ready to print.
    Invalid { errors: Vec<InputError>, messages: String },
    /// Reading a file panicked.
    ReadingPanicked,
    /// A file was read, with warnings that are ready to print.
    Read { warnings: String },
    /// A program begins: its file, and its position in the file.
    Program { source: Arc<Source>, at: usize },
    /// The result of the search for data races of the program. None: there was nothing to look for.
    DataRaces(Option<RaceSearch>),
    /// The search for data races panicked.
    DataRacesPanicked,
    /// The result of a model, in the order of the models. No time: the engine was not run, or
    /// panicked.
    Result(QueryResult, Option<Elapsed>),
    /// A program ends.
    ProgramEnd,
    /// A file ends.
    FileEnd,
}

/// Checks files.
pub(super) struct Checker<'a> {
    pub(super) batch: &'a Batch,
    pub(super) models: &'a [ModelSpec],
    pub(super) engine: &'a dyn Engine,
    /// Colours of the diagnostics.
    pub(super) paint: Paint,
}

impl Checker<'_> {
    /// Reads a file. The error is a message.
    pub(super) fn read(&self, path: &Path) -> Result<InputFile, String> {
        InputFile::read(path, &self.batch.c)
    }

    /// Checks all programs of a file under all models.
    pub(super) fn check(
        &self,
        path: &Path,
        file: &Result<InputFile, String>,
        turn: &Turn<'_>,
        emit: &mut dyn FnMut(Step),
    ) {
        self.check_programs(path, file, turn, emit);
        emit(Step::FileEnd);
    }

    fn check_programs(
        &self,
        path: &Path,
        file: &Result<InputFile, String>,
        turn: &Turn<'_>,
        emit: &mut dyn FnMut(Step),
    ) {
        let unusable = |message| Step::Unusable { path: path.into(), message };
        let file = match file {
            Ok(file) => file,
            Err(message) => return emit(unusable(message.clone())),
        };
        let Batch { clients, allow_hangs, .. } = self.batch;
        let lowering =
            Lowering { clients: clients.clone(), allow_hangs: *allow_hangs, ..Lowering::default() };
        let task = || format!("reading {}", file.name);
        let parsed = turn.catch_panic_while(task, || file.parse_quietly(lowering, self.paint));
        let source = match parsed {
            Ok((Ok(source), warnings)) => {
                emit(Step::Read { warnings });
                Arc::new(source)
            }
            Ok((Err(errors), messages)) => return emit(Step::Invalid { errors, messages }),
            Err(_) => return emit(Step::ReadingPanicked),
        };
        for (at, problem) in source.programs().iter().enumerate() {
            if let Some(message) = self.values_error(problem) {
                emit(unusable(format!("{}: --abstract: {message}", source.name())));
                continue;
            }
            emit(Step::Program { source: Arc::clone(&source), at });
            emit(self.find_data_race(source.name(), problem, turn));
            for model in self.models {
                let (result, elapsed) = self.run_engine(source.name(), problem, model, turn);
                emit(Step::Result(result, elapsed));
            }
            emit(Step::ProgramEnd);
        }
    }

    /// Returns why the values of a program cannot be abstracted as requested, if they cannot.
    fn values_error(&self, problem: &Problem) -> Option<String> {
        let error = abstract_values(problem, self.batch.values.as_ref()?).err()?;
        Some(error.describe(&problem.program))
    }

    /// Looks for a data race of a program, if there is something to look for.
    fn find_data_race(&self, file: &str, problem: &Problem, turn: &Turn<'_>) -> Step {
        if self.batch.data_races.is_none_or(|mode| mode == DataRaceMode::Off) {
            return Step::DataRaces(None);
        }
        let searched = turn.catch_panic_while(
            || format!("looking for data races of {file}"),
            || {
                let what = || format!("{file}  data races");
                let settings = turn.settings();
                turn.search(what, |b| find_data_race(problem, MAX_EXECUTIONS, settings, b)).0
            },
        );
        searched.map_or(Step::DataRacesPanicked, Step::DataRaces)
    }

    /// Runs the engine on one program under one model.
    fn run_engine(
        &self,
        file: &str,
        problem: &Problem,
        model: &ModelSpec,
        turn: &Turn<'_>,
    ) -> (QueryResult, Option<Elapsed>) {
        if turn.interrupted() {
            return (QueryResult::NotRun, None);
        }
        let task = Task { problem, model };
        let answer = turn.catch_panic_while(
            || format!("checking {file} under {}", shown(model)),
            || {
                let what = || format!("{file}  {}", shown(model));
                turn.search(what, |budget| self.engine.run(task, turn.settings(), budget))
            },
        );
        match answer {
            Ok((answer, elapsed)) => (QueryResult::Answer(Box::new(answer)), Some(elapsed)),
            Err(message) => (QueryResult::Crashed(message), None),
        }
    }
}
